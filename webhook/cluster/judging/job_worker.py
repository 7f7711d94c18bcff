"""``JobWorker``: whole Jobs judged in a process of their own, or else in this one.

The worker is started when a Job comes, and ended when none has come for a while, or when it fails; a Job that it does
not answer is judged here, in slices. So a Job never goes without an answer, and a cluster without Jobs pays nothing.
"""

import asyncio
import enum
import functools
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from kubeapi.client.errors import ApiError
from webhook.admission.answer import Answer, Question, WholeQuestion, WorkloadsQuestion
from webhook.admission.review import UnreadableReviewError, read_review, subject_of
from webhook.admission.unstructured import Unstructured
from webhook.admission.validate import validate
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.channel import Channel, ChannelFullError
from webhook.cluster.judging.forked import Forked, forked
from webhook.cluster.judging.messages import (
    ApiReply,
    Asking,
    Failed,
    Forget,
    FromWorker,
    Judge,
    ToWorker,
    UnsendableError,
)
from webhook.cluster.judging.worker_judge import WorkerJudge, judge_from
from webhook.cluster.queries.job_verdicts import SECONDS
from webhook.cluster.queries.review_queries import ReviewQueries, undetermined
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.api_kinds import STREAMS_JOB

LARGE: Final = 64 * 1024
"""Bytes of a body that is not even decoded here if it is that of a Job."""

IDLE: Final = 30.0
"""Seconds without a Job after which the worker is ended: each change of the cluster costs as long as it runs.

It stays for longer while it keeps room that applications were promised.
"""

PATIENCE: Final = 5.0
"""Seconds beyond the time for one Job in which the worker must say something if it has anything to do."""

PAUSE: Final = 10.0
"""Seconds after the worker has failed until another one is started."""

TICK: Final = 1.0
"""Seconds between two looks at the worker."""

_JOBS: Final = frozenset({subject_of(STREAMS_JOB, "CREATE"), subject_of(STREAMS_JOB, "UPDATE")})

_log = logging.getLogger(__name__)


class FallbackCause(enum.StrEnum):
    """Why a Job is judged in the server."""

    START = "start"
    """No process could be started."""
    PAUSED = "paused"
    """The last worker has just failed."""
    ENDED = "ended"
    """The worker has ended before the answer."""
    STUCK = "stuck"
    """The worker was silent for too long, and was ended."""
    FULL = "full"
    """The worker has too much to do; one that cannot keep up even with changes of the cluster was ended."""
    UNSENT = "unsent"
    """Something could not be sent to the worker, which was ended: an error in the program."""
    FAILED = "failed"
    """An error in the program, in the worker."""


class Observer(Protocol):
    """Counts starts and ends of the worker, and its answers."""

    def started(self) -> None:
        """A worker was started."""
        ...

    def fell_back(self, cause: str) -> None:
        """A Job is judged in the server for that cause."""
        ...

    def took(self, seconds: float) -> None:
        """The worker has judged a Job in so many seconds."""
        ...


class WorkerFailedError(Exception):
    """The worker does not answer, for that cause."""

    def __init__(self, cause: FallbackCause) -> None:
        super().__init__(cause)
        self.cause = cause


class _Worker:
    """A worker that runs: its process, its channel, the state of the cluster that it began with, and who tells more."""

    def __init__(self, child: Forked, channel: Channel, inventory: Inventory) -> None:
        self.pid = child.pid
        self.channel = channel
        self.inventory = inventory
        self.listener: Callable[[InventoryChange], object]


class FollowedCluster(Struct, frozen=True, eq=False):
    """The cluster in which Jobs are judged: what ``inventory`` returns now, and the log of all ``changes`` of it."""

    inventory: Callable[[], Inventory]
    policy: Policy
    changes: ChangeLog


class JobWorker:
    """Answers reviews of whole Jobs in a process of their own, which follows the ``cluster``.

    Each Job gets so many ``seconds``. ``queries`` asks the API server, and judges where the worker does not.
    """

    def __init__(
        self,
        cluster: FollowedCluster,
        queries: ReviewQueries,
        observer: Observer,
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        fork: Callable[[Callable[[socket.socket], object]], Forked] = forked,
    ) -> None:
        self._cluster = cluster
        self._queries = queries
        self._observer = observer
        self.seconds = seconds
        self._clock = clock
        self._fork = fork
        self._worker: _Worker | None = None
        self._replies: dict[int, asyncio.Future[FromWorker]] = {}
        self._number = 0
        self._used = self._heard = 0.0
        self._paused_until = self._keeping_until = 0.0
        self._ended: set[asyncio.Future[tuple[int, int]]] = set()

    @property
    def pid(self) -> int | None:
        """The process of the worker, if there is one now."""
        return self._worker.pid if self._worker else None

    def takes(self, body: bytes) -> bool:
        """Whether the review is about a Job so large that it is for the worker to decode."""
        return len(body) > LARGE and _of_job(body)

    def concerns(self, body: bytes, question: Question | None) -> bool:
        """Whether the answer to the review depends on a whole Job."""
        return question is not None and (isinstance(question, WholeQuestion) or _of_job(body))

    async def beside(self, body: bytes, answer: Answer, question: WorkloadsQuestion) -> Answer:
        """The answer about a workload together with the others of its job; unchanged if there are none.

        Most workloads have none, so they are listed before a worker is started.
        """
        begun = self._clock()
        listed = await self._queries.found_out(question)
        return await self.answer(body, listed, begun) if listed else answer

    async def answer(
        self, body: bytes, listed: Sequence[Unstructured] | None = None, begun: float | None = None
    ) -> Answer:
        """The answer to a review of ``/validate``: the worker's, or else one of this process.

        ``listed`` are the other workloads of its job, if they are known. The time counts from ``begun``, or from now.
        """
        begun = self._clock() if begun is None else begun
        try:
            answer = await self._judged(body, listed, begun)
        except WorkerFailedError as failure:
            self._observer.fell_back(failure.cause)
        else:
            self._observer.took(self._clock() - begun)
            return answer
        later = self._queries.completed(validate(body, self._cluster.inventory(), self._cluster.policy), begun)
        return later if isinstance(later, Answer) else await later

    async def _judged(self, body: bytes, listed: Sequence[Unstructured] | None, begun: float) -> Answer:
        """The answer of the worker."""
        worker = self._ready()
        if worker.channel.full:
            raise WorkerFailedError(FallbackCause.FULL)
        self._number += 1
        number = self._number
        try:
            reply = await self._said(worker, number, Judge(number, body, begun + self.seconds))
            while isinstance(reply, Asking):
                known = listed if isinstance(reply.question, WorkloadsQuestion) else None
                answer = known or await self._queries.found_out(reply.question)
                reply = await self._said(worker, number, ApiReply(number, answer))
        except ApiError as failure:
            self._forget(worker, number)
            return undetermined("whether the HostPools may be used", failure)
        except asyncio.CancelledError:  # the answer is no longer needed
            self._forget(worker, number)
            raise
        if isinstance(reply, Failed):
            _log.error("the process that judges Jobs had an error; the server decides: %s", reply.trace)
            raise WorkerFailedError(FallbackCause.FAILED)
        self._keeping_until = self._clock() + reply.keeping
        return reply.answer

    async def _said(self, worker: _Worker, number: int, message: Judge | ApiReply) -> FromWorker:
        """What the worker says to the message."""
        if worker is not self._worker:  # it has failed while the API server was asked
            raise WorkerFailedError(FallbackCause.ENDED)
        self._used = self._clock()
        if not self._replies:
            self._heard = self._used
        reply: asyncio.Future[FromWorker] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        try:
            self._send(worker, message)
            return await reply
        finally:
            self._replies.pop(number, None)

    def _forget(self, worker: _Worker, number: int) -> None:
        if worker is self._worker:
            self._send(worker, Forget(number))

    def _ready(self) -> _Worker:
        """The worker, which is started if none runs."""
        if self._worker is not None and self._worker.inventory is not self._cluster.inventory():
            self.end()  # another snapshot was read
        if self._worker is None:
            if self._clock() < self._paused_until:
                raise WorkerFailedError(FallbackCause.PAUSED)
            self._worker = self._started()
        return self._worker

    def _started(self) -> _Worker:
        inventory, changes = self._cluster.inventory(), self._cluster.changes
        judge = WorkerJudge(inventory, self._cluster.policy, changes)
        try:
            child = self._fork(functools.partial(judge_from, judge=judge))
        except OSError as error:
            self._paused_until = self._clock() + PAUSE
            _log.warning("the process that judges Jobs cannot be started; the server decides: %s", error)
            raise WorkerFailedError(FallbackCause.START) from error
        worker = _Worker(child, Channel(child.socket, self._take, self._lost), inventory)
        worker.listener = functools.partial(self._changed, worker)
        self._cluster.changes.listeners.append(worker.listener)
        self._observer.started()
        _log.info("process %d was started to judge Jobs", child.pid)
        return worker

    def _changed(self, worker: _Worker, change: InventoryChange) -> None:
        """Tell the worker of a change: at once if Jobs wait for their turn, else together with the next Job."""
        self._send(worker, change, now=bool(self._replies))

    def _send(self, worker: _Worker, message: ToWorker, *, now: bool = True) -> None:
        """Tell the worker: ``now``, or before the next Job."""
        try:
            worker.channel.send(message, now=now)
        except ChannelFullError:
            self._fail(FallbackCause.FULL)
        except UnsendableError as error:
            _log.error("a message to the process that judges Jobs cannot be sent: %s", error)
            self._fail(FallbackCause.UNSENT)

    def _take(self, message: FromWorker) -> None:
        self._heard = self._clock()
        reply = self._replies.pop(message.number, None)
        if reply is not None and not reply.done():
            reply.set_result(message)

    def _lost(self) -> None:
        """The worker has ended by itself."""
        self._fail(FallbackCause.ENDED)

    def _fail(self, cause: FallbackCause) -> None:
        """End the worker; those who wait for it are told the cause."""
        _log.warning("the process that judges Jobs failed (%s); the server decides", cause)
        self._paused_until = self._clock() + PAUSE
        self.end(cause)

    def end(self, cause: FallbackCause = FallbackCause.ENDED, *, kill: bool = True) -> None:
        """End the worker, if there is one; those who wait for it are told the cause.

        Unless it is killed it ends when it has done what it is about.
        """
        worker, self._worker = self._worker, None
        if worker is None:
            return
        self._cluster.changes.listeners.remove(worker.listener)
        worker.channel.close()
        if kill:
            os.kill(worker.pid, signal.SIGKILL)
        waiting = asyncio.ensure_future(asyncio.to_thread(os.waitpid, worker.pid, 0))
        self._ended.add(waiting)
        waiting.add_done_callback(self._ended.discard)
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(WorkerFailedError(cause))

    async def run(self) -> None:
        """End a worker that has nothing to do, or does nothing; and in the end any."""
        try:
            while True:
                await asyncio.sleep(TICK)
                self.look()
        finally:
            self.end()
            if self._ended:
                await asyncio.wait(self._ended)

    def look(self) -> None:
        """End the worker if it has nothing to do, or does nothing."""
        if self._worker is None:
            return
        now = self._clock()
        if not self._replies:
            if now - self._used > IDLE and now > self._keeping_until:
                self.end(kill=False)
        elif now - self._heard > self.seconds + PATIENCE:
            self._fail(FallbackCause.STUCK)


def _of_job(body: bytes) -> bool:
    """Whether the review is about a Job that is created or changed."""
    try:
        return read_review(body).subject in _JOBS
    except UnreadableReviewError:
        return False
