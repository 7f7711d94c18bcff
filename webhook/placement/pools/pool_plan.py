"""The plan of the controller for a sized or literal pool: the hosts it is to have, and nodes that must lose its marks.

The plan is computed from the inventory without input or output. The controller claims a node by writing the pool's
marks on it. A claim of a controller that died before the pool's status was written is found by the label
(``docs/hostpool.md``).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.inventory.quota import closed_for
from webhook.placement.kube.bits import Bits, slots, union
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.pools.allocation import ANY, Allocation, Selection, allocate, eligible
from webhook.placement.text import keys

_NOWHERE: Final[Mapping[int, str]] = {}


class PoolPlan(Struct, frozen=True):
    """The desired state of a pool's hosts.

    ``hosts`` are by ascending index; a pool that has no hosts yet gets all of its hosts or none. ``eligible`` is the
    number of nodes that could be hosts, and ``reason`` says why hosts are missing. ``stray`` are the names of nodes
    with the pool's label or taint that are not among ``hosts``.
    """

    hosts: tuple[PoolHost, ...]
    eligible: int
    reason: str
    stray: tuple[str, ...]


def plan(
    pool: Pool,
    inventory: Inventory,
    policy: Policy,
    *,
    excluded: Bits = 0,
    dismissed: Collection[int] = (),
    planned: Mapping[int, str] = _NOWHERE,
) -> PoolPlan:
    """The plan for the pool.

    ``excluded`` are nodes that cannot be claimed at the moment, although the inventory has no reason for that.
    ``dismissed`` are the indices of hosts that are to be replaced although their nodes exist. ``planned`` are nodes, by
    index, that a pool is to get if it can.
    """
    whole = not published(pool)
    selection = Selection(excluded, planned, whole)
    allocation = _granted(pool, inventory, policy, selection, dismissed)
    hosts = () if allocation.reason and whole else allocation.hosts
    return PoolPlan(hosts, allocation.eligible, allocation.reason, _stray(pool, hosts, inventory))


def granted(pool: Pool, inventory: Inventory, policy: Policy) -> Allocation:
    """The hosts that the pool has or would get; nodes that carry its label already are taken first."""
    return _granted(pool, inventory, policy, ANY, ())


def _granted(
    pool: Pool, inventory: Inventory, policy: Policy, selection: Selection, dismissed: Collection[int]
) -> Allocation:
    """The plan with a selection; the hosts with ``dismissed`` indices are replaced."""
    assigned = tuple(host for host in pool.assigned if host.index not in dismissed)
    known = replace(pool, assigned=(*assigned, *_claimed(pool, assigned, inventory, policy, selection.excluded)))
    return allocate(known, inventory, policy, selection)


def hopeless(pool: Pool, inventory: Inventory) -> bool:
    """Whether a pool without hosts asks for more hosts than there are untainted nodes outside exclusive pools.

    This is a cheap test. The result is ``False`` for a pool with marks on nodes: it may have to release these nodes.
    """
    if pool.size is None or published(pool) or marked((pool.namespace, pool.name), inventory):
        return False
    nodes = inventory.nodes
    return pool.size > (nodes.everything & ~nodes.kept_away() & ~inventory.pools.exclusive()).bit_count()


def published(pool: Pool) -> bool:
    """Whether the status has got the hosts of the pool, so that from now on hosts are replaced one by one.

    This is also true of a pool that failed later because all of its hosts became another pool's.
    """
    return pool.phase in {Phase.READY, Phase.FAILED} and bool(pool.assigned)


def marked(name: Name, inventory: Inventory) -> Bits:
    """Nodes with the pool's membership label or, if it is exclusive, its taint (``docs/hostpool.md``)."""
    return inventory.nodes.with_key(keys.membership(*name)) | closed_for(name, inventory)


def marked_nodes(name: Name, inventory: Inventory) -> list[str]:
    """The names of nodes with the pool's membership label or its taint, sorted."""
    return sorted(_names(marked(name, inventory), inventory))


def taint_of(pool: Pool, policy: Policy) -> Taint | None:
    """The taint of the pool's hosts; ``None`` unless the pool is exclusive."""
    if not pool.exclusive:
        return None
    return Taint(keys.EXCLUSIVE, keys.exclusive(pool.namespace, pool.name), policy.exclusive_effect)


def _claimed(
    pool: Pool, assigned: Collection[PoolHost], inventory: Inventory, policy: Policy, excluded: Bits
) -> list[PoolHost]:
    """Hosts that a former controller labelled and did not write into the status, at indices that are free."""
    if pool.hosts is not None:
        return []
    key = keys.membership(pool.namespace, pool.name)
    standing = inventory.pools.hosts(replace(pool, assigned=tuple(assigned)))
    used = {index for index, nodes in standing.items() if nodes}
    nodes = inventory.nodes.with_key(key) & ~union(standing.values()) & ~excluded
    if not nodes:
        return []
    claimed: dict[int, PoolHost] = {}
    for name in sorted(_names(nodes & eligible(pool, inventory, policy), inventory)):
        node = inventory.nodes.nodes[inventory.nodes.slot_of[name]]
        index = node.labels[key]
        if index.isdecimal() and int(index) < (pool.size or 0) and int(index) not in used:
            used.add(int(index))
            claimed[int(index)] = PoolHost(int(index), name, node.uid)
    return list(claimed.values())


def _stray(pool: Pool, hosts: Collection[PoolHost], inventory: Inventory) -> tuple[str, ...]:
    serving = union(inventory.nodes.named(host.name) for host in hosts)
    return tuple(sorted(_names(marked((pool.namespace, pool.name), inventory) & ~serving, inventory)))


def _names(nodes: Bits, inventory: Inventory) -> Iterator[str]:
    return (inventory.nodes.names[slot] for slot in slots(nodes))
