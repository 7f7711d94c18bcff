"""Which hosts a pool gets: a pure function that admission predicts with and the controller writes down.

An entry keeps its index for ever; a vanished node is replaced in place; nothing shifts (``docs/hostpool.md``).
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np
from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.job_pods import POOL
from webhook.placement.inventory.objects import PodInfo, Pool, PoolHost
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_labels import labels_of
from webhook.placement.inventory.quota import excess, surplus
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.selector import matching_all, requirements_of
from webhook.placement.pools.host_list import entries
from webhook.placement.pools.score import base
from webhook.placement.text import keys
from webhook.placement.text.problem import counted

MORE: Final = "ask for a larger quota of exclusive hosts, or use a smaller HostPool"
"""What helps a pool over the quota of exclusive hosts."""


class Allocation(Struct, frozen=True):
    """The hosts a pool has or would get, by ascending index.

    ``eligible`` counts the nodes that could serve it, those it has among them; ``reason`` says why it is incomplete,
    and is empty when it is complete; ``remedy`` says what would help where that is more than its namespace may have, so
    that no node that comes would.
    """

    hosts: tuple[PoolHost, ...]
    eligible: int
    reason: str = ""
    remedy: str = ""


def allocate(pool: Pool, inventory: Inventory, policy: Policy, *, barred: Bits = 0, whole: bool = False) -> Allocation:
    """The hosts of a sized or literal pool, kept where they stand and completed from the eligible nodes.

    ``barred`` are nodes that cannot be given to it, whatever else is known of them. With ``whole`` nodes are not even
    chosen for a sized pool that cannot be completed: it is not to have any.
    """
    if over := surplus(pool, inventory, policy.pool_quota):
        return Allocation((), 0, str(over), over.remedy)
    if pool.hosts is not None:
        return _literal(pool, inventory, policy, barred)
    return _created(pool, inventory, policy, barred, whole=whole)


def eligible(pool: Pool, inventory: Inventory, policy: Policy) -> Bits:
    """Nodes that could be hosts of the pool.

    They carry its tags and meet its selector, may be pooled, have no taint that keeps pods away, belong to no other
    exclusive pool and, for an exclusive pool, run no stranger.
    """
    nodes = inventory.nodes
    found = matching_all(nodes, labels_of(pool))
    found &= matching_all(nodes, requirements_of(policy.poolable))
    own = keys.exclusive(pool.namespace, pool.name)
    for by_taint in nodes.taints.values():
        for taint, tainted in by_taint.items():
            if taint.key != keys.EXCLUSIVE or taint.value != own:
                found &= ~tainted
    found &= ~inventory.pools.claimed([(pool.namespace, pool.name)])
    return found & ~strangers(pool, inventory) if pool.exclusive else found


def strangers(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that run a stranger, be it about to end."""
    found = 0
    for (namespace, pools), nodes in inventory.outsiders.nodes():
        if pool.spl_name not in pools or not _serves(pool, namespace, "", inventory):
            found |= nodes
    for (namespace, job), siblings in inventory.jobs_with_pods():
        serves = _serves(pool, namespace, job, inventory)
        found |= siblings.outside(pool.spl_name) if serves else siblings.everyone.nodes
    for pod in inventory.leaving.values():
        if is_stranger(pod, pool, inventory):
            found |= inventory.nodes.named(pod.node)
    return found


def is_stranger(pod: PodInfo, pool: Pool, inventory: Inventory) -> bool:
    """Whether the pod is a processing element of another pool or job or, where they count, any pod of others."""
    if not pod.job and not inventory.outsiders.include(pod):
        return False
    return pool.spl_name not in pod.pools or not _serves(pool, pod.namespace, pod.job, inventory)


def users(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that run a pod which names the pool, be it about to end."""
    found = 0
    for (namespace, job), siblings in inventory.jobs_with_pods():
        if _may_serve(pool, namespace, job, inventory):
            found |= siblings.holding(((POOL, pool.spl_name),))
    for pod in (*inventory.leaving.values(), *inventory.visitors.values()):
        if is_user(pod, pool, inventory):
            found |= inventory.nodes.named(pod.node)
    return found


def is_user(pod: PodInfo, pool: Pool, inventory: Inventory) -> bool:
    """Whether the pod names the pool, or may: a name that has come to mean several pools means each of them."""
    return pool.spl_name in pod.pools and _may_serve(pool, pod.namespace, pod.job, inventory)


def _may_serve(pool: Pool, namespace: str, job: str, inventory: Inventory) -> bool:
    """Whether pods of the job may mean this pool by its name: it is open to them, and among those of that name."""
    meant = _meant(pool, namespace, job, inventory)
    return meant is not None and (not meant or pool.name in meant)


def _serves(pool: Pool, namespace: str, job: str, inventory: Inventory) -> bool:
    """Whether pods of the job mean this pool by its name, and no other."""
    meant = _meant(pool, namespace, job, inventory)
    return meant is not None and meant <= {pool.name}


def _meant(pool: Pool, namespace: str, job: str, inventory: Inventory) -> set[str] | None:
    """The pools that pods of the job mean by this pool's name, by object name; ``None`` if it is closed to them."""
    if namespace != pool.namespace or pool.job not in (None, job):
        return None
    return {other.name for other in pool_of(pool.spl_name, namespace, job, inventory)}


def pool_of(spl_name: str, namespace: str, job: str, inventory: Inventory) -> list[Pool]:
    """The pools that a job's ``host(P)`` may mean: its own of that name, else the namespace's without a job."""
    pools = inventory.pools.named(namespace, spl_name)
    own = [pool for pool in pools if job and pool.job == job]
    return own or [pool for pool in pools if pool.job is None]


def _literal(pool: Pool, inventory: Inventory, policy: Policy, barred: Bits) -> Allocation:
    listed = list(entries(pool, inventory, policy))
    found = [entry for entry in listed if entry.node and not inventory.nodes.named(entry.node) & barred]
    hosts = tuple(_host(entry.index, entry.node, inventory) for entry in found)
    wanted = len(pool.hosts or ())
    # Tenants read this: it counts entries and does not name those that the reader may not have written.
    reason = f"it lists {counted(wanted, 'host')} and finds {counted(len(hosts), 'node')}"
    if taken := sum(entry.taken for entry in listed):
        reason = f"{reason}, as {counted(taken, 'host')} {'is' if taken == 1 else 'are'} exclusive to another HostPool"
    return Allocation(hosts, len(hosts), "" if len(hosts) == wanted else reason)


def _created(pool: Pool, inventory: Inventory, policy: Policy, barred: Bits, *, whole: bool) -> Allocation:
    size = pool.size or 0
    standing = inventory.pools.hosts(pool)
    kept = {host.index: host for host in pool.assigned if host.index < size and standing.get(host.index)}
    holding = 0
    for index in kept:
        holding |= standing[index]
    could = eligible(pool, inventory, policy) & ~barred
    count = (could | holding).bit_count()
    over = excess(pool, inventory, policy.quota) if len(kept) < size else None
    if over:
        return Allocation(tuple(kept[index] for index in sorted(kept)), count, str(over), MORE)
    if whole and count < size:
        return Allocation((), count, _shortage(size, count))
    free, taken = could & ~holding, _of_others(pool, inventory)
    fresh = chain.from_iterable(
        _cheapest(nodes, size - len(kept), inventory) for nodes in (free & ~taken, free & taken)
    )
    for index in range(size):
        if index not in kept:
            name = next(fresh, None)
            if name is None:
                break
            kept[index] = _host(index, name, inventory)
    reason = "" if len(kept) == size else _shortage(size, count)
    return Allocation(tuple(kept[index] for index in sorted(kept)), count, reason)


def _of_others(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that carry the label of another pool, which would have to share them or, if this one is exclusive, go."""
    once, twice = inventory.pools.marked()
    return once & ~inventory.nodes.with_key(keys.membership(pool.namespace, pool.name)) | twice


def _cheapest(nodes: Bits, count: int, inventory: Inventory) -> Iterator[str]:
    """Names of the ``count`` nodes that pools take first: by cost, then by name."""
    found = to_slots(nodes)
    # Cost and rank in one number: a partial sort of numbers is what makes this cheap enough to predict in a review.
    order = base(inventory.nodes.capacity, {})[found] * len(inventory.nodes.names) + inventory.nodes.ranks()[found]
    if count < len(found):
        chosen = np.argpartition(order, count)[:count]
        found, order = found[chosen], order[chosen]
    return (inventory.nodes.names[slot] for slot in found[np.argsort(order)].tolist())


def _shortage(size: int, count: int) -> str:
    return f"it needs {counted(size, 'host')} and {counted(count, 'node')} {'is' if count == 1 else 'are'} eligible"


def _host(index: int, name: str, inventory: Inventory) -> PoolHost:
    node = inventory.nodes.nodes[inventory.nodes.slot_of[name]]
    return PoolHost(index, name, node.uid)
