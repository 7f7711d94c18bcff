"""The fields of a hardware requirement by canonical name, read from every spelling that EMCO uses.

EMCO's design has all fields on one level; EMCO's code has some of them below ``resource``, and says ``key`` for the
name of a label and ``container`` for ``container-name``. All spellings are read (``docs/hardware.md``), and two
spellings of one field must not contradict each other.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from webhook.placement.annotations.placement_text import SHOWN
from webhook.placement.annotations.yaml_text import Value
from webhook.placement.field_rules.rules import TextRule
from webhook.placement.kube.names import NAME_LIMIT
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

FIELDS: Final = (
    "name", "mandatory", "weight", "allocatable", "requests", "limits", "units", "value", "container-name",
)  # fmt: skip
"""Canonical names of the fields."""

_ALIASES: Final = {"key": "name", "container": "container-name"}
_NESTED: Final = "resource"
_DEVICE: Final = "device"
_WRITTEN: Final = (*FIELDS, *_ALIASES, _NESTED, _DEVICE)
_INSIDE: Final = ("name", "key", "requests", "limits", "units", "value")
"""Fields below ``resource``."""
DEVICE_FIELDS: Final = ("claim", "template", "class", "selector", "count", "sameAttribute")
"""Fields below ``device``; among parsed fields they are ``device.claim``, ``device.template`` and so on."""
_WRAPPED: Final = ("name", "metadata", "spec")
"""Fields of a requirement that has a name and has all other fields below ``spec``."""
NOTES: Final[Mapping[str, TextRule]] = {
    "name": TextRule(about="A name.", most=NAME_LIMIT),
    "description": TextRule(about="What it is for.", most=1024),
    "userData1": TextRule(about="A note.", most=1024),
    "userData2": TextRule(about="A note.", most=1024),
}
"""The rules of ``metadata``, which EMCO's objects have and which changes nothing."""

CONTAINERS: Final[Mapping[str, TextRule]] = {
    "container-name": TextRule(about="The container that gets it; that of the consumer if absent.", most=LABEL_LIMIT),
    "container": TextRule(about="Another word for container-name.", most=LABEL_LIMIT),
}
"""The rules of the container of a requirement, in both spellings."""

_KNOWN: Final = {f".{_NESTED}": _INSIDE, f".{_DEVICE}": DEVICE_FIELDS}
"""The fields of mappings inside a requirement, by their paths below it."""

_EMPTY_DEVICE: Final = "must name a class, a claim or a template, such as {class: gpu.example.com}"

_LOOKED_AT: Final = 2 * len(_WRITTEN)
"""Fields of one mapping that are read. Of more fields at least half are unknown, which makes problems enough."""


class ParsedField(NamedTuple):
    """The text of a field, and the field's path."""

    word: str
    path: str


Fields = Mapping[str, ParsedField]
"""Parsed fields by their names in :data:`FIELDS`; empty fields are left out."""


def fields_of(item: Value, path: str) -> tuple[Fields, list[Problem]]:
    """The fields of one requirement, and the problems of its form: unknown, nested and contradicting fields."""
    if not isinstance(item, dict):
        return {}, [Problem(path, "must be a requirement, such as {name: nvidia.com/gpu, limits: 1}")]
    if "spec" not in item:
        return _flat(item, path)
    foreign = itertools.islice((name for name in item if name not in _WRAPPED), SHOWN)
    problems = [Problem(path, unknown("field", name, _WRAPPED)) for name in foreign]
    if problems or not isinstance(item["spec"], dict):
        return {}, problems or [Problem(f"{path}.spec", "must be a mapping")]
    fields, wrong = _flat(item["spec"], f"{path}.spec")
    return fields, [*problems_of_notes(item.get("metadata"), f"{path}.metadata"), *wrong]


def problems_of_notes(value: Value, path: str) -> Iterator[Problem]:
    """Problems of ``metadata`` at that path."""
    if value is None:
        return
    if not isinstance(value, dict):
        yield Problem(path, "must be a mapping")
        return
    for name, rule in NOTES.items():
        word = value.get(name)
        if isinstance(word, str):
            yield from rule.problems(f"{path}.{name}", word)
        elif word is not None:
            yield Problem(f"{path}.{name}", "must be one word")


def _flat(item: Mapping[str, Value], path: str) -> tuple[Fields, list[Problem]]:
    fields: dict[str, ParsedField] = {}
    problems: list[Problem] = []
    for name, value, place in _entries(item, path):
        at, known = f"{place}.{name}", _KNOWN.get(place.removeprefix(path), _WRITTEN)
        if name not in known:
            problems.append(Problem(place, unknown("field", name, known)))
        elif value is None:
            continue
        elif name == _DEVICE:
            problems.append(Problem(at, _EMPTY_DEVICE))
        elif name == _NESTED or isinstance(value, list | dict):
            problems.append(Problem(at, "must be a mapping" if name == _NESTED else "must be one word"))
        else:
            device = "device." if known is DEVICE_FIELDS else ""
            first = fields.setdefault(device + _ALIASES.get(name, name), ParsedField(value, at))
            if first.word != value:
                message = f"is {quote(value)}, but {first.path} is {quote(first.word)}, and both mean the same"
                problems.append(Problem(at, message))
    return fields, problems


def _entries(item: Mapping[str, Value], path: str) -> Iterator[tuple[str, Value, str]]:
    """Name and value of every field, with the path of the mapping that it is in.

    ``resource`` and a ``device`` that is not empty are replaced by their fields.
    """
    for name, value in itertools.islice(item.items(), _LOOKED_AT):
        if isinstance(value, dict) and (name == _NESTED or (name == _DEVICE and any(value.values()))):
            yield from (
                (inner, inner_value, f"{path}.{name}")
                for inner, inner_value in itertools.islice(value.items(), _LOOKED_AT)
            )
        else:
            yield name, value, path
