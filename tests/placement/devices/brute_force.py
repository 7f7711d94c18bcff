"""An allocator that tries all assignments of devices to requests; it shares no code with the product."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from tests.placement.devices.worlds import GI, GPU, NIC, NODE, SELECTORS, ZONE, PlacedWorld
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice, DeviceName, HeldDevice
from webhook.placement.devices.published.device import Device, Reach, Version
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.kube.quantity import NANO

Place = tuple[DeviceSlice, Device]
"""A device with its slice."""

Gift = tuple[int, str, DeviceChoice, Place]
"""A claim by its index, the name of the request, its choice, and the device that it is given."""


class Failed(Exception):  # noqa: N818 -- a word of the scheduler
    """A selector fails for a device, or a pool is not usable."""


def entry(found: Iterable, driver: str, domain: str, name: str):  # noqa: ANN201 -- attributes and capacities alike
    """The attribute or capacity of that domain and name."""
    full = {f"{domain}/{name}", *([name] if domain == driver else [])}
    return next((each for each in found if each.name in full), None)


def _meets(selector: str, part: DeviceSlice, device: Device) -> bool:  # noqa: PLR0911 -- a table of cases
    """What a selector of the list says of the device."""
    gpu = {name: entry(device.attributes, part.driver, GPU, name) for name in ("model", "numa")}
    match SELECTORS.index(selector):
        case 0:
            return part.driver == GPU
        case 1:
            if gpu["model"] is None:
                raise Failed
            return gpu["model"].value == "A100"
        case 2:
            return gpu["model"] is not None and gpu["model"].value != "A100"
        case 3:
            return gpu["numa"] is not None and gpu["numa"].value is not True and gpu["numa"].value == 0
        case 4:
            memory = entry(device.capacity, part.driver, GPU, "memory")
            if memory is None:
                raise Failed
            return memory.amount >= 40 * GI
        case 5:
            version = entry(device.attributes, part.driver, NIC, "version")
            return version is not None and version.value in (Version("1.2.3"), Version("2.0.0-rc.1"))
        case _:
            return device.traits.shared


def usable_by(reach: Reach | None) -> bool:
    if reach is None:
        return False
    if reach.node:
        return reach.node == NODE
    if reach.everywhere:
        return True
    return any(ZONE[need.key] in need.values for term in reach.terms for need in term.match_expressions)


class BruteForce:
    """The world of one node."""

    def __init__(self, world: PlacedWorld, *, held: bool) -> None:
        self.world = world
        self.held: dict[DeviceName, list[HeldDevice]] = {}
        for claim in world.holders if held else []:
            for device in claim.allocation.devices:
                self.held.setdefault(device.device, []).append(device)
        self.failed = False
        self.pools = {}
        for driver, pool in {(part.driver, part.pool) for part in world.slices}:
            self._gather([part for part in world.slices if (part.driver, part.pool) == (driver, pool)])
        self.places = [place for places in self.pools.values() for place in places if self._here(place)]

    def _here(self, place: Place) -> bool:
        part, device = place
        return usable_by(part.reach or device.traits.reach)

    def _gather(self, parts: list[DeviceSlice]) -> None:
        seen = [
            part
            for part in parts
            if part.counters or usable_by(part.reach) or any(usable_by(device.traits.reach) for device in part.devices)
        ]
        if not seen:
            return
        generation = max(part.generation for part in seen)
        seen = [part for part in seen if part.generation == generation]
        everything = [part for part in parts if part.generation == generation]
        if len(seen) != seen[0].expected:
            if max(part.generation for part in parts) > generation:
                return
            if len(everything) != seen[0].expected:
                self.failed = True
                return
        else:
            everything = seen
        names = [device.name for part in seen for device in part.devices]
        sets = [counters.name for part in seen for counters in part.counters]
        known = {(counters.name, name) for part in seen for counters in part.counters for name, _ in counters.amounts}
        used = {
            (counters.name, name)
            for part in everything
            for device in part.devices
            for counters in device.traits.consumes
            for name, _ in counters.amounts
        }
        if len(names) > len(set(names)) or len(sets) > len(set(sets)) or not used <= known:
            self.failed = True
            return
        self.pools[seen[0].driver, seen[0].pool] = [(part, device) for part in everything for device in part.devices]

    def holders(self, place: Place) -> list[HeldDevice]:
        """Who has something of the device, but for administration."""
        part, device = place
        found = self.held.get(DeviceName(part.driver, part.pool, device.name), [])
        return [held for held in found if not held.admin]

    def matching(self, choice: DeviceChoice) -> list[Place]:
        """The devices that the selectors of the choice want, with the capacity that it wants."""
        found = []
        for place in self.places:
            met = True
            for selector in choice.selectors:
                try:
                    met = _meets(selector, *place)
                except Failed:
                    self.failed = True
                    met = False
                if not met:
                    break
            if met and self.consumed(choice, place) is not None:
                found.append(place)
        return found

    def consumed(self, choice: DeviceChoice, place: Place) -> int | None:
        """What one device of the choice consumes of the memory; ``None`` if that is more than there is."""
        memory = entry(place[1].capacity, place[0].driver, place[0].driver, "memory")
        wanted = dict(choice.capacity).get("memory")
        if memory is None:
            return None if wanted else 0
        if memory.policy:
            steps = [10 * GI * number for number in range(1, 5)]
            wanted = next((step for step in steps if step >= (wanted or 20 * GI)), None)
        elif wanted is None:
            wanted = memory.amount
        return wanted if wanted is not None and wanted <= memory.amount else None

    def tolerated(self, choice: DeviceChoice, place: Place) -> bool:
        """Whether the choice tolerates the taints of the device."""
        part, device = place
        taints = list(device.traits.taints)
        rules = (rule for rule in self.world.rules if rule.device == device.name and rule.driver in ("", part.driver))
        taints += [rule.taint for rule in rules]
        for taint in taints:
            if taint.effect == "None":
                continue
            if not any(
                (not toleration.effect or toleration.effect == taint.effect)
                and (not toleration.key or toleration.key == taint.key)
                and (toleration.operator == "Exists" or toleration.value == taint.value)
                for toleration in choice.tolerations
            ):
                return False
        return True

    def options(self, choice: DeviceChoice) -> Iterator[tuple[Place, ...]]:
        """The sets of devices that the choice may be given."""
        places = self.matching(choice)
        if choice.all:
            places = [
                place
                for place in places
                if not place[1].capacity
                or self.consumed(choice, place) + self._taken(place) <= place[1].capacity[0].amount
            ]
            if places and all(self.tolerated(choice, place) for place in places):
                yield tuple(places)
            return
        good = [place for place in places if self.tolerated(choice, place)]
        yield from itertools.combinations(good, choice.count)

    def _taken(self, place: Place) -> int:
        return sum(amount for held in self.holders(place) if held.share for _, amount in held.consumed)

    def allocates(self) -> bool:
        """Whether there is an assignment that is right."""
        per_request = [
            [
                [(index, request.name, choice, place) for place in places]
                for choice in request.choices
                for places in self.options(choice)
            ]
            for index, claim in enumerate(self.world.claims)
            for request in claim.requests
        ]
        return any(self._right(list(itertools.chain(*gifts))) for gifts in itertools.product(*per_request))

    def _right(self, gifts: list[Gift]) -> bool:
        used: dict[int, list[Gift]] = {}
        for gift in gifts:
            used.setdefault(id(gift[3][1]), []).append(gift)
        return (
            all(self._alone(each) for each in used.values())
            and all(self._agree(index, claim, gifts) for index, claim in enumerate(self.world.claims))
            and self._counted(gifts)
        )

    def _alone(self, gifts: list[Gift]) -> bool:
        """Whether these gifts of one device, in their order, can be had at the same time."""
        place = gifts[0][3]
        if place[1].traits.shared:
            if any(not held.share for held in self.holders(place)) and not all(gift[2].admin for gift in gifts):
                return False
            taken = self._taken(place) + sum(self.consumed(choice, place) for _, _, choice, _ in gifts)
            return not place[1].capacity or taken <= place[1].capacity[0].amount
        for number, (claim, _, choice, _) in enumerate(gifts):
            before = [other for other, _, _, _ in gifts[:number]]
            if choice.admin:
                if claim in before:
                    return False
            elif before or any(not held.share for held in self.holders(place)):
                return False
        return True

    def _agree(self, index: int, claim: ClaimSpec, gifts: list[Gift]) -> bool:
        for agreement in claim.agreements:
            name = agreement.match or agreement.distinct
            values = []
            for owner, request, choice, (part, device) in gifts:
                named = {request, f"{request}/{choice.name}" if choice.name else request}
                if owner != index or (agreement.requests and not named & set(agreement.requests)):
                    continue
                found = entry(device.attributes, part.driver, *name.split("/"))
                if found is None:
                    return False
                values.append((type(found.value).__name__, found.value))
            if agreement.match and len(set(values)) > 1:
                return False
            if agreement.distinct and len(set(values)) < len(values):
                return False
        return True

    def _counted(self, gifts: list[Gift]) -> bool:
        for (driver, pool), places in self.pools.items():
            given = {id(gift[3][1]): gift for gift in gifts if (gift[3][0].driver, gift[3][0].pool) == (driver, pool)}
            takes = _sum(
                gift[3][1]
                for gift in gifts
                if (gift[3][0].driver, gift[3][0].pool) == (driver, pool) and not gift[3][1].traits.shared
            )
            takes += _sum(
                gift[3][1]
                for gift in given.values()
                if gift[3][1].traits.shared and not any(h.share for h in self.holders(gift[3]))
            )
            if takes and takes + _sum(device for part, device in places if self.holders((part, device))) > TOTAL:
                return False
        return True


TOTAL: Final = 3 * NANO


def _sum(devices: Iterable[Device]) -> int:
    return sum(amount for device in devices for used in device.traits.consumes for _, amount in used.amounts)
