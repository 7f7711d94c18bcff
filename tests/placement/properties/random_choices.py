"""Choices made by bytes: a whole cluster is one draw, so that thousands of them can be tried in seconds.

Hypothesis makes the bytes smaller when it shrinks; so the first choice, a byte of 0, is always the simplest one.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from tests.suite.example_count import examples

__all__ = ["RandomChoices", "drawn", "examples"]

_Item = TypeVar("_Item")


class RandomChoices:
    """Bytes, used up one a choice; each thing that is made gets some of its own, so that they shrink apart."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def face(self, count: int) -> int:
        """A number from 0 to below ``count``; 0 when the bytes have run out."""
        self._at += 1
        return self._raw[self._at - 1] % count if self._at <= len(self._raw) else 0

    def chance(self, times: int) -> bool:
        """True so many times out of eight."""
        return self.face(8) >= 8 - times

    def pick(self, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[self.face(len(items))]

    def some(self, items: Sequence[_Item], most: int, least: int = 0) -> list[_Item]:
        """Some of the items, none twice, in any order."""
        left = list(items)
        return [left.pop(self.face(len(left))) for _ in range(least + self.face(most - least + 1))]

    def shuffled(self, items: Sequence[_Item]) -> tuple[_Item, ...]:
        """All the items in any order."""
        return tuple(self.some(items, len(items), len(items)))

    def part(self, size: int) -> "RandomChoices":
        """The next so many bytes, for one thing."""
        self._at += size
        return RandomChoices(self._raw[self._at - size : self._at])


@st.composite
def drawn(draw: st.DrawFn, size: int, make: Callable[[RandomChoices], _Item]) -> _Item:
    """Things made from so many bytes."""
    return make(RandomChoices(draw(st.binary(min_size=size, max_size=size))))
