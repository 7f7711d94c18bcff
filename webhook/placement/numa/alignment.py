"""Whether a kubelet's topology manager can align a pod with the NUMA zones of its node, all of which are free.

Each kind of resource is met by some masks: sets of zones that have enough of it. The preferred masks are those with as
few zones as any mask of which the totals suffice. ``restricted`` admits a container if one mask is preferred for all of
its resources, ``single-numa-node`` if one zone meets them. With other pods on the node the kubelet finds fewer masks,
and never another one, so what is turned away here is turned away whoever else runs there.

Sources: ``mergePermutation``, ``generateCPUTopologyHints``, ``generateDeviceTopologyHints`` and ``calculateHints`` of
the kubelet.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from webhook.placement.kube.resource_name import CPU
from webhook.placement.numa.needs import ContainerNeeds, Life, NumaNeeds, is_memory, together
from webhook.placement.numa.topology import NodeTopology, TopologyPolicy, TopologyScope

ZONES: Final = 8
"""So many zones a kubelet's topology manager supports by default; nodes with more are not judged."""

_PAIR: Final = 2
"""With so many zones at most, a device that belongs to several of them is in no sum of zones twice that matters."""

_STEPS: Final = 512
"""So many zones are tried for the containers of a pod; a pod that takes more is not turned away."""

_KEPT: Final = 4096
"""So many answers are kept: more than a cluster has kinds of zones times pods that are aligned."""

_Mask = tuple[int, ...]


class Misfit(Struct, frozen=True, gc=False):
    """What cannot be aligned: these amounts of the ``container``, or of all containers if it is empty.

    Resources that no zone has an amount of are left out.
    """

    container: str
    amounts: tuple[tuple[str, int], ...]


class _Group(NamedTuple):
    """Resources that are aligned together; the mask is preferred by what zones have in ``total``.

    ``wide`` tells that masks with more zones may be preferred as well.
    """

    wanted: Mapping[str, int]
    total: Sequence[Mapping[str, int]]
    free: Sequence[Mapping[str, int]]
    wide: bool = False


@functools.lru_cache(_KEPT)
def misfit(topology: NodeTopology, needs: NumaNeeds, *, certain: bool = True) -> Misfit | None:
    """What of the pod the kubelet cannot align; ``None`` if it can align all of it.

    Some options of kubelets are not published: cores may be aligned by socket (``align-by-socket``), and a device may
    belong to several zones. What would be admitted by these is not turned away if the answer must be ``certain``.
    """
    if not topology.strict or len(topology.zones) > ZONES:
        return None
    if topology.scope is TopologyScope.POD:
        wanted = together(needs)
        return None if _fits(topology, wanted, certain=certain) else _misfit(topology, "", wanted)
    for one in needs:
        if not _fits(topology, dict(one.amounts), certain=certain):
            return _misfit(topology, one.name, dict(one.amounts))
    lasting = [one for one in needs if one.life is not Life.BEFORE]
    if topology.policy is TopologyPolicy.SINGLE and len(lasting) > 1 and not _one_zone_each(topology, lasting):
        return _misfit(topology, "", together(lasting))
    return None


def _misfit(topology: NodeTopology, container: str, wanted: Mapping[str, int]) -> Misfit:
    stated = _stated(topology)
    return Misfit(container, tuple(sorted((name, amount) for name, amount in wanted.items() if name in stated)))


def _stated(topology: NodeTopology) -> frozenset[str]:
    """The resources that zones state."""
    return frozenset(name for zone in topology.zones for name, _ in zone.allocatable)


def _fits(topology: NodeTopology, wanted: Mapping[str, int], *, certain: bool) -> bool:
    """Whether one mask serves all resources."""
    groups = list(_groups(topology, wanted, certain=certain))
    masks = [*_masks(len(topology.zones))]
    if topology.policy is TopologyPolicy.SINGLE:
        return any(all(_enough(group.wanted, group.free, mask) for group in groups) for mask in masks if len(mask) == 1)
    least = [_least(group, masks) for group in groups]
    return any(
        all(
            (len(mask) == size or (group.wide and len(mask) > size)) and _enough(group.wanted, group.free, mask)
            for group, size in zip(groups, least, strict=True)
        )
        for mask in masks
    )


def _groups(topology: NodeTopology, wanted: Mapping[str, int], *, certain: bool) -> Iterator[_Group]:
    """Resources that zones state. The kubelet aligns no others: its managers say what zones have of what they align."""
    total = [dict(zone.capacity) for zone in topology.zones]
    free = [dict(zone.allocatable) for zone in topology.zones]
    stated = _stated(topology)
    memory = {name: amount for name, amount in wanted.items() if is_memory(name)}
    if memory and memory.keys() <= stated:
        yield _Group(memory, free, free)
    for name, amount in wanted.items():
        if name in stated and name not in memory:
            wide = certain and (name == CPU or len(topology.zones) > _PAIR)
            yield _Group({name: amount}, total, free, wide)


def _masks(zones: int) -> Iterator[_Mask]:
    """All sets of zones, the smallest first."""
    for size in range(1, zones + 1):
        yield from itertools.combinations(range(zones), size)


def _least(group: _Group, masks: Iterable[_Mask]) -> int:
    """The number of zones of the smallest masks of which the totals suffice; of the largest mask if none does."""
    size = 0
    for mask in masks:
        size = len(mask)
        if _enough(group.wanted, group.total, mask):
            break
    return size


def _enough(wanted: Mapping[str, int], zones: Sequence[Mapping[str, int]], mask: _Mask) -> bool:
    return all(sum(zones[at].get(name, 0) for at in mask) >= amount for name, amount in wanted.items())


def _one_zone_each(topology: NodeTopology, needs: Sequence[ContainerNeeds]) -> bool:
    """Whether there is a zone for each container such that no zone gives more than it has."""
    stated = _stated(topology)
    wanted = [[(name, amount) for name, amount in one.amounts if name in stated] for one in needs]
    left = [dict(zone.allocatable) for zone in topology.zones]
    steps = itertools.count()

    def place(at: int) -> bool:
        if at == len(wanted):
            return True
        for zone in left:
            if next(steps) >= _STEPS:
                return True
            if all(zone.get(name, 0) >= amount for name, amount in wanted[at]):
                for name, amount in wanted[at]:
                    zone[name] -= amount
                if place(at + 1):
                    return True
                for name, amount in wanted[at]:
                    zone[name] += amount
        return False

    return place(0)
