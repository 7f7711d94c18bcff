"""To what the requests of containers have to be lowered so that a kubelet can align them with its NUMA zones.

See ``docs/refusals.md``, "Words".
"""

import functools
import itertools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.decision.refusal.lowered_requests import rounded_as
from webhook.placement.decision.verdict import Judged
from webhook.placement.kube.amounts import nano, ordered
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import Container, PodSpec, Resources
from webhook.placement.kube.quantity import NANO, format_quantity
from webhook.placement.kube.requests import pod_requests
from webhook.placement.kube.resource_name import CPU
from webhook.placement.numa.lowered_needs import lowered_needs
from webhook.placement.numa.needs import ContainerNeeds, NumaNeeds, is_memory, together
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.provision.provision import BARE
from webhook.placement.request.ask import Ask
from webhook.placement.request.numa_needs import needs_of
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import CLAUSE_LIMIT, enumerated, shorten

_KINDS: Final = 16
"""Maximum number of kinds of zones whose amounts are tried."""

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

_CONTAINERS: Final = 3
"""Maximum number of containers whose amounts are named."""


class LoweredContainers(Struct, frozen=True):
    """The requests of containers, lowered so that ``nodes`` nodes can run the pod; ``to`` is what is left of them."""

    to: str
    nodes: int


def lowered_to_zones(
    hard: Iterable[Judged], dropped: Collection[Clause], remaining: Iterable[Judged], ask: Ask, world: World
) -> LoweredContainers | None:
    """The largest amounts that a kubelet can align, resource by resource; ``None`` if that is not among ``dropped``.

    Something of each resource is left if that can be. ``hard`` are the constraints of the pod, ``remaining`` those
    without these clauses. ``None`` also for a pod whose containers are given amounts, which would be others for lower
    requests, and for one of very many amounts.
    """
    if not world.inventory.topologies.by_node or ask.provision is not BARE:
        return None
    if not any(judged.constraint.zoned for judged in hard if judged.constraint.clause in dropped):
        return None
    nodes = world.everything
    for judged in remaining:
        if judged.constraint.clause is None or judged.constraint.clause.source is not Source.REQUESTS:
            nodes &= judged.nodes
    needs = needs_of(ask.spec)
    count = sum(len(one.amounts) for one in needs)
    if count > _AMOUNTS:
        return None
    tried = itertools.islice(_ways(needs, nodes, world), _STEPS // count)
    ways = dict.fromkeys(way for way in tried if _guaranteed(way))
    order = ordered(together(needs))
    ranked = sorted(((_rank(way, order), way) for way in ways), key=operator.itemgetter(0))[:_TRIED]
    for _, alike in itertools.groupby(ranked, key=operator.itemgetter(0)):
        fitting = [(_fitting(_with(ask.spec, needs, way), nodes, world).bit_count(), way) for _, way in alike]
        most, way = max(fitting, key=operator.itemgetter(0))
        if most:
            return LoweredContainers(_in_words(needs, way, order), most)
    return None


def _rank(way: NumaNeeds, order: Sequence[str]) -> list[int]:
    """The order of the ways: those that leave something of most resources first, then those of the largest amounts."""
    amounts = [together(way).get(name, 0) for name in order]
    return [amounts.count(0), *(-amount for amount in amounts)]


def _ways(needs: NumaNeeds, nodes: Bits, world: World) -> Iterator[NumaNeeds]:
    """The lowered amounts for each choice of zones of these nodes."""
    for topology in dict.fromkeys(itertools.islice(_zones(needs, nodes, world), _KINDS)):
        yield from lowered_needs(topology, needs, _rounded)


def _guaranteed(way: NumaNeeds) -> bool:
    """Whether each container keeps cores and memory: without these its kubelet aligns nothing for the pod."""
    return all(amount for one in way for name, amount in one.amounts if name == CPU or is_memory(name))


def _zones(needs: NumaNeeds, nodes: Bits, world: World) -> Iterator[NodeTopology]:
    """The different zones of these nodes; the first nodes whose zones are not known are one zone for all containers."""
    inventory = world.inventory
    kinds = inventory.topologies.kinds(inventory.nodes.slot_of, inventory.nodes.version)
    rows = {name: inventory.nodes.capacity.rows(name)[0] for name in together(needs)}
    unknown = nodes & ~functools.reduce(operator.or_, (those for _, those in kinds), 0)
    for slot in itertools.islice(slots(unknown), _UNKNOWN):
        all_of_it = tuple((name, nano(name, int(row[slot]))) for name, row in rows.items())
        yield NodeTopology(TopologyPolicy.SINGLE, TopologyScope.POD, (NumaZone(all_of_it, all_of_it),))
    for topology, those in kinds:
        if those & nodes:
            yield topology


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


def _fitting(spec: PodSpec, nodes: Bits, world: World) -> Bits:
    """The nodes with room for what the spec requests, and whose kubelets can align it."""
    inventory = world.inventory
    requests = inventory.devices.classes.judged(pod_requests(spec)[0])
    fitting = nodes & inventory.nodes.capacity.fits(requests)
    if fitting and (needs := needs_of(spec)):
        for turned in inventory.topologies.turned_away(
            needs, inventory.nodes.slot_of, inventory.nodes.version
        ).values():
            fitting &= ~turned
    return fitting


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
