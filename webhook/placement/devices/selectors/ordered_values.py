"""Quantities and semantic versions as values of CEL: ``bytes`` in a form in which equal ones are equal.

Sources: ``apiserver/pkg/cel/library/quantity.go`` and ``semverlib.go`` of Kubernetes, and semver.org, version 2.0.0.
"""

import re
from typing import Final

from webhook.placement.kube.quantity import parse_quantity

_QUANTITY: Final = b"q"
_VERSION: Final = b"v"

_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
"""A version: major, minor, patch, and the identifiers of a prerelease; build metadata does not count in comparisons."""

_Identifier = tuple[bool, int, str]
_Order = tuple[tuple[int, int, int], bool, list[_Identifier]]


def of_amount(nano: int) -> bytes:
    """The value of a quantity of that many nano-units."""
    return b"%s%d" % (_QUANTITY, nano)


def quantity(text: str) -> bytes:
    """The value of a quantity; ``ValueError`` if the text is none."""
    nano = parse_quantity(text)
    if nano is None:
        raise ValueError(text)
    return of_amount(nano)


def is_quantity(text: str) -> bool:
    """Whether the text is a quantity."""
    return parse_quantity(text) is not None


def version(text: str) -> bytes:
    """The value of a semantic version; ``ValueError`` if the text is none."""
    if not is_version(text):
        raise ValueError(text)
    return _VERSION + text.partition("+")[0].encode()


def is_version(text: str) -> bool:
    """Whether the text is a semantic version."""
    return _SEMVER.fullmatch(text) is not None


def compare(left: bytes, right: bytes) -> int:
    """-1, 0 or 1 as the left value is below the right one, equal or above; ``ValueError`` for two kinds of values."""
    if left[:1] != right[:1]:
        raise ValueError(left, right)
    if left[:1] == _QUANTITY:
        amounts = int(left[1:]), int(right[1:])
        return (amounts[0] > amounts[1]) - (amounts[0] < amounts[1])
    orders = _order(left), _order(right)
    return (orders[0] > orders[1]) - (orders[0] < orders[1])


def number(value: bytes, index: int) -> int:
    """The major (0), minor (1) or patch (2) number of a version."""
    return _order(value)[0][index]


def _order(value: bytes) -> _Order:
    """What a version is ordered by: a prerelease comes before its version, and a numeric identifier before others."""
    match = _SEMVER.fullmatch(value[1:].decode())
    if match is None:
        raise ValueError(value)
    major, minor, patch, prerelease = match.groups("")
    identifiers = [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in prerelease.split(".")]
    return (int(major), int(minor), int(patch)), not prerelease, identifiers
