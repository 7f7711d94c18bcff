"""Devices that members of different templates want, counted as resources are (``docs/devices.md``).

Each claim gets devices of its own. So what pods on one node surely take of a set of its devices is no more than the
set has: for devices that each claim gets one by one this is all that decides (Hall's theorem), and for others it is
what they need at least. What may be shared, and what is not known of a node, does not count.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.devices.fits import BOUNDLESS, Counts
from webhook.placement.devices.published.claims import DeviceChoice, DeviceRequest
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, to_slots, union
from webhook.placement.planning.members import Demand, Member
from webhook.placement.request.claimed_devices import in_words
from webhook.placement.request.world import World

_KINDS: Final = 4
"""Of so many kinds of devices all sets are counted; of more kinds each one, those of each class, and all together."""

_MANY: Final = 16
"""Maximum number of kinds that are counted one by one; of more, only the kinds of each class and all kinds together."""

_NAMED: Final = 2
"""Maximum number of kinds named in a message."""


class CountedDevices(Struct, frozen=True, eq=False):
    """Devices that are counted: what they are in ``words`` (``of DeviceClass a``), and how many are in each slot."""

    words: str
    row: Counts

    def some(self, number: int) -> str:
        """That number of devices, in words."""
        return f"{'a device' if number == 1 else f'{number} devices'} {self.words}"


class _Want(NamedTuple):
    """What a demand wants: for each request, kinds of devices with how many of them it takes, one of which it gets."""

    demand: Demand
    requests: tuple[tuple[tuple[DeviceChoice, int], ...], ...]
    resources: tuple[str, ...]
    """Resources for which nodes that offer them need no devices."""

    def least(self, kinds: Collection[DeviceChoice]) -> int:
        """How many devices of these kinds it takes at least."""
        return sum(min(count if kind in kinds else 0 for kind, count in choices) for choices in self.requests)


def counting_devices(
    members: Sequence[Member], world: World, fewest: int
) -> tuple[tuple[Member, ...], Mapping[str, CountedDevices]]:
    """The members, which also request devices by these names, and what nodes have of them.

    Devices that fewer members than ``fewest`` want are not counted.
    """
    wants = [[_want(condition) for condition in _rooms(member)] if member.ask.devices else [] for member in members]
    if sum(map(bool, wants)) < fewest:
        return tuple(members), {}
    every = itertools.chain.from_iterable(wants)
    kinds = list(dict.fromkeys(kind for want in every for choices in want.requests for kind, _ in choices))
    counted: dict[str, CountedDevices] = {}
    world.device_budget.renew()
    requests: list[dict[int, dict[str, int]]] = [{} for _ in members]
    for chosen in _sets(kinds):
        least = [[want.least(chosen) for want in own] for own in wants]
        taking = [at for at, numbers in enumerate(least) if any(numbers)]
        if len(taking) < fewest:
            continue
        row = _counts(chosen, [wants[at] for at in taking], world)
        total = sum(max(least[at]) * members[at].count for at in taking)
        nodes = union(want.demand.nodes for at in taking for want in wants[at])
        if total <= row[to_slots(nodes & world.inventory.nodes.everything)].min(initial=BOUNDLESS):
            continue
        name = f"devices {len(counted)}"
        counted[name] = CountedDevices(_words(chosen, world), row)
        for at in taking:
            for number, count in enumerate(least[at]):
                if count:
                    requests[at].setdefault(number, {})[name] = count
    return tuple(
        _requesting(member, own, asked, world) for member, own, asked in zip(members, wants, requests, strict=True)
    ), counted


def _rooms(member: Member) -> Iterator[Demand]:
    """The member's demands for devices; running pods already have their devices."""
    return (condition for condition in member.conditions if condition.clause and condition.constraint.devices)


def _requesting(member: Member, wants: Sequence[_Want], asked: Mapping[int, Mapping[str, int]], world: World) -> Member:
    more = [
        Demand(wants[number].demand.clause, world.everything, wants[number].demand.constraint, devices=amounts)
        for number, amounts in asked.items()
    ]
    return replace(member, conditions=(*member.conditions, *more)) if more else member


def _want(demand: Demand) -> _Want:
    """What the demand takes for itself: claims that pods share, or that may keep what they have, do not count."""
    own = [part for part in demand.constraint.devices if not part.shared and not part.loose]
    requests = tuple(_kinds(request) for part in own for spec in part.specs for request in spec.requests)
    return _Want(demand, requests, tuple(part.resource for part in own if part.resource))


def _kinds(request: DeviceRequest) -> tuple[tuple[DeviceChoice, int], ...]:
    """The kinds of devices of a request, each with how many of them it takes; administrators take none from others."""
    return tuple(
        (_kind(choice), 0 if choice.admin else 1 if choice.all else choice.count) for choice in request.choices
    )


def _kind(choice: DeviceChoice) -> DeviceChoice:
    """The choice of one such device."""
    return replace(choice, name="", count=1, all=False, admin=False)


def _sets(kinds: Sequence[DeviceChoice]) -> Iterator[tuple[DeviceChoice, ...]]:
    """The sets of kinds whose devices are counted, each once, small ones first."""
    if len(kinds) <= _KINDS:
        for size in range(1, len(kinds) + 1):
            yield from itertools.combinations(kinds, size)
        return
    by_class: dict[str, list[DeviceChoice]] = {}
    for kind in kinds:
        by_class.setdefault(kind.device_class, []).append(kind)
    single = [(kind,) for kind in kinds] if len(kinds) <= _MANY else []
    yield from dict.fromkeys((*single, *map(tuple, by_class.values()), tuple(kinds)))


def _counts(kinds: tuple[DeviceChoice, ...], wants: Sequence[Sequence[_Want]], world: World) -> Counts:
    """The number of devices of these kinds by slot; unlimited on nodes that offer a resource themselves."""
    inventory = world.inventory
    world.device_budget.renew_nodes()
    row = inventory.device_fits.counts(kinds, inventory.nodes, world.device_budget)
    offering: Bits = 0
    for resource in {resource for own in wants for want in own for resource in want.resources}:
        offering |= inventory.nodes.capacity.fits({resource: 1})
    if offering:
        row = row.copy()
        row[to_slots(offering)] = BOUNDLESS
    return row


def _words(kinds: Sequence[DeviceChoice], world: World) -> str:
    """What the devices are; where all devices of a class are among them, no others of the class are named."""
    conditions: dict[str, dict[str, None]] = {}
    for kind in kinds:
        name, _, own = in_words(kind, world.inventory.devices).partition(" with ")
        conditions.setdefault(name, {})[own] = None
    said = [name if "" in own else f"{name} with {_either([*own])}" for name, own in conditions.items()]
    return _either(said)


def _either(said: Sequence[str]) -> str:
    """One of these, in words."""
    return " or ".join((*said[:_NAMED], *(["others"] if len(said) > _NAMED else [])))


def devices_of(conditions: Iterable[Demand]) -> Tally:
    """What one pod takes of the devices that are counted: of two numbers the larger one, as of requests."""
    numbers: dict[str, int] = {}
    for condition in conditions:
        for name, number in condition.devices.items():
            numbers[name] = max(number, numbers.get(name, 0))
    return numbers
