"""Label and field selectors of lists and watches."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.apiserver.paths import Json

Term = Callable[[Json], bool]

_UNSUPPORTED: Final = "( )!"
_IN: Final = re.compile(r"([^, ]+) in \(([^()]*)\)")


class Selector:
    """Selects as ``labelSelector``, ``fieldSelector`` and a namespace say; without them it selects every object.

    Terms are ``key`` (of a label), ``key in (one,other)``, ``key=value`` and ``key!=value``; other sets raise
    NotImplementedError.
    A field that an object does not have is empty. Objects that are damaged anywhere are looked at as if the damaged
    part were missing.
    """

    def __init__(self, query: Mapping[str, str], namespace: str = "") -> None:
        self._terms = [*_labels(query.get("labelSelector", "")), *_fields(query.get("fieldSelector", ""))]
        if namespace:
            self._terms.append(lambda item: _at(item, "metadata", "namespace") == namespace)

    def __call__(self, item: Json | None) -> bool:
        return item is not None and all(term(item) for term in self._terms)


def _labels(text: str) -> Iterator[Term]:
    for key, values in _IN.findall(text):
        yield _one_of(key, values.split(","))
    for key, unequal, value in _parsed(_IN.sub("", text)):
        yield _label(key, value, unequal=unequal)


def _one_of(key: str, values: Sequence[str]) -> Term:
    return lambda item: _at(item, "metadata", "labels", key) in values


def _label(key: str, value: str | None, *, unequal: bool) -> Term:
    def selects(item: Json) -> bool:
        found = _at(item, "metadata", "labels", key)
        return found is not None if value is None else (found == value) is not unequal

    return selects


def _fields(text: str) -> Iterator[Term]:
    for path, unequal, value in _parsed(text):
        assert value is not None, f"{path}: a field has to be compared"
        yield _field(path.split("."), value, unequal=unequal)


def _field(steps: list[str], value: str, *, unequal: bool) -> Term:
    return lambda item: ((_at(item, *steps) or "") == value) is not unequal


def _parsed(text: str) -> Iterator[tuple[str, bool, str | None]]:
    """Key, whether it must differ, and the value; ``None`` if the key only has to be there."""
    for term in filter(None, text.split(",")):
        name, compares, value = term.partition("=")
        key = name.removesuffix("!")
        if any(character in key for character in _UNSUPPORTED):
            raise NotImplementedError(term)
        yield key, name.endswith("!"), value.removeprefix("=") if compares else None


def _at(item: Any, *steps: str) -> Any:
    for step in steps:
        item = item.get(step) if isinstance(item, dict) else None
    return item
