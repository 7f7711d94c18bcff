"""HostPools of a Job that cannot all get their hosts, wherever its pods run: for quotas, or for lists of hosts.

A Job waits until all of its pools are ready, so a pool that never becomes ready keeps the Job from running.
Pools with a size get their hosts together with the processing elements (``whole_job``).
"""

import itertools
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from webhook.placement.checks.completion import complete
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.quota import fewer_pools, wanted
from webhook.placement.kube.bits import Bits, union
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.refusal.pool_refusal import LISTED
from webhook.placement.request.world import World
from webhook.placement.text.fix import LARGER_QUOTA, Advice
from webhook.placement.text.problem import counted


def cannot_be_had(pools: Sequence[Pool], world: World) -> tuple[Refusal, ...]:
    """Why the pools of one Job cannot all get their hosts: all reasons, or one more than are listed.

    The pools are in the inventory.
    """
    if not pools:
        return ()
    number = _too_many(pools, world)
    quota = number or _too_many_hosts(pools, world)
    # The quota is told of once; each list is judged as if there were room for its pool.
    return ((quota,) if quota else ()) + _lists(pools, world.without_quotas() if number else world)


def unlisted_pools(pools: Iterable[Pool], world: World) -> list[Pool]:
    """The pools that list their hosts, and do not have all of them."""
    return [pool for pool in pools if pool.hosts is not None and not world.complete(pool)]


def settled_hosts(pools: Iterable[Pool], world: World) -> Bits:
    """The hosts of those pools whose hosts are not to be chosen: they are listed, or the pool has all of them.

    Exclusive pools of the Job must not take them.
    """
    settled = [pool for pool in pools if pool.hosts is not None or (pool.size is not None and world.complete(pool))]
    return union(host for pool in settled for host in world.hosts(pool).values())


def _too_many(pools: Sequence[Pool], world: World) -> Refusal | None:
    namespace = pools[0].namespace
    limit, others = world.policy.pool_quota.of(namespace), len(_others(pools, world.inventory))
    if limit is None or others + len(pools) <= limit or all(pool.served for pool in pools):
        return None
    may = f"namespace {namespace} may have {counted(limit, 'HostPool')}"
    first = (
        f"The HostPools of the Job cannot all be created: {may}, has {others} besides, and the Job declares "
        f"{len(pools)}."
    )
    return Refusal.of_pools(first, (), (fewer_pools(others + len(pools) - limit, others),))


def _too_many_hosts(pools: Sequence[Pool], world: World) -> Refusal | None:
    namespace, inventory = pools[0].namespace, world.inventory
    limit, own = world.policy.quota.of(namespace), [pool for pool in pools if pool.exclusive]
    if limit is None or all(map(world.complete, own)):
        return None
    in_use = sum(wanted(pool, inventory) for pool in _others(pools, inventory) if pool.exclusive)
    asked = sum(wanted(pool, inventory) for pool in own)
    if in_use + asked <= limit:
        return None
    may = f"namespace {namespace} may have {counted(limit, 'exclusive host')}"
    first = (
        f"The HostPools of the Job cannot be completed: {may}, its other HostPools have {in_use}, "
        f"and those of the Job ask for {asked}."
    )
    available = limit - in_use
    least = sum(wanted(replace(pool, size=1), inventory) for pool in own)  # a pool keeps the hosts that it has
    fixes = (LARGER_QUOTA, Advice(f"ask for {available}")) if available >= least else (LARGER_QUOTA,)
    return Refusal.of_pools(first, (), fixes)


def _lists(pools: Sequence[Pool], world: World) -> tuple[Refusal, ...]:
    """The refusals of pools that list what is not a node, one node twice, or hosts of an exclusive pool.

    At most one more is found than refusals list: each list may have a thousand hosts.
    """
    refusals = (complete(pool, world).refusal for pool in unlisted_pools(pools, world))
    return tuple(itertools.islice((refusal for refusal in refusals if refusal is not None), LISTED + 1))


def _others(pools: Sequence[Pool], inventory: Inventory) -> list[Pool]:
    """The other pools of the namespace; those that are being deleted count until they are gone."""
    names = {pool.name for pool in pools}
    return [pool for name, pool in inventory.pools.of_namespace(pools[0].namespace).items() if name not in names]
