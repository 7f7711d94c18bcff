"""Names in the order in which people count: ``pe-2`` before ``pe-10``."""

import re
from collections.abc import Iterable
from typing import Final

_DIGITS: Final = re.compile(r"([0-9]+)")


def natural(name: str) -> tuple[object, ...]:
    """The key by which a name is sorted: its texts and its numbers in turn, and the name itself for equal numbers.

    Numbers are compared by their length and then by their digits, since a name may have more digits than ``int`` reads.
    """
    words = _DIGITS.split(name)
    numbers = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in words[1::2]]
    return (*(part for pair in zip(words[::2], [*numbers, (0, "")], strict=True) for part in pair), name)


def in_natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """The names sorted by :func:`natural`."""
    return tuple(sorted(names, key=natural))
