"""The NUMA zones of all nodes, by node and by what the zones are: most nodes of a cluster are alike."""

from collections.abc import Iterator, Mapping

from webhook.placement.kube.bits import Bits
from webhook.placement.numa.topology import NodeTopology


class Topologies:
    """The zones of nodes whose kubelets turn pods away that they cannot align; ``version`` counts changes.

    Nodes need not exist, and need not have known zones.
    """

    __slots__ = ("_masks", "_nodes", "_seen", "by_node", "version")

    def __init__(self) -> None:
        self.version = 0
        self.by_node: dict[str, NodeTopology] = {}
        """Empty if no kubelet is known to turn pods away."""
        self._nodes: dict[NodeTopology, dict[str, None]] = {}
        self._seen: tuple[int, int] = (-1, -1)
        self._masks: tuple[tuple[NodeTopology, Bits], ...] = ()

    def put(self, node: str, topology: NodeTopology) -> None:
        """The node has these zones; those of a kubelet that turns no pod away are not kept."""
        if self.by_node.get(node) == topology:
            return
        self.drop(node)
        if topology.strict:
            self.by_node[node] = topology
            self._nodes.setdefault(topology, {})[node] = None
            self.version += 1

    def drop(self, node: str) -> None:
        """The zones of the node are not known any more; those of an unknown node change nothing."""
        topology = self.by_node.pop(node, None)
        if topology is None:
            return
        names = self._nodes[topology]
        del names[node]
        if not names:
            del self._nodes[topology]
        self.version += 1

    def masks(self, slots: Mapping[str, int], version: int) -> Iterator[tuple[NodeTopology, Bits]]:
        """All kinds of zones with the nodes that have them; ``version`` is that of the ``slots`` of nodes."""
        if self._seen != (self.version, version):
            self._masks = tuple(
                (topology, sum(1 << slots[name] for name in names if name in slots))
                for topology, names in self._nodes.items()
            )
            self._seen = self.version, version
        return iter(self._masks)
