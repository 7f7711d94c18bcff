"""``WorkerJudge``: what the worker does with each message; it waits for nothing but messages."""

import contextlib
import socket
import time
import traceback
from collections import Counter, deque
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubeapi.clock import Clock
from webhook.admission.answer import (
    Answer,
    ClassQuestion,
    Promise,
    PromisedObject,
    PromisedQuestion,
    RightsQuestion,
    WholeQuestion,
    WorkloadsQuestion,
)
from webhook.admission.checks.applications import OPERATIONS
from webhook.admission.responses import REASONS
from webhook.admission.review import MALFORMED, read_review
from webhook.admission.validate import validate
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.kept_room import KeptRoom
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
from webhook.cluster.judging.promised_applications import PromisedApplications
from webhook.cluster.objects.kinds import KINDS, NODES, POOLS
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.queries.review_queries import Findable
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.search.solver import Solving, finished
from webhook.placement.pod_defaults.pod_defaults import PodDefaults
from webhook.placement.text.api_kinds import STREAMS_JOB
from webhook.placement.text.problem import Fault

_NODES: Final = KINDS.index(NODES)
_POOLS: Final = KINDS.index(POOLS)
"""The kinds of changes of nodes and of HostPools."""

_PIECE: Final = 1 << 18
"""Bytes that are read at a time."""

MOST: Final = 1000
"""Pods whose room is kept at most: each costs some 0.03 ms where it is put into the inventory, or taken out."""

STORED: Final = 0.5
"""Seconds after which an admitted object counts as stored, or as one that never will be.

Other webhooks may decide until then. A refusal waits for as long at most: the API server gives a review three seconds.
"""

LATE: Final = 5.0
"""Seconds after which an object that is not there was not refused by another webhook or a quota, but deleted."""

SHARE: Final = 0.5
"""Of the time for a review so much is spent at most on other nodes for room that was promised before and is taken."""

ASKED: Final = 20
"""Objects that are asked about at most, for one refusal: no others keep their room from what is refused."""


class _OwnerUid(Struct, frozen=True, gc=False):
    uid: str = ""


class _OwnedUidMetadata(Struct, frozen=True, gc=False, rename="camel"):
    uid: str = ""
    owner_references: tuple[_OwnerUid, ...] | None = None


class _OwnedUidObject(Struct, frozen=True, gc=False):
    metadata: _OwnedUidMetadata = _OwnedUidMetadata()


class _JudgedBody(Struct, frozen=True):
    """A review that is judged until ``end``, which was ``seconds`` away at first.

    The room that was promised to ``unheeded`` objects counts as free for it; ``owners`` are the object itself and its
    owners among these. ``stored`` are the uids of those that are known to be stored, ``None`` before it was asked.
    """

    number: int
    body: bytes
    end: float
    seconds: float
    unheeded: tuple[PromisedObject, ...] = ()
    owners: tuple[PromisedObject, ...] = ()
    stored: frozenset[str] | None = None


class _AskedReview(Struct, frozen=True):
    """A review whose question the API server is asked; a refusal beside what was ``promised`` to these objects."""

    review: _JudgedBody
    answer: Answer
    question: Findable | PromisedQuestion
    promised: tuple[PromisedObject, ...] = ()


class WorkerJudge:
    """Judges reviews of ``/validate`` over an inventory that it alone changes, as it is told.

    In that inventory stand-ins keep the room that applications were promised. Whole applications and Jobs are judged
    beside these, all other objects without them.
    """

    def __init__(self, inventory: Inventory, policy: Policy, changes: ChangeLog, clock: Clock = time.monotonic) -> None:
        self._inventory = inventory
        self._policy = policy
        self._changes = changes
        self._waiting: dict[int, _AskedReview] = {}
        self._room: KeptRoom[PromisedObject] = KeptRoom(inventory, clock, MOST)
        self._promised = PromisedApplications(inventory, self._room)

    def take(self, message: ToWorker) -> FromWorker | None:
        """What there is to say to the message."""
        if isinstance(message, InventoryChange):
            self._change(message)
            return None
        if isinstance(message, Forget):
            self._waiting.pop(message.number, None)
            return None
        try:
            return self._begun(message) if isinstance(message, Judge) else self._resumed(message)
        except Exception:  # noqa: BLE001 -- the server decides what to do without an answer
            return Failed(message.number, traceback.format_exc())

    def _change(self, change: InventoryChange) -> None:
        pod = change.value if isinstance(change.value, PodInfo) else None
        bound = pod is not None and bool(pod.node) and not self._inventory.has_pod(pod.uid)
        node = change.value if isinstance(change.value, Node) else None
        before = self._inventory.nodes.get(node.name) if node else None
        name = _pool_name(change)
        pool = self._inventory.pools.get(name) if name else None
        with contextlib.suppress(Exception):  # the same was raised in the server, which has said so
            self._changes.apply(change, self._inventory)
        if pod is not None and bound:
            self._promised.bound(pod)
        elif node is not None:
            self._promised.node_changed(before, node)
        elif name is not None:
            self._promised.pool_changed(pool, self._inventory.pools.get(name))
        elif change.gone:
            self._promised.freed = True
            if change.kind == _NODES:
                self._promised.node_gone(str(change.value))

    def _begun(self, message: Judge) -> FromWorker:
        self._room.expire()
        return self._judged(_JudgedBody(message.number, message.body, message.end, message.end - time.monotonic()))

    def _judged(self, review: _JudgedBody) -> FromWorker:
        """What there is to say to the review, from the beginning."""
        review = self._by_now(review)
        with self._room.without(review.unheeded):
            return self._going_on(review, validate(review.body, self._inventory, self._policy))

    def _by_now(self, review: _JudgedBody) -> _JudgedBody:
        """The review with those whose room counts as free, of all that are promised room by now.

        Room of the others that was taken is looked for elsewhere first, in a part of the time for the review.
        """
        owners, stored = self._owners(review.body), review.stored
        others = [one for one in self._room.holders() if one not in owners]
        if others:
            self._promised.settle((review.end - time.monotonic()) * SHARE)
        doubted = [] if stored is None else [one for one in others if one.uid not in stored]
        return replace(review, owners=owners, unheeded=(*owners, *doubted))

    def _owners(self, body: bytes) -> tuple[PromisedObject, ...]:
        """The object itself and its owners; all that are promised room for what is promised none."""
        promised = self._room.holders()
        if not promised:
            return ()
        review = read_review(body)
        whole = not review.subresource and review.operation in OPERATIONS
        kind = review.kind.group, review.kind.kind
        if not whole or (kind not in self._policy.kinds and kind != (STREAMS_JOB.group, STREAMS_JOB.name)):
            return tuple(promised)
        try:
            metadata = msgspec.json.decode(review.object, type=_OwnedUidObject).metadata
        except MALFORMED:
            return ()  # what is wrong with it is for the checks to say
        own = {metadata.uid, *(owner.uid for owner in metadata.owner_references or ())}
        return tuple(one for one in promised if one.namespace == review.namespace and one.uid in own)

    def _resumed(self, message: ApiReply) -> FromWorker | None:
        waiting = self._waiting.pop(message.number, None)
        if waiting is None:
            return None
        if isinstance(waiting.question, PromisedQuestion):
            return self._certain(waiting, waiting.question, message.value)
        review = self._by_now(waiting.review)
        with self._room.without(review.unheeded):
            return self._going_on(review, _with_reply(waiting.answer, waiting.question, message.value))

    def _certain(self, waiting: _AskedReview, asked: PromisedQuestion, stored: Collection[str]) -> FromWorker:
        """What there is to say once it is known which of the objects, that were promised room, are stored.

        What is not, loses its room; what was not asked about, or was promised meanwhile, keeps it from others only.
        """
        ages = self._room.holders()
        for one in asked.objects:
            if one in ages and one.uid not in stored:
                (self._room.give_up if ages[one] > LATE else self._room.release)(one)
        if any(one.uid not in stored for one in waiting.promised):
            end = time.monotonic() + waiting.review.seconds
            return self._judged(replace(waiting.review, stored=frozenset(stored), end=end))
        return JudgedReview(waiting.review.number, waiting.answer, self._room.left)

    def _going_on(self, review: _JudgedBody, answer: Answer) -> FromWorker:
        """The final answer, or the next question that is for the API server."""
        while isinstance(answer.question, WholeQuestion):
            answer = finished(_decided(answer.question, AtOnce(review.end - time.monotonic())))
        question = answer.question
        if question is None:
            return self._final(review, answer)
        if not isinstance(question, Findable):
            raise TypeError(f"no whole Job depends on a {type(question).__name__}")
        self._waiting[review.number] = _AskedReview(review, answer, question)
        return Asking(review.number, _asked(question))

    def _final(self, review: _JudgedBody, answer: Answer) -> FromWorker:
        """The answer, after which its room is kept; of a refusal it is asked first whether promised room is needed."""
        if answer.promise is not None:
            self._keep(review, answer.promise)
            answer = replace(answer, promise=None)
        if review.stored is None and answer.reason == REASONS[Fault.FORBIDDEN]:
            ages = {one: age for one, age in self._room.holders().items() if one not in review.unheeded}
            if ages:
                doubted = _in_turn(ages)[:ASKED]
                patience = max(STORED - min(ages[one] for one in doubted), 0.0)
                question = PromisedQuestion(doubted, patience)
                self._waiting[review.number] = _AskedReview(review, answer, question, tuple(ages))
                return Asking(review.number, question)
        return JudgedReview(review.number, answer, self._room.left)

    def _keep(self, review: _JudgedBody, promise: Promise) -> None:
        """Keep the room of the object, in place of that of an owner, from which it was made.

        What has more pods than may be kept is promised nothing, so that nothing is made of its many pods.
        """
        spent = [self._room.spent(owner) for owner in review.owners]
        for owner in review.owners:
            self._room.release(owner)
        made = promise.object
        if sum(map(len, promise.placed.slots)) > MOST or not self._room.relies_on(made.namespace):
            return
        self._promised.hold(promise, passed=max(spent, default=0.0))


def _pool_name(change: InventoryChange) -> Name | None:
    """The namespace and name of the HostPool that came, changed or is gone."""
    if change.kind != _POOLS or change.listed:
        return None
    if isinstance(change.value, Pool):
        return change.value.namespace, change.value.name
    namespace, _, name = str(change.value).partition("/")
    return namespace, name


def _in_turn(objects: Iterable[PromisedObject]) -> tuple[PromisedObject, ...]:
    """The first of each namespace, then the second, and so on: one namespace with many does not hide the others."""
    places = Counter[str]()

    def place(one: PromisedObject) -> int:
        places[one.namespace] += 1
        return places[one.namespace]

    return tuple(sorted(objects, key=place))


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


def _with_reply(answer: Answer, question: Findable, reply: Any) -> Answer:  # noqa: ANN401 -- of each question
    """The answer once its question has a reply, as :class:`ReviewQueries` completes it."""
    if isinstance(question, RightsQuestion):
        return question.resume(reply) if reply else replace(answer, question=question.then)
    if isinstance(question, ClassQuestion):
        return question.resume(question.known if reply is None else question.known.looked_up(*reply))
    if isinstance(question, WorkloadsQuestion):
        return replace(answer, question=question.resume(reply) if reply else None)
    return question.resume(reply)


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
