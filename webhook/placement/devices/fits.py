"""Nodes that have devices for the claims of a pod, cached from one decision to the next.

Nodes with equal devices are examined once for all of them. A change of devices updates only the nodes concerned.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from webhook.placement.devices.allocation.allocation import LIMIT, Lack, NodeOutcome, allocatable, granted_in_turn
from webhook.placement.devices.allocation.candidates import different, options_of
from webhook.placement.devices.allocation.node_devices import NodeDevices, confused
from webhook.placement.devices.allocation.presence import present
from webhook.placement.devices.looks.batches import Batches
from webhook.placement.devices.looks.followed_nodes import FollowedNodes, IndexedNodes
from webhook.placement.devices.looks.looks import Looks, names_read
from webhook.placement.devices.looks.nodes_by_looks import GroupKey, NodesByLooks
from webhook.placement.devices.published.claims import (
    ClaimName,
    ClaimSpec,
    DeviceChoice,
    DeviceName,
    DeviceRequest,
    HeldDevice,
)
from webhook.placement.devices.published.devices import Devices
from webhook.placement.devices.selectors.selector import Answer, DeviceBudget
from webhook.placement.kube.bits import Bits, to_slots, union

_KEPT: Final = 256
"""Maximum number of sets of claims whose outcomes are cached."""

_OUTCOMES: Final = 4096
"""Maximum number of cached outcomes, by looks of nodes, for one set of claims."""

_LOOKS: Final = 64
"""Maximum number of sets of attribute names whose looks are cached."""

_SETS: Final = 16_384
"""Maximum number of sets of nodes in all of these caches: some 10 MB at 5,000 nodes."""

_MANY: Final = 64
"""Minimum number of nodes for which batches with equal looks are made; fewer are examined one by one."""

_TRIAL: Final = 8
"""Cost of the outcome for one group, besides that of the devices tried."""

_SKIPPED: Final = 8
"""Number of groups that can be passed over at the cost of one evaluation."""

BOUNDLESS: Final = 2**50
"""The number of devices of a node of which it is not known, or of which claims share one."""

Counts = np.ndarray[tuple[int], np.dtype[np.int64]]
"""A number for each slot."""


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
    """The cache for one set of claims: outcomes by looks of nodes, and the answer for one version of the groups."""

    __slots__ = ("by_looks", "different", "fit", "groups", "version")

    def __init__(self, groups: NodesByLooks) -> None:
        self.groups = groups
        self.by_looks: dict[Hashable, NodeOutcome] = {}
        self.different: dict[NodeOutcome, NodeOutcome] = {}
        """The outcomes, of equal ones one object."""
        self.fit = Fit(complete=False)
        self.version = -1


class _DeviceCounts(NamedTuple):
    """How many devices there were at that time; as far as the ``budget`` went, if that was not far enough."""

    time: tuple[int, int]
    row: Counts
    budget: DeviceBudget | None = None


class DeviceFits:
    """The nodes that have devices for claims, for one collection of devices."""

    __slots__ = (
        "_counts",
        "_devices",
        "_groups",
        "_kept",
        "_nodes",
    )

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._nodes = FollowedNodes(devices)
        self._kept: dict[Wanted, _KeptFit] = {}
        self._counts: dict[tuple[DeviceChoice, ...], _DeviceCounts] = {}
        """Devices by choices."""
        self._groups: dict[GroupKey, NodesByLooks] = {}

    def fit(self, wanted: Wanted, nodes: IndexedNodes, budget: DeviceBudget) -> Fit:
        """The nodes that have devices for the claims if no other pod has any."""
        self._nodes.follow(nodes)
        kept = self._kept.pop(wanted, None)
        if kept is None:
            kept = _KeptFit(self._groups_for((names_read(wanted.claims), bool(wanted.own))))
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[wanted] = kept
        self._regroup(self._groups_for(kept.groups.key), nodes, budget)
        if not kept.fit.complete or kept.version != kept.groups.version:
            self._update(wanted, kept, nodes, budget)
            kept.version = kept.groups.version
        return kept.fit

    def counts(self, choices: tuple[DeviceChoice, ...], nodes: IndexedNodes, budget: DeviceBudget) -> Counts:
        """The number of devices by slot that at least one of the choices could get; :data:`BOUNDLESS` if unknown.

        Callers must not write.
        """
        self._nodes.follow(nodes)
        now = self._nodes.time
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
        groups = self._groups_for((names_read((ClaimSpec((DeviceRequest("", choices),)),)), False))
        self._regroup(groups, nodes, budget)
        row[to_slots(nodes.everything)] = BOUNDLESS
        for bits in groups.sets.values():
            if budget.spent:
                break
            budget.nodes -= 1
            number = different(choices, self._nodes.devices_of(_first(bits), nodes), budget)
            if number is not None:
                row[to_slots(bits)] = number
        return not (groups.unseen or budget.spent)

    def copies(self, wanted: Wanted, nodes: IndexedNodes, budget: DeviceBudget) -> Counts:
        """The number of pods by slot whose claims can be met at a time; :data:`LIMIT` at most, or if unknown."""
        room = np.zeros(max(nodes.nodes, default=-1) + 1, np.int64)
        able = nodes.everything
        for count in range(1, LIMIT + 1):
            fit = self.fit(wanted.times(count), nodes, budget)
            able &= fit.nodes | fit.unknown  # who lacks devices for fewer pods lacks them for more
            room[to_slots(able)] = count if fit.nodes else LIMIT
            if not fit.nodes:
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
        """Whether the node has devices for the claims if no pod but ``own`` has any; ``None`` if unknown."""
        self._nodes.follow(nodes)
        return self._tried(Wanted(tuple(claims), tuple(own)), self._nodes.devices_of(slot, nodes), budget).answer

    def has_in_turn(
        self,
        pods: Sequence[Sequence[ClaimSpec]],
        own: Sequence[HeldDevice],
        slot: int,
        nodes: IndexedNodes,
        budget: DeviceBudget,
    ) -> Answer:
        """Like :meth:`has`, but the pods get devices one after the other, and no device is reallocated."""
        self._nodes.follow(nodes)

        def holders(device: DeviceName) -> Sequence[HeldDevice]:
            return [holder for holder in own if holder.device == device]

        return granted_in_turn(pods, self._nodes.devices_of(slot, nodes), holders, budget)

    def holders(
        self, claims: Sequence[ClaimSpec], slots: Iterable[int], nodes: IndexedNodes
    ) -> Iterator[tuple[int, tuple[ClaimName, ...]]]:
        """The nodes with too few free devices for the claims, each with the claims that hold such devices."""
        self._nodes.follow(nodes)
        known: dict[DeviceName, list[ClaimName]] = {}
        for claim in self._devices.claims():
            for allocated in claim.allocation.devices if claim.allocation else ():
                if not allocated.admin:
                    known.setdefault(allocated.device, []).append((claim.namespace, claim.name))
        for slot in slots:
            devices = self._nodes.devices_of(slot, nodes)
            if allocatable(claims, devices, self._devices.holders, DeviceBudget()).answer is False:
                wanted = {each for device in _wanted(claims, devices) for each in known.get(device, ())}
                if wanted:
                    yield slot, tuple(sorted(wanted))

    def _groups_for(self, key: GroupKey) -> NodesByLooks:
        """The groups by what is read, which are now the last to be forgotten."""
        self._groups[key] = self._groups.pop(key) if key in self._groups else NodesByLooks(key)
        return self._groups[key]

    def _bound(self) -> None:
        """Forget the groups that were not asked for longest, with the claims that are judged by them."""
        kept, sets = list(self._groups.items()), sum(len(groups.sets) for groups in self._groups.values())
        gone: set[NodesByLooks] = set()
        for key, groups in kept[:-1]:
            if len(self._groups) <= _LOOKS and sets <= _SETS:
                break
            sets -= len(groups.sets)
            gone.add(self._groups.pop(key))
        if gone:
            self._kept = {wanted: kept_fit for wanted, kept_fit in self._kept.items() if kept_fit.groups not in gone}

    def _regroup(self, groups: NodesByLooks, nodes: IndexedNodes, budget: DeviceBudget) -> None:
        """Put nodes that may look different now into their groups."""
        now = self._nodes.time
        if groups.time != now:
            groups.forget(self._nodes.moved(groups.time, nodes), nodes.everything)
            groups.time = now
        if groups.unseen and budget.evaluations > 0:
            groups.look(self._batches(groups, nodes, budget), self._look_at(groups, nodes), budget)
            self._bound()

    def _batches(self, groups: NodesByLooks, nodes: IndexedNodes, budget: DeviceBudget) -> Iterator[list[int]]:
        """The nodes not examined yet; if there are many, in batches with equal looks."""
        if groups.unseen.bit_count() < _MANY or groups.named or self._devices.tainted_pools is None:
            yield from ([slot] for slot in to_slots(groups.unseen).tolist())
            return
        batches = Batches(self._devices, self._nodes.sights, groups.key[0])
        alike = batches.of(groups.unseen, nodes.slot_of, lambda terms: self._nodes.matching(terms, nodes))
        first = next(alike)
        budget.evaluations -= min(batches.cost, budget.evaluations // 2)
        yield first
        yield from alike

    def _update(self, wanted: Wanted, kept: _KeptFit, nodes: IndexedNodes, budget: DeviceBudget) -> None:
        """Find the missing outcomes of groups, and combine the outcomes of all groups."""
        groups = kept.groups
        budget.evaluations -= min(len(groups.sets) // _SKIPPED, max(budget.evaluations, 0) // 2)
        if len(kept.by_looks) > max(_OUTCOMES, 2 * len(groups.sets)):
            kept.by_looks = {looks: fit for looks, fit in kept.by_looks.items() if looks in groups.sets}
            kept.different = {fit: fit for fit in kept.by_looks.values()}
        by_outcome: dict[int, tuple[NodeOutcome, list[Bits]]] = {}
        undecided = [groups.unseen] if groups.unseen else []
        for looks, bits in groups.sets.items():
            outcome = kept.by_looks.get(looks)
            if outcome is None and not budget.spent:
                outcome = self._outcome(wanted, kept, looks, self._nodes.devices_of(_first(bits), nodes), budget)
            if outcome is None:
                undecided.append(bits)
            else:
                by_outcome.setdefault(id(outcome), (outcome, []))[1].append(bits)  # its hash takes longer
        sets = [(outcome, union(bits)) for outcome, bits in by_outcome.values()]
        kept.fit = Fit(
            union(bits for outcome, bits in sets if outcome.answer),
            union([*undecided, *(bits for outcome, bits in sets if outcome.answer is None)]),
            {outcome.lack: bits for outcome, bits in sets if outcome.answer is False},
            frozenset(outcome.failed for outcome, _ in sets if outcome.failed),
            not undecided,
        )

    def _outcome(
        self, wanted: Wanted, kept: _KeptFit, looks: Hashable, node: NodeDevices, budget: DeviceBudget
    ) -> NodeOutcome | None:
        """What is found out now of nodes with these looks; ``None`` if the budget is spent."""
        budget.nodes -= 1
        steps = budget.steps
        outcome = self._tried(wanted, node, budget)
        if outcome.answer is None and budget.exhausted:
            return None
        budget.evaluations -= _TRIAL + steps - budget.steps
        outcome = kept.different.setdefault(outcome, outcome)
        kept.by_looks[looks] = outcome
        return outcome

    def _look_at(self, groups: NodesByLooks, nodes: IndexedNodes) -> Callable[[int], tuple[Hashable, int]]:
        """Look at the devices that the node in a slot can use: their looks, and what it costs to find these out."""
        devices, there, of_node = self._devices, nodes.nodes, groups.looks.of_node
        tainted, wide = devices.tainted_pools, devices.wide

        def look(slot: int) -> tuple[Hashable, int]:
            name = there[slot].name
            known = tainted is not None and not (
                tainted and any(one.pool in tainted for one in devices.local_pools(name))
            )
            looks = of_node(devices, name) if known and not groups.named else None
            if looks is not None:
                return (self._beside(looks, groups.looks, slot, nodes) if wide else looks), 1
            own_devices = self._nodes.devices_of(slot, nodes)
            cost = 1 + sum(len(pool.devices) for pool in own_devices.pools)
            return groups.looks.of_devices(own_devices, named=groups.named), cost

        return look

    @staticmethod
    def _tried(wanted: Wanted, node: NodeDevices, budget: DeviceBudget) -> NodeOutcome:
        if wanted.present:
            return present(wanted.claims[0], node, budget)

        def holders(device: DeviceName) -> Sequence[HeldDevice]:
            return [holder for holder in wanted.own if holder.device == device]

        return allocatable(wanted.claims, node, holders, budget, wanted.pods)

    def _beside(self, local: Hashable, looks: Looks, slot: int, nodes: IndexedNodes) -> Hashable:
        """The looks of the devices of a node, beside what it sees of pools that several nodes can use.

        What several nodes see of a pool is looked at once for all of them.
        """
        name = nodes.nodes[slot].name
        sights = self._nodes.sights
        seen = sights.shared(name, self._nodes.reaches(name, slot, nodes)).values()
        mixed = confused(shared.pool for shared in seen if shared.pool)
        return local, mixed or sights.unsure(name), tuple(map(looks.of_shared, seen))


def _wanted(claims: Sequence[ClaimSpec], node: NodeDevices) -> Iterator[DeviceName]:
    """The devices of the node that the claims could have, and those that share counters with them."""
    requests = (request for spec in claims for request in options_of(spec, node, DeviceBudget()))
    candidates = [candidate for request in requests for options in request for candidate in options.candidates]
    yield from (candidate.usable.name for candidate in candidates)
    for pool in {each.pool.name: each.pool for each in candidates if each.usable.device.traits.consumes}.values():
        yield from (usable.name for usable in (*pool.devices, *pool.others) if usable.device.traits.consumes)


def _first(nodes: Bits) -> int:
    """The first slot of the set."""
    return (nodes & -nodes).bit_length() - 1
