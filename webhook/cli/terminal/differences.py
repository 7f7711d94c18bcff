"""Differences between two objects as lines of YAML, such as a pod before and after a patch; and YAML as kubectl's."""

import difflib
from collections.abc import Iterator
from typing import Any

import yaml

from webhook.placement.text.problem import escape

CONTEXT = 3
"""Unchanged lines that are shown around a change, as in ``diff -u``."""


class _Dumper(yaml.CSafeDumper):
    """A YAML dumper that writes texts of several lines as literal blocks (``|``)."""


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def as_yaml(document: object) -> str:
    """The document as YAML as kubectl prints it: keys in their order, lists not indented."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=1000)


def changed_lines(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Lines that begin with ``+``, ``-`` or a space; three dots stand for unchanged lines that are left out."""
    old, new = (as_yaml(document).splitlines() for document in (before, after))
    lines = difflib.unified_diff(old, new, n=CONTEXT, lineterm="")
    first = True
    for line in list(lines)[2:]:
        if not line.startswith("@@"):
            yield escape(line)
        elif not first:
            yield "  ..."
        first = False
