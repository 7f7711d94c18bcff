"""The choice of hosts for a HostPool, and who may use it: eligible nodes, strangers and users of the pool.

Admission predicts with :func:`allocate`, and the controller writes its result into the pool's status. An entry keeps
its index forever, and a node that no longer exists is replaced at its index (``docs/hostpool.md``).
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

import numpy as np
from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.job_pods import POOL
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import excess, surplus
from webhook.placement.kube.bits import Bits, to_slots, union
from webhook.placement.kube.selection.selector import matching_all, requirements_of
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool, PoolHost
from webhook.placement.objects.pool_labels import labels_of
from webhook.placement.pools.host_devices import nodes_with_devices
from webhook.placement.pools.host_list import entries, nodes_of_host, retainable
from webhook.placement.pools.score import base
from webhook.placement.text import keys
from webhook.placement.text.fix import LARGER_QUOTA, Advice, Fix
from webhook.placement.text.problem import counted

MORE: Final = Advice("ask for a larger quota of exclusive hosts, or use a smaller HostPool")
"""The remedy for a pool over the quota of exclusive hosts."""


class Allocation(Struct, frozen=True):
    """The hosts that a pool has or would get, by ascending index.

    ``eligible`` is the number of nodes that could be hosts of the pool, including its present hosts. ``reason`` says
    why hosts are missing, and is empty for a complete pool. ``remedy`` says what would help a pool over a quota, for
    which no additional node would help.
    """

    hosts: tuple[PoolHost, ...]
    eligible: int
    reason: str = ""
    remedy: Fix | None = None


class Selection(Struct, frozen=True):
    """Which nodes a pool gets: none that is ``excluded``, and those that are ``planned`` at their indices if it can.

    With ``whole`` a sized pool that cannot be completed gets none.
    """

    excluded: Bits = 0
    planned: Mapping[int, str] = {}
    whole: bool = False


ANY: Final = Selection()
"""Whatever nodes are best."""


def allocate(pool: Pool, inventory: Inventory, policy: Policy, selection: Selection = ANY) -> Allocation:
    """The hosts of a sized or literal pool: its present hosts at their indices, completed from the eligible nodes."""
    if over := surplus(pool, inventory, policy.pool_quota):
        return Allocation((), 0, str(over), over.remedy)
    if pool.hosts is not None:
        return _literal(pool, inventory, policy, selection.excluded)
    return _created(pool, inventory, policy, selection)


def eligible(pool: Pool, inventory: Inventory, policy: Policy) -> Bits:
    """Nodes that could be hosts of the pool.

    Such a node has the labels of the pool's tags, meets its selector and the setting of poolable nodes, has its devices
    or may have them, has no hard taint but the pool's own, and belongs to no other exclusive pool. For an exclusive
    pool it also runs no stranger.
    """
    nodes = inventory.nodes
    able = matching_all(nodes, labels_of(pool))
    able &= matching_all(nodes, requirements_of(policy.poolable))
    if pool.devices:
        able &= nodes_with_devices(pool, inventory, unhurried=policy.unhurried).able
    own = keys.exclusive(pool.namespace, pool.name)
    for by_taint in nodes.taints.values():
        for taint, tainted in by_taint.items():
            if taint.key != keys.EXCLUSIVE or taint.value != own:
                able &= ~tainted
    able &= ~inventory.pools.claimed([(pool.namespace, pool.name)])
    return able & ~strangers(pool, inventory) if pool.exclusive else able


def strangers(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that run a stranger to the pool, also one that is being deleted."""
    there = 0
    for (namespace, pools), nodes in inventory.foreign_pods.nodes():
        if pool.spl_name not in pools or not _serves(pool, namespace, "", inventory):
            there |= nodes
    for (namespace, job), job_pods in inventory.jobs_with_pods():
        serves = _serves(pool, namespace, job, inventory)
        there |= job_pods.outside(pool.spl_name) if serves else job_pods.everyone.nodes
    for pod in inventory.leaving.values():
        if is_stranger(pod, pool, inventory):
            there |= inventory.nodes.named(pod.node)
    return there


def is_stranger(pod: PodInfo, pool: Pool, inventory: Inventory) -> bool:
    """Whether the pod is a stranger to the pool: it does not use the pool, and is a processing element or counts.

    Pods of no job count by the setting of strangers (:class:`ForeignPods`).
    """
    if not pod.job and not inventory.foreign_pods.include(pod):
        return False
    return pool.spl_name not in pod.pools or not _serves(pool, pod.namespace, pod.job, inventory)


def users(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that run a user of the pool, also one that is being deleted."""
    there = 0
    for (namespace, job), job_pods in inventory.jobs_with_pods():
        if _may_serve(pool, namespace, job, inventory):
            there |= job_pods.holding(((POOL, pool.spl_name),))
    for pod in (*inventory.leaving.values(), *inventory.visitors.values()):
        if is_user(pod, pool, inventory):
            there |= inventory.nodes.named(pod.node)
    return there


def is_user(pod: PodInfo, pool: Pool, inventory: Inventory) -> bool:
    """Whether the pod may mean the pool by a name in its placement; a name of several pools may mean each of them."""
    return pool.spl_name in pod.pools and _may_serve(pool, pod.namespace, pod.job, inventory)


def _may_serve(pool: Pool, namespace: str, job: str, inventory: Inventory) -> bool:
    """Whether pods of the job may mean this pool by its SPL name: the job may use the pool, and the name can mean it.

    A name that means no pool, as for a pool that is not in the inventory, can mean this one.
    """
    named = _pools_named(pool, namespace, job, inventory)
    return named is not None and (not named or pool.name in named)


def _serves(pool: Pool, namespace: str, job: str, inventory: Inventory) -> bool:
    """Whether pods of the job mean this pool, and no other, by its SPL name."""
    named = _pools_named(pool, namespace, job, inventory)
    return named is not None and named <= {pool.name}


def _pools_named(pool: Pool, namespace: str, job: str, inventory: Inventory) -> set[str] | None:
    """Object names of the pools that pods of the job may mean by this pool's SPL name.

    ``None`` if pods of the job may not use this pool.
    """
    if namespace != pool.namespace or pool.job not in (None, job):
        return None
    return {other.name for other in pool_of(pool.spl_name, namespace, job, inventory)}


def pool_of(spl_name: str, namespace: str, job: str, inventory: Inventory) -> list[Pool]:
    """The pools that ``host(P)`` may mean: the job's pools with that SPL name, else such pools without a job."""
    pools = inventory.pools.named(namespace, spl_name)
    own = [pool for pool in pools if job and pool.job == job]
    return own or [pool for pool in pools if pool.job is None]


def _literal(pool: Pool, inventory: Inventory, policy: Policy, excluded: Bits) -> Allocation:
    listed = list(entries(pool, inventory, policy))
    standing = [entry for entry in listed if entry.node and not inventory.nodes.named(entry.node) & excluded]
    hosts = tuple(_host(entry.index, entry.node, inventory) for entry in standing)
    wanted = len(pool.hosts or ())
    # Every user of the namespace reads this text, so it counts the entries and does not quote them.
    reason = f"it lists {counted(wanted, 'host')} and finds {counted(len(hosts), 'node')}"
    if lost := sum(entry.claimed for entry in listed):
        reason = f"{reason}, as {counted(lost, 'host')} {'is' if lost == 1 else 'are'} exclusive to another HostPool"
    return Allocation(hosts, len(hosts), "" if len(hosts) == wanted else reason)


def _created(pool: Pool, inventory: Inventory, policy: Policy, selection: Selection) -> Allocation:
    size = pool.size or 0
    standing, may = inventory.pools.hosts(pool), retainable(pool, inventory, policy)
    kept = {host.index: host for host in pool.assigned if host.index < size and standing.get(host.index, 0) & may}
    retained = 0
    for index in kept:
        retained |= standing[index]
    able = eligible(pool, inventory, policy) & ~selection.excluded
    count = (able | retained).bit_count()
    over = excess(pool, inventory, policy.quota) if len(kept) < size else None
    if over:
        return Allocation(
            tuple(kept[index] for index in sorted(kept)), count, str(over), MORE if over.left else LARGER_QUOTA
        )
    if selection.whole and count < size:
        return Allocation((), count, _shortage(pool, count, inventory))
    for index, name in selection.planned.items():
        node = inventory.nodes.named(name) & able & ~retained
        if index < size and index not in kept and node:
            kept[index] = _host(index, name, inventory)
            retained |= node
    free, others = able & ~retained, _of_others(pool, inventory)
    groups = [free & ~others, free & others]
    if pool.devices:  # nodes that may lack them come last
        sure = nodes_with_devices(pool, inventory, unhurried=policy.unhurried).nodes
        groups = [nodes & part for part in (sure, ~sure) for nodes in groups]
    fresh = chain.from_iterable(_cheapest(nodes, size - len(kept), inventory) for nodes in groups)
    for index in range(size):
        if index not in kept:
            chosen = next(fresh, None)
            if chosen is None:
                break
            kept[index] = _host(index, chosen, inventory)
    reason = "" if len(kept) == size else _shortage(pool, count, inventory)
    return Allocation(tuple(kept[index] for index in sorted(kept)), count, reason)


def _of_others(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes of another pool, which would have to share them or, if this one is exclusive, leave them.

    They have its label, or are listed by a pool of the namespace that has no hosts yet.
    """
    once, twice = inventory.pools.marked()
    others = once & ~inventory.nodes.with_key(keys.membership(pool.namespace, pool.name)) | twice
    for other in inventory.pools.of_namespace(pool.namespace).values() if pool.exclusive else ():
        if other.hosts is not None and not other.served:
            others |= union(nodes_of_host(text, inventory.nodes) for text in other.hosts)
    return others


def _cheapest(nodes: Bits, count: int, inventory: Inventory) -> Iterator[str]:
    """The names of the first ``count`` nodes, sorted by cost, then by name."""
    free = to_slots(nodes)
    # Cost and rank make one number, so that a partial sort of numbers will do, fast enough for a review.
    order = base(inventory.nodes.capacity, {})[free] * len(inventory.nodes.names) + inventory.nodes.ranks()[free]
    if count < len(free):
        chosen = np.argpartition(order, count)[:count]
        free, order = free[chosen], order[chosen]
    return (inventory.nodes.names[slot] for slot in free[np.argsort(order)].tolist())


def _shortage(pool: Pool, count: int, inventory: Inventory) -> str:
    why = ", since the devices of nodes are not known" if pool.devices and not inventory.devices.read else ""
    eligible_now = f"{counted(count, 'node')} {'is' if count == 1 else 'are'} eligible"
    return f"it needs {counted(pool.size or 0, 'host')} and {eligible_now}{why}"


def _host(index: int, name: str, inventory: Inventory) -> PoolHost:
    node = inventory.nodes.nodes[inventory.nodes.slot_of[name]]
    return PoolHost(index, name, node.uid)
