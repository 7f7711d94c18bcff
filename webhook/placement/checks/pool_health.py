"""Problems of the hosts in a HostPool's status, for its condition ``Degraded`` (``docs/hostpool.md``)."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.selection.selector import matching_all
from webhook.placement.kube.selection.tolerations import in_words
from webhook.placement.objects.pool import Pool, PoolHost
from webhook.placement.objects.pool_labels import labels_of
from webhook.placement.pools.allocation import strangers
from webhook.placement.pools.host_devices import nodes_with_devices
from webhook.placement.request.claimed_devices import lacking
from webhook.placement.text.keys import EXCLUSIVE, exclusive

OUT: Final = frozenset({"taken", "unusable"})
"""Kinds of :class:`HostCondition` for which no new pod of the pool can come to a host that exists."""


class HostCondition(Struct, frozen=True):
    """One thing that is wrong with a host of a pool; ``text`` is the predicate of a sentence about the host.

    ``kind`` is ``gone`` (no such node), ``taken`` (by an exclusive pool), ``unusable`` (another taint), ``unlabelled``,
    ``unequipped`` (it has lost devices), ``shared`` (with a stranger) or ``forged`` (the host runs a pod with a forged
    owner).
    """

    host: PoolHost
    kind: str
    text: str

    def __str__(self) -> str:
        """The sentence for the message of the condition ``Degraded``."""
        return f"host {self.host.index} ({self.host.name}) {self.text}"


def troubles(pool: Pool, inventory: Inventory) -> Iterator[HostCondition]:
    """Everything that is wrong with the hosts in the pool's status, by index."""
    hosts = inventory.pools.hosts(pool)
    serving = union(hosts.values())
    tagged = _tagged(pool, inventory)
    devoid = _without_devices(pool, inventory) if pool.devices else []
    foreign = strangers(pool, inventory) & serving if pool.exclusive else 0
    forged = list(inventory.guests.on(serving, forged=True)) if pool.exclusive else []
    for host in pool.assigned:
        node = hosts[host.index]
        if not node:
            yield HostCondition(host, "gone", "is gone")
            continue
        if _exclusive_to_another(node, pool, inventory):
            yield HostCondition(host, "taken", "belongs to an exclusive HostPool")
        elif why := _kept_away(node, inventory):
            yield HostCondition(host, "unusable", why)
        if not node & tagged:
            yield HostCondition(host, "unlabelled", "has lost a tag or label that the pool asks for")
        if why := next((why for why, nodes in devoid if node & nodes), ""):
            yield HostCondition(host, "unequipped", f"has {why}")
        if node & foreign:
            yield HostCondition(host, "shared", f"runs {inventory.foreign_pods.stranger}")
        for who, nodes in forged:
            if node & nodes:
                yield HostCondition(
                    host, "forged", f"runs {who}, whose owner reference names a DaemonSet that is not of apps/v1"
                )


def guests(pool: Pool, inventory: Inventory) -> tuple[str, ...]:
    """Guests on the hosts in the pool's status: kind, namespace and name of each owner whose pods run there."""
    serving = union(inventory.pools.hosts(pool).values())
    return tuple(who for who, _ in inventory.guests.on(serving, forged=False))


def _tagged(pool: Pool, inventory: Inventory) -> Bits:
    """Nodes that have the labels that the pool asks for; a pool that lists its hosts asks for none."""
    if pool.hosts is not None:
        return inventory.nodes.everything
    return matching_all(inventory.nodes, labels_of(pool))


def _without_devices(pool: Pool, inventory: Inventory) -> list[tuple[str, Bits]]:
    """What nodes have instead of the devices that the pool asks for, each with these nodes."""
    lacks = nodes_with_devices(pool, inventory).lacks
    return [(lacking(lack, lack.choice, inventory.devices), nodes) for lack, nodes in lacks if lack.choice]


def _kept_away(node: Bits, inventory: Inventory) -> str:
    """The first taint that keeps pods away from the node, in words; empty without one.

    The taint of exclusive hosts does not count.
    """
    if not node & inventory.nodes.kept_away():
        return ""
    by_key = inventory.nodes.taints
    taints = (taint for key in by_key if key != EXCLUSIVE for taint, nodes in by_key[key].items() if nodes & node)
    return in_words(min(taints))


def _exclusive_to_another(node: Bits, pool: Pool, inventory: Inventory) -> bool:
    """Whether another exclusive pool has tainted the node, as it may while nothing runs there."""
    own = exclusive(pool.namespace, pool.name)
    taints = inventory.nodes.taints.get(EXCLUSIVE, {})
    others = (nodes for taint, nodes in taints.items() if taint.value != own)
    return any(nodes & node for nodes in others)
