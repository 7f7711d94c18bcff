"""A cluster that is watched."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Final, Generic, TypeVar

from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError
from webhook.cluster.objects.kinds import KINDS, AnyKind
from webhook.cluster.objects.report import FINDING_LIMIT, Finding, Report
from webhook.cluster.objects.sink import Sink
from webhook.cluster.watch.backoff import Pace
from webhook.cluster.watch.reflector import Reflector
from webhook.cluster.watch.store import Findings

I = TypeVar("I", bound=Sink)  # noqa: E741 stands for Inventory

Tell = Callable[[Report | Finding | ApiError], object]
"""Learns of every list once all kinds are known, of every object that cannot be used, and of failures."""

STALE: Final = 300.0
"""Seconds after which a state is too old to decide on: the API server itself remembers no more (``Pace.horizon``).

A healthy feed hears something every minute, and one that is cut off tries again every few seconds. So whoever is stale
is cut off, and another replica, or nobody, answers better.
"""


class LiveCluster(Generic[I]):
    """The API server behind ``connection`` as a cluster; ``inventory`` is what its watches say by now.

    It is the same inventory all the time, empty at first. While kinds are listed again it holds what was known and what
    is new; objects that are gone leave it at the end of the list. With a ``limit`` of 0 no state is too old.
    """

    def __init__(
        self,
        connection: Connection,
        inventory: I,
        *,
        kinds: Sequence[AnyKind] = KINDS,
        pace: Pace | None = None,
        limit: float = STALE,
        tell: Tell = lambda _: None,
    ) -> None:
        self.inventory: I = inventory
        self.connection = connection
        """The way to the API server, open while this runs."""
        self._limit = limit
        self._tell = tell
        self._feeds = [
            Reflector(kind, connection, inventory, pace=pace or Pace(), tell=tell, listed=self._listed)
            for kind in kinds
        ]

    @property
    def synced(self) -> bool:
        """Whether every kind has been listed at least once."""
        return all(feed.synced for feed in self._feeds)

    @property
    def report(self) -> Report:
        """What is known now."""
        return Report(
            counts={feed.kind.name: len(feed.shelf.known) for feed in self._feeds},
            skipped=_named(feed.shelf.skipped for feed in self._feeds),
            skipped_count=sum(len(feed.shelf.skipped) for feed in self._feeds),
            noted=_named(feed.shelf.noted for feed in self._feeds),
            noted_count=sum(len(feed.shelf.noted) for feed in self._feeds),
        )

    def ages(self) -> dict[str, float]:
        """Seconds since the API server last said how it stands with each resource; below a minute while all is well."""
        return {feed.kind.resource: feed.age() for feed in self._feeds}

    def reason(self) -> str | None:
        """Why nothing can be decided now, in words; ``None`` if it can."""
        unread = [f"{feed.kind.resource}: {feed.failure or 'being listed'}" for feed in self._feeds if not feed.synced]
        if unread:
            return f"the cluster is not read yet: {'; '.join(unread)}"
        if not self._limit:
            return None
        stale = [
            f"{feed.kind.resource}: {feed.age():.0f} s old ({feed.failure or 'nothing more was heard'})"
            for feed in self._feeds
            if feed.age() > self._limit
        ]
        return f"what is known of the cluster is too old: {'; '.join(stale)}" if stale else None

    async def run(self) -> None:
        """Watch the cluster until cancelled; whatever it raises is a fault of this program."""
        async with self.connection:
            tasks = [asyncio.create_task(feed.run(), name=feed.kind.resource) for feed in self._feeds]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    def _listed(self) -> None:
        if self.synced:
            self._tell(self.report)


def _named(findings: Iterable[Findings]) -> tuple[Finding, ...]:
    return tuple(islice(filter(None, chain.from_iterable(found.values() for found in findings)), FINDING_LIMIT))
