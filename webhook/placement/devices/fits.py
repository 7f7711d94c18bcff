"""Which nodes have devices for claims of a pod, kept from one decision to the next.

Nodes with equal devices are looked at once. A change of devices is followed for the nodes that it concerns.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from msgspec import Struct

from webhook.placement.devices.allocation import LIMIT, Lack, NodeOutcome, allocatable, present
from webhook.placement.devices.candidates import different, options_of
from webhook.placement.devices.claims import ClaimName, ClaimSpec, DeviceChoice, DeviceName, DeviceRequest, HeldDevice
from webhook.placement.devices.device import Reach
from webhook.placement.devices.devices import Devices
from webhook.placement.devices.looks import Looks, Names, names_read
from webhook.placement.devices.node_devices import NodeDevices, NodeSights, Reaches, confused
from webhook.placement.devices.selector import Answer, DeviceBudget
from webhook.placement.kube.bits import Bits, from_mask, to_slots, union
from webhook.placement.kube.pod import NodeTerm
from webhook.placement.kube.selection.selector import Nodes, matching_any
from webhook.placement.objects.node import Node

_KEPT: Final = 256
"""So many different claims are remembered."""

_OUTCOMES: Final = 4096
"""So many outcomes by the looks of nodes are remembered of one set of claims."""

_LOOKS: Final = 8
"""So many different sets of attribute names are remembered."""

BOUNDLESS: Final = 2**50
"""The number of devices of a node of which it is not known, or of which claims share one."""

Counts = np.ndarray[tuple[int], np.dtype[np.int64]]
"""A number for each slot."""


class IndexedNodes(Nodes, Protocol):
    """The nodes of the cluster, by slot."""

    version: int
    slot_of: dict[str, int]
    nodes: dict[int, Node]


class Fit(Struct, frozen=True, gc=False):
    """Nodes that have the devices, those of which it is not known, and those that lack something.

    ``failed`` are selectors that could not be evaluated for devices of the unknown nodes. If the fit is not
    ``complete``, some of these have not been looked at yet.
    """

    nodes: Bits = 0
    unknown: Bits = 0
    lacks: Mapping[Lack, Bits] = {}
    failed: frozenset[str] = frozenset()
    complete: bool = True


class Wanted(Struct, frozen=True, gc=False):
    """Claims that are to get devices together, those of ``pods`` equal pods one after the other.

    ``own`` are devices that a pod has already by other claims. If devices are only to be ``present``, these are counted
    for the only request, and not allocated.
    """

    claims: tuple[ClaimSpec, ...]
    own: tuple[HeldDevice, ...] = ()
    pods: int = 1
    present: bool = False

    def times(self, count: int) -> "Wanted":
        """The claims of so many pods."""
        return Wanted(self.claims * count, self.own, count)


class _KeptFit:
    """What is known of claims: outcomes by node and by looks, and the answer for the present nodes."""

    __slots__ = ("by_looks", "by_node", "different", "epoch", "fit", "left", "looks", "sets", "version")

    def __init__(self, looks: Looks) -> None:
        self.looks = looks
        self.by_looks: dict[Hashable, NodeOutcome] = {}
        self.by_node: dict[str, NodeOutcome] = {}
        self.different: dict[NodeOutcome, NodeOutcome] = {}
        """The outcomes, of equal ones one object."""
        self.fit = Fit()
        self.left: Bits = 0
        """The nodes that have not been looked at for want of budget."""
        self.sets: dict[NodeOutcome, Bits] = {}
        self.epoch = 0
        self.version = 0


class _DeviceCounts(NamedTuple):
    """How many devices there were at that time; as far as the ``budget`` went, if that was not far enough."""

    time: tuple[int, int]
    row: Counts
    budget: DeviceBudget | None = None


class DeviceFits:
    """The nodes that have devices for claims, for one collection of devices."""

    __slots__ = ("_counts", "_devices", "_epoch", "_kept", "_looks", "_names", "_sights", "_terms", "_version")

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._sights = NodeSights(devices)
        self._kept: dict[Wanted, _KeptFit] = {}
        self._counts: dict[tuple[DeviceChoice, ...], _DeviceCounts] = {}
        """By choices, their devices."""
        self._looks: dict[Names, Looks] = {}
        self._version = -1
        self._epoch = 0
        self._names: dict[int, str] = {}
        self._terms: dict[tuple[NodeTerm, ...], Bits] = {}

    def fit(self, wanted: Wanted, nodes: IndexedNodes, budget: DeviceBudget) -> Fit:
        """The nodes that have devices for the claims if nobody else has any."""
        self._follow(nodes)
        kept = self._kept.pop(wanted, None)
        if kept is None:
            kept = _KeptFit(self._looks_for(names_read(wanted.claims)))
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[wanted] = kept
        version = self._devices.changes.version
        if kept.left or kept.epoch != self._epoch or kept.version != version:
            self._update(wanted, kept, nodes, budget)
            kept.epoch, kept.version = self._epoch, version
        return kept.fit

    def counts(self, choices: tuple[DeviceChoice, ...], nodes: IndexedNodes, budget: DeviceBudget) -> Counts:
        """By slot, how many devices one of the choices at least could be given; :data:`BOUNDLESS` if unknown.

        Callers must not write.
        """
        self._follow(nodes)
        now = self._epoch, self._devices.changes.version
        known = self._counts.pop(choices, None)
        if known is None or known.time != now or known.budget not in {None, budget}:
            row = np.zeros(max(nodes.nodes, default=-1) + 1, np.int64)
            complete = self._count(choices, row, nodes, budget)
            known = _DeviceCounts(now, row, None if complete else budget)
        if len(self._counts) >= _KEPT:
            del self._counts[next(iter(self._counts))]
        self._counts[choices] = known
        return known.row

    def _count(self, choices: tuple[DeviceChoice, ...], row: Counts, nodes: IndexedNodes, budget: DeviceBudget) -> bool:
        """Write the number of devices of each node into the row; whether the budget was enough to count them."""
        kept = self._looks_for(names_read((ClaimSpec((DeviceRequest("", choices),)),)))
        by_looks: dict[Hashable, int] = {}
        for slot in nodes.nodes:
            found, looks = None, self._looks_of(kept, slot, nodes)
            if looks is None:
                found = self._usable(slot, nodes)
                looks = kept.of_devices(found, named=False)
            if looks not in by_looks:
                if budget.spent:
                    row[slot] = BOUNDLESS
                    continue
                budget.nodes -= 1
                number = different(choices, found or self._usable(slot, nodes), budget)
                by_looks[looks] = BOUNDLESS if number is None else number
            row[slot] = by_looks[looks]
        return not budget.spent

    def copies(self, wanted: Wanted, nodes: IndexedNodes, budget: DeviceBudget) -> Counts:
        """By slot, how many pods with such claims have devices at a time: :data:`LIMIT` at most, or if unknown."""
        room = np.zeros(max(nodes.nodes, default=-1) + 1, np.int64)
        able = nodes.everything
        for count in range(1, LIMIT + 1):
            found = self.fit(wanted.times(count), nodes, budget)
            able &= found.nodes | found.unknown  # who lacks devices for fewer pods lacks them for more
            room[to_slots(able)] = count if found.nodes else LIMIT
            if not found.nodes:
                break
        return room

    def has(
        self,
        claims: Sequence[ClaimSpec],
        own: Sequence[HeldDevice],
        slot: int,
        nodes: IndexedNodes,
        budget: DeviceBudget,
    ) -> Answer:
        """Whether the node has devices for the claims if nobody else has any but ``own``; ``None`` if unknown."""
        self._follow(nodes)
        return self._tried(Wanted(tuple(claims), tuple(own)), self._usable(slot, nodes), budget).answer

    def holders(
        self, claims: Sequence[ClaimSpec], slots: Iterable[int], nodes: IndexedNodes
    ) -> Iterator[tuple[int, tuple[ClaimName, ...]]]:
        """Those of the nodes that have too few devices free for the claims, each with the claims that hold some."""
        self._follow(nodes)
        known: dict[DeviceName, list[ClaimName]] = {}
        for claim in self._devices.claims():
            for held in claim.allocation.devices if claim.allocation else ():
                if not held.admin:
                    known.setdefault(held.device, []).append((claim.namespace, claim.name))
        for slot in slots:
            found = self._usable(slot, nodes)
            if allocatable(claims, found, self._devices.holders, DeviceBudget()).answer is False:
                wanted = {each for device in _wanted(claims, found) for each in known.get(device, ())}
                if wanted:
                    yield slot, tuple(sorted(wanted))

    def _follow(self, nodes: IndexedNodes) -> None:
        """Notice whether nodes have come or gone, or can use other pools than before."""
        if nodes.version == self._version:
            return
        self._version = nodes.version
        names = {slot: node.name for slot, node in nodes.nodes.items()}
        terms = {found: matching_any(nodes, found) for found in self._terms}
        if names != self._names or terms != self._terms:
            self._names, self._terms = names, terms
            self._epoch += 1

    def _looks_for(self, names: Names) -> Looks:
        looks = self._looks.pop(names, None) or Looks(names)
        if len(self._looks) >= _LOOKS:
            del self._looks[next(iter(self._looks))]
        self._looks[names] = looks
        return looks

    def _update(self, wanted: Wanted, kept: _KeptFit, nodes: IndexedNodes, budget: DeviceBudget) -> None:
        """Find the outcome of each node of which it is not known, and put all together."""
        changed = self._devices.changes.since(kept.version)
        if self._devices.wide and kept.epoch != self._epoch:
            changed = None  # nodes may see other pools than before
        if changed is None:
            kept.by_node.clear()
        for name in changed or ():
            kept.by_node.pop(name, None)
        if changed is not None and kept.epoch == self._epoch:
            places = kept.left | _bits([slot for name in changed if (slot := nodes.slot_of.get(name)) in nodes.nodes])
            kept.sets = {outcome: bits & ~places for outcome, bits in kept.sets.items()}
            self._find_out(wanted, kept, places, nodes, budget, known={})
        else:
            kept.sets = {}
            self._find_out(wanted, kept, nodes.everything, nodes, budget, known=kept.by_node or {})
        kept.fit = Fit(
            union(bits for outcome, bits in kept.sets.items() if outcome.answer),
            kept.left | union(bits for outcome, bits in kept.sets.items() if outcome.answer is None),
            {outcome.lack: bits for outcome, bits in kept.sets.items() if outcome.answer is False},
            frozenset(outcome.failed for outcome in kept.sets if outcome.failed),
            not kept.left,
        )

    def _find_out(
        self,
        wanted: Wanted,
        kept: _KeptFit,
        places: Bits,
        nodes: IndexedNodes,
        budget: DeviceBudget,
        *,
        known: Mapping[str, NodeOutcome],
    ) -> None:
        """Add these nodes to the sets of those with the same outcome; those for which the budget ends are ``left``.

        ``known`` are outcomes of some of them.
        """
        by_outcome: dict[int, tuple[NodeOutcome, list[int]]] = {}
        left, rest = [], to_slots(places).tolist()
        for at, slot in enumerate(rest):
            outcome = known.get(nodes.nodes[slot].name)
            if outcome is None:
                outcome = self._outcome(wanted, kept, slot, nodes, budget)
            if outcome is not None:
                by_outcome.setdefault(id(outcome), (outcome, []))[1].append(slot)  # its hash takes longer
            elif known:
                left.append(slot)
            else:  # nothing is known of all others
                left = rest[at:]
                break
        kept.left = _bits(left)
        for outcome, found in by_outcome.values():
            kept.sets[outcome] = kept.sets.get(outcome, 0) | _bits(found)
        kept.sets = {outcome: bits for outcome, bits in kept.sets.items() if bits}

    def _outcome(
        self, wanted: Wanted, kept: _KeptFit, slot: int, nodes: IndexedNodes, budget: DeviceBudget
    ) -> NodeOutcome | None:
        """What is known of nodes that look like this one, or is found out now; ``None`` if the budget is spent."""
        if budget.spent:
            return None
        name, found = nodes.nodes[slot].name, None
        looks = None if wanted.own else self._looks_of(kept.looks, slot, nodes)
        if looks is None:
            found = self._usable(slot, nodes)
            looks = kept.looks.of_devices(found, named=bool(wanted.own))
        outcome = kept.by_looks.get(looks)
        if outcome is None:
            budget.nodes -= 1
            outcome = self._tried(wanted, found or self._usable(slot, nodes), budget)
            outcome = kept.different.setdefault(outcome, outcome)
            if outcome.answer is None and budget.exhausted:
                return None
            if len(kept.by_looks) >= _OUTCOMES:
                kept.by_looks.clear()
                kept.different.clear()
            kept.by_looks[looks] = outcome
        kept.by_node[name] = outcome
        return outcome

    @staticmethod
    def _tried(wanted: Wanted, found: NodeDevices, budget: DeviceBudget) -> NodeOutcome:
        if wanted.present:
            return present(wanted.claims[0], found, budget)

        def holders(device: DeviceName) -> Sequence[HeldDevice]:
            return [held for held in wanted.own if held.device == device]

        return allocatable(wanted.claims, found, holders, budget, wanted.pods)

    def _looks_of(self, looks: Looks, slot: int, nodes: IndexedNodes) -> Hashable | None:
        """The looks of the devices that the node can use, whatever their names; ``None`` if these have to be gathered.

        What several nodes see of a pool is looked at once for all of them.
        """
        name = nodes.nodes[slot].name
        local = None if self._devices.rules() else looks.of_node(self._devices, name)
        if local is None or not self._devices.wide:
            return local
        seen = self._sights.shared(name, self._reaches(name, slot, nodes)).values()
        mixed = confused(found.pool for found in seen if found.pool)
        return local, mixed or self._sights.unsure(name), tuple(map(looks.of_shared, seen))

    def _usable(self, slot: int, nodes: IndexedNodes) -> NodeDevices:
        """The devices that the node can use."""
        name = nodes.nodes[slot].name
        return self._sights.of_node(name, self._reaches(name, slot, nodes))

    def _reaches(self, name: str, slot: int, nodes: IndexedNodes) -> Reaches:
        def reaches(reach: Reach) -> bool:
            if reach.node or reach.everywhere or not reach.terms:
                return reach.everywhere or reach.node == name
            if reach.terms not in self._terms:
                self._terms[reach.terms] = matching_any(nodes, reach.terms)
            return bool(self._terms[reach.terms] >> slot & 1)

        return reaches


def _wanted(claims: Sequence[ClaimSpec], node: NodeDevices) -> Iterator[DeviceName]:
    """The devices of the node that the claims could have, and those that share counters with them."""
    options = (found for spec in claims for request in options_of(spec, node, DeviceBudget()) for found in request)
    candidates = [candidate for found in options for candidate in found.candidates]
    yield from (candidate.usable.name for candidate in candidates)
    for pool in {each.pool.name: each.pool for each in candidates if each.usable.device.traits.consumes}.values():
        yield from (usable.name for usable in (*pool.devices, *pool.others) if usable.device.traits.consumes)


def _bits(places: Sequence[int]) -> Bits:
    """The set of these slots."""
    if not places:
        return 0
    mask = np.zeros(max(places) + 1, np.bool_)
    mask[places] = True
    return from_mask(mask)
