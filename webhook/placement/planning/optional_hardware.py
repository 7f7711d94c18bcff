"""Grants of optional hardware (``mandatory: false``) to the pods of a group.

The group is placed without it first, so that none is refused for what it can do without. Then each amount, the heaviest
first, is granted if all pods can still be placed beside everything that was granted before (``docs/hardware.md``).
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.hardware import LIGHTEST
from webhook.placement.constraints.families import room_for
from webhook.placement.kube.containers import at
from webhook.placement.kube.requests import pod_requests
from webhook.placement.planning.acceptance import accepted
from webhook.placement.planning.group import Group, Placed
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.search.solver import Brief
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.grants import granted
from webhook.placement.provision.resource_rules import broken

PROBE: Final = 0.1
"""Seconds for the question whether one more amount fits: it must not use up the time in which a Job is judged."""


class Wish(NamedTuple):
    """An optional amount that the element ``name`` would like: the ``number``-th of the member at ``member``."""

    member: int
    number: int
    name: str
    amount: SetResources


class GrantedAmount(Struct, frozen=True, gc=False):
    """An optional amount that the pod of an element gets, in the container of that name."""

    element: str
    container: str
    amount: SetResources


class Equipped(Struct, frozen=True, eq=False):
    """The group whose pods request what they were ``given``, where it goes, and the wishes that were ``denied``."""

    group: Group
    placed: Placed
    given: tuple[GrantedAmount, ...] = ()
    denied: tuple[Wish, ...] = ()


async def equipped(group: Group, placed: Placed, order: Mapping[str, int]) -> Equipped:
    """Grant what fits to the pods of a group that can be placed as ``placed``.

    Elements that are not in ``order`` get nothing. Of equal weights the first by name of the resource comes first, then
    the element that is first in ``order``.
    """
    members = group.stated
    wishes = sorted(_wishes(members, order), key=lambda wish: _rank(wish, members[wish.member], order))
    best = group, placed

    async def fits(chosen: Sequence[Wish]) -> bool:
        nonlocal best
        richer = _with(members, chosen)
        answer = await group.with_members(richer, Brief(group.solving, PROBE)).place() if richer else None
        if richer is None or answer is None or answer.placed is None:
            return False
        best = group.with_members(richer), answer.placed
        return True

    granted = await accepted(wishes, fits, lambda wish: (wish.member, wish.number))
    given = tuple(
        GrantedAmount(wish.name, at(members[wish.member].ask.spec, wish.amount.place).name, wish.amount)
        for wish in granted
    )
    met = set(granted)
    return Equipped(*best, given, tuple(wish for wish in wishes if wish not in met))


def _wishes(members: Sequence[Member], names: Container[str]) -> Iterator[Wish]:
    for position, member in enumerate(members):
        for number, amount in enumerate(member.ask.provision.wanted):
            for name in filter(names.__contains__, member.names):
                yield Wish(position, number, name, amount)


def _rank(wish: Wish, member: Member, order: Mapping[str, int]) -> tuple[int, str, int, int]:
    weight = member.ask.provision.weights.get(wish.amount.cause, LIGHTEST)
    return -weight, wish.amount.resource, order[wish.name], wish.number


def _with(members: Sequence[Member], chosen: Sequence[Wish]) -> list[Member] | None:
    """The members whose pods get what was chosen; ``None`` if Kubernetes would refuse one of these pods."""
    numbers: dict[tuple[int, str], tuple[int, ...]] = {}
    for wish in sorted(chosen):
        key = wish.member, wish.name
        numbers[key] = (*numbers.get(key, ()), wish.number)
    richer_members = []
    for position, member in enumerate(members):
        alike: dict[tuple[int, ...], list[str]] = {}
        for name in member.names:
            alike.setdefault(numbers.get((position, name), ()), []).append(name)
        for asked, names in alike.items():
            richer = _richer(member, names, asked) if asked else replace(member, names=tuple(names), count=len(names))
            if richer is None:
                return None
            richer_members.append(richer)
    return richer_members


def _richer(member: Member, names: Sequence[str], asked: Sequence[int]) -> Member | None:
    """The member for these of its elements, with the amounts of these numbers."""
    spec = member.ask.spec
    amounts = [member.ask.provision.wanted[number] for number in asked]
    for amount in amounts:
        spec = granted(spec, amount)
    if any(broken(spec, amounts)):
        return None
    total, _ = pod_requests(spec)
    requests = {amount.resource: total[amount.resource] for amount in amounts}
    room = Demand(None, member.verdict.everything, room_for(requests), requests=requests)
    return replace(member, names=tuple(names), count=len(names), conditions=(*member.conditions, room))
