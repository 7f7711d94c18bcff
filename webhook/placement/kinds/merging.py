"""Two templates merged into one: by position, as the Flink operator does, or by names, as the API server does.

Objects are merged by their fields, and the upper value counts where both differ. Beyond some levels and values the
upper one counts as it is: a template that contains itself has no end.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Value: TypeAlias = Any
"""A decoded JSON value."""

_DEPTH: Final = 20
"""Levels of two templates that are merged; pods have some twelve."""

_MERGES: Final = 20_000
"""Values of two templates that are merged; a pod of a hundred containers has some thousand."""

NO_KEYS: Final[Mapping[str, str]] = {}


def merged_by_position(below: Value, above: Value) -> Value:
    """Both merged, lists by position. Source: ``mergePodTemplates`` of the Flink operator."""
    return _Merging(None).merged(below, above)


def merged_by_names_or_position(below: Value, above: Value) -> Value:
    """Both merged, lists of objects by their ``name``, others by position: the same with ``mergeArraysByName``."""
    return _Merging(NO_KEYS, by_position=True).merged(below, above)


def merged_by_names(below: Value, above: Value, keys: Mapping[str, str] = NO_KEYS) -> Value:
    """Both merged, lists of objects by their ``name``, other lists replaced, as by a strategic merge patch.

    ``keys`` are fields whose lists are merged by another field of their objects.
    """
    return _Merging(keys).merged(below, above)


class _Merging:
    def __init__(self, keys: Mapping[str, str] | None, *, by_position: bool = False) -> None:
        self._keys = keys
        self._by_position = by_position
        self._merges_left = _MERGES

    def merged(self, below: Value, above: Value, depth: int = _DEPTH, field: str = "") -> Value:
        self._merges_left -= 1
        if depth == 0 or self._merges_left < 0:
            return above
        if isinstance(below, dict) and isinstance(above, dict):
            made = {
                key: self.merged(below[key], value, depth - 1, key) if key in below else value
                for key, value in above.items()
            }
            return {**below, **made}
        if isinstance(below, list) and isinstance(above, list):
            return self._lists(below, above, depth, field)
        return above

    def _lists(self, below: list[Value], above: list[Value], depth: int, field: str) -> list[Value]:
        if self._keys is None:
            return self._in_order(below, above, depth)
        key = self._keys.get(field, "name")
        upper = _by(key, above)
        if upper is None or (lower := _by(key, below)) is None:
            return self._in_order(below, above, depth) if self._by_position else above
        return list(self.merged(lower, upper, depth).values())

    def _in_order(self, below: list[Value], above: list[Value], depth: int) -> list[Value]:
        shared = [self.merged(one, other, depth - 1) for one, other in zip(below, above, strict=False)]
        return [*shared, *below[len(shared) :], *above[len(shared) :]]


def _by(key: str, listed: list[Value]) -> dict[str, Value] | None:
    """The objects of a list by a field of each; ``None`` if one of them does not have it."""
    by_key = {one[key]: one for one in listed if isinstance(one, dict) and isinstance(one.get(key), str)}
    return by_key if len(by_key) == len(listed) else None
