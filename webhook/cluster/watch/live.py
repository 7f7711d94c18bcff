"""``LiveCluster``: an inventory that reflectors keep up to date with a cluster, and whether it is fit for decisions."""

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
"""Called with a report after every list once all kinds are listed, with every unusable object, and with failures."""

STALE: Final = 300.0
"""Seconds after which the inventory is too old for decisions: the API server remembers no more (``Pace.horizon``).

A reflector hears from the API server at least once a minute, and when it is cut off it tries again every few seconds.
An inventory that is too old therefore belongs to a replica that is cut off; other replicas decide better.
"""


class LiveCluster(Generic[I]):
    """Keeps ``inventory`` up to date with the API server behind ``connection``, by one reflector for each kind.

    The inventory is empty at first, and is never replaced. While a kind is listed again, the inventory holds both known
    and new objects; objects that are gone are removed at the end of the list. The inventory is too old for decisions
    when a kind was last heard about ``limit`` seconds ago; with 0 it never is.
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
        """The connection to the API server, open while :meth:`run` runs."""
        self._limit = limit
        self._tell = tell
        self._reflectors = [
            Reflector(kind, connection, inventory, pace=pace or Pace(), tell=tell, listed=self._listed)
            for kind in kinds
        ]

    @property
    def synced(self) -> bool:
        """Whether every kind has been listed at least once."""
        return all(each.synced for each in self._reflectors)

    @property
    def report(self) -> Report:
        """The numbers of objects that are known now, and the objects that cannot be used."""
        return Report(
            counts={each.kind.title or each.kind.name: len(each.store.known) for each in self._reflectors},
            skipped=_named(each.store.skipped for each in self._reflectors),
            skipped_count=sum(len(each.store.skipped) for each in self._reflectors),
            noted=_named(each.store.noted for each in self._reflectors),
            noted_count=sum(len(each.store.noted) for each in self._reflectors),
        )

    def ages(self) -> dict[str, float]:
        """Seconds since the API server was last heard about each resource; below a minute while all is well.

        Of a resource that is watched twice, such as all pods and the pods of Jobs, the higher value.
        """
        ages: dict[str, float] = {}
        for each in self._reflectors:
            ages[each.kind.resource] = max(each.age(), ages.get(each.kind.resource, 0.0))
        return ages

    def reason(self) -> str | None:
        """Why decisions cannot be made on the inventory now, for readiness and refusals; ``None`` if they can."""
        unread = [
            f"{each.kind.resource}: {each.failure or 'being listed'}" for each in self._reflectors if not each.synced
        ]
        if unread:
            return f"the cluster is not read yet: {'; '.join(unread)}"
        if not self._limit:
            return None
        stale = [
            f"{each.kind.resource}: {each.age():.0f} s old ({each.failure or 'no update since'})"
            for each in self._reflectors
            if each.age() > self._limit
        ]
        return f"the cached state of the cluster is stale: {'; '.join(stale)}" if stale else None

    async def run(self) -> None:
        """Watch the cluster until cancelled. Failures of the API server are retried; other errors are raised."""
        async with self.connection:
            tasks = [asyncio.create_task(each.run(), name=each.kind.resource) for each in self._reflectors]
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
    return tuple(islice(filter(None, chain.from_iterable(finding.values() for finding in findings)), FINDING_LIMIT))
