"""``WorkerJudge``: what the worker does with each message; it waits for nothing but messages."""

import contextlib
import socket
import time
import traceback
from collections import deque
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.answer import Answer, ClassQuestion, RightsQuestion, WholeQuestion, WorkloadsQuestion
from webhook.admission.validate import validate
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.messages import (
    ApiReply,
    Asking,
    Failed,
    Forget,
    FromWorker,
    Judge,
    JudgedReview,
    MessageReader,
    ToWorker,
    written,
)
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.queries.review_queries import Findable
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.pod_defaults.pod_defaults import PodDefaults

_PIECE: Final = 1 << 18
"""Bytes that are read at a time."""


class _AskedReview(Struct, frozen=True):
    """A review whose question the API server is asked."""

    answer: Answer
    question: Findable
    end: float


class WorkerJudge:
    """Judges reviews of ``/validate`` over an inventory that it alone changes, as it is told."""

    def __init__(self, inventory: Inventory, policy: Policy, changes: ChangeLog) -> None:
        self._inventory = inventory
        self._policy = policy
        self._changes = changes
        self._waiting: dict[int, _AskedReview] = {}

    def take(self, message: ToWorker) -> FromWorker | None:
        """What there is to say to the message."""
        if isinstance(message, InventoryChange):
            self._change(message)
            return None
        if isinstance(message, Forget):
            self._waiting.pop(message.number, None)
            return None
        try:
            return self._judged(message) if isinstance(message, Judge) else self._resumed(message)
        except Exception:  # noqa: BLE001 -- the server decides what to do without an answer
            return Failed(message.number, traceback.format_exc())

    def _change(self, change: InventoryChange) -> None:
        with contextlib.suppress(Exception):  # the same was raised in the server, which has said so
            self._changes.apply(change, self._inventory)

    def _judged(self, message: Judge) -> FromWorker:
        answer = validate(message.body, self._inventory, self._policy)
        return self._going_on(message.number, answer, message.end)

    def _resumed(self, message: ApiReply) -> FromWorker | None:
        waiting = self._waiting.pop(message.number, None)
        if waiting is None:
            return None
        return self._going_on(message.number, _with_reply(waiting.answer, waiting.question, message.value), waiting.end)

    def _going_on(self, number: int, answer: Answer, end: float) -> FromWorker:
        """The final answer, or the next question that is for the API server."""
        while isinstance(answer.question, WholeQuestion):
            answer = finished(_decided(answer.question, AtOnce(end - time.monotonic())))
        question = answer.question
        if question is None:
            return JudgedReview(number, answer)
        if not isinstance(question, Findable):
            raise TypeError(f"no whole Job depends on a {type(question).__name__}")
        self._waiting[number] = _AskedReview(answer, question, end)
        return Asking(number, _asked(question))


async def _decided(question: WholeQuestion, solving: Solving) -> Answer:
    """The answer to the question."""
    return await question.resume(solving)


def _asked(question: Findable) -> Findable:
    """The question without what is done with the reply, which stays here."""
    if isinstance(question, RightsQuestion):
        return replace(question, resume=None, then=None)
    if isinstance(question, ClassQuestion):
        return replace(question, resume=None, known=PodDefaults())
    return replace(question, resume=None)


def _with_reply(answer: Answer, question: Findable, found: Any) -> Answer:  # noqa: ANN401 -- of each question
    """The answer once its question has a reply, as :class:`ReviewQueries` completes it."""
    if isinstance(question, RightsQuestion):
        return question.resume(found) if found else replace(answer, question=question.then)
    if isinstance(question, ClassQuestion):
        return question.resume(question.known if found is None else question.known.looked_up(*found))
    if isinstance(question, WorkloadsQuestion):
        return replace(answer, question=question.resume(found) if found else None)
    return question.resume(found)


def judge_from(channel: socket.socket, judge: WorkerJudge) -> None:
    """Answer the messages of the server until it hangs up.

    What has arrived is read before each review, so that a review that had to wait is judged by what is true at its
    turn, and one that was given up is not judged at all.
    """
    reader, waiting = MessageReader(), deque[Judge | ApiReply]()
    with contextlib.suppress(ConnectionError):
        while True:
            try:
                piece = channel.recv(_PIECE, socket.MSG_DONTWAIT if waiting else 0)
            except BlockingIOError:
                reply = judge.take(waiting.popleft())
                if reply is not None:
                    channel.sendall(written(reply))
                continue
            if not piece:
                return
            for message in reader.read(piece):
                if isinstance(message, Judge | ApiReply):
                    waiting.append(message)
                    continue
                judge.take(message)
                if isinstance(message, Forget):
                    waiting = deque(one for one in waiting if one.number != message.number)
