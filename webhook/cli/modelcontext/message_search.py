"""Looks up a message in the catalogue of all texts that the product says, to tell what it is about.

The catalogue, ``messages.json`` beside this file, is written by ``python -m tools.messages`` from the code. In its
texts an ellipsis stands for what is put in.
"""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

CATALOGUE: Final = Path(__file__).with_name("messages.json")

_GAP: Final = "…"
"""Stands for what is put into a text."""

_BREAK: Final = " / "
"""Stands between the lines of a text in the catalogue."""

LEAST: Final = 12
"""Characters of a text's own words that a message must have, so that "is not …" does not match everything."""

MOST: Final = 5
"""Texts that one message is explained by: a refusal has a line for each rule, and a fix."""


MESSAGE_LIMIT: Final = 20_000
"""Characters of a message: a refusal has a few hundred, that of a large Job some thousand."""


class MessageArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """What ``explain_message`` is given."""

    message: Annotated[
        str, Meta(min_length=1, max_length=MESSAGE_LIMIT, description="The text as it was shown, or a part of it.")
    ]


class MessageTopic(Struct, frozen=True):
    """Texts about one thing, and what to do about them; pages are named from the root of the repository."""

    heading: str
    advice: str
    texts: tuple[str, ...]


class MessageMatch(Struct, frozen=True):
    """A text that a message contains: the text, what it is about, and what to do."""

    text: str
    topic: str
    advice: str


class MessageExplanation(Struct, frozen=True):
    """The texts that a message consists of, those with the most words first; none if the product does not say it."""

    matches: tuple[MessageMatch, ...]


def explain_message(message: str) -> MessageExplanation:
    """The texts of the catalogue that the message contains.

    Takes time in proportion to the message and the catalogue: each text is searched once, from left to right.
    """
    said = " ".join(message.split())
    matches = sorted(_matching(said), key=lambda match: -own_length(match.text))
    return MessageExplanation(tuple(matches[:MOST]))


def _matching(said: str) -> Iterator[MessageMatch]:
    for topic in read_catalogue():
        for text in topic.texts:
            if own_length(text) >= LEAST and _contains(said, text):
                yield MessageMatch(text, topic.heading, topic.advice)


def _contains(said: str, text: str) -> bool:
    """Whether the words of the text occur in the message in their order."""
    place = 0
    for part in _parts(text):
        place = said.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


@functools.cache
def _parts(text: str) -> tuple[str, ...]:
    """What the text says itself, between what is put in."""
    plain = text.replace(_BREAK, " ")
    return tuple(part for part in map(str.strip, plain.split(_GAP)) if part)


def own_length(text: str) -> int:
    """Characters that the text says itself."""
    return sum(map(len, _parts(text)))


@functools.cache
def read_catalogue() -> tuple[MessageTopic, ...]:
    """All topics."""
    return msgspec.json.decode(CATALOGUE.read_bytes(), type=tuple[MessageTopic, ...])
