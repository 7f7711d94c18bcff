"""Reads YAML documents as plain Python values, with PyYAML's C parser and limits on nesting.

Values are those of PyYAML's safe loader, except that dates stay text, because JSON has no dates. The values are built
from the parser's events in this module: PyYAML's own composer crashes the process on deep nesting, and takes six times
as long.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from msgspec import Struct

DEPTH_LIMIT = 200
"""Levels of nesting of one document; schemas of CustomResourceDefinitions reach some sixty, pods twelve."""

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_STRING = "tag:yaml.org,2002:str"
_START = re.compile(rb"^(?=---(?:\s|$))", re.MULTILINE)
"""The beginning of a document: three dashes in the first column always begin one, even inside a block of text."""


class UnreadableDocument(Struct, frozen=True, gc=False):
    """A document that is not YAML, or exceeds a limit; ``reason`` names the line."""

    reason: str


class _Loader(yaml.CSafeLoader):
    """PyYAML's safe loader, except that dates stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


class _NotReadError(Exception):
    """A document holds something that is not read; ``line`` counts from 0 within its text."""

    def __init__(self, event: yaml.Event, message: str) -> None:
        super().__init__(message)
        self.line = event.start_mark.line if event.start_mark else 0


def documents(content: bytes) -> Iterator[object]:
    """Every document that is not empty; :class:`UnreadableDocument` in place of one that cannot be read."""
    line = 1
    for text in _START.split(content):
        if text.strip():
            yield from _read(text, line)
        line += text.count(b"\n")


def _read(text: bytes, line: int) -> Iterator[object]:
    """The documents of a piece of the file that begins at ``line``: one, or several if ``...`` separates them."""
    try:
        for document in _Builder(text).documents():
            if document is not None:
                yield document
    except _NotReadError as error:
        yield UnreadableDocument(f"line {line + error.line}: {error}")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {line + mark.line}, column {mark.column + 1}: " if mark else ""
        yield UnreadableDocument(f"{place}{error.problem or error.context}")
    except yaml.YAMLError as error:
        yield UnreadableDocument(" ".join(str(error).split()))


class _Builder:
    """Builds Python values from the parser's events for one text."""

    def __init__(self, text: bytes) -> None:
        self._loader = _Loader(text)
        self._next: Callable[[], Any] = self._loader.get_event
        self._resolve: Callable[..., str] = self._loader.resolve
        self._anchors: dict[str, object] = {}
        self._plain: dict[str, object] = {}

    def documents(self) -> Iterator[object]:
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors.clear()
                yield self._node(self._next(), 0)

    def _node(self, event: yaml.Event, depth: int) -> object:
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _NotReadError(event, f"the alias *{event.anchor} has no anchor")
            return self._anchors[event.anchor]
        elif depth >= DEPTH_LIMIT:
            raise _NotReadError(event, f"nested more than {DEPTH_LIMIT} levels deep")
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(depth + 1)
        else:
            value = self._sequence(depth + 1)
        if anchor := getattr(event, "anchor", None):
            self._anchors[anchor] = value
        return value

    def _sequence(self, depth: int) -> list[object]:
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[object, object]:
        mapping: dict[object, object] = {}
        merged: list[object] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _NotReadError(event, "a key must be a plain value")
            if event.value == "<<" and event.implicit[0]:
                value = self._node(self._next(), depth)
                merged += value if isinstance(value, list) else [value]
                continue
            key = self._scalar(event)
            if key in mapping:
                raise _NotReadError(event, f"the key {event.value} occurs twice")
            mapping[key] = self._node(self._next(), depth)
        for other in merged:
            if isinstance(other, dict):
                mapping = {**other, **mapping}
        return mapping

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text: str = event.value
        if not event.implicit[0]:
            if event.tag not in {None, _STRING}:
                raise _NotReadError(event, f"the tag {event.tag} is not supported")
            return text
        if text not in self._plain:
            tag = self._resolve(yaml.ScalarNode, text, (True, False))
            try:
                self._plain[text] = self._loader.construct_document(yaml.ScalarNode(tag, text))
            except ValueError:
                raise _NotReadError(event, f"{text[:80]} is not a value of {tag.rpartition(':')[2]}") from None
        return self._plain[text]
