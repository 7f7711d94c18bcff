"""The inputs of ``convert``: named files, folders of SPL programs, and standard input."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from webhook.cli.exits import WrongUse
from webhook.cluster.snapshot.manifests import STDIN
from webhook.convert.bundle import BUNDLE_LIMIT
from webhook.convert.conversion import Input, kind_of
from webhook.convert.input_kind import InputKind
from webhook.convert.source_text import TEXT_LIMIT
from webhook.convert.spl.scanner import MIXED_MODE
from webhook.placement.text.problem import escape

_DASH: Final = "-"
_PROGRAM: Final = ".spl"
FOLDER_LIMIT: Final = 10_000
"""Programs of one folder: the largest public collection of SPL has some hundred."""

_MODEL: Final = re.compile(rb"<(?:\w++:)?operatorModel\b")
_MODEL_START: Final = 16 * 1024
"""Bytes of an XML file that are searched for the root of an operator model, after licence comments."""


class Inputs(Struct, frozen=True):
    """The inputs in their order; ``primitives`` are the operators that folders have operator models of."""

    inputs: tuple[Input, ...]
    primitives: frozenset[str]


def read_inputs(names: Iterable[str], kind: str | None) -> Inputs:
    """The inputs of these names; raises :class:`WrongUse` if one cannot be read, or if its kind is unclear."""
    inputs: list[Input] = []
    primitives: set[str] = set()
    for name in names:
        if name != _DASH and Path(name).is_dir():
            inputs += _programs(Path(name), kind)
            primitives.update(_primitives(Path(name)))
        else:
            inputs.append(_input(name, kind))
    return Inputs(tuple(inputs), frozenset(primitives))


def _input(name: str, kind: str | None) -> Input:
    shown = STDIN if name == _DASH else name
    content = _content(name, BUNDLE_LIMIT)
    input_kind = InputKind(kind) if kind is not None else kind_of(content)
    if input_kind is None and Path(name).suffix in {_PROGRAM, MIXED_MODE}:  # a file of types begins like any text
        input_kind = InputKind.SPL
    if input_kind is None:
        kinds = ", ".join(InputKind)
        raise WrongUse(f"{shown}: the kind of input is unclear: set --from to one of {kinds}")
    return Input(shown, content, input_kind)


def _content(name: str, limit: int) -> bytes:
    """The content of a file, or of standard input; of a larger one so much that it is seen to be too large."""
    if name == _DASH:
        return sys.stdin.buffer.read(limit + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise WrongUse(f"{escape(name)}: {getattr(error, 'strerror', None) or error}") from error


def _programs(folder: Path, kind: str | None) -> Iterator[Input]:
    """The SPL programs in a folder and below, sorted by path."""
    if kind not in {None, InputKind.SPL}:
        raise WrongUse(f"{folder}: only SPL programs are read from a folder: name the files of {kind} one by one")
    paths = [path for path in _files(folder) if path.suffix == _PROGRAM]
    if not paths:
        raise WrongUse(f"{folder}: no file in the folder or below ends in {_PROGRAM}")
    if len(paths) > FOLDER_LIMIT:
        raise WrongUse(f"{folder}: the folder has {len(paths)} programs, at most {FOLDER_LIMIT} are read")
    for path in paths:
        yield Input(str(path), _content(str(path), TEXT_LIMIT), InputKind.SPL)


def _primitives(folder: Path) -> Iterator[str]:
    """The operators that have an operator model, ``Name/Name.xml``, as toolkits keep them."""
    for path in _files(folder):
        if path.suffix == ".xml" and path.stem == path.parent.name and _MODEL.search(_content(str(path), _MODEL_START)):
            yield path.stem


def _files(folder: Path) -> list[Path]:
    """The files of a folder and of those below, sorted by path; what begins with a dot is left out."""
    paths: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_unlisted):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += (Path(parent, name) for name in names if not name.startswith("."))
    return sorted(paths)


def _unlisted(error: OSError) -> None:
    """Refuse a folder that cannot be listed: ``os.walk`` would pass over it."""
    raise WrongUse(f"{error.filename}: {error.strerror}") from error
