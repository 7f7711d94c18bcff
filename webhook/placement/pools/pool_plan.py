"""What the controller is to make true of a sized or literal pool: its hosts, and the nodes that must let go of it.

Pure: it says what should be, from what is known. A node is claimed by writing on it; what was claimed by a controller
that then died is found by the label it left (``docs/hostpool.md``).
"""

from collections.abc import Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Phase, Pool, PoolHost, Taint
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.inventory.pool_marks import marked
from webhook.placement.kube.bits import Bits, slots, union
from webhook.placement.pools.allocation import Allocation, allocate, eligible
from webhook.placement.text import keys


class PoolPlan(Struct, frozen=True):
    """``hosts`` by ascending index, none of them if the pool cannot be completed at first.

    ``eligible`` counts the nodes that could serve it, ``reason`` says why it is incomplete, and ``stray`` are the names
    of nodes that carry its label or taint and are no hosts of it.
    """

    hosts: tuple[PoolHost, ...]
    eligible: int
    reason: str
    stray: tuple[str, ...]


def plan(
    pool: Pool, inventory: Inventory, policy: Policy, *, barred: Bits = 0, dismissed: Collection[int] = ()
) -> PoolPlan:
    """The hosts that the pool is to have.

    ``barred`` are nodes that cannot be claimed just now, whatever the caches say; ``dismissed`` the indices of hosts
    that are to be replaced although their nodes exist.
    """
    whole = not published(pool)
    allocation = granted(pool, inventory, policy, barred=barred, dismissed=dismissed, whole=whole)
    hosts = () if allocation.reason and whole else allocation.hosts
    return PoolPlan(hosts, allocation.eligible, allocation.reason, _stray(pool, hosts, inventory))


def granted(
    pool: Pool,
    inventory: Inventory,
    policy: Policy,
    *,
    barred: Bits = 0,
    dismissed: Collection[int] = (),
    whole: bool = False,
) -> Allocation:
    """The hosts that the pool has or would get: those that are marked for it already come first.

    With ``whole`` a pool that cannot be completed may get none.
    """
    assigned = tuple(host for host in pool.assigned if host.index not in dismissed)
    known = replace(pool, assigned=(*assigned, *_claimed(pool, assigned, inventory, policy, barred)))
    return allocate(known, inventory, policy, barred=barred, whole=whole)


def hopeless(pool: Pool, inventory: Inventory) -> bool:
    """Whether a pool that has no hosts asks for more than there are nodes for anybody: two counts tell.

    A pool that has marks on nodes is looked at more closely: it may have to let go of them.
    """
    if pool.size is None or published(pool) or marked((pool.namespace, pool.name), inventory):
        return False
    nodes = inventory.nodes
    return pool.size > (nodes.everything & ~nodes.kept_away() & ~inventory.pools.exclusive()).bit_count()


def published(pool: Pool) -> bool:
    """Whether the pool has been given its hosts: from then on entries are replaced one by one.

    One that has failed since, as all of them are another pool's by now, has them still.
    """
    return pool.phase in {Phase.READY, Phase.FAILED} and bool(pool.assigned)


def marked_nodes(name: Name, inventory: Inventory) -> list[str]:
    """The names of nodes that carry the pool's label or its taint, sorted."""
    return sorted(_names(marked(name, inventory), inventory))


def taint_of(pool: Pool, policy: Policy) -> Taint | None:
    """The taint of the pool's hosts; ``None`` unless it is exclusive."""
    if not pool.exclusive:
        return None
    return Taint(keys.EXCLUSIVE, keys.exclusive(pool.namespace, pool.name), policy.exclusive_effect)


def _claimed(
    pool: Pool, assigned: Collection[PoolHost], inventory: Inventory, policy: Policy, barred: Bits
) -> list[PoolHost]:
    """Hosts that a former controller had labelled and did not live to publish, at indices that are free."""
    if pool.hosts is not None:
        return []
    key = keys.membership(pool.namespace, pool.name)
    standing = inventory.pools.hosts(replace(pool, assigned=tuple(assigned)))
    taken = {index for index, nodes in standing.items() if nodes}
    nodes = inventory.nodes.with_key(key) & ~union(standing.values()) & ~barred
    if not nodes:
        return []
    found: dict[int, PoolHost] = {}
    for name in sorted(_names(nodes & eligible(pool, inventory, policy), inventory)):
        node = inventory.nodes.nodes[inventory.nodes.slot_of[name]]
        index = node.labels[key]
        if index.isdecimal() and int(index) < (pool.size or 0) and int(index) not in taken:
            taken.add(int(index))
            found[int(index)] = PoolHost(int(index), name, node.uid)
    return list(found.values())


def _stray(pool: Pool, hosts: Collection[PoolHost], inventory: Inventory) -> tuple[str, ...]:
    serving = union(inventory.nodes.named(host.name) for host in hosts)
    return tuple(sorted(_names(marked((pool.namespace, pool.name), inventory) & ~serving, inventory)))


def _names(nodes: Bits, inventory: Inventory) -> Iterator[str]:
    return (inventory.nodes.names[slot] for slot in slots(nodes))
