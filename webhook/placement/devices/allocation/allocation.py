"""An exhaustive search for devices of a node for all claims of a pod at the same time, like that of the scheduler.

Source: ``dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`` of Kubernetes. The search
skips a device that looks like one with which it has failed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.devices.allocation.candidates import (
    DeviceCandidate,
    Options,
    attribute_of,
    concerned,
    options_of,
)
from webhook.placement.devices.allocation.consumption import fits
from webhook.placement.devices.allocation.node_devices import NodeDevices
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice, DeviceName, HeldDevice
from webhook.placement.devices.published.device import Device
from webhook.placement.devices.published.slices import DevicePool
from webhook.placement.devices.selectors.selector import Answer, DeviceBudget

Holders = Callable[[DeviceName], Sequence[HeldDevice]]
"""What is allocated of a device."""

LIMIT: Final = 32
"""Most devices of a claim (``AllocationResultsMaxSize``)."""

_DEEPEST: Final = 128
"""Most devices that are searched for: the search is five calls deeper with each, and Python allows a thousand calls."""


class Lack(Struct, frozen=True, gc=False):
    """What a node lacks: it has ``has`` of the ``wanted`` devices of that choice of a request.

    Without a choice the node has enough devices for each request, but none that meet all requests of all claims.
    ``same`` is the full name of an attribute if only devices with the same value of it count, and the node has others.
    """

    request: str = ""
    choice: DeviceChoice | None = None
    wanted: int = 0
    has: int = 0
    same: str = ""


class NodeOutcome(Struct, frozen=True, gc=False):
    """Whether a node has devices for claims, and if not, what it lacks.

    The ``answer`` is ``None`` if that is not known. ``failed`` is a selector that could not be evaluated for some of
    its devices, if there is one; the scheduler may then stop.
    """

    answer: Answer
    lack: Lack = Lack()
    failed: str = ""


def allocatable(
    claims: Sequence[ClaimSpec], node: NodeDevices, holders: Holders, budget: DeviceBudget, pods: int = 1
) -> NodeOutcome:
    """Whether the node has devices for all of the claims. Selectors of classes are among those of the choices.

    The claims are those of so many pods, one after the other; each pod has as many.
    """
    asked = (choice for spec in claims for request in spec.requests for choice in request.choices)
    if sum(min(choice.count, LIMIT + 1) for choice in asked) > _DEEPEST:
        return NodeOutcome(None)
    choices = [options_of(spec, node, budget) for spec in claims]
    every = [options for requests in choices for request in requests for options in request]
    if budget.steps <= 0:
        return NodeOutcome(None)
    if node.unsure and any(options.choice.all for options in every):
        return NodeOutcome(None)
    succeeded = _AllocationSearch(claims, choices, holders, budget, max(len(claims) // pods, 1)).succeeds()
    failed = next((options.failed for options in every if options.failed), "")
    if succeeded is False and (node.unsure or failed or any(map(_lax, claims, choices))):
        return NodeOutcome(None, failed=failed)
    return NodeOutcome(succeeded, Lack() if succeeded is not False else _lack(claims, choices), failed)


def granted_in_turn(
    pods: Sequence[Sequence[ClaimSpec]], node: NodeDevices, holders: Holders, budget: DeviceBudget
) -> Answer:
    """Whether the pods with these claims get devices one after the other, as the scheduler gives them.

    It gives each pod the first devices that meet its claims, and takes none back when a later pod lacks some.
    """
    claims = [spec for own in pods for spec in own]
    asked = (choice for spec in claims for request in spec.requests for choice in request.choices)
    if sum(min(choice.count, LIMIT + 1) for choice in asked) > _DEEPEST:
        return None
    choices = [options_of(spec, node, budget) for spec in claims]
    if budget.steps <= 0 or node.unsure or any(options.failed for own in choices for each in own for options in each):
        return None
    return _AllocationSearch(claims, choices, holders, budget, 1).succeeds_in_turn([len(own) for own in pods])


def _lack(claims: Sequence[ClaimSpec], choices: list[list[list[Options]]]) -> Lack:
    """The first request that has too few devices for each of its choices, with the choice that has most."""
    for spec, requests in zip(claims, choices, strict=True):
        for request, options in zip(spec.requests, requests, strict=True):
            numbers = [(sum(not candidate.tainted for candidate in each.candidates), each.choice) for each in options]
            wanted = [1 if choice.all else choice.count for _, choice in numbers]
            if all(has < need for (has, _), need in zip(numbers, wanted, strict=True)):
                at = max(range(len(numbers)), key=lambda at: numbers[at][0])
                return Lack(request.name, numbers[at][1], wanted[at], numbers[at][0])
    return Lack()


def _lax(spec: ClaimSpec, choices: list[list[Options]]) -> bool:
    """Whether the scheduler may give the claim devices that it says it does not want, and has so many.

    It compares the values of ``distinctAttribute`` with the last device of each request alone. Lists of values are
    compared as sets if a feature gate is on.
    """
    return any(
        agreement.distinct
        and concerned(agreement, request.name, chosen.choice)
        and (chosen.choice.all or 1 < chosen.choice.count <= len(chosen.candidates))
        for agreement in spec.agreements
        for request, options in zip(spec.requests, choices, strict=True)
        for chosen in options
    )


class _Given(Struct, frozen=True, gc=False):
    """A device that the search has given to a request: what has to be undone if the search goes another way."""

    candidate: DeviceCandidate
    claim: int
    agreements: tuple[int, ...]
    counted: bool


class _AllocationSearch:
    """The state of a search: what is given to the claims so far. Claims and requests are meant by their index."""

    def __init__(
        self,
        claims: Sequence[ClaimSpec],
        choices: list[list[list[Options]]],
        holders: Holders,
        budget: DeviceBudget,
        each: int,
    ) -> None:
        self._claims = claims
        self._each = each
        """So many of the claims are of one pod."""
        self._first, self._end = 0, len(claims)
        """The claims that devices are searched for now."""
        self._choices = choices
        self._holders = holders
        self._budget = budget
        self._sizes = [0] * len(claims)
        self._values: list[list[list[object]]] = [[[] for _ in spec.agreements] for spec in claims]
        """For each agreement of each claim, the values of its attribute that the devices have."""
        self._users: dict[int, list[int]] = {}
        """Claims by the index of the device allocated to them, for devices that one request at a time can use."""
        self._shares: dict[int, list[tuple[int, dict[str, int]]]] = {}
        """Claims by the index of the device that they share, each with the capacity that it consumes."""
        self._counted: dict[DevicePool, Counter[tuple[str, str]]] = {}
        """Counters that the allocated devices consume, by pool."""
        self._counters_left: dict[DevicePool, dict[tuple[str, str], int]] = {}
        """Counters that other claims leave, by pool."""
        self._kinds: dict[int, object] = {}
        self._candidates = [
            frozenset(candidate.index for candidate in options.candidates)
            for requests in choices
            for request in requests
            for options in request
        ]
        """For each choice, its candidates."""
        self._stopped = False
        """Whether a device of a choice of all contradicts an agreement: the scheduler stops with an error then."""

    def succeeds(self) -> Answer:
        """Whether all claims can have devices; ``None`` if the search was given up, or the scheduler stops."""
        succeeded = self._rest(0, 0)
        return None if self._stopped or (not succeeded and self._budget.steps <= 0) else succeeded

    def succeeds_in_turn(self, numbers: Sequence[int]) -> Answer:
        """Whether pods with so many claims each can have devices one after the other, and none gives some back."""
        first = 0
        for number in numbers:
            self._each, self._end = max(number, 1), first + number
            self._first = first
            if not self._rest(first, 0):
                return None if self._stopped or self._budget.steps <= 0 else False
            first = self._end
        return True

    def _rest(self, claim: int, request: int) -> bool:
        """Whether that request of the claim, and all after it, can have devices."""
        if claim == self._end:
            return True
        if request == len(self._choices[claim]):
            return self._rest(claim + 1, 0)
        return any(
            self._all(claim, request, options) if options.choice.all else self._some(claim, request, options)
            for options in self._choices[claim][request]
        )

    def _some(self, claim: int, request: int, options: Options, start: int = 0, given: int = 0) -> bool:
        """Whether the choice can have all devices that it wants, the next ones from ``start`` on, and all after it."""
        missing = options.choice.count - given
        if not missing:
            return self._rest(claim, request + 1)
        if self._sizes[claim] + missing > LIMIT:
            return False
        failed = set()
        for i in range(start, len(options.candidates) - missing + 1):
            if self._budget.steps <= 0:
                return False
            self._budget.steps -= 1
            candidate = options.candidates[i]
            kind = self._kind(candidate)
            if kind in failed:
                continue
            failed.add(kind)
            gift = self._give(claim, request, options, candidate)
            if gift is None:
                continue
            if self._some(claim, request, options, i + 1, given + 1):
                return True
            self._take_back(gift)
        return False

    def _all(self, claim: int, request: int, options: Options) -> bool:
        """Whether the choice can have every device that it matches, at least one, and all after it."""
        wanted = [
            device_candidate
            for device_candidate in options.candidates
            if fits(
                device_candidate.usable.device,
                device_candidate.consumed,
                self._taken(device_candidate, claim - (claim - self._first) % self._each),
            )
        ]
        if not wanted or self._sizes[claim] + len(wanted) > LIMIT:
            return False
        self._budget.steps -= len(wanted)
        gifts = []
        for candidate in wanted:
            gift = None if candidate.tainted else self._give(claim, request, options, candidate)
            if gift is None:
                able = not candidate.tainted and self._free(claim, options, candidate)
                self._stopped |= able and self._agreeing(claim, request, options, candidate) is None
                break
            gifts.append(gift)
        if len(gifts) == len(wanted) and self._rest(claim, request + 1):
            return True
        for gift in reversed(gifts):
            self._take_back(gift)
        return False

    def _give(self, claim: int, request: int, options: Options, candidate: DeviceCandidate) -> _Given | None:
        """Give the device to the request; ``None`` if it cannot have it."""
        device, index = candidate.usable.device, candidate.index
        if not self._free(claim, options, candidate):
            return None
        shared = device.traits.shared
        counted = bool(device.traits.consumes) and not (shared and self._shared(candidate))
        if counted and not self._leaves_counters(candidate):
            return None
        bound = self._agreeing(claim, request, options, candidate)
        if bound is None:
            return None
        if shared:
            self._shares.setdefault(index, []).append((claim, candidate.consumed))
        else:
            self._users.setdefault(index, []).append(claim)
        if counted:
            self._counted.setdefault(candidate.pool.name, Counter()).update(consumed_counters(device))
        for number, value in bound:
            self._values[claim][number].append(value)
        self._sizes[claim] += 1
        return _Given(candidate, claim, tuple(number for number, _ in bound), counted)

    def _free(self, claim: int, options: Options, candidate: DeviceCandidate) -> bool:
        """Whether the device is free for the choice, or has enough left of what it shares."""
        usable, index = candidate.usable, candidate.index
        users = self._users.get(index, ())
        if claim in users if options.choice.admin else users or self._exclusive(usable.name):
            return False
        return fits(usable.device, candidate.consumed, self._taken(candidate, claim + 1))

    def _take_back(self, gift: _Given) -> None:
        """Undo the last gift."""
        candidate = gift.candidate
        device = candidate.usable.device
        self._sizes[gift.claim] -= 1
        for number in gift.agreements:
            self._values[gift.claim][number].pop()
        if gift.counted:
            self._counted[candidate.pool.name].subtract(consumed_counters(device))
        (self._shares if device.traits.shared else self._users)[candidate.index].pop()

    def _agreeing(
        self, claim: int, request: int, options: Options, candidate: DeviceCandidate
    ) -> list[tuple[int, object]] | None:
        """The agreements about the request, each with the device's value; ``None`` if the value contradicts one."""
        spec, device, driver = self._claims[claim], candidate.usable.device, candidate.pool.name.driver
        bound: list[tuple[int, object]] = []
        for number, agreement in enumerate(spec.agreements):
            if not concerned(agreement, spec.requests[request].name, options.choice):
                continue
            value = attribute_of(device, driver, agreement.match or agreement.distinct)
            seen = self._values[claim][number]
            if value is None or (value in seen if agreement.distinct else bool(seen) and value != seen[0]):
                return None
            bound.append((number, value))
        return bound

    def _exclusive(self, device: DeviceName) -> bool:
        """Whether another claim has the whole device."""
        return any(not holder.admin and not holder.share for holder in self._holders(device))

    def _shared(self, candidate: DeviceCandidate) -> bool:
        """Whether a pod has a part of the device, and so has taken the device's counters."""
        if self._shares.get(candidate.index):
            return True
        return any(not holder.admin and holder.share for holder in self._holders(candidate.usable.name))

    def _taken(self, candidate: DeviceCandidate, before: int) -> Counter[str]:
        """What others consume of the device's capacities, and claims before that one."""
        consumed: Counter[str] = Counter()
        for holder in self._holders(candidate.usable.name):
            if holder.share and not holder.admin:
                consumed.update(dict(holder.consumed))
        for claim, share in self._shares.get(candidate.index, ()):
            if claim < before:
                consumed.update(share)
        return consumed

    def _leaves_counters(self, candidate: DeviceCandidate) -> bool:
        """Whether the pool has the counters that the device takes, beside those of all devices that are in use."""
        pool = candidate.pool
        available = self._counters_left.get(pool.name)
        if available is None:
            available = self._counters_left[pool.name] = dict(pool.counters)
            for usable in (*pool.devices, *pool.others):
                if any(not holder.admin for holder in self._holders(usable.name)):
                    for counter, amount in consumed_counters(usable.device).items():
                        available[counter] -= amount
        needed = Counter(consumed_counters(candidate.usable.device))
        needed.update(self._counted.get(pool.name, {}))
        return all(needed[counter] <= amount for counter, amount in available.items())

    def _kind(self, candidate: DeviceCandidate) -> object:
        """What devices have in common that are as good as each other; a device of which something is given is alone."""
        index = candidate.index
        if self._users.get(index) or self._shares.get(index):
            return index
        if index not in self._kinds:
            self._kinds[index] = self._new_kind(candidate)
        return self._kinds[index]

    def _new_kind(self, candidate: DeviceCandidate) -> object:
        device, driver, name = candidate.usable.device, candidate.pool.name.driver, candidate.usable.name
        names = (agreement.match or agreement.distinct for spec in self._claims for agreement in spec.agreements)
        return (
            candidate.pool.name if device.traits.consumes else driver,
            device.traits.shared,
            device.traits.consumes,
            device.capacity if device.traits.shared else (),
            tuple(attribute_of(device, driver, name) for name in names),
            self._uses(candidate.index),
            self._exclusive(name),
            frozenset(self._taken(candidate, 0).items()),
            self._shared(candidate),
        )

    def _uses(self, index: int) -> tuple[bool, ...]:
        """For each choice, whether the device is a candidate for it."""
        return tuple(index in candidates for candidates in self._candidates)


def consumed_counters(device: Device) -> dict[tuple[str, str], int]:
    """What the device takes of counters, by counter set and counter."""
    return {(used.name, counter): amount for used in device.traits.consumes for counter, amount in used.amounts}
