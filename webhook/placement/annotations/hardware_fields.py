"""The fields of a hardware requirement under one name each, whichever of their spellings was written.

EMCO writes them flat in its design and below ``resource`` in its code, where a label has a ``key`` and a consumer a
``container``: all of them are read (``docs/hardware.md``), and must not contradict one another.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

FIELDS: Final = (
    "name", "mandatory", "weight", "allocatable", "requests", "limits", "units", "value", "container-name",
)  # fmt: skip

_ALIASES: Final = {"key": "name", "container": "container-name"}
_NESTED: Final = "resource"
_WRITTEN: Final = (*FIELDS, *_ALIASES, _NESTED)
_INSIDE: Final = ("name", "key", "requests", "limits", "units", "value")
"""Fields below ``resource``."""
_WRAPPED: Final = ("name", "metadata", "spec")
"""Fields of a requirement that has a name of its own, with all that it requires below ``spec``."""
_ENOUGH: Final = 2 * len(_WRITTEN)
"""Fields that are looked at: where there are more, so many of these are unknown that nobody misses the others."""


class ParsedFields(NamedTuple):
    """What a field says, and where."""

    word: str
    path: str


Fields = Mapping[str, ParsedFields]
"""By the names in :data:`FIELDS`; one that says nothing is not there."""


def fields_of(item: Value, path: str) -> tuple[Fields, list[Problem]]:
    """The fields of one requirement, and what is wrong with them whatever they mean."""
    if not isinstance(item, dict):
        return {}, [Problem(path, "must be a requirement, such as {name: nvidia.com/gpu, limits: 1}")]
    if "spec" not in item:
        return _flat(item, path)
    foreign = itertools.islice((name for name in item if name not in _WRAPPED), SHOWN)
    problems = [Problem(path, unknown("field", name, _WRAPPED)) for name in foreign]
    if problems or not isinstance(item["spec"], dict):
        return {}, problems or [Problem(f"{path}.spec", "must be a mapping")]
    return _flat(item["spec"], f"{path}.spec")


def _flat(item: Mapping[str, Value], path: str) -> tuple[Fields, list[Problem]]:
    found: dict[str, ParsedFields] = {}
    problems: list[Problem] = []
    for name, said, place in _entries(item, path):
        at, known = f"{place}.{name}", _WRITTEN if place == path else _INSIDE
        if name not in known:
            problems.append(Problem(place, unknown("field", name, known)))
        elif said is None:
            continue
        elif name == _NESTED or isinstance(said, list | dict):
            problems.append(Problem(at, "must be a mapping" if name == _NESTED else "must be one word"))
        else:
            there = found.setdefault(_ALIASES.get(name, name), ParsedFields(said, at))
            if there.word != said:
                message = f"is {quote(said)}, but {there.path} is {quote(there.word)}, and both mean the same"
                problems.append(Problem(at, message))
    return found, problems


def _entries(item: Mapping[str, Value], path: str) -> Iterator[tuple[str, Value, str]]:
    """Every field with the path of what it belongs to, those below ``resource`` in its place."""
    for name, said in itertools.islice(item.items(), _ENOUGH):
        if name == _NESTED and isinstance(said, dict):
            yield from ((inner, value, f"{path}.{name}") for inner, value in itertools.islice(said.items(), _ENOUGH))
        else:
            yield name, said, path
