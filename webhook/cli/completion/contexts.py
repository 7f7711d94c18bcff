"""Names of the contexts of the kubeconfig, for completion."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PLAIN: Final = re.compile(r"(?!:)[\w@%+=:,./-]+", re.ASCII)
"""Names that mean the same in every shell. Others are not offered: bash would put ``$(...)`` into the line as it is.

A line that begins with a colon is the directive for the shell, and no name.
"""

_LIMIT: Final = 4_000_000
"""Bytes of a kubeconfig that are read: completion must not make anybody wait."""


def context_names() -> tuple[str, ...]:
    """The names, sorted; none without a readable kubeconfig."""
    return tuple(sorted({name for path in _files() for name in _names(path)}))


def _files() -> list[Path]:
    """The files of ``KUBECONFIG``, or else the one in the home folder, as kubectl finds them."""
    named = os.environ.get("KUBECONFIG")
    return [Path(each) for each in named.split(os.pathsep) if each] if named else [Path.home() / ".kube" / "config"]


def _names(path: Path) -> Iterator[str]:
    import yaml  # noqa: PLC0415 -- takes 20 ms, and few completions need it

    try:
        with path.open("rb") as file:
            config = yaml.load(file.read(_LIMIT), Loader=yaml.CSafeLoader)
        contexts = [each["name"] for each in config["contexts"] or ()]
    except (OSError, yaml.YAMLError, TypeError, KeyError, ValueError, RecursionError):
        return  # completion that fails says nothing: the shell would write it into the line
    yield from (name for name in contexts if isinstance(name, str) and _PLAIN.fullmatch(name))
