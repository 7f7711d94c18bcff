"""The largest amounts of a pod that the NUMA zones of a node have, container by container, and how many such pods fit.

A container gets a zone, or the pod one if the kubelet aligns it as a whole. What the zone has too little of is lowered
to what it has left. One zone that has all is aligned by both strict policies (``alignment``).
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from webhook.placement.kube.quantity import NANO
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.numa.needs import ContainerNeeds, Life, NumaNeeds, together
from webhook.placement.numa.topology import NodeTopology, TopologyScope

_LEAST: Final[Mapping[str, int]] = {CPU: NANO, MEMORY: NANO << 20}
"""What a container keeps at least: a core, and a MiB."""

_BESIDE: Final = 32
"""Maximum number of pods of several containers that are put into the zones of a node."""

Rounded = Callable[[str, int, int], int]
"""Function of a resource, an amount and the requested amount, both in nano-units: the amount rounded down."""


def lowered_needs(
    topology: NodeTopology, offered: Mapping[str, int], needs: NumaNeeds, rounded: Rounded
) -> Iterator[NumaNeeds]:
    """The needs after each choice of zones for the containers; resources that no zone states stay as they are.

    All containers together get no more than the node has ``offered``, which may be less than its zones have.
    """
    zones = [dict(zone.allocatable) for zone in topology.zones]
    stated = frozenset(itertools.chain(*zones))
    whole = topology.scope is TopologyScope.POD
    for chosen in itertools.product(range(len(zones)), repeat=1 if whole else len(needs)):
        places = chosen * len(needs) if whole else chosen
        remaining = [dict(zone) for zone in zones]
        total = dict(offered)
        lowered = []
        for at, (one, place) in enumerate(zip(needs, places, strict=True)):
            zone = remaining[place]
            later = needs[at + 1 :]
            beside = [other for other, its in zip(later, places[at + 1 :], strict=True) if its == place]
            amounts = dict(one.amounts)
            for name in amounts.keys() & stated:
                amount = min(zone.get(name, 0) - _kept(name, beside), total.get(name, 0) - _kept(name, later))
                amounts[name] = rounded(name, min(amounts[name], max(0, amount)), amounts[name])
            if one.life is not Life.BEFORE:
                for supply in (zone, total):
                    supply |= {name: supply[name] - amounts[name] for name in supply.keys() & amounts.keys()}
            lowered.append(replace(one, amounts=tuple(sorted(amounts.items()))))
        yield tuple(lowered)


def _kept(resource: str, later: Iterable[ContainerNeeds]) -> int:
    """What is left in a zone for containers that come later, each of which keeps some cores and memory."""
    least = _LEAST.get(resource, 0)
    return least * sum(any(name == resource for name, _ in one.amounts) for one in later if one.life is not Life.BEFORE)


def pods_in_zones(topology: NodeTopology, needs: NumaNeeds, most: int) -> int:
    """How many of up to ``most`` pods surely find zones beside each other, each container in the first that has room.

    Init containers are left out, since the amounts that they are given are free again.
    """
    zones = [dict(zone.allocatable) for zone in topology.zones]
    stated = frozenset(itertools.chain(*zones))
    if topology.scope is TopologyScope.POD:
        each = [together(needs)]
    else:
        each = [dict(one.amounts) for one in needs if one.life is not Life.BEFORE] or [{}]
    wanted = [{name: amount for name, amount in one.items() if name in stated} for one in each]
    if len(wanted) == 1:
        return min(most, sum(_times(zone, wanted[0], most) for zone in zones))
    for number, amounts in itertools.product(range(min(most, _BESIDE)), wanted):
        zone = next((one for one in zones if _times(one, amounts, 1)), None)
        if zone is None:
            return number
        zone |= {name: zone[name] - amount for name, amount in amounts.items()}
    return min(most, _BESIDE)


def _times(zone: Mapping[str, int], amounts: Mapping[str, int], most: int) -> int:
    """How often the zone has these amounts, up to ``most`` times."""
    return min((zone.get(name, 0) // amount for name, amount in amounts.items() if amount), default=most)
