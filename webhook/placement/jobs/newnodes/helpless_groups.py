"""Reasons for which node groups cannot help, one line each, listed after the reasons of existing nodes."""

from collections.abc import Iterable, Iterator, Sequence

from webhook.placement.decision.scale_up import ScaleUp, scale_up
from webhook.placement.jobs.newnodes.scaled_group import ScaledGroup
from webhook.placement.kube.amounts import PODS, SAID, amount, ordered
from webhook.placement.nodegroups.group_reasons import GroupReason, listed_reasons
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.planning.members import Member
from webhook.placement.planning.wider_group import WiderGroup
from webhook.placement.request.world import World
from webhook.placement.text.problem import counted, enumerated


def helpless_reasons(
    nowhere: Sequence[Member],
    short: Member,
    groups: Sequence[NodeGroup],
    able: Iterable[int],
    wider: WiderGroup,
    scaling: ScaledGroup,
) -> Iterator[str]:
    """Why each group cannot help: for members that could run ``nowhere``, or what it makes in all.

    Without such members ``able`` are the positions of groups that make nodes for some of those that lack room, and
    ``short`` is the first of these.
    """
    world, noun = scaling.group.world, scaling.noun
    if nowhere:
        yield from next((one.reasons for one in _alone(nowhere, world)), ())
        return
    useful = frozenset(able)
    first = _alone([short], world) if len(useful) < len(groups) else ()
    own = {reason.group.place: reason.why for one in first for reason in one.out}
    none = f"makes no nodes for any of these {noun}s"
    reasons = [
        group.closed or (_most(group, wider, noun) if at in useful else own.get(group.place, none))
        for at, group in enumerate(groups)
    ]
    yield from listed_reasons(list(map(GroupReason, groups, reasons)), "do not make enough either")


def _alone(members: Iterable[Member], world: World) -> Iterator[ScaleUp]:
    """What groups can make for these members by themselves; nothing for members that name nodes that exist."""
    alone = (scale_up(member.ask, tuple(member.verdict.constraints), world) for member in members)
    return (one for one in alone if one and (one.out or one.uncompared))


def _most(group: NodeGroup, wider: WiderGroup, noun: str) -> str:
    """What the group makes at most, which is not enough."""
    asked = frozenset(wider.resources) - {PODS}
    offers = [f"{name} {amount(name, group.offers[name])}" for name in ordered(group.offers) if name in asked]
    remaining = [f"{name} {amount(name, group.remaining[name])}" for name in ordered(group.remaining) if name in asked]
    nodes = "nodes" if group.count is None else f"only {counted(group.count, 'more node')}"
    each = f" with {enumerated(offers, SAID)}" if offers else ""
    made = [f"makes {nodes}{each}"] if offers or group.count is not None else []
    limits = [f"has {enumerated(remaining, SAID)} left of its limits"] if remaining else []
    if not made and not limits:
        return f"makes no nodes for some of these {noun}s"
    return f"{', and '.join((*made, *limits))}, which is not enough"
