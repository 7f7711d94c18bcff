"""The NUMA zones of all nodes, by node and by what the zones are: most nodes of a cluster are alike."""

from collections.abc import Mapping
from typing import Final

from webhook.placement.kube.bits import Bits
from webhook.placement.numa.alignment import Effort, Misfit, misfit
from webhook.placement.numa.needs import NumaNeeds
from webhook.placement.numa.topology import NodeTopology, TopologyPolicy

_KEPT: Final = 64
"""Maximum number of answers cached until a node changes: pods of a workload ask alike, a refusal asks repeatedly."""

_LARGE: Final = 4096
"""Characters of the names in what a pod needs above which its answer is cached alone: it may be of a megabyte."""

TurnedAway = Mapping[tuple[TopologyPolicy, Misfit], Bits]
"""The nodes whose kubelets turn a pod away, by their policies and by what they cannot align."""


class Topologies:
    """The zones of nodes whose kubelets turn pods away that they cannot align; ``version`` counts changes.

    Nodes need not exist, and need not have known zones.
    """

    __slots__ = ("_answers", "_masks", "_nodes", "_seen", "_stated", "by_node", "version")

    def __init__(self) -> None:
        self.version = 0
        self.by_node: dict[str, NodeTopology] = {}
        """Empty if no kubelet is known to turn pods away."""
        self._nodes: dict[NodeTopology, dict[str, None]] = {}
        self._seen: tuple[int, int] = (-1, -1)
        self._masks: tuple[tuple[NodeTopology, Bits], ...] = ()
        self._stated: frozenset[str] = frozenset()
        self._answers: dict[NumaNeeds, TurnedAway] = {}

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

    def turned_away(self, needs: NumaNeeds, slots: Mapping[str, int], version: int) -> TurnedAway:
        """The nodes that turn the pod away; ``version`` is that of the ``slots`` of nodes.

        Of many kinds of zones, or many containers, only the first are compared: no other node turns the pod away.
        """
        self._refresh(slots, version)
        known = self._answers.get(needs)
        if known is not None:
            return known
        turned: dict[tuple[TopologyPolicy, Misfit], Bits] = {}
        effort = Effort()
        for topology, nodes in self._masks:
            what = misfit(topology, needs, effort=effort)
            if what is not None:
                reason = topology.policy, what
                turned[reason] = turned.get(reason, 0) | nodes
            if effort.spent:
                break
        if _large(needs):
            self._answers.clear()
        elif len(self._answers) >= _KEPT:
            del self._answers[next(iter(self._answers))]
        self._answers[needs] = turned
        return turned

    def kinds(self, slots: Mapping[str, int], version: int) -> tuple[tuple[NodeTopology, Bits], ...]:
        """The zones of which there are nodes, with these nodes; ``version`` is that of the ``slots`` of nodes."""
        self._refresh(slots, version)
        return self._masks

    def stated(self, slots: Mapping[str, int], version: int) -> frozenset[str]:
        """The resources of which zones have amounts; ``version`` is that of the ``slots`` of nodes."""
        self._refresh(slots, version)
        return self._stated

    def _refresh(self, slots: Mapping[str, int], version: int) -> None:
        """All kinds of zones with the nodes that have them, if zones or nodes have changed."""
        if self._seen != (self.version, version):
            self._masks = tuple(
                (topology, sum(1 << slots[name] for name in names if name in slots))
                for topology, names in self._nodes.items()
            )
            self._stated = frozenset(
                name for topology in self._nodes for zone in topology.zones for name, _ in zone.allocatable
            )
            self._answers.clear()
            self._seen = self.version, version


def _large(needs: NumaNeeds) -> bool:
    """Whether the names of containers and of their resources are long or many."""
    return sum(len(one.name) + sum(len(name) for name, _ in one.amounts) for one in needs) > _LARGE
