"""The reconciler of HostPools: chooses hosts, marks their nodes, checks them, publishes them (``docs/hostpool.md``).

Each pass starts from what is stored and what the caches hold, so the controller can be killed after any step. Hosts are
chosen by the pure function that admission predicts with; a node's version decides which pool gets it.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from kubeapi.client.errors import ApiError, Cause
from kubeapi.clock import Clock, seconds
from webhook.controller.hostpools import pool_status
from webhook.controller.hostpools.claims import Claims
from webhook.controller.hostpools.host_choice import Choice, Choices, PlannedHosts
from webhook.controller.hostpools.marks import mark_named
from webhook.controller.hostpools.pool_object import StoredPool, path_of, read_pool, unreadable
from webhook.controller.hostpools.pool_reports import RELEASED, PoolReports, stranger
from webhook.controller.hostpools.pool_status import State
from webhook.controller.hostpools.status_cache import RESYNC, StatusCache
from webhook.controller.hostpools.strangers import TaintGracePeriod, hosts_in_use, strangers_on
from webhook.controller.object_editor import ObjectWriter
from webhook.controller.reconciler_settings import SOON, ReconcilerSettings
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.inventory.quota import surplus
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.pools.allocation import users
from webhook.placement.pools.host_devices import nodes_with_devices
from webhook.placement.pools.pool_plan import hopeless, marked_nodes, published

LATER: Final = 5.0
"""Seconds until the next pass over a deleted pool that is still cached, or whose pods are not cached yet."""

LOOKS: Final = 64
"""Looks at the devices of nodes in one pass; 8,192 nodes with different devices are looked at then."""

CHOICES: Final = 5
"""Choices of hosts in one pass while chosen hosts cannot be claimed; after these the caches are too far behind."""


class HostPools:
    """The reconciler, called by any number of workers; it passes nodes that the API server answered to ``learn``."""

    def __init__(
        self,
        server: ObjectWriter,
        inventory: Inventory,
        reports: PoolReports,
        rules: ReconcilerSettings,
        *,
        learn: Callable[[bytes], object],
        clock: Clock = seconds,
    ) -> None:
        self._server = server
        self._inventory = inventory
        self._reports = reports
        self._policy = rules.policy
        self._choices = Choices(inventory, rules.policy, rules.replacement, clock)
        self._claims = Claims(server, learn)
        self._grace = TaintGracePeriod(clock)
        self._statuses = StatusCache(clock)
        self._choosing = asyncio.Lock()
        """Only one pool chooses and claims at a time, so that the next one sees what was claimed."""

    def follow(self, planned: PlannedHosts) -> None:
        """From now on, give pools of Jobs the hosts that are planned for them."""
        self._choices.planned = planned

    async def reconcile(self, name: Name) -> float | None:
        """Reconcile the pool; returns the seconds until the next pass, or ``None`` for a pool that does not exist.

        Raises :class:`ApiError` for what may work later, and LostError when this process does not hold the Lease.
        """
        await self._look(name)
        wait = self._calm(name)
        if wait:
            await asyncio.sleep(0)  # other tasks run between passes over many pools
            return wait
        try:
            stored = read_pool(await self._server.read(path_of(*name)))
            return await (self._release(stored) if stored.leaving else self._provide(stored))
        except ApiError as failure:
            if failure.cause is Cause.CONFLICT:
                return SOON
            if failure.cause is not Cause.MISSING:
                raise
            for table in (self._grace, self._choices, self._statuses):
                table.end(name)
            return LATER if name in self._inventory.pools else None

    async def _look(self, name: Name) -> None:
        """Look at the devices of nodes for a pool that asks for some; between two looks other tasks run."""
        for _ in range(LOOKS):
            pool = self._inventory.pools.get(name)
            if pool is None or not pool.devices or nodes_with_devices(pool, self._inventory).complete:
                return
            await asyncio.sleep(0)

    def _calm(self, name: Name) -> float:
        """Seconds for which the caches say that the pool needs nothing; 0 if it needs a pass."""
        pool = self._inventory.pools.get(name)
        if pool is None or unreadable(pool):
            return 0.0
        if pool.phase is Phase.RELEASING:
            busy = users(pool, self._inventory).bit_count()
            return self._statuses.left(pool, pool_status.releasing(pool, busy)) if busy else 0.0
        if (state := self._without(pool)) is not None:
            return 0.0 if marked_nodes(name, self._inventory) else self._statuses.left(pool, state)
        waits = self._statuses.roughly(pool) if hopeless(pool, self._inventory) else 0.0
        return waits or self._chosen(pool)

    def _chosen(self, pool: Pool) -> float:
        """Seconds for which a pool with hosts needs nothing, by the choice of its hosts; 0 if it needs a pass."""
        name, choice = (pool.namespace, pool.name), self._choices.of(pool)
        if choice.unmarked or choice.gone or choice.plan.stray or self._grace.unseen(name, choice.fresh):
            return 0.0
        if choice.fresh:
            return self._grace.left(name, choice.fresh) if pool.exclusive else 0.0
        return min(self._statuses.left(pool, self._outcome(pool, choice)), choice.due or RESYNC)

    def _without(self, pool: Pool) -> State | None:
        """The state of a pool that gets no hosts whatever nodes there are; ``None`` for a pool that does."""
        if over := surplus(pool, self._inventory, self._policy.pool_quota):
            return pool_status.surplus(str(over))
        return None if pool.sized else pool_status.unsized(pool, self._inventory)

    def _outcome(self, pool: Pool, choice: Choice) -> State:
        """The state of a pool whose chosen hosts are all marked and checked."""
        if not choice.plan.hosts:
            return pool_status.short(pool, choice.plan, self._inventory, self._policy)
        return pool_status.ready(pool, choice.plan, self._inventory, self._policy)

    async def _provide(self, stored: StoredPool) -> float:
        pool = stored.pool
        if pool is None:
            await self._reports.say(stored, pool_status.invalid(stored.fault))
            return RESYNC
        if (state := self._without(pool)) is not None:
            await self._free(stored)
            await self._say(stored, pool, state)
            return RESYNC
        if not stored.held:
            stored = read_pool(await self._server.merge_patch(stored.path, stored.holding()))
        choice = await self._take(pool)
        if choice.fresh and pool.exclusive:
            wait = await self._unsettled(stored, pool, choice)
            if wait is not None:
                return wait
        await self._say(stored, pool, self._outcome(pool, choice))
        self._grace.end(stored.name)
        await self._claims.release_all(choice.plan.stray, self._choices.mark(pool))
        return min(RESYNC, choice.due or RESYNC)

    async def _take(self, pool: Pool) -> Choice:
        """Choose and claim the hosts, and release marked nodes that were never published as hosts."""
        name, mark = (pool.namespace, pool.name), self._choices.mark(pool)
        had = {host.name for host in pool.assigned if published(pool)}
        read = set[PoolHost]()
        async with self._choosing:
            for _ in range(CHOICES):
                choice = self._choices.of(pool)
                # As they were when they were chosen: the watch may bring another pool's label before they are claimed.
                chosen_by = {host.name: self._inventory.nodes.get(host.name) for host in choice.plan.hosts}
                if behind := await self._claims.standing(choice.gone):
                    raise ApiError(Cause.BUSY, f"the cached state of node {behind[0].name} is stale; retrying")
                if doubtful := [host for host in choice.dropped if host not in read]:
                    # The cache may lack the pool's mark, which is why it is not chosen: choose again by the answers.
                    await self._claims.standing(doubtful)
                    read.update(doubtful)
                    continue
                # Nodes that an earlier leader may have marked are read from the API server, whatever the caches say.
                unseen = self._grace.unseen(name, choice.fresh)
                claimed = await self._claims.claim_all(dict.fromkeys((*choice.unmarked, *unseen)), mark, chosen_by.get)
                self._grace.begin(name, dict.fromkeys((*claimed.written, *unseen)))
                self._choices.bar(pool, claimed.lost)
                if not claimed.lost and not claimed.changed:
                    # A published host is released only after its replacement has been published.
                    await self._claims.release_all([node for node in choice.plan.stray if node not in had], mark)
                    return choice
        raise ApiError(Cause.CONFLICT, "other HostPools keep taking the nodes")

    async def _unsettled(self, stored: StoredPool, pool: Pool, choice: Choice) -> float | None:
        """Seconds until the fresh hosts can be published; ``None`` if they can be now."""
        wait = self._grace.left(stored.name, choice.fresh)
        if wait:
            if not published(pool):
                await self._reports.say(stored, pool_status.settling(choice.plan))
            return wait
        strange = await strangers_on(choice.fresh, pool, self._inventory, self._server)
        if not strange:
            return None
        self._choices.bar(pool, strange)
        for host in strange:
            self._reports.tell(stored, stranger(host.name, self._inventory.foreign_pods.stranger))
        await self._claims.release_all([host.name for host in strange], self._choices.mark(pool))
        return 0.0

    async def _release(self, stored: StoredPool) -> float | None:
        """Release the hosts of a deleted pool once none of its pods runs there, and remove the finalizer."""
        pool = stored.pool
        if pool is not None and pool.sized:
            known = users(pool, self._inventory).bit_count()
            busy = known or await hosts_in_use(pool, self._inventory, self._server)
            if busy:
                await self._say(stored, pool, pool_status.releasing(pool, busy))
                return RESYNC if known else LATER
        await self._free(stored)
        if stored.held:
            await self._server.merge_patch(stored.path, stored.free())
            self._reports.tell(stored, RELEASED)
        return None

    async def _free(self, stored: StoredPool) -> None:
        """Remove the pool's marks from all nodes."""
        assigned = (host.name for host in stored.pool.assigned) if stored.pool else ()
        names = {*marked_nodes(stored.name, self._inventory), *assigned}
        await self._claims.release_all(sorted(names), mark_named(*stored.name))

    async def _say(self, stored: StoredPool, pool: Pool, state: State) -> None:
        """Write the status, and cache it if the stored one equals it."""
        if await self._reports.say(stored, state):
            self._statuses.end(stored.name)  # the stored status has just changed
        else:
            self._statuses.note(pool, state)
