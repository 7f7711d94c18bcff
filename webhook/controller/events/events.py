"""Telling people what happens, by Events.

They are told and forgotten: writing them happens later, by itself, and what goes wrong there disturbs nobody. What is
said again counts up the Event that says it already, at most once a minute. Namespaces take turns, and of too many
Events those are dropped whose namespace has most of them.
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
"""Events that are remembered at a time (client-go lets as many wait): two megabytes at most."""

QUIET: Final = 60.0
"""Seconds between two writes about the same."""

PER_SECOND: Final = 5.0
BURST: Final = 50
"""Events in the long run, and at once: each one is a write to etcd, and stays there for an hour."""

_log: Final = logging.getLogger(__name__)


class Target(Protocol):
    """Where Events go; whatever goes wrong is a :class:`ApiError`."""

    async def create(self, path: str, body: object) -> bytes:
        """Add an object."""
        ...

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Change one; MISSING if it is no more."""
        ...


class _Sent(Struct):
    """How often it was said, how many of these times can be seen, and when that was last written, by our clock."""

    path: str = ""
    count: int = 0
    seen: int = 0
    at: float = float("-inf")


class Events:
    """Tells people what ``controller`` does, a name such as ``streams.ibm.com/hostpools``; ``instance`` is a process.

    ``written``, ``failed`` and ``dropped`` count what became of what was told.
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
        """Something went as it should; ``reason`` is one word in CamelCase, ``action`` what was being done."""
        self._tell("Normal", regarding, reason, note, action)

    def warning(self, regarding: Regarding, reason: str, note: str, *, action: str = "Reconcile") -> None:
        """Something did not."""
        self._tell("Warning", regarding, reason, note, action)

    async def run(self) -> None:
        """Write what is told, until cancelled."""
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
        self._sent[said] = sent  # behind all others: said last
        sent.count += 1
        self._queue.add_after(said, sent.at + QUIET - self._clock())

    def _room(self, namespace: str) -> _Sent | None:
        """A place for one more: where need be that of what can be seen, and was not said for longest.

        Else that of a namespace that has more than any other, which may be the one that asks: then there is none.
        """
        if len(self._sent) >= self._known:
            old = next((said for said, sent in self._sent.items() if sent.seen == sent.count), None)
            if old is None:
                [(crowd, _)] = Counter(map(_namespace, self._sent)).most_common(1)
                if crowd == namespace:
                    return None
                old = next(said for said in self._sent if _namespace(said) == crowd)
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
            self._sent.pop(said, None)  # unless it is said again, nobody will miss it
            _log.warning("an event about %s %s is not written: %s", said.regarding.kind, said.regarding.name, failure)
        else:
            self.written += 1
            sent.seen = count

    async def _put(self, said: EventKey, sent: _Sent) -> None:
        """Count the Event up; or create it, perhaps again, as its life is short."""
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
    """Whose Event it is."""
    return said.regarding.namespace
