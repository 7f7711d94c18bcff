"""The controller process: the candidate that holds the Lease watches the cluster and does the work.

The other candidates only watch the Lease, so that a cluster pays for one process that watches all pods. A candidate
that has seen a holder begins to watch when that one misses renewals or gives the Lease back, and takes the Lease once
its caches are full. A candidate that has never seen a holder, as in a new installation, takes the Lease first.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NoReturn

from msgspec import Struct

from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from kubeapi.leaderelection.election import Election, own_identity
from kubeapi.leaderelection.lease_timing import LeaseTiming
from kubeapi.leaderelection.lease_watch import LeaseWatch
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.watch.live import STALE, LiveCluster
from webhook.controller.concurrency import gather_or_cancel
from webhook.controller.events.events import Events
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.work import Work
from webhook.placement.text import keys

NAME: Final = f"{keys.PREFIX}hostpools"
OF_PODS: Final = f"{keys.PREFIX}placement"
"""``reportingController`` of Events about HostPools, and of Events about pods that wait."""

TIMING: Final = LeaseTiming.in_proportion(12, jitter=0.2)
"""Shorter than that of Kubernetes' own controllers by a fifth, with the same proportions: a leader that dies leaves
Jobs and HostPools without one for that long."""

_FILLING: Final = 120.0
"""Seconds in which a leader must have listed all kinds: 150,000 pods take some ten."""

_LOOK: Final = 0.05
"""Seconds between two checks whether all kinds have been listed."""

_MISSED: Final = 2.5
"""Renewals that the holder of the Lease has missed when other candidates begin to watch."""

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
        self._timing = timing or TIMING
        self._needed = asyncio.Event()
        """Set once this candidate has to watch the cluster."""
        self._looked = False
        """Whether this candidate has looked at the Lease."""
        identity = own_identity()
        self.election = Election(
            ObjectClient(self._connection),
            namespace=place.namespace,
            name=place.lease,
            identity=identity,
            timing=self._timing,
        )
        self._lease_watch = LeaseWatch(
            self._connection, self.election.changed, namespace=place.namespace, name=place.lease
        )  # fmt: skip
        server = ObjectClient(self._connection, fence=self.election.check)
        self.events = Events(server, controller=NAME, instance=identity)
        self.of_pods = Events(server, controller=OF_PODS, instance=identity)
        self.work = Work(server, self.events, rules, of_pods=self.of_pods)
        self.cluster = LiveCluster(
            self._connection, self.work.watched, kinds=self.work.kinds, limit=limit, tell=tell
        )  # fmt: skip

    async def run(self) -> None:
        """Stand for election, watch and lead, until cancelled.

        Raises LostError when the Lease was lost, and ApiError when it was released because the caches are too old. The
        process must end after either.
        """
        async with self._connection:
            watching = asyncio.create_task(self._watch())
            following = asyncio.create_task(self._lease_watch.run())
            leading = asyncio.create_task(self.election.run(lambda: self._lead(following), ready=self._is_ready))
            try:
                await asyncio.wait({watching, leading}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # The Lease is released first: that needs the connection, and not the caches.
                for task in (leading, watching, following):
                    task.cancel()
                    await asyncio.wait({task})
        ended = [task for task in (leading, watching) if not task.cancelled()]
        ended[0].result()

    def reason(self) -> str | None:
        """Why this candidate could not act although it should, for readiness; ``None`` if all is well.

        A candidate that does not watch is ready: another one leads.
        """
        return self.cluster.reason() if self._needed.is_set() else None

    @property
    def cache_age(self) -> float:
        """Seconds since the API server was last heard about the resource that it is silent about for longest.

        0 for a candidate that does not watch.
        """
        return max(self.cluster.ages().values()) if self._needed.is_set() else 0.0

    def _is_ready(self, seconds_left: float) -> bool:
        """Whether to take the Lease once it may be taken, in ``seconds_left`` seconds."""
        first, self._looked = not self._looked, True
        if first and seconds_left <= 0:
            return True
        if seconds_left < self._timing.lease - _MISSED * self._timing.retry:
            self._needed.set()
        return self.cluster.synced

    async def _watch(self) -> None:
        await self._needed.wait()
        await self.cluster.run()

    async def _lead(self, following: "asyncio.Task[NoReturn]") -> None:
        """Work; the watch of the Lease ends, which is for those that stand by."""
        following.cancel()
        self._needed.set()
        await self._full_caches()
        await gather_or_cancel([self.work.run(), self.events.run(), self.of_pods.run(), self._look_out()])

    async def _full_caches(self) -> None:
        """Wait until all kinds have been listed; raises ApiError if that takes long: another candidate may manage."""
        for _ in range(round(_FILLING / _LOOK)):
            if self.cluster.synced:
                return
            await asyncio.sleep(_LOOK)
        raise ApiError(Cause.UNREACHABLE, str(self.cluster.reason()))

    async def _look_out(self) -> None:
        """Raise ApiError when the caches are too old to act on: another candidate's may be fresh."""
        while True:
            reason = self.cluster.reason()
            if reason is not None:
                raise ApiError(Cause.UNREACHABLE, reason)
            await asyncio.sleep(_GLANCE)
