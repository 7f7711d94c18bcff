"""A controller in memory: caches that lag behind, a line to the API server that breaks, and an end at any request."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from kubeapi.leaderelection.lease_hold import LostError
from tests.apiserver.direct import DirectClient
from tests.apiserver.selectors import Selector
from tests.apiserver.storage import Change, Storage
from tests.controller.virtual_time import clock
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import AnyKind
from webhook.cluster.objects.sink import Sink
from webhook.cluster.watch.store import Store
from webhook.controller.events.event import Regarding
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.work import Work
from webhook.placement.inventory.policy import Policy

NOWHERE = float("inf")

EPOCH = 1_767_225_600.0
"""What a wall clock says at the beginning of virtual time: the year 2026."""


def wall_clock() -> float:
    """The time of a clock that is right, in seconds of Unix."""
    return clock() + EPOCH


class RecordedEvents:
    """Events, as they are told: reason and note, and what they are about."""

    def __init__(self) -> None:
        self.all: list[tuple[str, str]] = []
        self.about: list[Regarding] = []

    def normal(self, regarding: Regarding, reason: str, note: str) -> None:
        self.all.append((reason, note))
        self.about.append(regarding)

    def warning(self, regarding: Regarding, reason: str, note: str) -> None:
        self.normal(regarding, reason, note)


class FaultyApi:
    """The way to the API server. A request takes ``latency`` there and back; ``writes`` are those that were obeyed.

    Before or after the request of number ``ends`` is obeyed, the process is killed. While it is ``paused`` requests
    stay in hand: they have passed the fence, and are obeyed when it goes on.
    """

    def __init__(self, kube: Storage, *, latency: float = 0.005) -> None:
        self.requests = 0
        self.reads = 0
        self.writes: list[tuple[str, Any]] = []
        self.ends = NOWHERE
        self.stalls = NOWHERE
        """At the request of that number it is paused."""
        self.obeyed_at_the_end = False
        self.going = asyncio.Event()
        self.going.set()
        self.deposed = False
        self.dead = asyncio.Event()
        self.failures: list[Exception] = []
        """Raised one after another in place of requests."""
        self.lost: list[Exception] = []
        """The same in place of answers."""
        self.before: Callable[[str], object] = lambda _: None
        """What happens just before a change of that path is obeyed."""
        self.after: Callable[[str], object] = lambda _: None
        """The same while its answer is on its way."""
        self._client = DirectClient(kube, writer=self)
        self._latency = latency

    async def read(self, path: str) -> bytes:
        self.reads += 1
        return await self._ask(lambda: self._client.read(path))

    async def merge_patch(self, path: str, body: object) -> bytes:
        return await self._change(path, body, lambda: self._client.merge_patch(path, body))

    async def json_patch(self, path: str, operations: object) -> bytes:
        return await self._change(path, operations, lambda: self._client.json_patch(path, operations))

    async def create(self, path: str, body: object) -> bytes:
        return await self._change(path, body, lambda: self._client.create(path, body))

    async def delete(self, path: str, *, uid: str = "", version: str = "", propagation: str = "") -> bytes:
        asked = lambda: self._client.delete(path, uid=uid, version=version, propagation=propagation)  # noqa: E731
        return await self._change(path, f"delete {propagation}".strip(), asked)

    async def _change(self, path: str, body: object, change: Callable[[], bytes]) -> bytes:
        if self.deposed:
            raise LostError("somebody else leads")

        def obey() -> bytes:
            self.before(path)
            answer = change()
            self.writes.append((path, body))
            self.after(path)
            return answer

        return await self._ask(obey)

    async def _ask(self, obey: Callable[[], bytes]) -> bytes:
        self.requests += 1
        number = self.requests
        if number == self.stalls:
            self.going.clear()
        await self._way()
        last = number >= self.ends
        if last and not self.obeyed_at_the_end:
            await self._die()
        if self.failures:
            raise self.failures.pop(0)
        answer = obey()
        if last:
            await self._die()
        await self._way()
        if self.lost:
            raise self.lost.pop(0)
        return answer

    async def _way(self) -> None:
        await asyncio.sleep(self._latency)
        await self.going.wait()
        if self.dead.is_set():
            await asyncio.Event().wait()

    async def _die(self) -> None:
        self.dead.set()
        await asyncio.Event().wait()


class ControllerProcess:
    """One process; ``delays`` are the seconds by which the watch of a collection is late, ``now`` is its wall clock."""

    def __init__(
        self,
        kube: Storage,
        *,
        rules: ReconcilerSettings | None = None,
        delays: dict[str, float] | None = None,
        latency: float = 0.005,
        now: Callable[[], float] = wall_clock,
    ) -> None:
        self.line = FaultyApi(kube, latency=latency)
        self.said = RecordedEvents()
        self.of_pods = RecordedEvents()
        self.work = Work(
            self.line,
            self.said,
            rules or ReconcilerSettings(Policy()),
            of_pods=self.of_pods,
            clock=clock,
            now=now,
        )
        self._delays = delays or {}
        self._watches = [_Watched(kind, self.work.watched) for kind in self.work.kinds]
        self._by_collection: dict[str, list[_Watched]] = {}
        for watched in self._watches:
            self._by_collection.setdefault(watched.kind.path, []).append(watched)
        self._kube = kube
        for watched in self._watches:
            self._list(watched)
        kube.listeners.append(self._heard)
        self._task: asyncio.Task[None] | None = None

    def relist(self, collection: str) -> None:
        """The watches of the collection ended, and begin anew with a list."""
        for watched in self._by_collection[collection]:
            self._list(watched)

    def _list(self, watched: "_Watched") -> None:
        watched.coming.clear()
        watched.store.begin()
        for found in self._kube.all(watched.kind.path):
            self._apply(watched, Change(self._kube.version, watched.kind.path, None, found))
        for _ in watched.store.end():
            pass
        watched.store.listed(readable=True)

    def begin(self) -> None:
        """Lead."""
        self._task = asyncio.create_task(self.work.run())

    @property
    def ended(self) -> bool:
        return self.line.dead.is_set() or (self._task is not None and self._task.done())

    def depose(self) -> None:
        """Another one leads from now on."""
        self.line.deposed = True

    async def end(self) -> None:
        """Kill it."""
        self.line.dead.set()
        if self._heard in self._kube.listeners:
            self._kube.listeners.remove(self._heard)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, LostError):
                await self._task

    def _heard(self, change: Change) -> None:
        if self.ended:
            return
        delay = self._delays.get(change.collection, 0.0)
        for watched in self._by_collection.get(change.collection, ()):
            watched.coming.append(change)
            asyncio.get_running_loop().call_later(delay, self._next, watched)

    def _next(self, watched: "_Watched") -> None:
        """Of timers of one moment any may be the first, but a watch tells things in their order."""
        if watched.coming:
            self._apply(watched, watched.coming.popleft())

    def _apply(self, watched: "_Watched", change: Change) -> None:
        if self.line.dead.is_set():
            return
        event = change.event(watched.selects)
        if event is None:
            return
        item = Raw(msgspec.json.encode(event["object"]))
        if event["type"] == "DELETED":
            watched.store.remove(watched.kind.key(items.identity(item)))
        else:
            watched.store.put(item)


class _Watched:
    """The watch of one kind; ``coming`` are changes that it has not brought yet."""

    def __init__(self, kind: AnyKind, sink: Sink) -> None:
        self.kind = kind
        self.store = Store(kind, sink, lambda _: None)
        self.selects = Selector({"fieldSelector": kind.selector, "labelSelector": kind.labels})
        self.coming: deque[Change] = deque()
