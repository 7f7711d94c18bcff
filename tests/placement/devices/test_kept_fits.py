"""How much is kept of devices between decisions, whatever attributes claims read and drivers publish."""

import functools

import pytest

from tests.builders import node
from tests.placement.devices.clusters import GPU, devices_of, equipped, on, wanting
from tests.work import calls
from webhook.placement.devices import fits as fits_module
from webhook.placement.devices.fits import Fit, Wanted
from webhook.placement.devices.published.claims import ClaimSpec, DeviceChoice
from webhook.placement.devices.published.device import Attribute, Device, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.devices.selectors.selector import NODES, DeviceBudget
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement


def reading(name: str) -> ClaimSpec:
    """A claim that reads the attribute of that name."""
    return wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].{name} != "x"',)))


def fit(inventory: Inventory, claim: ClaimSpec, budget: DeviceBudget | None = None) -> Fit:
    return inventory.device_fits.fit(Wanted((claim,)), inventory.nodes, budget or DeviceBudget())


def tried(inventory: Inventory, claim: ClaimSpec) -> int:
    """On how many nodes the claim is tried now."""
    budget = DeviceBudget()
    assert not fit(inventory, claim, budget).unknown & 0b100
    return NODES - budget.nodes


def test_claims_that_read_many_attributes_in_turn_do_not_keep_all_groups_of_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the groups of nodes, what is known of claims by them is forgotten; the claim that comes last is kept."""
    monkeypatch.setattr(fits_module, "_LOOKS", 2)
    inventory = equipped()
    for name in "abc":
        assert tried(inventory, reading(name)) == 3
    assert [tried(inventory, reading(name)) for name in "cba"] == [0, 0, 3]


def test_groups_of_nodes_that_all_differ_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits_module, "_SETS", 4)
    inventory = equipped()
    for name in "abc":
        assert tried(inventory, reading(name)) == 3
    assert [tried(inventory, reading(name)) for name in "ca"] == [0, 3]


def test_terms_of_slices_that_are_gone_cost_nothing() -> None:
    """A node that changes costs as much after 200 slices for other zones as after two."""
    inventory, costs = equipped(on("node-a", 1)), []
    for at in range(200):
        zone = Reach(terms=(NodeTerm((Requirement("zone", "In", (f"zone-{at}",)),)),))
        inventory.devices.put_slice(DeviceSlice("fabric", GPU, "fabric", reach=zone, devices=devices_of(1)))
        inventory.set_node(node("node-b", labels={"zone": f"zone-{at}"}))
        assert fit(inventory, reading("model")).nodes.bit_count() == 2
        inventory.set_node(node("node-c", labels={"at": str(at)}))
        costs.append(calls(functools.partial(fit, inventory, reading("model"))))
    assert max(costs[2:]) == costs[2]


def test_names_of_attributes_that_are_gone_are_forgotten() -> None:
    """A driver that publishes other names each time is read as well as others, and the index does not grow."""
    inventory = equipped()
    for at in range(10):
        device = Device("d", (Attribute(f"own{at}", 1), Attribute("model", f"m{at}")))
        inventory.devices.put_slice(
            DeviceSlice("slice-node-a", GPU, "node-a", reach=Reach(node="node-a"), devices=(device,))
        )
        assert len(inventory.devices.marks.tables) == 2
        same = wanting(DeviceChoice(GPU, selectors=(f'device.attributes["{GPU}"].model == "m{at}"',)))
        assert fit(inventory, same).nodes == 0b001
