"""The entries of a literal pool's ``spec.hosts``: the node of each entry, or why it has none (``docs/hostpool.md``)."""

from collections.abc import Iterator

from msgspec import Struct

from webhook.placement.inventory.index import NodeIndex
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import closed_for
from webhook.placement.kube.addresses import canonical
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.selection.selector import matching_all, requirements_of
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys
from webhook.placement.text.problem import quote


class Entry(Struct, frozen=True, gc=False):
    """An entry of ``spec.hosts``: the name of its ``node``, or the ``fault``, why it has none.

    ``fault`` quotes the entry and tells nothing else about the cluster. ``claimed`` means that the entry is a node
    that is exclusive to another pool.
    """

    index: int
    node: str = ""
    fault: str = ""
    claimed: bool = False


def entries(pool: Pool, inventory: Inventory, policy: Policy) -> Iterator[Entry]:
    """Every entry of the pool's ``spec.hosts``, in order.

    A node that the pool has already, and carries its label, stays its host, even if the address moved to another node,
    if the setting of poolable nodes changed, or if another pool made the node exclusive.
    """
    texts = pool.hosts or ()
    standing, may = inventory.pools.hosts(pool), retainable(pool, inventory, policy)
    kept = {host.index: host.name for host in pool.assigned if standing[host.index] & may}
    poolable, closed = matching_all(inventory.nodes, requirements_of(policy.poolable)), inventory.pools.exclusive()
    first: dict[str, int] = {}
    for index, text in enumerate(texts):
        stays = index in kept and (canonical(text) is not None or kept[index] == text)
        nodes = inventory.nodes.named(kept[index]) if stays else nodes_of_host(text, inventory.nodes)
        fault = _fault(text, nodes, nodes if stays else poolable)
        claimed = not fault and not stays and bool(nodes & closed)
        if claimed:
            fault = f"{quote(text)} is exclusive to another HostPool"
        if not fault:
            node = inventory.nodes.names[next(slots(nodes))]
            earlier = first.setdefault(node, index)
            if earlier == index:
                yield Entry(index, node)
                continue
            fault = f"{quote(text)} is the same node as hosts[{earlier}]"
        yield Entry(index, fault=f"hosts[{index}]: {fault}", claimed=claimed)


def retainable(pool: Pool, inventory: Inventory, policy: Policy) -> Bits:
    """Nodes that stay hosts of the pool if its status says that they are hosts.

    A status may be forged, so it is believed of nodes with the pool's own label or taint, and else of nodes that may be
    pooled and that no other pool has for itself.
    """
    name, nodes = (pool.namespace, pool.name), inventory.nodes
    own = closed_for(name, inventory)
    closed = inventory.pools.claimed([name]) | (nodes.tainted.get(keys.EXCLUSIVE, 0) & ~own)
    poolable = matching_all(nodes, requirements_of(policy.poolable))
    return nodes.with_key(keys.membership(*name)) | own | (poolable & ~closed)


def nodes_of_host(text: str, nodes: NodeIndex) -> Bits:
    """The nodes with that address if the text is an address, else the node with that name."""
    address = canonical(text)
    return nodes.addresses.of(address) if address else nodes.named(text)


def _fault(text: str, nodes: Bits, poolable: Bits) -> str:
    count = nodes.bit_count()
    if not count:
        return f"{quote(text)} is not a node"
    if count > 1:
        return f"{quote(text)} is the address of {count} nodes"
    return "" if nodes & poolable else f"{quote(text)} may not be used by HostPools (poolable nodes)"
