"""The controller as a whole: caches that every candidate keeps, and work that only the leader does."""

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from webhook.cluster.client.configuration import Configuration
from webhook.cluster.client.connection import Connection
from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.client.writes import Writes
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.watch.live import STALE, LiveCluster
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.events.events import Events
from webhook.controller.hostpools.host_choice import Rules
from webhook.controller.leaderelection.election import Election, own_identity
from webhook.controller.leaderelection.lease_timing import LeaseTiming
from webhook.controller.work import Work

NAME: Final = "streams.ibm.com/hostpools"
OF_PODS: Final = "streams.ibm.com/placement"
"""What Events about pools, and about pods that wait, call the controller."""

_LOOK: Final = 0.05
"""Seconds between two looks whether everything has been listed."""

_GLANCE: Final = 1.0
"""Seconds between two looks whether what is known is still fresh enough."""


class LeaseRef(Struct, frozen=True):
    """Which Lease the candidates share."""

    namespace: str
    lease: str


class Controller:
    """One candidate. ``tell`` hears of lists, of objects that cannot be used and of failures."""

    def __init__(
        self,
        configuration: Configuration,
        rules: Rules,
        place: LeaseRef,
        *,
        limit: float = STALE,
        terms: LeaseTiming | None = None,
        tell: Callable[[Report | Finding | ApiError], object] = lambda _: None,
    ) -> None:
        self._connection = Connection(configuration)
        identity = own_identity()
        self.election = Election(
            Writes(self._connection), namespace=place.namespace, name=place.lease, identity=identity, terms=terms
        )  # fmt: skip
        server = Writes(self._connection, fence=self.election.check)
        self.events = Events(server, controller=NAME, instance=identity)
        self.of_pods = Events(server, controller=OF_PODS, instance=identity)
        self.work = Work(server, self.events, rules, of_pods=self.of_pods)
        self.cluster = LiveCluster(
            self._connection, self.work.watched, kinds=self.work.kinds, limit=limit, tell=tell
        )  # fmt: skip

    async def run(self) -> None:
        """Be a candidate until cancelled.

        Raises LostError when the lead was lost, and ApiError when it was given back because of caches that are too old:
        then the process must end.
        """
        async with self._connection:
            watching = asyncio.create_task(self.cluster.run())
            leading = asyncio.create_task(self._candidate(watching))
            try:
                await asyncio.wait({watching, leading}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # The lease is given back first: that takes the connection, and not the caches.
                for task in (leading, watching):
                    task.cancel()
                    await asyncio.wait({task})
        ended = [task for task in (leading, watching) if not task.cancelled()]
        ended[0].result()

    async def _candidate(self, watching: asyncio.Task[None]) -> None:
        """Stand for election as soon as everything is known: a leader that knows nothing is none."""
        while not self.cluster.synced:
            await asyncio.wait({watching}, timeout=_LOOK)
        await self.election.run(self._lead)

    async def _lead(self) -> None:
        await gather_or_cancel([self.work.run(), self.events.run(), self.of_pods.run(), self._look_out()])

    async def _look_out(self) -> None:
        """End with an ApiError when what is known is too old to act on: another candidate may be better off."""
        while True:
            reason = self.cluster.reason()
            if reason is not None:
                raise ApiError(Cause.UNREACHABLE, reason)
            await asyncio.sleep(_GLANCE)
