"""Messages on a socket arrive whole, however they are cut."""

import pytest

from tests.builders import node
from webhook.admission.responses import Answer, Outcome
from webhook.cluster.judging.changes import InventoryChange
from webhook.cluster.judging.messages import FromWorker, Judge, JudgedReview, MessageReader, ToWorker, written

SENT: list[ToWorker | FromWorker] = [
    Judge(1, b"body", 2.5),
    InventoryChange(0, node()),
    JudgedReview(1, Answer(200, b"{}", Outcome.ALLOWED)),
]


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_messages_are_read_from_pieces_of(size: int) -> None:
    text = b"".join(map(written, SENT))
    reader = MessageReader()
    read = [message for at in range(0, len(text), size) for message in reader.read(text[at : at + size])]
    assert read == SENT
