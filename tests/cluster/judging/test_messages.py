"""Messages on a socket arrive whole, however they are cut, and whatever object of the cluster they are about."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import fields

from tests.builders import node
from tests.cluster.judging.watched_objects import watched_objects
from webhook.admission.answer import Answer, Outcome
from webhook.cluster.judging.changes import InventoryChange
from webhook.cluster.judging.messages import FromWorker, Judge, JudgedReview, MessageReader, ToWorker, written
from webhook.cluster.objects.kinds import KINDS, AnyKind

SENT: list[ToWorker | FromWorker] = [
    Judge(1, b"body", 2.5),
    InventoryChange(0, node()),
    JudgedReview(1, Answer(200, b"{}", Outcome.ALLOWED), keeping=60.0),
]


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_messages_are_read_from_pieces_of(size: int) -> None:
    text = b"".join(map(written, SENT))
    reader = MessageReader()
    read = [message for at in range(0, len(text), size) for message in reader.read(text[at : at + size])]
    assert read == SENT


OBJECTS = watched_objects()


def read_values(kind: AnyKind) -> list[Any]:
    """What the watch of that kind makes of the objects, without those that hold nothing."""
    read = [kind.read(item)[0] for item in OBJECTS[kind.name]]
    return [value for value in read if value is not None]


@pytest.mark.parametrize("place", range(len(KINDS)), ids=[kind.name for kind in KINDS])
def test_what_the_watch_of_a_kind_reads_arrives_at_the_worker(place: int) -> None:
    sent = [InventoryChange(place, value) for value in read_values(KINDS[place])]
    assert sent
    assert list(MessageReader().read(b"".join(map(written, sent)))) == sent


def empty(values: list[Any]) -> Iterator[str]:
    """The fields, other than amounts, flags and texts, that no value fills."""
    for field in fields(type(values[0])):
        found = [getattr(value, field.name) for value in values]
        if not any(found) and not isinstance(found[0], bool | int | str):
            yield field.name


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_the_objects_fill_every_field_that_is_kept_of_their_kind(kind: AnyKind) -> None:
    values = read_values(kind)
    assert not isinstance(values[0], Struct) or list(empty(values)) == []
