"""Nodes with a HostPool's marks: its membership label and, if it is exclusive, its taint (``docs/hostpool.md``)."""

from webhook.placement.inventory.index import HARD
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Taint
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.text import keys


def marked(name: Name, inventory: Inventory) -> Bits:
    """Nodes with the pool's membership label or its taint."""
    return inventory.nodes.with_key(keys.membership(*name)) | closed_for(name, inventory)


def closed_for(name: Name, inventory: Inventory) -> Bits:
    """Nodes with the pool's taint, NoSchedule or NoExecute."""
    taints = inventory.nodes.taints.get(keys.EXCLUSIVE)
    if not taints:
        return 0
    own = keys.exclusive(*name)
    return union(taints.get(Taint(keys.EXCLUSIVE, own, effect), 0) for effect in HARD)
