"""``Reflector`` (client-go): keeps the objects of one kind up to date by a list in pages, and by watches from then on.

After a failure, or after a watch without any event, the reflector checks the API server's current resourceVersion
before it watches again. If that version is lower than the last one seen, the API server was restored from a backup: a
watch would then stay silent for a long time, so the reflector lists again.

A kind that the API server may serve in several versions is asked for in the next one when a version is missing, and
when it fails again and again: a CustomResourceDefinition may get a version, and lose another, at any time. As a
reflector of client-go, this one would else stay on the version with which it began.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, NoReturn

from kubeapi.client.api_types import Event, ListMetadata
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause, NotServedError
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import AnyKind, WatchEvent
from webhook.cluster.objects.report import Finding
from webhook.cluster.objects.sink import Sink
from webhook.cluster.watch.backoff import Pace, RelistBackoff
from webhook.cluster.watch.list_watch import ListWatch, error_of
from webhook.cluster.watch.store import Store

MISSING_LIMIT: Final = 3
"""Answers that a kind is not there to read, in each of its versions, after which its objects are removed.

A server that starts may give one, and so may one that replaces a version of the kind.
"""

PATIENCE: Final = 3
"""Failures of one version in a row after which the next is tried; after each that is tried in vain, twice as many."""

_MOST_PATIENT: Final = 96

_OF_VERSION: Final = frozenset({Cause.BROKEN, Cause.UNREADABLE, Cause.GONE})
"""Causes of failures that need not be those of another version: it may be converted by another program."""

_RELIST_CAUSES: Final = frozenset({Cause.GONE, Cause.UNREADABLE})
"""Causes of failures after which the watch cannot continue from its last version."""

_CHANGES: Final = frozenset({"ADDED", "MODIFIED"})


class Reflector:
    """Writes the objects of one kind into a sink.

    ``tell`` is called with unusable objects and with failures, once for each while it lasts; ``listed`` is called after
    every list.
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
        """Whether the kind has been listed completely at least once."""
        self.failure: ApiError | None = None
        """The failure that lasts now; ``None`` after a success."""
        self._list_watch = ListWatch(kind, connection, pace)
        self._pace = pace
        self._tell = tell
        self._listed = listed
        self._backoff = RelistBackoff(pace)
        self._version = ""
        self._unsure = False
        self._next_list = 0.0
        self._missing = 0
        """Answers in a row that the kind is not there, or may not be read, since it was listed or failed otherwise."""
        self._patience = PATIENCE

    def age(self) -> float:
        """Seconds since the API server was last heard about this kind; below a minute while all is well."""
        return time.monotonic() - self._list_watch.heard

    async def run(self) -> NoReturn:
        """Keep the sink up to date until cancelled."""
        while True:
            try:
                if not self._version:
                    await self._list()
                elif self._unsure:
                    await self._check_version()
                await self._watch()
            except ApiError as failure:
                await self._back_off(failure)

    async def _list(self) -> None:
        """List all objects, remove the others from the sink, and remember the version to watch from."""
        await self._wait_for_list()
        self.store.begin()
        metadata = await self._page(None)
        while metadata.following:
            metadata = await self._page(metadata.following)
        await self._remove_unlisted()
        self.store.listed(readable=True)
        self._listed()
        self._version, self._unsure, self._missing = metadata.version, False, 0

    async def _page(self, following: str | None) -> ListMetadata:
        """Read one page into the store; only one page is in memory at a time."""
        page = await self._list_watch.page(following)
        items, put, batch = page.items or (), self.store.put, self._pace.batch
        for start in range(0, len(items), batch):
            for item in items[start : start + batch]:
                put(item)
            await asyncio.sleep(0)
        return page.metadata

    async def _remove_unlisted(self) -> None:
        """Remove the objects that the list did not contain; the kind is synced from now on."""
        for number, _ in enumerate(self.store.end(), 1):
            if number % self._pace.batch == 0:
                await asyncio.sleep(0)
        self.synced = True

    async def _check_version(self) -> None:
        """Raise ``Cause.GONE``, which leads to a list, if the API server's version is lower than the last one seen."""
        await self._wait_for_list()
        now = await self._list_watch.version()
        if not (now.isdecimal() and self._version.isdecimal() and int(now) >= int(self._version)):
            raise ApiError(Cause.GONE, f"the API server went back from resource version {self._version} to {now}")
        self._unsure = False

    async def _wait_for_list(self) -> None:
        """Wait until another list may begin: one list a second at most, whatever fails."""
        await asyncio.sleep(self._next_list - time.monotonic())
        self._next_list = time.monotonic() + self._pace.between_lists

    async def _watch(self) -> None:
        """Watch from the last version until the API server ends the watch."""
        begun, number = time.monotonic(), 0
        async with aclosing(self._list_watch.watch(self._version)) as batches:
            async for events in batches:
                for event in events:
                    self._apply(event)
                    number += 1
                    if number % self._pace.batch == 0:
                        await asyncio.sleep(0)
        if not number and time.monotonic() - begun < self._pace.brief:
            raise ApiError(Cause.BROKEN, "the API server ends watches as soon as they begin")
        self._succeeded()
        self._unsure = not number

    def _apply(self, event: Event | WatchEvent) -> None:
        if isinstance(event, Event) and event.type == "ERROR":
            raise error_of(event)
        identity = items.identity(event.object)
        if event.type in _CHANGES:
            self.store.put(event.object)
        elif event.type == "DELETED":
            self.store.remove(self.kind.key(identity))
        self._version = identity.version or self._version
        self._succeeded()

    def _succeeded(self) -> None:
        """Forget past failures."""
        self.failure, self._patience = None, PATIENCE
        self._backoff.reset()

    async def _back_off(self, failure: ApiError) -> None:
        """Report the failure once, decide whether a list is needed, and pause.

        Known objects stay in the sink, except those of a kind that is not installed.
        """
        if failure.cause is Cause.FORBIDDEN:
            rule = f"the role needs the verbs list and watch on {self.kind.full_resource}"
            failure = ApiError(failure.cause, f"{failure} ({rule})")
        if str(failure) != str(self.failure):
            self.failure = failure
            without = failure.cause is Cause.MISSING and self.kind.optional and self.kind.spared
            error_type = NotServedError if without else ApiError
            self._tell(error_type(failure.cause, f"{self.kind.resource}: {failure}"))
        pause = self._backoff.pause(failure)
        self._unsure = True
        if failure.cause in _RELIST_CAUSES or self.age() > self._pace.horizon:
            self._version = ""
        forbidden = failure.cause is Cause.FORBIDDEN and self.kind.spared
        absent = forbidden or (failure.cause is Cause.MISSING and self.kind.optional)
        self._missing = self._missing + 1 if absent else 0
        if failure.cause in _OF_VERSION and self._backoff.streak >= self._patience:
            self._try_next_version()
        if absent:
            self._version = ""
            if not forbidden and self._other_version():
                return
            if not self.store.known or self._missing >= MISSING_LIMIT * self._list_watch.versions:
                pause = self._backoff.about(self._pace.absent)
                await self._not_installed()
        await asyncio.sleep(pause)

    def _other_version(self) -> bool:
        """Turn to the next version of a kind that is missing in this one; whether to ask at once.

        Once all have been asked there is a pause. While nothing is known of the kind, one is asked after each pause.
        """
        self._list_watch.try_next_version()
        versions = self._list_watch.versions
        untried = bool(self._missing % versions and (self.store.known or self._missing < versions))
        if untried:
            self._next_list = 0.0
        return untried

    def _try_next_version(self) -> None:
        """Turn to the next version of a kind that fails in this one; what is known stays until that is listed."""
        if self._list_watch.versions > 1:
            self._list_watch.try_next_version()
            self._version, self._patience = "", min(2 * self._patience, _MOST_PATIENT)

    async def _not_installed(self) -> None:
        """The kind is not installed, or must not be read: treat that as a list without objects."""
        self._list_watch.heard = time.monotonic()
        changed = bool(self.store.known) or not self.synced
        self.store.begin()
        await self._remove_unlisted()
        self.store.listed(readable=False)
        if changed:
            self._listed()
