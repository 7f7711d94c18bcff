"""Nodes that look alike are looked at in batches, so that what claims read for the first time is judged at once."""

from collections.abc import Sequence

import pytest

from tests.builders import node
from tests.placement.devices.clusters import GPU, equipped, wanting
from webhook.placement.devices.fits import Fit, Wanted
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice
from webhook.placement.devices.published.device import Attribute, Device, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.devices.selectors.selector import EVALUATIONS, NODES, DeviceBudget
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selection.tolerations import Taint

ZONE = Reach(terms=(NodeTerm((Requirement("zone", "In", ("a",)),)),))


def reading(name: str, value: str) -> ClaimSpec:
    return wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].{name} == "{value}"',)))


def published(name: str, *attributes: Attribute, pool: str = "", parts: int = 1, driver: str = GPU) -> DeviceSlice:
    """A slice of the node with one device, which has these attributes."""
    pool = pool or name
    return DeviceSlice(
        f"{driver}-{pool}", driver, name, expected=parts, reach=Reach(node=name), devices=(Device("d", attributes),)
    )


def fleet(count: int) -> list[DeviceSlice]:
    """Slices of so many nodes with one of three models, and a serial number of its own."""
    return [
        published(f"node-{at}", Attribute("model", f"m{at % 3}"), Attribute("serial", f"s{at}")) for at in range(count)
    ]


def fleet_of(count: int, slices: Sequence[DeviceSlice]) -> Inventory:
    """A cluster of so many nodes, of which every fourth is in zone a."""
    machines = [node(f"node-{at}", labels={"zone": "a" if at % 4 == 0 else "b"}) for at in range(count)]
    return equipped(*slices, machines=machines)


def fit(inventory: Inventory, claim: ClaimSpec, budget: DeviceBudget | None = None) -> Fit:
    return inventory.device_fits.fit(Wanted((claim,)), inventory.nodes, budget or DeviceBudget())


def names(inventory: Inventory, nodes: int) -> set[int]:
    """The numbers in the names of the nodes."""
    return {int(name.removeprefix("node-")) for slot, name in inventory.nodes.names.items() if nodes >> slot & 1}


@pytest.mark.parametrize("count", [100, 3000])
def test_attributes_that_no_claim_has_read_are_judged_at_once(count: int) -> None:
    """Of thousands of nodes with three models, three are tried; the budget has room for many more nodes."""
    inventory, budget = fleet_of(count, fleet(count)), DeviceBudget()
    found = fit(inventory, reading("model", "m1"), budget)
    assert names(inventory, found.nodes) == {at for at in range(count) if at % 3 == 1}
    assert found.complete
    assert not found.unknown
    assert budget.nodes == NODES - 3
    assert budget.evaluations > EVALUATIONS - 200
    refused = fit(fleet_of(count, fleet(count)), reading("model", "m9"))
    assert refused.complete
    assert sum(bits.bit_count() for bits in refused.lacks.values()) == count


def test_nodes_that_all_differ_are_judged_as_far_as_the_budget_goes() -> None:
    inventory = fleet_of(100, fleet(100))
    left = [fit(inventory, reading("serial", "s7"), DeviceBudget(60)).unknown.bit_count() for _ in range(20)]
    assert left == sorted(left, reverse=True)
    assert left[0] > left[-1]


def test_nodes_with_pools_in_parts_or_other_attributes_are_judged_by_themselves() -> None:
    """A slice with rare attributes, pools in two slices, of which one lacks a slice, and one of an absent node."""
    slices = fleet(100)
    slices[0] = published("node-0", Attribute("model", "m1"), Attribute("own", 1))
    slices[3] = published("node-3", Attribute("model", "m1"), parts=2)
    part = DeviceSlice("second", GPU, "node-6", expected=2, reach=Reach(node="node-6"), devices=(Device("e"),))
    slices[6] = published("node-6", Attribute("model", "m1"), parts=2)
    absent = published("node-absent", Attribute("model", "m1"), parts=2)
    inventory = fleet_of(100, [*slices, part, absent])
    found = fit(inventory, reading("model", "m1"))
    assert names(inventory, found.nodes) == {0, 6, *(at for at in range(100) if at % 3 == 1)}
    assert names(inventory, found.unknown) == {3}
    inventory.devices.drop_slice("second")
    assert names(inventory, fit(inventory, reading("model", "m1")).unknown) == {3, 6}
    inventory.devices.put_slice(published("node-6", Attribute("model", "m1")))
    assert 6 in names(inventory, fit(inventory, reading("model", "m1")).nodes)


def test_a_tainted_device_of_one_node_leaves_the_others_alike() -> None:
    """Of all others three are tried, as without a rule; a rule that selects nothing changes nothing."""
    inventory, budget = fleet_of(3000, fleet(3000)), DeviceBudget()
    broken = Taint("broken", effect="NoSchedule")
    inventory.devices.put_rule(TaintRule("one", broken, pool="node-1"))
    inventory.devices.put_rule(TaintRule("none", broken, selects=False))
    found = fit(inventory, reading("model", "m1"), budget)
    assert found.complete
    assert names(inventory, found.nodes) == {*range(4, 3000, 3)}
    assert budget.nodes == NODES - 4
    inventory.devices.put_rule(TaintRule("all", broken, driver=GPU))
    left = fit(inventory, reading("model", "m1"))
    assert not left.complete
    assert not left.nodes


def test_two_pools_of_a_node_count_whichever_comes_first() -> None:
    """Nodes whose pools have each other's attributes differ."""
    slices = [
        published(f"node-{at}", Attribute("model", f"m{(at + turn) % 2}"), pool=f"p{at}-{turn}", driver=driver)
        for at in range(100)
        for turn, driver in enumerate((GPU, "nic.example.com"))
    ]
    inventory = fleet_of(100, slices)
    found = fit(inventory, reading("model", "m1"))
    assert names(inventory, found.nodes) == {at for at in range(100) if at % 2 == 1}


def test_what_several_nodes_see_is_looked_at_once_for_each_zone() -> None:
    """Nodes in a zone with a pool of its own differ from others, and so does a node that a device of it is for."""
    device = Device("d", (Attribute("model", "m9"),))
    wide = DeviceSlice("zone", GPU, "zone", reach=ZONE, devices=(device,))
    inventory, budget = fleet_of(100, [*fleet(100), wide]), DeviceBudget()
    found = fit(inventory, reading("model", "m9"), budget)
    assert names(inventory, found.nodes) == {at for at in range(100) if at % 4 == 0}
    assert budget.nodes == NODES - 2 * 3
    one = DeviceSlice(
        "one", GPU, "zone", expected=2, reach=Reach(node="node-1"), devices=(Device("e", device.attributes),)
    )
    inventory.devices.put_slice(one)
    inventory.devices.put_slice(DeviceSlice("zone", GPU, "zone", expected=2, reach=ZONE, devices=(device,)))
    assert names(inventory, fit(inventory, reading("model", "m9")).nodes) == {1, *range(0, 100, 4)}
