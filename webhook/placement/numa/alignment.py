"""Check that a kubelet's topology manager can align a pod with the NUMA zones of its node, taken as entirely free.

Each kind of resource is met by some masks: sets of zones that have enough of it. The preferred masks are those with as
few zones as any mask of which the totals suffice. ``restricted`` admits a container if one mask is preferred for all of
its resources, ``single-numa-node`` if one zone meets them. With other pods on the node the kubelet finds a subset of
these masks, so a pod that is rejected here is rejected whatever else runs there.

Sources: ``mergePermutation``, ``generateCPUTopologyHints``, ``generateDeviceTopologyHints`` and ``calculateHints`` of
the kubelet.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from webhook.placement.kube.resource_name import CPU
from webhook.placement.numa.needs import ContainerNeeds, Life, NumaNeeds, is_memory, together
from webhook.placement.numa.topology import Amounts, NodeTopology, TopologyPolicy, TopologyScope

ZONES: Final = 8
"""Maximum number of zones that a kubelet's topology manager supports by default; nodes with more are not judged."""

_PAIR: Final = 2
"""With so many zones at most, a device that belongs to several of them is in no sum of zones twice that matters."""

_STEPS: Final = 512
"""Maximum number of zones tried for the containers of a pod; a pod that needs more tries is not refused."""

_KEPT: Final = 16384
"""Of so many kinds of zones the amounts are kept by resource: one for each node of a large cluster."""

_PODS: Final = 4
"""The sums of so many pods, of any size, are kept: one decision asks for them once for each kind of zones."""

EFFORT: Final = 20_000
"""Maximum number of comparisons of zone sets with containers for a pod, some 2 µs each, over all nodes."""

_Mask = tuple[int, ...]


class Effort:
    """How many sets of zones may still be compared with containers; ``spent`` tells that there are no more."""

    __slots__ = ("remaining",)

    def __init__(self, remaining: int = EFFORT) -> None:
        self.remaining = remaining

    @property
    def spent(self) -> bool:
        """Whether the budget is used up, so that a pod counts as aligned without further comparisons."""
        return self.remaining <= 0


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


class _Tables(NamedTuple):
    """The amounts of zones by resource, in all and without what is reserved, and the resources that zones state."""

    total: tuple[Mapping[str, int], ...]
    free: tuple[Mapping[str, int], ...]
    stated: frozenset[str]


@functools.lru_cache(_KEPT)
def _tables(topology: NodeTopology) -> _Tables:
    free = tuple(dict(zone.allocatable) for zone in topology.zones)
    return _Tables(tuple(dict(zone.capacity) for zone in topology.zones), free, frozenset(itertools.chain(*free)))


def misfit(
    topology: NodeTopology, needs: NumaNeeds, *, certain: bool = True, effort: Effort | None = None
) -> Misfit | None:
    """What of the pod the kubelet cannot align; ``None`` if it can align all of it, or if the ``effort`` is spent.

    Some options of kubelets are not published: cores may be aligned by socket (``align-by-socket``), and a device may
    belong to several zones. If the answer must be ``certain``, a pod that these would admit is not rejected.
    """
    if not topology.strict or len(topology.zones) > ZONES:
        return None
    effort = effort or Effort()
    effort.remaining -= len(topology.zones)
    tables = _tables(topology)
    if effort.spent or _one_zone(tables, _sums(needs, tables.stated)):
        return None
    if topology.scope is TopologyScope.POD:
        wanted = together(needs)
        return None if _fits(topology, wanted, effort, certain=certain) else _misfit(topology, "", wanted)
    fitting: set[Amounts] = set()
    for one in needs:
        if one.amounts not in fitting and not _fits(topology, dict(one.amounts), effort, certain=certain):
            return _misfit(topology, one.name, dict(one.amounts))
        fitting.add(one.amounts)
    lasting = [one for one in needs if one.life is not Life.BEFORE]
    if topology.policy is TopologyPolicy.SINGLE and len(lasting) > 1 and not _one_zone_each(topology, lasting, effort):
        return _misfit(topology, "", together(lasting))
    return None


def _misfit(topology: NodeTopology, container: str, wanted: Mapping[str, int]) -> Misfit:
    return Misfit(container, tuple(sorted(_aligned(_tables(topology).stated, wanted).items())))


def _fits(topology: NodeTopology, wanted: Mapping[str, int], effort: Effort, *, certain: bool) -> bool:
    """Whether one mask serves all resources, or nothing more is compared."""
    tables = _tables(topology)
    aligned = _aligned(tables.stated, wanted)
    effort.remaining -= len(topology.zones)
    if effort.spent:
        return True
    if topology.policy is TopologyPolicy.SINGLE:
        return any(_has(zone, aligned) for zone in tables.free)
    if _one_zone(tables, aligned):
        return True
    groups = list(_groups(topology, aligned, certain=certain))
    masks = _masks(len(topology.zones))
    effort.remaining -= len(masks)
    least = [_least(group, masks) for group in groups]
    return any(
        all(
            (len(mask) == size or (group.wide and len(mask) > size)) and _enough(group.wanted, group.free, mask)
            for group, size in zip(groups, least, strict=True)
        )
        for mask in masks
    )


def _groups(topology: NodeTopology, wanted: Mapping[str, int], *, certain: bool) -> Iterator[_Group]:
    """Resources that are aligned, memory and huge pages together."""
    total, free, _ = _tables(topology)
    memory = {name: amount for name, amount in wanted.items() if is_memory(name)}
    if memory:
        yield _Group(memory, free, free)
    for name, amount in wanted.items():
        if name not in memory:
            wide = certain and (name == CPU or len(topology.zones) > _PAIR)
            yield _Group({name: amount}, total, free, wide)


def _aligned(stated: frozenset[str], wanted: Mapping[str, int]) -> dict[str, int]:
    """What of this is aligned: what zones state, and memory and huge pages only if zones state each that is wanted.

    The kubelet aligns nothing else: its managers say what zones have of what they align.
    """
    memory = all(name in stated for name in wanted if is_memory(name))
    return {name: amount for name, amount in wanted.items() if name in stated and (memory or not is_memory(name))}


def _has(zone: Mapping[str, int], amounts: Mapping[str, int]) -> bool:
    """Whether the zone has these amounts. A loop: it runs for each kind of zones and each container of a pod."""
    for name, amount in amounts.items():  # noqa: SIM110 -- three times as fast as a generator
        if zone.get(name, 0) < amount:
            return False
    return True


def _one_zone(tables: _Tables, amounts: Mapping[str, int]) -> bool:
    """Whether one zone has all of the amounts: it is then the fewest zones for each resource."""
    for free, total in zip(tables.free, tables.total, strict=True):
        if _has(free, amounts) and _has(total, amounts):
            return True
    return False


@functools.cache
def _masks(zones: int) -> tuple[_Mask, ...]:
    """All sets of zones, the smallest first."""
    return tuple(mask for size in range(1, zones + 1) for mask in itertools.combinations(range(zones), size))


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


def _one_zone_each(topology: NodeTopology, needs: Sequence[ContainerNeeds], effort: Effort) -> bool:
    """Whether there is a zone for each container such that no zone gives more than it has."""
    tables = _tables(topology)
    wanted = [_aligned(tables.stated, dict(one.amounts)) for one in needs]
    free = [dict(zone) for zone in tables.free]
    tries = min(_STEPS, effort.remaining)

    def place(at: int) -> bool:
        nonlocal tries
        if at == len(wanted):
            return True
        for zone in free:
            if tries <= 0:
                return True
            tries -= 1
            effort.remaining -= 1
            if _has(zone, wanted[at]):
                for name, amount in wanted[at].items():
                    zone[name] -= amount
                if place(at + 1):
                    return True
                for name, amount in wanted[at].items():
                    zone[name] += amount
        return False

    return place(0)


@functools.lru_cache(_PODS)
def _sums(needs: NumaNeeds, stated: frozenset[str]) -> dict[str, int]:
    """What all containers want of the resources that zones state."""
    sums: Counter[str] = Counter()
    for one in needs:
        sums.update(dict(one.amounts))
    return {name: amount for name, amount in sums.items() if name in stated}
