"""Event recorder: queues Events of events.k8s.io/v1 and writes them in the background (client-go, ``tools/events``).

Callers never wait and never see a failed write. A repeated Event raises the count in ``series`` of the Event that is
stored, with at most one write a minute. Namespaces take turns; when too many Events wait, Events of the namespace with
the most of them are dropped.
"""

import asyncio
import logging
import time
from collections import Counter
from typing import Final, Literal, Protocol

from msgspec import Struct

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock, micro_time
from webhook.controller.events.event import EventKey, Regarding, bounded, series
from webhook.controller.workqueue.queue import Queue
from webhook.controller.workqueue.retries import Bucket
from webhook.controller.workqueue.workers import run_workers

KNOWN: Final = 1000
"""Distinct Events kept in memory (client-go queues as many): two megabytes at most."""

QUIET: Final = 60.0
"""Seconds between two writes of one Event."""

PER_SECOND: Final = 5.0
BURST: Final = 50
"""Writes a second in the long run, and writes at once: an Event is a write to etcd and is stored there for an hour."""

_log: Final = logging.getLogger(__name__)


class Target(Protocol):
    """The API server as the recorder uses it; every failure is an :class:`ApiError`."""

    async def create(self, path: str, body: object) -> bytes:
        """Create an object in the collection."""
        ...

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Apply a merge patch to an object; the error's cause is MISSING if the object does not exist any more."""
        ...


class _Sent(Struct):
    """Occurrences of one Event: ``count`` recorded, ``seen`` of them written, the last write ``at`` that clock time."""

    path: str = ""
    count: int = 0
    seen: int = 0
    at: float = float("-inf")


class Events:
    """The recorder for ``controller``, a name such as ``streams.ibm.com/hostpools``; ``instance`` names the process.

    ``written``, ``failed`` and ``dropped`` count Events by outcome.
    """

    def __init__(
        self, target: Target, *, controller: str, instance: str, known: int = KNOWN, clock: Clock = time.monotonic
    ) -> None:
        self.written = 0
        self.failed = 0
        self.dropped = 0
        self._target = target
        self._controller = controller
        self._instance = instance
        self._known = known
        self._clock = clock
        self._sent: dict[EventKey, _Sent] = {}
        self._queue: Queue[EventKey] = Queue(flow=_namespace, clock=clock)
        self._bucket = Bucket(PER_SECOND, BURST, clock=clock)

    def normal(self, regarding: Regarding, reason: str, note: str, *, action: str = "Reconcile") -> None:
        """Record an Event of type Normal; ``reason`` is one CamelCase word, ``action`` what was being done."""
        self._tell("Normal", regarding, reason, note, action)

    def warning(self, regarding: Regarding, reason: str, note: str, *, action: str = "Reconcile") -> None:
        """Record an Event of type Warning."""
        self._tell("Warning", regarding, reason, note, action)

    async def run(self) -> None:
        """Write recorded Events until cancelled."""
        await run_workers(self._queue, self._write, name="event", workers=1)

    def _tell(
        self, kind: Literal["Normal", "Warning"], regarding: Regarding, reason: str, note: str, action: str
    ) -> None:
        said = EventKey(
            controller=self._controller,
            instance=self._instance,
            regarding=regarding,
            type=kind,
            reason=reason,
            action=action,
            note=bounded(note),
        )
        sent = self._sent.pop(said, None) or self._room(regarding.namespace)
        if sent is None:
            self.dropped += 1
            return
        self._sent[said] = sent  # behind all others: recorded last
        sent.count += 1
        self._queue.add_after(said, sent.at + QUIET - self._clock())

    def _room(self, namespace: str) -> _Sent | None:
        """Room in memory for one more Event of the namespace; ``None`` if the Event has to be dropped.

        When the memory is full, the oldest Event that is wholly written is forgotten. If none is, the oldest Event of
        the namespace with the most Events is dropped, or the new one if that namespace is its own.
        """
        if len(self._sent) >= self._known:
            old = next((said for said, sent in self._sent.items() if sent.seen == sent.count), None)
            if old is None:
                [(largest, _)] = Counter(map(_namespace, self._sent)).most_common(1)
                if largest == namespace:
                    return None
                old = next(said for said in self._sent if _namespace(said) == largest)
                self.dropped += 1
            del self._sent[old]
        return _Sent()

    async def _write(self, said: EventKey) -> None:
        sent = self._sent.get(said)
        if sent is None or sent.seen == sent.count:
            return
        await asyncio.sleep(self._bucket.take())
        count, sent.at = sent.count, self._clock()
        try:
            await self._put(said, sent)
        except ApiError as failure:
            self.failed += 1
            self._sent.pop(said, None)  # the next occurrence creates it again
            _log.warning("an event about %s %s was not written: %s", said.regarding.kind, said.regarding.name, failure)
        else:
            self.written += 1
            sent.seen = count

    async def _put(self, said: EventKey, sent: _Sent) -> None:
        """Raise the stored Event's count, or create the Event, also again when the stored one has expired."""
        now = micro_time()
        again = series(sent.count, now)
        if sent.path:
            try:
                await self._target.merge_patch(sent.path, again)
            except ApiError as failure:
                if failure.cause is not Cause.MISSING:
                    raise
            else:
                return
        document = said.document(now)
        await self._target.create(said.collection, {**document, **again})
        sent.path = f"{said.collection}/{document['metadata']['name']}"


def _namespace(said: EventKey) -> str:
    """The Event's namespace, which is its flow in the queue."""
    return said.regarding.namespace
