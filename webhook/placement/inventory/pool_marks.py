"""The marks by which a node belongs to a pool: a label, and for an exclusive pool a taint (``docs/hostpool.md``)."""

from webhook.placement.inventory.index import HARD
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Taint
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.text import keys


def marked(name: Name, cluster: Inventory) -> Bits:
    """Nodes that carry the pool's label or its taint."""
    return cluster.nodes.with_key(keys.membership(*name)) | closed_for(name, cluster)


def closed_for(name: Name, cluster: Inventory) -> Bits:
    """Nodes that carry the pool's taint, of whatever effect."""
    taints = cluster.nodes.taints.get(keys.EXCLUSIVE)
    if not taints:
        return 0
    own = keys.exclusive(*name)
    return union(taints.get(Taint(keys.EXCLUSIVE, own, effect), 0) for effect in HARD)
