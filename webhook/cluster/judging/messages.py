"""What the server and its worker say to each other, and how it is written on a socket.

Values are pickled: both ends are one program at one moment, and no other process has the socket.
"""

import pickle
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from webhook.admission.answer import Answer, PromisedQuestion
from webhook.cluster.judging.changes import InventoryChange
from webhook.cluster.queries.review_queries import Findable

_LENGTH: Final = 4
"""Bytes of the length before each message."""


class Judge(Struct, frozen=True):
    """To the worker: the body of a review of ``/validate``, to be decided until the monotonic clock reaches ``end``."""

    number: int
    body: bytes
    end: float


class ApiReply(Struct, frozen=True):
    """To the worker: what the API server said to the question of that review."""

    number: int
    value: Any


class Forget(Struct, frozen=True):
    """To the worker: the answer to that review is no longer needed."""

    number: int


class JudgedReview(Struct, frozen=True):
    """From the worker: the answer to a review; so many seconds from now the worker keeps room that was promised."""

    number: int
    answer: Answer
    keeping: float = 0.0


class Asking(Struct, frozen=True):
    """From the worker: what the answer depends on, and only the API server knows."""

    number: int
    question: Findable | PromisedQuestion


class Failed(Struct, frozen=True):
    """From the worker: an error in the program, with its traceback."""

    number: int
    trace: str


ToWorker = InventoryChange | Judge | ApiReply | Forget
FromWorker = JudgedReview | Asking | Failed


class UnsendableError(Exception):
    """A message holds something that cannot be sent: an error in the program."""


def written(message: Struct) -> bytes:
    """The message as it is sent; raises :class:`UnsendableError`."""
    try:
        text = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # what pickle raises depends on the value
        raise UnsendableError(f"{type(message).__name__}: {error}") from error
    return len(text).to_bytes(_LENGTH, "big") + text


class MessageReader:
    """Messages read from the pieces in which they arrive."""

    def __init__(self) -> None:
        self._arrived = bytearray()

    def read(self, piece: bytes) -> Iterator[Any]:
        """The messages that are complete with this piece."""
        self._arrived += piece
        while len(self._arrived) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._arrived[:_LENGTH], "big")
            if len(self._arrived) < end:
                return
            text = bytes(self._arrived[_LENGTH:end])
            del self._arrived[:end]
            yield pickle.loads(text)  # noqa: S301 -- written by this program
