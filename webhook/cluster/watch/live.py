"""A cluster as the watches of an API server tell it: one reflector a kind, which fill one inventory."""

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

TellOutcome = Callable[[Report | Finding | ApiError], object]
"""Learns of every list once all kinds are known, of every object that cannot be used, and of failures."""

STALE: Final = 300.0
"""Seconds after which a state is too old to decide on: the API server itself remembers no more (``Pace.horizon``).

A healthy reflector hears something every minute, and one that is cut off tries again every few seconds. So a state that
is too old means that this replica is cut off, and another replica, or none, answers better.
"""


class LiveCluster(Generic[I]):
    """The API server behind ``connection`` as a cluster; its watches keep ``inventory`` up to date.

    ``inventory`` is the same object all the time, empty at first. While a kind is listed again it holds what was known
    and what is new; objects that are gone leave it at the end of the list. With a ``limit`` of 0 no state is too old.
    """

    def __init__(
        self,
        connection: Connection,
        inventory: I,
        *,
        kinds: Sequence[AnyKind] = KINDS,
        pace: Pace | None = None,
        limit: float = STALE,
        tell: TellOutcome = lambda _: None,
    ) -> None:
        self.inventory: I = inventory
        self.connection = connection
        """The way to the API server, open while this runs."""
        self._limit = limit
        self._tell = tell
        self._reflectors = [
            Reflector(kind, connection, inventory, pace=pace or Pace(), tell=tell, listed=self._listed)
            for kind in kinds
        ]

    @property
    def synced(self) -> bool:
        """Whether every kind has been listed at least once."""
        return all(reflector.synced for reflector in self._reflectors)

    @property
    def report(self) -> Report:
        """How many objects of each kind are known, and which could not be used."""
        return Report(
            counts={reflector.kind.name: len(reflector.store.known) for reflector in self._reflectors},
            skipped=_named(reflector.store.skipped for reflector in self._reflectors),
            skipped_count=sum(len(reflector.store.skipped) for reflector in self._reflectors),
            noted=_named(reflector.store.noted for reflector in self._reflectors),
            noted_count=sum(len(reflector.store.noted) for reflector in self._reflectors),
        )

    def ages(self) -> dict[str, float]:
        """Seconds since the API server last said how it stands with each resource; below a minute while all is well."""
        return {reflector.kind.resource: reflector.age() for reflector in self._reflectors}

    def reason(self) -> str | None:
        """Why nothing can be decided now, in words; ``None`` if it can."""
        unread = [
            f"{reflector.kind.resource}: {reflector.failure or 'being listed'}"
            for reflector in self._reflectors
            if not reflector.synced
        ]
        if unread:
            return f"the cluster is not read yet: {'; '.join(unread)}"
        if not self._limit:
            return None
        stale = [
            f"{reflector.kind.resource}: {reflector.age():.0f} s old ({reflector.failure or 'nothing more was heard'})"
            for reflector in self._reflectors
            if reflector.age() > self._limit
        ]
        return f"what is known of the cluster is too old: {'; '.join(stale)}" if stale else None

    async def run(self) -> None:
        """Watch the cluster until cancelled; an exception is a fault of this program."""
        async with self.connection:
            tasks = [
                asyncio.create_task(reflector.run(), name=reflector.kind.resource) for reflector in self._reflectors
            ]
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
