"""Texts that the chart says: those of the policies that it gives the API server, and those of helm about values.

They stand in templates of Go, and within these in expressions of CEL, as literals that are joined.
"""

import re
from collections.abc import Iterator
from typing import Final

_POLICY: Final = re.compile(r"\bmessage(?:Expression)?: (?P<text>.+)$")
_PRINTED: Final = re.compile(r'\bprintf "(?P<text>(?:[^"\\]|\\.)*)"')
_EXPRESSION: Final = re.compile(r"\b(?:object|request|oldObject|authorizer)\.|\.(?:exists|map)\(|orValue|\|\||&&| \? ")
"""What only an expression has that is no text."""

_PUT_IN: Final = (
    (re.compile(r"^\{\{ printf \"(.*?)\".*\}\}$"), r"\1"),
    (re.compile(r"\{\{.*?\}\}"), "…"),
    (re.compile(r"%[sdvq]"), "…"),
    (re.compile(r"\\n\s*"), " "),
    (re.compile(r"^\"|\"$"), ""),
    (re.compile(r"'\s*\+[^']*(?:'[^']{0,3}'[^']*)?\+\s*'"), "…"),
    (re.compile(r"^[^'+]*(?:'[^']{0,3}'[^'+]*)?\+\s*'"), "…"),
    (re.compile(r"'\s*\+[^']*$|^'|'$"), ""),
)
"""What is put into a text when it is said, from the outermost to the innermost."""


def template_texts(source: str) -> Iterator[str]:
    """The texts of a template, in their order, with an ellipsis for everything that is put in."""
    lines = source.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        for literal in _literals(before, line):
            text = literal
            for pattern, instead in _PUT_IN:
                text = pattern.sub(instead, text)
            if not _EXPRESSION.search(text):
                yield text.strip()


def _literals(before: str, line: str) -> list[str]:
    """What a line says, if it says something: a message, what is printed, or all of it where it is a named text."""
    if match := _POLICY.search(line):
        return [match["text"]]
    if printed := _PRINTED.findall(line):
        return list(printed)
    return [line] if before.startswith("{{- define") and not line.startswith("#") else []
