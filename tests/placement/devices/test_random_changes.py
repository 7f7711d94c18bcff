"""Nodes with devices after random changes, against each node looked at by itself, anew and without what was kept."""

import random
from typing import Final

import pytest

from tests.builders import cluster, node
from tests.placement.devices.clusters import GPU
from tests.suite.example_count import some_of
from webhook.placement.devices import fits
from webhook.placement.devices.allocation.allocation import NodeOutcome, allocatable
from webhook.placement.devices.allocation.candidates import different
from webhook.placement.devices.allocation.node_devices import NodeDevices, NodeSights
from webhook.placement.devices.fits import BOUNDLESS, Wanted
from webhook.placement.devices.looks import batches
from webhook.placement.devices.published.claims import Agreement, ClaimSpec, DeviceChoice, DeviceRequest
from webhook.placement.devices.published.device import Attribute, Counters, Device, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.published.taint_rules import TaintRule
from webhook.placement.devices.selectors.selector import DeviceBudget
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selection.tolerations import Taint

NODES: Final = tuple(f"node-{at}" for at in range(5))
NIC: Final = "nic.example.com"
CHOICES: Final = (
    DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].model == "A"',)),
    DeviceChoice(GPU, selectors=(f'device.driver == "{GPU}"',), count=2),
    DeviceChoice(NIC, selectors=(f'device.driver == "{NIC}"',), all=True),
)
CLAIMS: Final = (
    *(ClaimSpec((DeviceRequest("r", (choice,)),)) for choice in CHOICES),
    ClaimSpec((DeviceRequest("r", (CHOICES[1],)),), (Agreement(match=f"{GPU}/root"),)),
)


def device(chance: random.Random, name: str, *, placed: bool, counted: bool) -> Device:
    attributes = [Attribute("model", chance.choice("AB"))] if chance.random() < 0.9 else []
    attributes += [Attribute("root", chance.choice((1, 2))), Attribute("serial", chance.random())]
    reach = chance.choice((Reach(node=chance.choice(NODES)), Reach(everywhere=True))) if placed else None
    consumes = (Counters("memory", (("gib", 1),)),) if counted else ()
    return Device(name, tuple(attributes), traits=Traits(reach, consumes))


def published(chance: random.Random) -> DeviceSlice:
    """A slice of a node, of all, of those of a zone, of nodes by device, or of counters."""
    driver = chance.choice((GPU, GPU, NIC))
    zone = Reach(terms=(NodeTerm((Requirement("zone", "In", (chance.choice("ab"),)),)),))
    here = Reach(node=chance.choice(NODES))
    pool, reach = chance.choice(
        ((here.node, here), (here.node, here), ("wide", Reach(everywhere=True)), ("zone", zone), ("each", None))
    )
    if pool == here.node and chance.random() < 0.2:
        sets = (Counters("memory", (("gib", chance.choice((1, 2))),)),)
        return DeviceSlice(f"{driver}-{pool}-counters", driver, pool, 1, 2, reach, counters=sets)
    devices = tuple(
        device(chance, f"d{at}", placed=reach is None, counted=chance.random() < 0.1)
        for at in range(chance.choice((1, 2, 3)))
    )
    return DeviceSlice(
        f"{driver}-{pool}", driver, pool, chance.choice((1, 1, 2)), chance.choice((1, 1, 2)), reach, devices
    )


def change(chance: random.Random, inventory: Inventory) -> None:
    """Change something."""
    kind = chance.random()
    if kind < 0.6:
        inventory.devices.put_slice(published(chance))
    elif kind < 0.75:
        inventory.devices.drop_slice(published(chance).name)
    elif kind < 0.9:
        labels = {"zone": chance.choice("ab")} if chance.random() < 0.7 else {}
        inventory.set_node(node(chance.choice(NODES), labels=labels))
    elif kind < 0.95:
        inventory.remove_node(chance.choice(NODES))
    elif chance.random() < 0.5:
        inventory.devices.put_rule(rule(chance))
    else:
        inventory.devices.drop_rule("r")


def rule(chance: random.Random) -> TaintRule:
    """A rule for a device of each pool, or of one."""
    pool = chance.choice(("", "wide", *NODES))
    return TaintRule("r", Taint("broken", effect="NoSchedule"), pool=pool, device="d0")


def usable(inventory: Inventory, slot: int) -> NodeDevices:
    """The devices of the node, found out anew."""
    here = inventory.nodes.nodes[slot]

    def reaches(reach: Reach) -> bool:
        zones = {value for term in reach.terms for need in term.match_expressions for value in need.values}
        return reach.everywhere or reach.node == here.name or here.labels.get("zone") in zones

    return NodeSights(inventory.devices).of_node(here.name, reaches)


def by_itself(inventory: Inventory, claim: ClaimSpec) -> dict[int, NodeOutcome]:
    return {
        slot: allocatable((claim,), usable(inventory, slot), lambda _: (), DeviceBudget.unhurried())
        for slot in inventory.nodes.nodes
    }


def kept(inventory: Inventory, claim: ClaimSpec) -> dict[int, bool | None]:
    found = inventory.device_fits.fit(Wanted((claim,)), inventory.nodes, DeviceBudget.unhurried())
    assert found.complete
    return {
        slot: True if found.nodes >> slot & 1 else None if found.unknown >> slot & 1 else False
        for slot in inventory.nodes.nodes
    }


@pytest.mark.examples
@pytest.mark.parametrize("many", [2, 64])
def test_what_is_kept_is_right_after_each_change(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where so many nodes are many, which are looked at in batches."""
    monkeypatch.setattr(fits, "_MANY", many)
    monkeypatch.setattr(batches, "_TABLE", 1)
    answers = {True: 0, False: 0, None: 0}
    for seed in range(some_of(300, every_day=10)):
        chance = random.Random(seed)  # noqa: S311 -- the same changes each time
        inventory = cluster([node(name) for name in NODES])
        inventory.devices.read = True
        for _ in range(15):
            for _ in range(chance.choice((1, 1, 3))):
                change(chance, inventory)
            for claim in CLAIMS:
                expected = {slot: one.answer for slot, one in by_itself(inventory, claim).items()}
                assert kept(inventory, claim) == expected, seed
                for answer in expected.values():
                    answers[answer] += 1
            counts = inventory.device_fits.counts(CHOICES[:2], inventory.nodes, DeviceBudget.unhurried())
            for slot in inventory.nodes.nodes:
                number = different(CHOICES[:2], usable(inventory, slot), DeviceBudget.unhurried())
                assert counts[slot] == (BOUNDLESS if number is None else number), seed
    assert min(answers.values()) > sum(answers.values()) // 20
