"""Which hosts a pool gets: a pure function that admission predicts with and the controller writes down.

An entry keeps its index for ever; a vanished node is replaced in place; nothing shifts (``docs/hostpool.md``).
"""

from collections.abc import Collection, Iterator

import numpy as np
from msgspec import Struct

from webhook.placement import keys
from webhook.placement.addresses import canonical
from webhook.placement.bits import Bits, slots, to_slots
from webhook.placement.cluster import Pool, PoolHost
from webhook.placement.inventory import Inventory
from webhook.placement.pod import Requirement
from webhook.placement.policy import Policy
from webhook.placement.score import base
from webhook.placement.selector import matching_all, requirements_of


class Allocation(Struct, frozen=True):
    """The hosts a pool has or would get, by ascending index.

    ``eligible`` counts the nodes that could serve it, those it has among them; ``reason`` says why it is incomplete,
    and is empty when it is complete.
    """

    hosts: tuple[PoolHost, ...]
    eligible: int
    reason: str = ""


def tag_requirements(tags: Collection[str], *, several: bool = False) -> tuple[Requirement, ...]:
    """Tags as node label requirements, sorted: one tag as a value of the shared key, several as a key each.

    ``several`` says that others count beside these: a key has one value, so then even one tag is a key of its own.
    """
    if not tags:
        return ()
    distinct = sorted(set(tags))
    if len(distinct) == 1 and not several:
        return (Requirement(keys.TAG, "In", (distinct[0],)),)
    return tuple(Requirement(keys.TAGS + tag, "Exists") for tag in distinct)


def allocate(pool: Pool, cluster: Inventory, policy: Policy) -> Allocation:
    """The hosts of a sized or literal pool, kept where they stand and completed from the eligible nodes."""
    return _literal(pool, cluster) if pool.hosts is not None else _created(pool, cluster, policy)


def eligible(pool: Pool, cluster: Inventory, policy: Policy) -> Bits:
    """Nodes that could be hosts of the pool.

    They carry its tags and meet its selector, may be pooled, have no taint that keeps pods away, belong to no other
    exclusive pool and, for an exclusive pool, run no processing element of any other pool or job.
    """
    nodes = cluster.nodes
    found = matching_all(nodes, tag_requirements(pool.tags))
    found &= matching_all(nodes, requirements_of(pool.selector)) if pool.selector else found
    found &= matching_all(nodes, requirements_of(policy.poolable))
    own = keys.exclusive(pool.namespace, pool.name)
    for by_taint in nodes.taints.values():
        for taint, tainted in by_taint.items():
            if taint.key != keys.EXCLUSIVE or taint.value != own:
                found &= ~tainted
    found &= ~cluster.claimed([(pool.namespace, pool.name)])
    return found & ~strangers(pool, cluster) if pool.exclusive else found


def strangers(pool: Pool, cluster: Inventory) -> Bits:
    """Nodes that run a processing element of another pool or job."""
    found = 0
    for (namespace, job), siblings in cluster.jobs_with_pods():
        others = (other for other in pool_of(pool.spl_name, namespace, job, cluster) if other.name != pool.name)
        serves = namespace == pool.namespace and pool.job in (None, job) and next(others, None) is None
        found |= siblings.outside(pool.spl_name) if serves else siblings.everyone.nodes
    return found


def pool_of(spl_name: str, namespace: str, job: str, cluster: Inventory) -> list[Pool]:
    """The pools that a job's ``host(P)`` may mean: its own of that name, else the namespace's without a job."""
    pools = cluster.pools_named(namespace, spl_name)
    own = [pool for pool in pools if job and pool.job == job]
    return own or [pool for pool in pools if pool.job is None]


def _literal(pool: Pool, cluster: Inventory) -> Allocation:
    hosts: dict[str, PoolHost] = {}
    entries = pool.hosts or ()
    for index, text in enumerate(entries):
        found = resolve(text, cluster)
        if len(found) == 1 and found[0] not in hosts:
            hosts[found[0]] = _host(index, found[0], cluster)
    # Tenants read this: it counts entries and does not name those that the reader may not have written.
    reason = f"it lists {_count(len(entries), 'host')} and finds {_count(len(hosts), 'node')}"
    return Allocation(tuple(hosts.values()), len(hosts), "" if len(hosts) == len(entries) else reason)


def resolve(text: str, cluster: Inventory) -> list[str]:
    """The names of the nodes that a host's name or address means, sorted; at most one for a name."""
    address = canonical(text)
    found = cluster.nodes.addresses.of(address) if address else cluster.nodes.named(text)
    return sorted(cluster.nodes.names[slot] for slot in slots(found))


def _created(pool: Pool, cluster: Inventory, policy: Policy) -> Allocation:
    size = pool.size or 0
    standing = cluster.hosts(pool)
    kept = {host.index: host for host in pool.given if host.index < size and standing.get(host.index)}
    holding = 0
    for index in kept:
        holding |= standing[index]
    could = eligible(pool, cluster, policy)
    fresh = _cheapest(could & ~holding, size - len(kept), cluster)
    for index in range(size):
        if index not in kept:
            name = next(fresh, None)
            if name is None:
                break
            kept[index] = _host(index, name, cluster)
    count = (could | holding).bit_count()
    reason = "" if len(kept) == size else _shortage(size, count)
    return Allocation(tuple(kept[index] for index in sorted(kept)), count, reason)


def _cheapest(nodes: Bits, count: int, cluster: Inventory) -> Iterator[str]:
    """Names of the ``count`` nodes that pools take first: by cost, then by name."""
    found = to_slots(nodes)
    # Cost and rank in one number: a partial sort of numbers is what makes this cheap enough to predict in a review.
    order = base(cluster.nodes.capacity, {})[found] * len(cluster.nodes.names) + cluster.nodes.ranks()[found]
    if count < len(found):
        chosen = np.argpartition(order, count)[:count]
        found, order = found[chosen], order[chosen]
    return (cluster.nodes.names[slot] for slot in found[np.argsort(order)].tolist())


def _shortage(size: int, count: int) -> str:
    return f"it needs {_count(size, 'host')} and {_count(count, 'node')} {'is' if count == 1 else 'are'} eligible"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _host(index: int, name: str, cluster: Inventory) -> PoolHost:
    node = cluster.nodes.nodes[cluster.nodes.slot_of[name]]
    return PoolHost(index, name, node.uid)
