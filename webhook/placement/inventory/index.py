"""Index of all nodes of the cluster: for each label, taint and address the set of nodes that have it.

A decision takes a few set operations, whatever the number of nodes; an update takes time by what changed. A slot
belongs to the *name* of a node, because a pod may be seen before its node, and may outlive the node.
"""

import copy
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from webhook.placement.inventory.capacity import Capacity
from webhook.placement.inventory.topology import Domains, Topology
from webhook.placement.kube.addresses import canonical
from webhook.placement.kube.bits import Bits, slots, union
from webhook.placement.kube.numbers import Numbers
from webhook.placement.kube.selection.tolerations import CORDONED, PASSING, Taint
from webhook.placement.objects.node import Node
from webhook.placement.text import keys

_Value = TypeVar("_Value")


class SlotSets(Mapping[_Value, Bits]):
    """A mapping of values to sets of nodes, made for values that only one node has, such as host names.

    A set of one node takes little memory. A value without nodes is not in the mapping.
    """

    __slots__ = ("_sets",)

    def __init__(self) -> None:
        self._sets: dict[_Value, int] = {}
        """Each set as its bits; a set of one slot as the complement of the slot's number, which is negative."""

    def add(self, key: _Value, slot: int) -> None:
        """Put the node into the set of that key."""
        kept = self._sets.get(key)
        if kept is None:
            self._sets[key] = ~slot
        elif kept != ~slot:
            self._sets[key] = _bits(kept) | 1 << slot

    def discard(self, key: _Value, slot: int) -> None:
        """Take the node out of the set of that key, and the key out of the mapping if the set is empty then."""
        slots_left = _bits(self._sets.get(key, 0)) & ~(1 << slot)
        if not slots_left:
            self._sets.pop(key, None)
        else:
            self._sets[key] = ~(slots_left.bit_length() - 1) if slots_left.bit_count() == 1 else slots_left

    def of(self, key: _Value) -> Bits:
        """The set of that key; empty for an unknown key."""
        members = self._sets.get(key, 0)
        return members if members >= 0 else 1 << ~members

    def __getitem__(self, key: _Value) -> Bits:
        return _bits(self._sets[key])

    def __iter__(self) -> Iterator[_Value]:
        return iter(self._sets)

    def __len__(self) -> int:
        return len(self._sets)


def _bits(kept: int) -> Bits:
    return kept if kept >= 0 else 1 << ~kept


HARD = frozenset({"NoSchedule", "NoExecute"})
"""Taint effects that keep pods away; PreferNoSchedule only discourages."""

RESTING: Final = 256
"""Freed slots that are not given to another node yet, with the names of their last nodes.

A search for a whole Job takes a second, in slices between which nodes come and go: what it found for one node must not
be read as about another one. More nodes than these do not go and come within a search.
"""

_Key = TypeVar("_Key", str, Taint)


class NodeIndex:
    """All nodes, by slot, label, taint and address.

    ``everything`` is the set of all nodes. Sets of nodes are also ``labels[key][value]`` and ``has[key]`` (by label),
    ``taints[key][taint]`` and ``tainted[key]`` (by taint, hard effects only), ``addresses[canonical]``, and
    ``own_hostname`` (nodes whose ``kubernetes.io/hostname`` label no other node has). ``nodes`` and ``names`` are by
    slot, ``slot_of`` is by name; a freed slot keeps its name until another node gets the slot. ``version`` counts
    changes of nodes; pods do not change it.
    """

    __slots__ = (
        "_free", "_kept_away", "_numbers", "_ranks", "_recovered", "_shared", "_topology", "addresses", "capacity",
        "everything", "has", "labels", "names", "nodes", "own_hostname", "slot_of", "tainted", "taints", "version",
    )  # fmt: skip

    def __init__(self) -> None:
        self.version = 0
        self.everything: Bits = 0
        self.own_hostname: Bits = 0
        self.labels: dict[str, SlotSets[str]] = {}
        self.has: dict[str, Bits] = {}
        self.taints: dict[str, dict[Taint, Bits]] = {}
        self.tainted: dict[str, Bits] = {}
        self.addresses: SlotSets[str] = SlotSets()
        self.nodes: dict[int, Node] = {}
        self.names: dict[int, str] = {}
        self.slot_of: dict[str, int] = {}
        self.capacity = Capacity()
        self._free: deque[int] = deque()
        """Slots without a node and pods, those first that were freed first."""
        self._topology = Topology()
        self._numbers = Numbers()
        self._ranks: npt.NDArray[np.int64] | None = None
        self._kept_away: Bits | None = None
        self._recovered: NodeIndex | None = None
        """The view of :meth:`recovered`, until the next change of a node or a slot."""
        self._shared: tuple[str, ...] | None = None

    def put(self, node: Node) -> None:
        """Add the node, or replace the node with its name."""
        slot = self.reserve(node.name)
        old = self.nodes.get(slot)
        if old == node:
            return
        self.version += 1
        self._recovered = None
        self._topology.forget()
        self.nodes[slot] = node
        self.everything |= 1 << slot
        self._relabel(slot, old.labels if old else {}, node.labels)
        self._retaint(slot, old.taints if old else (), node.taints)
        self._readdress(slot, old.addresses if old else (), node.addresses)
        if old is None or old.allocatable != node.allocatable:
            self.capacity.offer(slot, node.allocatable)

    def drop(self, name: str) -> None:
        """Remove the node. What pods use on it stays counted until these are removed, too."""
        old = self.get(name)
        if old is None:
            return
        self.version += 1
        self._recovered = None
        self._topology.forget()
        slot = self.slot_of[name]
        del self.nodes[slot]
        self.everything &= ~(1 << slot)
        self._relabel(slot, old.labels, {})
        self._retaint(slot, old.taints, ())
        self._readdress(slot, old.addresses, ())
        self.capacity.offer(slot, {})
        self.release(slot)

    def reserve(self, name: str) -> int:
        """The slot of that node name; a new name gets a free slot."""
        slot = self.slot_of.get(name)
        if slot is None:
            slot = self._free.popleft() if len(self._free) > RESTING else len(self.names)
            self.slot_of[name] = slot
            self.names[slot] = name
            self._ranks = self._recovered = None
        return slot

    def release(self, slot: int) -> None:
        """Free the slot, unless it has a node or pods."""
        if slot not in self.nodes and not self.capacity.used("pods", slot):
            self._free.append(slot)
            del self.slot_of[self.names[slot]]
            self._ranks = self._recovered = None

    def get(self, name: str) -> Node | None:
        """The node with that name; ``None`` if it does not exist."""
        slot = self.slot_of.get(name)
        return None if slot is None else self.nodes.get(slot)

    def domains(self, nodes: Bits) -> Bits:
        """The nodes, and all nodes that have the host name of one of them: the scheduler takes these for one host."""
        shared = nodes
        for slot in slots(nodes & self.everything & ~self.own_hostname):
            host = self.nodes[slot].labels.get(keys.HOSTNAME)
            shared |= self.with_label(keys.HOSTNAME, (host,)) if host else 0
        return shared

    def shared_hostnames(self) -> tuple[str, ...]:
        """The host names that several nodes have, sorted; the empty one is among them if any node has it."""
        if self._shared is None:
            shared = self.with_key(keys.HOSTNAME) & ~self.own_hostname
            self._shared = tuple(sorted({self.nodes[slot].labels[keys.HOSTNAME] for slot in slots(shared)}))
        return self._shared

    def domains_of(self, key: str) -> Domains:
        """The topology domains of the key: all nodes by their value of the label."""
        return self._topology.domains(key, self.nodes)

    def named(self, name: str) -> Bits:
        """The node with that name, as a set; empty if it does not exist."""
        slot = self.slot_of.get(name)
        return self.everything & (1 << slot) if slot is not None else 0

    def with_key(self, key: str) -> Bits:
        """Nodes that have the label ``key``, with any value."""
        return self.has.get(key, 0)

    def with_label(self, key: str, values: Iterable[str]) -> Bits:
        """Nodes whose label ``key`` has one of the values."""
        by_value = self.labels.get(key)
        labelled = 0
        if by_value is not None:
            for value in values:
                labelled |= by_value.of(value)
        return labelled

    def kept_away(self) -> Bits:
        """Nodes with a hard taint other than that of exclusive pools."""
        if self._kept_away is None:
            tainted = (nodes for key, nodes in self.tainted.items() if key != keys.EXCLUSIVE)
            self._kept_away = union(tainted)
        return self._kept_away

    def recovered(self) -> "NodeIndex | None":
        """A view of the index without the taints that go away by themselves; ``None`` if no node has such a taint.

        Callers must not change the view, and must not use it after the next change of a node.
        """
        if PASSING.keys().isdisjoint(self.tainted):
            return None
        if self._recovered is None:
            self._recovered = self._without_taints(PASSING)
        return self._recovered

    def vacated(self) -> "NodeIndex":
        """A view of the index with all room free, without cordons and the taints that go away by themselves.

        Callers must not change the view, and must not use it after the next change of a node.
        """
        index = self._without_taints({*PASSING, CORDONED})
        index.capacity = self.capacity.unused()
        return index

    def _without_taints(self, keys: Container[str]) -> "NodeIndex":
        index = copy.copy(self)
        index.taints = {key: taints for key, taints in self.taints.items() if key not in keys}
        index.tainted = {key: nodes for key, nodes in self.tainted.items() if key not in keys}
        index._kept_away = index._recovered = None  # noqa: SLF001 -- of the same class
        return index

    def ranks(self) -> npt.NDArray[np.int64]:
        """For each slot, the position of its node's name among all names in sorted order."""
        if self._ranks is None:
            self._ranks = np.zeros(len(self.names), np.int64)
            for rank, name in enumerate(sorted(self.slot_of)):
                self._ranks[self.slot_of[name]] = rank
        return self._ranks

    def beyond(self, key: str, bound: int, *, above: bool) -> Bits:
        """Nodes whose label ``key`` is a whole number above (or below) ``bound``."""
        by_value = self.labels.get(key)
        return 0 if by_value is None else self._numbers.beyond(key, by_value, bound, above=above)

    def _relabel(self, slot: int, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        if old == new:
            return
        bit = 1 << slot
        for key, value in old.items() - new.items():
            self.labels[key].discard(value, slot)
            if not self.labels[key]:
                del self.labels[key]
            self._numbers.forget(key)
        for key, value in new.items() - old.items():
            by_value = self.labels.get(key)
            if by_value is None:
                by_value = self.labels[key] = SlotSets()
            by_value.add(value, slot)
            self._numbers.forget(key)
        for key in old.keys() - new.keys():
            _clear(self.has, key, bit)
        for key in new.keys() - old.keys():
            self.has[key] = self.has.get(key, 0) | bit
        if old.get(keys.HOSTNAME) != new.get(keys.HOSTNAME):
            self._rehost(bit, old.get(keys.HOSTNAME), new.get(keys.HOSTNAME))

    def _rehost(self, bit: Bits, old: str | None, new: str | None) -> None:
        self._shared = None
        self.own_hostname &= ~bit
        for value in (old, new):
            sharing = self.with_label(keys.HOSTNAME, (value,)) if value else 0
            alone = sharing.bit_count() == 1
            self.own_hostname = self.own_hostname | sharing if alone else self.own_hostname & ~sharing

    def _retaint(self, slot: int, old: tuple[Taint, ...], new: tuple[Taint, ...]) -> None:
        if old == new:
            return
        self._kept_away = None
        bit = 1 << slot
        for taint in old:
            if taint.effect in HARD:
                _clear(self.taints[taint.key], taint, bit)
                _clear(self.tainted, taint.key, bit)
        for taint in new:
            if taint.effect in HARD:
                by_taint = self.taints.setdefault(taint.key, {})
                by_taint[taint] = by_taint.get(taint, 0) | bit
                self.tainted[taint.key] = self.tainted.get(taint.key, 0) | bit

    def _readdress(self, slot: int, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        if old == new:
            return
        for address in filter(None, map(canonical, old)):
            self.addresses.discard(address, slot)
        for address in filter(None, map(canonical, new)):
            self.addresses.add(address, slot)


def _clear(sets: dict[_Key, Bits], key: _Key, bit: Bits) -> None:
    """Take the node out of the set of that key, and the key out of the table if the set is empty then."""
    slots_left = sets.get(key, 0) & ~bit
    if slots_left:
        sets[key] = slots_left
    else:
        sets.pop(key, None)
