"""The texts in which two compared values differ: strings at the same place of lists, mappings and objects."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec


def differing_texts(left: Any, right: Any) -> Iterator[tuple[str, str]]:
    """Pairs of unequal strings, from left and right; nothing where the shapes of the values differ."""
    match left, right:
        case str(), str():
            if left != right:
                yield left, right
        case Mapping(), Mapping():
            yield from _of_pairs((left[key], right[key]) for key in left if key in right)
        case AbstractSet(), AbstractSet():
            yield from _of_sets(left, right)
        case ((list() | tuple()), (list() | tuple())):
            yield from _of_pairs(zip(left, right, strict=True) if len(left) == len(right) else ())
        case _ if type(left) is type(right):
            yield from _of_pairs((getattr(left, field), getattr(right, field)) for field in _fields(left))


def _of_pairs(pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    for left, right in pairs:
        yield from differing_texts(left, right)


def _of_sets(left: AbstractSet[Any], right: AbstractSet[Any]) -> Iterator[tuple[str, str]]:
    """The one pair of two sets that differ in one member each: of more, nobody knows which belong together."""
    here, there = list(left - right), list(right - left)
    if len(here) == len(there) == 1:
        yield from differing_texts(here[0], there[0])


def _fields(value: Any) -> tuple[str, ...]:
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value) if field.compare)
    return ()
