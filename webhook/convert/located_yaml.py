"""YAML and JSON with the line of every value, for configurations of other systems.

Scalars stay texts; only ``null``, ``~`` and nothing are ``None``. Keys that occur twice, anchors, tags and deep nesting
are refused. Quotes that word processors make of straight ones, as in Twister2's documentation, are taken off.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import yaml
from msgspec import Struct

from webhook.convert.findings import InputLine, RefusedInputError
from webhook.convert.source_text import SourceText
from webhook.placement.text.problem import Problem, quote

DEPTH: Final = 24
"""Lists and mappings inside one another; intents and configurations have eight."""

_NODES: Final = 200_000
"""Values of one document."""

_NOTHING: Final = frozenset({"", "~", "null"})
_CURLY: Final = (("\u201c", "\u201d"), ("\u2018", "\u2019"))


class LocatedValue(Struct, frozen=True, gc=False):
    """A value and its line: a text, ``None``, a list, or a mapping of texts."""

    at: InputLine
    value: "str | list[LocatedValue] | dict[str, LocatedValue] | None"

    @property
    def fields(self) -> "dict[str, LocatedValue]":
        """The mapping; empty for any other value."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> "list[LocatedValue]":
        """The list; empty for any other value."""
        return self.value if isinstance(self.value, list) else []

    @property
    def text(self) -> str:
        """The text; empty for any other value."""
        return self.value if isinstance(self.value, str) else ""

    def plain(self) -> "PlainValue":
        """The value without lines."""
        if isinstance(self.value, dict):
            return {key: one.plain() for key, one in self.value.items()}
        return [one.plain() for one in self.value] if isinstance(self.value, list) else self.value


PlainValue: TypeAlias = "str | list[PlainValue] | dict[str, PlainValue] | None"


def located_documents(source: SourceText) -> list[LocatedValue]:
    """The documents of a text that are not empty. Raises :class:`RefusedInputError` for a text that is not YAML."""
    try:
        return list(_DocumentBuilder(source).documents())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"this is not YAML: {error.problem or error.context}"
        raise RefusedInputError(source.problem(mark.index if mark else 0, message)) from None
    except yaml.YAMLError as error:
        message = f"this is not YAML: {getattr(error, 'reason', None) or 'it has a character that YAML does not allow'}"
        raise RefusedInputError(source.problem(getattr(error, "position", 0), message)) from None


class _DocumentBuilder:
    """Builds values from the parser's events."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        # JSON may be indented by tabs, YAML may not; inside a value of JSON there are none.
        text = source.text.replace("\t", " ") if source.text.lstrip()[:1] in {"{", "["} else source.text
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._nodes = 0

    def documents(self) -> Iterator[LocatedValue]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                document = self._node(next(self._events), DEPTH)
                if document.value is not None:
                    yield document

    def _refused(self, event: yaml.Event, message: str) -> RefusedInputError:
        return RefusedInputError(self._source.problem(_offset(event), message))

    def _node(self, event: yaml.Event, depth: int) -> LocatedValue:
        self._nodes += 1
        if self._nodes > _NODES:
            raise self._refused(event, f"there are more than {_NODES} values")
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor is not None:
            raise self._refused(event, "anchors and aliases are not supported: write the value out")
        if event.tag is not None:
            raise self._refused(event, f"tags are not supported: {quote(event.tag)}")
        at = self._source.line(_offset(event))
        if isinstance(event, yaml.ScalarEvent):
            nothing = event.implicit[0] and event.value in _NOTHING
            return LocatedValue(at, None if nothing else straight(event.value))
        if not depth:
            raise self._refused(event, f"nested more than {DEPTH} levels deep")
        if isinstance(event, yaml.SequenceStartEvent):
            return LocatedValue(at, list(self._items(depth - 1)))
        return LocatedValue(at, self._mapping(depth - 1))

    def _items(self, depth: int) -> Iterator[LocatedValue]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth)

    def _mapping(self, depth: int) -> dict[str, LocatedValue]:
        mapping: dict[str, LocatedValue] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth)
            if not isinstance(key.value, str):
                template = ", and {{...}} of a template must be filled in first" if isinstance(key.value, dict) else ""
                raise self._refused(event, f"a key must be a word{template}")
            if key.value in mapping:
                raise self._refused(event, f"{quote(key.value)} occurs twice")
            mapping[key.value] = self._node(next(self._events), depth)
        return mapping


def _offset(event: yaml.Event) -> int:
    """The offset in the text at which the event begins."""
    return event.start_mark.index if event.start_mark else 0


def straight(text: str) -> str:
    """The text without a pair of typographic quotes around it."""
    for opening, closing in _CURLY:
        if len(text) > 1 and text.startswith(opening) and text.endswith(closing) and closing not in text[1:-1]:
            return text[1:-1]
    return text


def refused_at(at: InputLine, message: str) -> RefusedInputError:
    """The refusal of what is at that line."""
    return RefusedInputError(Problem(str(at), message))
