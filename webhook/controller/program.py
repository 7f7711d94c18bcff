"""The controller process: every candidate watches the cluster, and the one that holds the Lease does the work."""

import asyncio
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.election import Election, own_identity
from kubeapi.leaderelection.lease_timing import LeaseTiming
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.watch.live import STALE, LiveCluster
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.events.events import Events
from webhook.controller.hostpools.host_choice import ReconcilerSettings
from webhook.controller.work import Work
from webhook.placement.text import keys

NAME: Final = f"{keys.PREFIX}hostpools"
OF_PODS: Final = f"{keys.PREFIX}placement"
"""``reportingController`` of Events about HostPools, and of Events about pods that wait."""

_LOOK: Final = 0.05
"""Seconds between two checks whether all kinds have been listed."""

_GLANCE: Final = 1.0
"""Seconds between two checks whether the caches are fresh enough."""


class LeaseRef(Struct, frozen=True):
    """Namespace and name of the Lease that the candidates share."""

    namespace: str
    lease: str


class Controller:
    """One candidate; ``tell`` is called with finished lists, with objects that cannot be used and with failures."""

    def __init__(
        self,
        configuration: Configuration,
        rules: ReconcilerSettings,
        place: LeaseRef,
        *,
        limit: float = STALE,
        timing: LeaseTiming | None = None,
        tell: Callable[[Report | Finding | ApiError], object] = lambda _: None,
    ) -> None:
        self._connection = Connection(configuration)
        identity = own_identity()
        self.election = Election(
            ObjectClient(self._connection),
            namespace=place.namespace,
            name=place.lease,
            identity=identity,
            timing=timing,
        )
        server = ObjectClient(self._connection, fence=self.election.check)
        self.events = Events(server, controller=NAME, instance=identity)
        self.of_pods = Events(server, controller=OF_PODS, instance=identity)
        self.work = Work(server, self.events, rules, of_pods=self.of_pods)
        self.cluster = LiveCluster(
            self._connection, self.work.watched, kinds=self.work.kinds, limit=limit, tell=tell
        )  # fmt: skip

    async def run(self) -> None:
        """Watch, stand for election and lead, until cancelled.

        Raises LostError when the Lease was lost, and ApiError when it was released because the caches are too old. The
        process must end after either.
        """
        async with self._connection:
            watching = asyncio.create_task(self.cluster.run())
            leading = asyncio.create_task(self._candidate(watching))
            try:
                await asyncio.wait({watching, leading}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # The Lease is released first: that needs the connection, and not the caches.
                for task in (leading, watching):
                    task.cancel()
                    await asyncio.wait({task})
        ended = [task for task in (leading, watching) if not task.cancelled()]
        ended[0].result()

    async def _candidate(self, watching: asyncio.Task[None]) -> None:
        """Stand for election once all kinds have been listed: a leader without caches could not act."""
        while not self.cluster.synced:
            await asyncio.wait({watching}, timeout=_LOOK)
        await self.election.run(self._lead)

    async def _lead(self) -> None:
        await gather_or_cancel([self.work.run(), self.events.run(), self.of_pods.run(), self._look_out()])

    async def _look_out(self) -> None:
        """Raise ApiError when the caches are too old to act on: another candidate's may be fresh."""
        while True:
            reason = self.cluster.reason()
            if reason is not None:
                raise ApiError(Cause.UNREACHABLE, reason)
            await asyncio.sleep(_GLANCE)
