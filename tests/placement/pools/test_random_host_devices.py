"""Random HostPools that ask for devices, against devices counted one by one."""

import random
from typing import Final

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.builders import cluster, nodes, pool
from tests.placement.devices.clusters import GI, GPU, large
from tests.suite.example_count import some_of
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.checks.completion import complete
from webhook.placement.checks.pool_health import troubles
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import slots
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.allocation import allocate
from webhook.placement.pools.host_devices import nodes_with_devices
from webhook.placement.request.world import World
from webhook.placement.text.fix import Lower

CASES: Final = 1500
NIC: Final = "nic.example.com"
MODEL: Final = f'device.attributes["{GPU}"].model == "A100"'
ROOT: Final = "resource.kubernetes.io/pcieRoot"
BROKEN: Final = Traits(taints=(Taint("broken", effect="NoSchedule"),))


class Machine(Struct):
    """The slices of a node, by driver."""

    slices: dict[str, DeviceSlice]

    def answer(self, wish: DescribedDevices) -> bool | None:
        """Whether the node has the devices; ``None`` if that is not known."""
        there = [part for part in self.slices.values() if part.expected == 1]
        of_class = [part for part in there if part.driver == wish.device_class]
        found = [(fits(one, part.driver, wish), root_of(one)) for part in of_class for one in part.devices]
        met = [root for answer, root in found if answer is True]
        alike = max((met.count(root) for root in met if root), default=0) if wish.same else len(met)
        if alike >= wish.count:
            return True
        return None if len(there) < len(self.slices) or any(answer is None for answer, _ in found) else False


def root_of(device: Device) -> str:
    """The PCIe root of the device; empty if it has none."""
    return next((str(one.value) for one in device.attributes if one.name == ROOT), "")


def fits(device: Device, driver: str, wish: DescribedDevices) -> bool | None:
    """Whether the device of that class counts; ``None`` if its selector fails."""
    model = next((one.value for one in device.attributes if one.name == "model"), None)
    if wish.selector == MODEL:
        met = None if model is None or driver != GPU else model == "A100"
    elif wish.selector:
        met = device.capacity[0].amount >= 40 * GI if driver == GPU else None
    else:
        met = True
    return met and not device.traits.taints


def machine(chance: random.Random, name: str) -> Machine:
    """A node with devices of two drivers, one of which may not have published all of its slices."""
    slices = {}
    for driver in (GPU, NIC):
        devices = tuple(device(chance, f"d{at}") for at in range(chance.choice((0, 1, 2, 3, 4))))
        if devices:
            expected = chance.choice((1, 1, 1, 1, 1, 1, 1, 2))
            slices[driver] = DeviceSlice(f"{driver}-{name}", driver, name, 0, expected, Reach(name), devices)
    return Machine(slices)


def device(chance: random.Random, name: str) -> Device:
    """A device of a random model, and mostly without a taint; a few have no model."""
    model = chance.choice(("A100", "A100", "L4", "L4", "L4", ""))
    memory = chance.choice((24, 40, 80))
    attributes = (Attribute("model", model),) if model else ()
    root = chance.choice(("a", "a", "b", ""))
    attributes += (Attribute(ROOT, root),) if root else ()
    traits = BROKEN if chance.random() < 0.1 else Traits()
    return Device(name, attributes, (DeviceCapacity("memory", memory * GI),), traits)


def wishes(chance: random.Random) -> list[DescribedDevices]:
    return [
        DescribedDevices(
            chance.choice((GPU, GPU, NIC)),
            chance.choice(("", MODEL, large(40))),
            chance.randint(1, 3),
            chance.choice(("", "", ROOT)),
        )
        for _ in range(chance.choice((1, 1, 2)))
    ]


def together(answers: list[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


def inventory_of(machines: dict[str, Machine]) -> Inventory:
    inventory = cluster(nodes(len(machines)))
    for name in (GPU, NIC):
        inventory.devices.put_class(DeviceClass(name, selectors=(f'device.driver == "{name}"',)))
    for one in machines.values():
        for part in one.slices.values():
            inventory.devices.put_slice(part)
    inventory.devices.read = True
    return inventory


def case(seed: int) -> tuple[Pool, dict[str, Machine], Inventory]:
    """A pool that is yet to get its hosts, and a cluster."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    machines = {one.name: machine(chance, one.name) for one in nodes(chance.randint(1, 6))}
    wanted = pool("P", size=chance.randint(1, 4), devices=wishes(chance), phase=Phase.PENDING)
    return wanted, machines, inventory_of(machines)


def by_answer(wanted: Pool, machines: dict[str, Machine]) -> dict[bool | None, set[str]]:
    """The nodes that have all devices, those that do not, and those of which it is not known."""
    found: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
    for name, one in machines.items():
        found[together([one.answer(wish) for wish in wanted.devices])].add(name)
    return found


def lowered(wanted: Pool, place: int, count: int) -> Pool:
    wish = replace(wanted.devices[place], count=count)
    return replace(wanted, devices=(*wanted.devices[:place], wish, *wanted.devices[place + 1 :]))


@pytest.mark.examples
def test_hosts_have_the_devices_as_far_as_is_known() -> None:
    kinds = {True: 0, False: 0, None: 0}
    for seed in range(some_of(CASES)):
        wanted, machines, inventory = case(seed)
        by, found = by_answer(wanted, machines), nodes_with_devices(wanted, inventory)
        assert {inventory.nodes.names[slot] for slot in slots(found.nodes)} == by[True], seed
        assert {inventory.nodes.names[slot] for slot in slots(found.unknown)} == by[None], seed
        completion, able = complete(wanted, World(inventory, Policy())), len(by[True] | by[None])
        assert (completion.refusal is None) == (able >= (wanted.size or 0)), seed
        unsure = set(completion.hosts) & by[None]
        assert not set(completion.hosts) & by[False], seed
        assert not unsure or by[True] <= set(completion.hosts), seed
        assert bool(completion.doubt) == bool(unsure and not completion.refusal), seed
        for answer, names in by.items():
            kinds[answer] += len(names)
    assert min(kinds.values()) > some_of(CASES) // 10


@pytest.mark.examples
def test_a_count_that_is_named_is_the_largest_that_helps() -> None:
    named = 0
    for seed in range(some_of(CASES)):
        wanted, _, inventory = case(seed)
        refusal = complete(wanted, World(inventory, Policy())).refusal
        if refusal is None:
            continue
        helping = [
            (f"devices[{place}].count", count)
            for place, wish in enumerate(wanted.devices)
            for count in range(wish.count - 1, 0, -1)
            if not allocate(lowered(wanted, place, count), inventory, Policy()).reason
        ]
        fixes = [(fix.what, fix.to) for fix in refusal.fixes if isinstance(fix, Lower) and fix.what != "size"]
        assert fixes == helping[:1], seed
        named += len(fixes)
    assert named > some_of(CASES) // 50


@pytest.mark.examples
def test_hosts_stay_whatever_devices_go() -> None:
    lost = 0
    for seed in range(some_of(CASES)):
        wanted, machines, inventory = case(seed)
        hosts = allocate(wanted, inventory, Policy()).hosts
        ready = replace(wanted, assigned=hosts, phase=Phase.READY)
        inventory.set_pool(ready)
        chance = random.Random(-seed)  # noqa: S311 -- as above
        for one in machines.values():
            for driver in [driver for driver in one.slices if chance.random() < 0.5]:
                inventory.devices.drop_slice(one.slices.pop(driver).name)
        left = by_answer(wanted, machines)
        kept = {host.index: host for host in allocate(ready, inventory, Policy()).hosts}
        assert all(kept[host.index] == host for host in hosts), seed
        told = {trouble.host.name for trouble in troubles(ready, inventory) if trouble.kind == "unequipped"}
        assert told == {host.name for host in hosts} & left[False], seed
        lost += len(told)
    assert lost > some_of(CASES) // 10
