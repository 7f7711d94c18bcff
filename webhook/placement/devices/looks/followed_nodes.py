"""``FollowedNodes``: what devices each node can use, and which nodes may have others than before."""

import itertools
from collections import deque
from typing import Final, Protocol

from webhook.placement.devices.allocation.node_devices import NodeDevices, NodeSights, Reaches
from webhook.placement.devices.looks.nodes_by_looks import bits_of
from webhook.placement.devices.published.device import Reach
from webhook.placement.devices.published.devices import Devices
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.pod import NodeTerm
from webhook.placement.kube.selection.selector import Nodes, matching_any
from webhook.placement.objects.node import Node

_MOVES: Final = 64
"""Maximum number of node changes kept; a reader that is further behind examines all nodes again."""


class IndexedNodes(Nodes, Protocol):
    """The nodes of the cluster, by slot."""

    version: int
    slot_of: dict[str, int]
    nodes: dict[int, Node]


class FollowedNodes:
    """The nodes of a cluster, as one collection of devices sees them.

    Callers :meth:`follow` the nodes before they ask anything else about them.
    """

    __slots__ = ("_devices", "_epoch", "_moves", "_names", "_seen", "_terms", "_version", "sights")

    def __init__(self, devices: Devices) -> None:
        self.sights = NodeSights(devices)
        self._devices = devices
        self._version = -1
        self._epoch = 0
        self._moves: deque[Bits] = deque(maxlen=_MOVES)
        """The slots that have other nodes since each of the last epochs, or nodes that see other pools."""
        self._names: dict[int, str] = {}
        self._terms: dict[tuple[NodeTerm, ...], Bits] = {}
        self._seen = 0
        """The version of devices for which the terms are."""

    @property
    def time(self) -> tuple[int, int]:
        """A moment in the histories of nodes and of devices, for :meth:`moved`."""
        return self._epoch, self._devices.changes.version

    def follow(self, nodes: IndexedNodes) -> None:
        """Notice which nodes have come or gone, or can use other pools than before."""
        if self._devices.changes.since(self._seen) is None:
            self._terms.clear()  # slices for several nodes may have gone, and all that was found by them is forgotten
        self._seen = self._devices.changes.version
        if nodes.version == self._version:
            return
        self._version = nodes.version
        names = {slot: node.name for slot, node in nodes.nodes.items()}
        terms = {term: matching_any(nodes, term) for term in self._terms}
        if names != self._names or terms != self._terms:
            moved = bits_of(list({slot for slot, _ in names.items() ^ self._names.items()}))
            self._moves.append(moved | union(bits ^ terms[term] for term, bits in self._terms.items()))
            self._names, self._terms = names, terms
            self._epoch += 1

    def moved(self, since: tuple[int, int], nodes: IndexedNodes) -> Bits | None:
        """The slots whose nodes may have other devices than at that time; ``None`` if that may be all of them."""
        epochs, changed = self._epoch - since[0], self._devices.changes.since(since[1])
        if changed is None or epochs > len(self._moves):
            return None
        moved = union(itertools.islice(self._moves, len(self._moves) - epochs, None))
        return moved | bits_of([slot for name in changed if (slot := nodes.slot_of.get(name)) is not None])

    def devices_of(self, slot: int, nodes: IndexedNodes) -> NodeDevices:
        """The devices that the node in the slot can use."""
        name = nodes.nodes[slot].name
        return self.sights.of_node(name, self.reaches(name, slot, nodes))

    def reaches(self, name: str, slot: int, nodes: IndexedNodes) -> Reaches:
        """Tells of a slice of devices whether it reaches the node of that name."""

        def reaches(reach: Reach) -> bool:
            if reach.node or reach.everywhere or not reach.terms:
                return reach.everywhere or reach.node == name
            return bool(self.matching(reach.terms, nodes) >> slot & 1)

        return reaches

    def matching(self, terms: tuple[NodeTerm, ...], nodes: IndexedNodes) -> Bits:
        """The nodes that such terms match."""
        if terms not in self._terms:
            self._terms[terms] = matching_any(nodes, terms)
        return self._terms[terms]
