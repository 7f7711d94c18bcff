"""``LabelValues``: which values a label of a new node may have, narrowed by requirements on the label.

The operators are those of node selectors, and ``Gte`` and ``Lte`` of Karpenter (``pkg/scheduling/requirement.go``).
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.numbers import integer
from webhook.placement.text.problem import enumerated

_NAMED: Final = 3
"""Maximum number of values named in a message."""

_ANY: Final = "any"
"""The value that stands for one which is not known."""


class LabelValues(Struct, frozen=True, gc=False):
    """The values that a label may have: one of ``values``, or with ``None`` any value that is not ``denied``.

    With a bound the value is a whole number from ``least`` to ``most``. ``absent`` tells that the label may be missing.
    ``distinct`` is how many different values must be left to choose from, where ``values`` lists them (``minValues``
    of Karpenter).
    """

    values: frozenset[str] | None = None
    denied: frozenset[str] = frozenset()
    least: int | None = None
    most: int | None = None
    absent: bool = True
    distinct: int = 0

    @classmethod
    def one_of(cls, *values: str) -> "LabelValues":
        """A label that is there, with one of the values."""
        return cls(frozenset(values), absent=False)

    @property
    def possible(self) -> bool:
        """Whether any value is left, or the label may be missing."""
        if self.absent:
            return True
        if self.values is not None:
            return len(self.values) >= max(1, self.distinct)
        if self.least is None or self.most is None:
            return True
        denied = {value for value in filter(self._within, self.denied) if str(integer(value)) == value}
        return self.most - self.least + 1 > len(denied)

    @property
    def excludes(self) -> bool:
        """Whether some value is denied of those that the bounds allow, and no list says which ones are allowed."""
        return self.values is None and any(map(self._within, self.denied))

    @property
    def largest(self) -> int | None:
        """The largest number that the label may have; ``None`` if there is no bound."""
        if self.values is None:
            return self.most
        return max((number for value in self.values if (number := integer(value)) is not None), default=None)

    def narrowed(self, operator: str, values: Iterable[str], distinct: int = 0) -> "LabelValues":
        """The values that also meet a requirement with that operator and those values; none for an unknown operator."""
        asked = tuple(values)
        match operator:
            case "In":
                narrowed = self.among(asked, absent=False)
            case "NotIn":
                narrowed = (
                    replace(self, denied=self.denied.union(asked))
                    if self.values is None
                    else LabelValues(self.values.difference(asked), absent=self.absent)
                )
            case "Exists":
                narrowed = replace(self, absent=False)
            case "DoesNotExist":
                narrowed = replace(ABSENT, absent=self.absent)
            case _:
                narrowed = self._compared(operator, integer(asked[0]) if asked else None)
        return replace(narrowed, distinct=max(self.distinct, distinct))

    def choice(self) -> str | None:
        """A value that the label may have, always the same one; ``None`` if the label can only be missing."""
        if self.values is not None:
            return min(self.values, default=None)
        if self.least is None and self.most is None:
            return _unlike(_ANY, self.denied)
        start, step = (self.least, 1) if self.least is not None else (self.most or 0, -1)
        while str(start) in self.denied:
            start += step
        return str(start)

    def __str__(self) -> str:
        """The values in words: ``hdd, ssd``, ``any value but hdd``, ``5 or more``, ``no value``."""
        if self.values is not None:
            return enumerated(sorted(self.values), _NAMED) if self.values else "no value"
        words = f"{self.least} or more" if self.least is not None else ""
        if self.most is not None:
            words = f"{self.least} to {self.most}" if words else f"{self.most} or less"
        but = f" but {enumerated(sorted(self.denied), _NAMED)}" if self.denied else ""
        return f"{words or 'any value'}{but}"

    def among(self, values: Iterable[str], *, absent: bool) -> "LabelValues":
        """One of these values, as far as they are allowed."""
        return LabelValues(frozenset(filter(self._allows, values)), absent=absent)

    def _allows(self, value: str) -> bool:
        """Whether the label may have the value."""
        if value in self.denied or (self.values is not None and value not in self.values):
            return False
        return self._within(value)

    def _within(self, value: str) -> bool:
        """Whether the value is within the bounds, if there are any."""
        if self.least is None and self.most is None:
            return True
        number = integer(value)
        return number is not None and (self.least is None or number >= self.least) and (
            self.most is None or number <= self.most
        )  # fmt: skip

    def _compared(self, operator: str, bound: int | None) -> "LabelValues":
        """The whole numbers that the operator compares with the bound as it says."""
        step = _STEPS.get(operator)
        if step is None or bound is None:
            return NOTHING
        least, most = self.least, self.most
        if operator.startswith("G"):
            least = max(bound + step, bound + step if least is None else least)
        else:
            most = min(bound + step, bound + step if most is None else most)
        bounded = replace(self, least=least, most=most, absent=False)
        return bounded if self.values is None else bounded.among(self.values, absent=False)


_STEPS: Final = {"Gt": 1, "Gte": 0, "Lt": -1, "Lte": 0}
"""From the number that an operator compares with to the last whole number that meets it."""

NOTHING: Final = LabelValues(frozenset(), absent=False)
"""No value, though the label must be there."""

ABSENT: Final = LabelValues(frozenset())
"""A label that is missing."""

ANYTHING: Final = LabelValues()
"""A label of which nothing is known."""


def _unlike(text: str, denied: Iterable[str]) -> str:
    while text in denied:
        text += "-"
    return text
