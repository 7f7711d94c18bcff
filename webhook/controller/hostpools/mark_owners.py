"""MarkOwners marks a node carries: pools' that there are, or nobody's."""

from collections.abc import Iterator

from webhook.controller.hostpools.marks import Mark
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.placement.inventory.objects import Node, Pool
from webhook.placement.inventory.pool_index import Name
from webhook.placement.text import keys


class MarkOwners:
    """Knows the pools of ``watched`` by their labels and taints; to be made before anything is known."""

    def __init__(self, watched: ObservedInventory) -> None:
        self._by_label = watched.inventory.pools.members
        self._by_value: dict[str, Name] = {}
        watched.on_pool.append(self._pool)

    def pools(self, node: Node | None) -> set[Name]:
        """Pools whose label or taint the node carries."""
        found = (self._owner(key, value) for key, value in marks(node))
        return {name for name in found if name is not None}

    def nobodys(self, node: Node | None) -> list[Mark]:
        """The marks that no pool stands for."""
        return [
            Mark("", value) if key == keys.EXCLUSIVE else Mark(key, "")
            for key, value in marks(node)
            if self._owner(key, value) is None
        ]

    def _owner(self, key: str, value: str) -> Name | None:
        return self._by_value.get(value) if key == keys.EXCLUSIVE else self._by_label.get(key)

    def _pool(self, name: Name, _: Pool | None, after: Pool | None) -> None:
        if after is None:
            self._by_value.pop(keys.exclusive(*name), None)
        else:
            self._by_value[keys.exclusive(*name)] = name


def marks(node: Node | None) -> Iterator[tuple[str, str]]:
    """The marks on a node, whosever they are: labels of membership, and keys and values of taints."""
    if node is not None:
        yield from ((key, value) for key, value in node.labels.items() if key.startswith(keys.MEMBERSHIP))
        yield from ((taint.key, taint.value) for taint in node.taints if taint.key == keys.EXCLUSIVE)
