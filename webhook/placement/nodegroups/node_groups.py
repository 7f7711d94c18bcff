"""``NodeGroups``: the node groups that autoscalers state as objects of the cluster."""

from collections.abc import Iterable

from webhook.placement.nodegroups.node_group import NodeGroup


class NodeGroups:
    """The groups by kind, namespace and name; ``version`` counts changes, equal objects change nothing."""

    __slots__ = ("_groups", "version")

    def __init__(self) -> None:
        self.version = 0
        self._groups: dict[tuple[str, str, str], NodeGroup] = {}

    def put(self, group: NodeGroup) -> None:
        """Add the group, or replace the one with its name."""
        key = group.kind, group.namespace, group.name
        if self._groups.get(key) != group:
            self._groups[key] = group
            self.version += 1

    def drop(self, kind: str, namespace: str, name: str) -> None:
        """Remove the group."""
        if self._groups.pop((kind, namespace, name), None) is not None:
            self.version += 1

    def with_shapes(self, shapes: Iterable[NodeGroup]) -> list[NodeGroup]:
        """The groups and these shapes, in the order in which they are tried."""
        return sorted((*self._groups.values(), *shapes), key=lambda group: group.place)
