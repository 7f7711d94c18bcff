"""Which claims hold the devices that a pod waits for."""

import pytest
from msgspec.structs import replace

from tests.builders import NAMESPACE, Json, nodes, pod, typed
from tests.placement.devices.clusters import GPU, RESOURCE, asking, equipped, held, on, template, wanting
from webhook.placement.decision.held_devices import held_devices
from webhook.placement.devices.published.claims import (
    ClaimAllocation,
    ClaimSpec,
    DeviceChoice,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.device import Counters, Device, Reach, Traits
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.quantity import NANO
from webhook.placement.request.ask import read
from webhook.placement.request.world import World

ONE, TWO = (wanting(DeviceChoice(GPU, count=count)) for count in (1, 2))


def told(found: Json, inventory: Inventory) -> dict[str, list[str]]:
    """The reasons, each with the nodes."""
    world = World(inventory, Policy())
    ask, _ = read(typed(found), NAMESPACE, world)
    names = inventory.nodes.names
    return {
        reason.one: [names[slot] for slot in sorted(names) if reason.nodes >> slot & 1]
        for reason in held_devices(ask, world, inventory.nodes.everything)
    }


def of_template(spec: ClaimSpec, *claims: ResourceClaim, inventory: Inventory | None = None) -> dict[str, list[str]]:
    """The reasons for a pod with a claim of such a template, while the claims hold devices."""
    inventory = inventory or equipped()
    template(inventory, "t", spec)
    for claim in claims:
        inventory.devices.put_claim(claim)
    return told(pod(resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}]), inventory)


FEW = "has too few free devices for ResourceClaimTemplate t now: "


def test_the_claim_that_holds_the_device_is_named() -> None:
    found = of_template(
        ONE, held("train", "node-b", 0), held("half", "node-a", 1), ResourceClaim("default", "new", ONE)
    )
    assert found == {f"{FEW}ResourceClaim default/train holds some": ["node-b"]}


def test_several_claims_are_named_for_each_node_and_some_are_counted() -> None:
    inventory = equipped(on("node-a", 5), on("node-b", 5), on("node-c", 1))
    for name in ("node-a", "node-b"):
        for at in range(4):
            inventory.devices.put_claim(held(f"{name}-{at}", name, at))
    assert of_template(TWO, inventory=inventory) == {
        f"{FEW}ResourceClaims default/{name}-0, default/{name}-1, default/{name}-2 and 1 more hold some": [name]
        for name in ("node-a", "node-b")
    }


def test_what_is_held_for_administration_keeps_nothing() -> None:
    claim = held("watch", "node-b", 0)
    assert claim.allocation
    seen = tuple(HeldDevice(each.device, admin=True) for each in claim.allocation.devices)
    watching = replace(claim, allocation=ClaimAllocation(seen))
    assert of_template(ONE, watching) == {}


def test_a_partition_is_kept_by_who_holds_the_counters() -> None:
    takes = Traits(consumes=(Counters("memory", (("parts", NANO),)),))
    devices = tuple(Device(f"gpu-{at}", traits=takes) for at in range(2))
    reach, counters = Reach(node="node-a"), (Counters("memory", (("parts", NANO),)),)
    inventory = equipped(
        DeviceSlice("s", GPU, "node-a", expected=2, reach=reach, devices=devices),
        DeviceSlice("c", GPU, "node-a", expected=2, reach=reach, counters=counters),
    )
    found = of_template(ONE, held("train", "node-a", 1), inventory=inventory)
    assert found == {f"{FEW}ResourceClaim default/train holds some": ["node-a"]}


@pytest.mark.parametrize("offered", [False, True])
def test_a_mapped_resource_counts_where_the_node_does_not_offer_it(*, offered: bool) -> None:
    machines = [replace(one, allocatable={**one.allocatable, RESOURCE: 2}) if offered else one for one in nodes(3)]
    inventory = equipped(machines=machines)
    inventory.devices.put_claim(held("train", "node-b", 0))
    some = f"has too few free devices for requests {RESOURCE} 1 now: ResourceClaim default/train holds some"
    assert told(asking(), inventory) == ({} if offered else {some: ["node-b"]})


def test_a_pod_without_devices_waits_for_none() -> None:
    assert told(pod(), equipped()) == {}
