"""To what the requests of containers have to be lowered so that a kubelet can align them with its NUMA zones.

See ``docs/refusals.md``, "Words".
"""

import bisect
import functools
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.decision.refusal.lowered_requests import SHARES, lowers, rounded_as
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged, judged_rooms, zoned
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.amounts import nano, ordered
from webhook.placement.kube.bits import Bits, slots, to_slots
from webhook.placement.kube.pod import Container, PodSpec, Resources
from webhook.placement.kube.quantity import NANO, format_quantity
from webhook.placement.kube.resource_name import CPU
from webhook.placement.numa.lowered_needs import lowered_needs, pods_in_zones
from webhook.placement.numa.needs import ContainerNeeds, NumaNeeds, is_memory, together
from webhook.placement.numa.topology import Amounts, NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.provision.provision import BARE
from webhook.placement.request.ask import Ask
from webhook.placement.request.numa_needs import needs_of
from webhook.placement.request.world import World
from webhook.placement.text.clause import REQUESTED, Clause
from webhook.placement.text.problem import CLAUSE_LIMIT, enumerated, shorten

_KINDS: Final = 16
"""Maximum number of kinds of zones whose amounts are tried."""

_BOUNDED: Final = 64
"""Maximum number of kinds of zones of which it is found out how many pods of a workload they have room for."""

_UNKNOWN: Final = 8
"""Maximum number of nodes without known zones whose amounts are tried."""

_AMOUNTS: Final = 24
"""Maximum number of aligned amounts, over all containers, of a pod for which choices of zones are tried."""

_STEPS: Final = 2048
"""Maximum number of amounts that are lowered, over all choices of zones: some 25 ms.

A pod has as many choices as the number of zones to the power of its containers.
"""

_TRIED: Final = 32
"""Maximum number of these that are judged, the largest amounts first."""

_ALIKE: Final = 4
"""Maximum number of ways to share the same amounts among containers that are judged for the pods of a workload."""

_CONTAINERS: Final = 3
"""Maximum number of containers whose amounts are named."""


class LoweredContainers(Struct, frozen=True):
    """The requests of containers, lowered so that something fits; ``to`` is what is left of them.

    ``fitting`` is how many nodes could run the pod, or how many pods of a workload fit.
    """

    to: str
    fitting: int


def lowered_to_zones(
    hard: Iterable[Judged], dropped: Collection[Clause], remaining: Iterable[Judged], ask: Ask, world: World
) -> LoweredContainers | None:
    """The largest amounts that a kubelet can align, resource by resource; ``None`` if that is not among ``dropped``.

    Something of each resource is left if that can be. ``hard`` are the constraints of the pod, ``remaining`` those
    without these clauses. ``None`` also for a pod whose containers are given amounts, which would be others for lower
    requests, and for one of very many amounts.
    """
    if not _zoned((judged for judged in hard if judged.constraint.clause in dropped), ask, world):
        return None
    nodes = _without_requests(remaining, world)

    def fitting(spec: PodSpec) -> int:
        room = world.inventory.nodes.capacity.fits(ask.requesting(spec, world).requests)
        return _aligning(spec, nodes & room, world).bit_count()

    ways = _Ways(ask.spec, nodes, world)
    for at in range(len(ways.alike)):
        lowered = ways.best(at, fitting)
        if lowered.fitting:
            return lowered
    return None


def replicas_lowered_to_zones(
    fit: ReplicaFit, dropped: Clause, ask: Ask, world: World, *, least: int, most: int
) -> LoweredContainers | None:
    """The largest amounts with which at least so many pods of a workload of ``most`` fit.

    ``None`` also unless requests are ``dropped``. Pods may share a zone, each with as much of it. Those on one node
    have zones beside each other.
    """
    lowered = any(lowers(judged.constraint) for judged in fit.hard if judged.constraint.clause == dropped)
    if not lowered or not _zoned(fit.hard, ask, world):
        return None
    others = [judged for judged in fit.hard if not (judged.constraint.zoned or judged.constraint.requests)]
    nodes = _without_requests(others, world)
    bounds = _ZoneBounds(nodes, world, most)

    def fitting(spec: PodSpec) -> int:
        lower = ask.requesting(spec, world)
        aligned = Judged(StandingConstraint(), _aligning(spec, nodes, world))
        return ReplicaFit(lower, (*others, *judged_rooms(lower, world), aligned), world, bounds.of(spec)).room(most)

    ways = _Ways(ask.spec, nodes, world, most)
    every = range(len(ways.alike))
    at = bisect.bisect_left(every, least, key=lambda at: ways.best(at, fitting).fitting)
    return ways.best(at, fitting) if at in every else None


class _ZoneBounds:
    """How many pods of a workload have zones on each slot, as far as its zones are among the first kinds."""

    def __init__(self, nodes: Bits, world: World, most: int) -> None:
        self._most = most
        inventory = world.inventory
        self._all = np.full_like(inventory.nodes.capacity.rows(CPU)[0], most)
        kinds = inventory.topologies.kinds(inventory.nodes.slot_of, inventory.nodes.version)
        self._kinds = [(topology, to_slots(those & nodes)) for topology, those in itertools.islice(kinds, _BOUNDED)]

    def of(self, spec: PodSpec) -> Row:
        """The bounds for pods of that spec."""
        needs, bounds = needs_of(spec), self._all.copy()
        for topology, those in self._kinds:
            bounds[those] = pods_in_zones(topology, needs, self._most)
        return bounds


def _zoned(hard: Iterable[Judged], ask: Ask, world: World) -> bool:
    """Whether requests by NUMA zone are among the constraints of a pod whose containers are given no amounts."""
    if not world.inventory.topologies.by_node or ask.provision is not BARE:
        return False
    return zoned(hard)


def _without_requests(hard: Iterable[Judged], world: World) -> Bits:
    """The nodes that meet these constraints, whatever is requested."""
    nodes = world.everything
    for judged in hard:
        if judged.constraint.clause is None or judged.constraint.clause.source not in REQUESTED:
            nodes &= judged.nodes
    return nodes


class _Ways:
    """The ways to lower the requests of ``spec`` to zones of these nodes, each shared by up to so many ``pods``.

    ``alike`` are those that leave the same amounts in all: first those that leave something of most resources, then
    those of the largest amounts. Of a single pod no more than ``_TRIED`` ways are looked at.
    """

    def __init__(self, spec: PodSpec, nodes: Bits, world: World, pods: int = 1) -> None:
        self._spec = spec
        self._needs = needs_of(spec)
        self._order = ordered(together(self._needs))
        ways = dict.fromkeys(_ways(self._needs, nodes, world, min(pods, SHARES)))
        ranked = sorted(((self._rank(way), way) for way in ways), key=operator.itemgetter(0))
        grouped = itertools.groupby(ranked if pods > 1 else ranked[:_TRIED], key=operator.itemgetter(0))
        alike = ([way for _, way in those] for _, those in grouped)
        self.alike = [those[:_ALIKE] for those in alike] if pods > 1 else [*alike]

    def _rank(self, way: NumaNeeds) -> list[int]:
        left = together(way)
        amounts = [left.get(name, 0) for name in self._order]
        return [amounts.count(0), *(-amount for amount in amounts)]

    def best(self, at: int, fitting: Callable[[PodSpec], int]) -> LoweredContainers:
        """The way with which most fit of those that leave the same amounts."""
        tried = [(fitting(_with(self._spec, self._needs, way)), way) for way in self.alike[at]]
        count, way = max(tried, key=operator.itemgetter(0))
        return LoweredContainers(_in_words(self._needs, way, self._order), count)


def _ways(needs: NumaNeeds, nodes: Bits, world: World, pods: int) -> Iterator[NumaNeeds]:
    """The lowered amounts for each choice of zones of these nodes, with which each container keeps cores and memory.

    Without these a pod has no guaranteed resources, and its kubelet aligns nothing for it. A zone is for one pod, or
    divided among two, up to so many ``pods``. There are none for a pod of very many amounts.
    """
    count = sum(len(one.amounts) for one in needs)
    kinds = dict.fromkeys(itertools.islice(_zones(needs, nodes, world), _KINDS))
    listed = itertools.chain.from_iterable(
        lowered_needs(*_divided(topology, offered, number), needs, _rounded)
        for number, (topology, offered) in itertools.product(range(1, pods + 1), kinds)
    )
    for way in itertools.islice(listed, _STEPS // count if count <= _AMOUNTS else 0):
        if all(amount for one in way for name, amount in one.amounts if name == CPU or is_memory(name)):
            yield way


def _divided(topology: NodeTopology, offered: Amounts, pods: int) -> tuple[NodeTopology, dict[str, int]]:
    """The topology whose zones have for each of so many pods what is allocatable, and what the node has for each."""
    zones = tuple(replace(zone, allocatable=_shared(zone.allocatable, pods)) for zone in topology.zones)
    return replace(topology, zones=zones), dict(_shared(offered, pods))


def _shared(amounts: Amounts, pods: int) -> Amounts:
    return tuple((name, amount // pods) for name, amount in amounts)


def _zones(needs: NumaNeeds, nodes: Bits, world: World) -> Iterator[tuple[NodeTopology, Amounts]]:
    """The different zones of these nodes, and what a node with such zones offers that has most of some resource.

    The first nodes whose zones are not known are one zone for all containers.
    """
    inventory = world.inventory
    kinds = inventory.topologies.kinds(inventory.nodes.slot_of, inventory.nodes.version)
    rows = {name: inventory.nodes.capacity.rows(name)[0] for name in ordered(together(needs))}
    unknown = nodes & ~functools.reduce(operator.or_, (those for _, those in kinds), 0)
    for slot in itertools.islice(slots(unknown), _UNKNOWN):
        all_of_it = _most(rows, np.array([slot]))
        zone = NumaZone(all_of_it, all_of_it)
        yield NodeTopology(TopologyPolicy.SINGLE, TopologyScope.POD, (zone,)), all_of_it
    for topology, those in kinds:
        if those & nodes:
            able = to_slots(those & nodes)
            for offered in dict.fromkeys(_most({first: row, **rows}, able) for first, row in rows.items()):
                yield topology, offered


def _most(rows: Mapping[str, Row], able: Row) -> Amounts:
    """What the slot offers that has most of the first resource, of those most of the second, and so on."""
    for row in rows.values():
        able = able[row[able] == row[able].max()]
    return tuple(sorted((name, nano(name, int(row[able[0]]))) for name, row in rows.items()))


def _rounded(resource: str, amount: int, requested: int) -> int:
    """The amount rounded down as requests are lowered; cores stay whole, since others are not aligned."""
    if resource == CPU:
        return amount - amount % NANO
    return rounded_as(resource, amount // NANO, requested // NANO) * NANO


def _with(spec: PodSpec, needs: NumaNeeds, lowered: NumaNeeds) -> PodSpec:
    """The spec whose containers request the lowered amounts of what is aligned, with limits that are the same."""
    changed = {one.name: _changes(one, to) for one, to in zip(needs, lowered, strict=True)}

    def lower(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(
            replace(one, resources=_lowered(one.resources, changed[one.name]))
            if one.resources and one.name in changed
            else one
            for one in containers
        )

    return replace(spec, containers=lower(spec.containers), init_containers=lower(spec.init_containers))


def _changes(needs: ContainerNeeds, to: ContainerNeeds) -> dict[str, int]:
    """The amounts that are lowered, in nano-units."""
    return {name: amount for name, amount in to.amounts if amount < dict(needs.amounts)[name]}


def _lowered(resources: Resources, amounts: Mapping[str, int]) -> Resources:
    said = {name: format_quantity(amount) for name, amount in amounts.items()}
    return replace(
        resources, requests={**(resources.requests or {}), **said}, limits={**(resources.limits or {}), **said}
    )


def _aligning(spec: PodSpec, nodes: Bits, world: World) -> Bits:
    """Those of the nodes whose kubelets can align what the spec requests."""
    inventory = world.inventory
    if nodes and (needs := needs_of(spec)):
        for turned in inventory.topologies.turned_away(
            needs, inventory.nodes.slot_of, inventory.nodes.version
        ).values():
            nodes &= ~turned
    return nodes


def _in_words(needs: NumaNeeds, lowered: NumaNeeds, order: Sequence[str]) -> str:
    """What is left of the pod's amounts; of several containers, with what is left of each that is lowered."""
    before, after = together(needs), together(lowered)
    total = _amounts({name: after.get(name, 0) for name in order if after.get(name, 0) < before[name]})
    if len(needs) == 1:
        return total
    each = [
        f"{shorten(one.name, CLAUSE_LIMIT)}: {_amounts(changes)}"
        for one, to in zip(needs, lowered, strict=True)
        if (changes := _changes(one, to))
    ]
    return f"{total} ({enumerated(each, _CONTAINERS)})"


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {format_quantity(amount)}" for name, amount in amounts.items())
