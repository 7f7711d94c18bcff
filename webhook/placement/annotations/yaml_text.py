"""Parser of YAML (and JSON) in annotations, to lists, mappings and texts without any other type (``docs/mapping.md``).

The events of PyYAML's parser become values. Scalars stay texts, so ``8``, ``yes`` and ``1.0`` become no numbers or
booleans; only ``null``, ``~`` and an empty scalar become ``None``. Anchors, aliases, tags and duplicate keys are
errors.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import yaml

from webhook.placement.spl.placement import TEXT_LIMIT
from webhook.placement.spl.reader import GrammarError, unreadable
from webhook.placement.text.problem import Problem, quote

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
"""A parsed YAML value: a text, a list, a mapping with texts as keys, or ``None``."""

DEPTH: Final = 16
"""Levels of nested lists and mappings (``docs/operations.md``, limits)."""

_NOTHING: Final = frozenset({"", "~", "null"})


def parse_yaml(text: str, field: str) -> tuple[Value, Problem | None]:
    """The value of the text, or ``None`` and its first problem; never raises. ``field`` is the path of the text."""
    if problem := unreadable(text, field, limit=TEXT_LIMIT):
        return None, problem
    try:
        return _document(yaml.parse(text, Loader=yaml.CSafeLoader)), None
    except GrammarError as error:
        return None, Problem(field, error.message, text, error.offset)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        return None, Problem(field, f"this is not YAML: {reason}", text, min(mark.index if mark else 0, len(text)))


def of_json(value: object) -> Value:
    """A decoded JSON value with its scalars as texts, as :func:`parse_yaml` reads YAML: ``true``, ``9``, ``0.5``."""
    if isinstance(value, dict):
        return {str(key): of_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [of_json(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _document(events: Iterator[yaml.Event]) -> Value:
    """The value of the only document; ``None`` if there is no document."""
    document: Value = None
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise GrammarError(_at(event), "only one document is allowed, and a second begins here")
            document = _node(next(events), events, DEPTH)
    return document


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Value:
    at = _at(event)
    if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor is not None:
        raise GrammarError(at, "anchors and aliases are not supported: write the value out")
    if event.tag is not None:
        raise GrammarError(at, f"tags are not supported: {quote(event.tag)}")
    if isinstance(event, yaml.ScalarEvent):
        return None if event.implicit[0] and event.value in _NOTHING else str(event.value)
    if not depth:
        raise GrammarError(at, f"nested more than {DEPTH} levels deep")
    if isinstance(event, yaml.SequenceStartEvent):
        return list(_items(events, depth - 1))
    return _mapping(events, depth - 1)


def _items(events: Iterator[yaml.Event], depth: int) -> Iterator[Value]:
    while not isinstance(event := next(events), yaml.SequenceEndEvent):
        yield _node(event, events, depth)


def _mapping(events: Iterator[yaml.Event], depth: int) -> dict[str, Value]:
    mapping: dict[str, Value] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _node(event, events, depth)
        if not isinstance(key, str):
            raise GrammarError(_at(event), "a key must be a word")
        if key in mapping:
            raise GrammarError(_at(event), f"{quote(key)} occurs twice")
        mapping[key] = _node(next(events), events, depth)
    return mapping


def _at(event: yaml.Event) -> int:
    """The offset in the text at which the event begins."""
    return event.start_mark.index if event.start_mark else 0
