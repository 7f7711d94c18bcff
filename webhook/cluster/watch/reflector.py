"""One kind of object kept up to date: a list in pages, then watches from its version (client-go, ``Reflector``).

After a failure, or a watch without any event, the API server's version is checked before the next watch. One that was
restored from a backup is at an older version, and a watch from the newer one would stay silent for a long time.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, NoReturn

from kubeapi.client.api_types import Event, ListMetadata
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects.kinds import AnyKind
from webhook.cluster.objects.report import Finding
from webhook.cluster.objects.sink import Sink
from webhook.cluster.watch.backoff import Pace, RelistBackoff
from webhook.cluster.watch.list_watch import ListWatch, error_of
from webhook.cluster.watch.store import Store

MISSING_LIMIT: Final = 3
"""Answers that a kind is not installed before its objects are given up: one may come from a server that starts."""

_STARTS_OVER: Final = frozenset({Cause.GONE, Cause.UNREADABLE})
"""Causes after which a watch cannot go on."""

_CHANGES: Final = frozenset({"ADDED", "MODIFIED"})


class Reflector:
    """Feeds the objects of one kind to a sink.

    ``tell`` is called with objects that cannot be used and with failures, once for each as long as it lasts; ``listed``
    is called after every list.
    """

    def __init__(
        self,
        kind: AnyKind,
        connection: Connection,
        sink: Sink,
        *,
        pace: Pace,
        tell: Callable[[Finding | ApiError], object],
        listed: Callable[[], object],
    ) -> None:
        self.kind = kind
        self.store = Store(kind, sink, tell)
        self.synced = False
        """Whether the sink has all that there was at some time."""
        self.failure: ApiError | None = None
        """What goes wrong just now."""
        self._list_watch = ListWatch(kind, connection, pace)
        self._pace = pace
        self._tell = tell
        self._listed = listed
        self._backoff = RelistBackoff(pace)
        self._version = ""
        self._doubt = False
        self._next_list = 0.0

    def age(self) -> float:
        """Seconds since the API server last said how it stands with this kind; below a minute while all is well."""
        return time.monotonic() - self._list_watch.heard

    async def run(self) -> NoReturn:
        """Keep the sink up to date until cancelled."""
        while True:
            try:
                if not self._version:
                    await self._list()
                elif self._doubt:
                    await self._look()
                await self._watch()
            except ApiError as failure:
                await self._endure(failure)

    async def _list(self) -> None:
        await self._turn()
        self.store.begin()
        metadata = await self._page(None)
        while metadata.following:
            metadata = await self._page(metadata.following)
        await self._clear_away()
        self._listed()
        self._version, self._doubt = metadata.version, False

    async def _page(self, following: str | None) -> ListMetadata:
        """Store the objects of one page, and forget the page before the next one takes as much memory."""
        page = await self._list_watch.page(following)
        for number, item in enumerate(page.items or (), 1):
            self.store.put(item)
            await self._rest(number)
        return page.metadata

    async def _clear_away(self) -> None:
        """Remove the objects that the list did not name; every object that there was is known from now on."""
        for number, _ in enumerate(self.store.end(), 1):
            await self._rest(number)
        self.synced = True

    async def _look(self) -> None:
        """Raise GONE, so that a list follows, if the API server is at an older version than the last one seen."""
        await self._turn()
        now = await self._list_watch.version()
        if not (now.isdecimal() and self._version.isdecimal() and int(now) >= int(self._version)):
            raise ApiError(Cause.GONE, f"the API server went back from version {self._version} to {now}")
        self._doubt = False

    async def _turn(self) -> None:
        """Wait until the next list may begin: after whatever failures, at most one a second is asked for."""
        await asyncio.sleep(self._next_list - time.monotonic())
        self._next_list = time.monotonic() + self._pace.between_lists

    async def _rest(self, number: int) -> None:
        """Let other tasks run after every batch of objects."""
        if number % self._pace.batch == 0:
            await asyncio.sleep(0)

    async def _watch(self) -> None:
        begun, number = time.monotonic(), 0
        async with aclosing(self._list_watch.watch(self._version)) as batches:
            async for events in batches:
                for event in events:
                    self._take(event)
                    number += 1
                    await self._rest(number)
        if not number and time.monotonic() - begun < self._pace.brief:
            raise ApiError(Cause.BROKEN, "the API server ends watches as soon as they begin")
        self._well()
        self._doubt = not number

    def _take(self, event: Event) -> None:
        if event.type == "ERROR":
            raise error_of(event)
        identity = self.store.identity(event.object)
        if event.type in _CHANGES:
            self.store.put(event.object)
        elif event.type == "DELETED":
            self.store.remove(self.kind.key(identity))
        self._version = identity.version or self._version
        self._well()

    def _well(self) -> None:
        self.failure = None
        self._backoff.reset()

    async def _endure(self, failure: ApiError) -> None:
        """Report the failure, unless it is the last one again, and wait; objects stay until they are gone."""
        if failure.cause is Cause.FORBIDDEN:
            rule = f"the role needs the verbs list and watch on {self.kind.full_resource}"
            failure = ApiError(failure.cause, f"{failure} ({rule})")
        if str(failure) != str(self.failure):
            self.failure = failure
            self._tell(ApiError(failure.cause, f"{self.kind.resource}: {failure}"))
        pause = self._backoff.pause(failure)
        self._doubt = True
        if failure.cause in _STARTS_OVER or self.age() > self._pace.horizon:
            self._version = ""
        if failure.cause is Cause.MISSING and self.kind.optional:
            self._version = ""
            if not self.store.known or self._backoff.streak >= MISSING_LIMIT:
                pause = self._backoff.about(self._pace.absent)
                await self._give_up()
        await asyncio.sleep(pause)

    async def _give_up(self) -> None:
        """Take the kind as not installed: there is no object of it, which is as good as an empty list."""
        self._list_watch.heard = time.monotonic()
        news = bool(self.store.known) or not self.synced
        self.store.begin()
        await self._clear_away()
        if news:
            self._listed()
