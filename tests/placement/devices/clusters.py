"""Clusters of nodes with devices, for tests."""

from collections.abc import Sequence

from tests.builders import Json, cluster, nodes, pod
from webhook.placement.devices.published.claims import (
    Agreement,
    ClaimAllocation,
    ClaimSpec,
    ClaimTemplate,
    DeviceChoice,
    DeviceName,
    DeviceRequest,
    HeldDevice,
    ResourceClaim,
)
from webhook.placement.devices.published.device import Attribute, Device, DeviceCapacity, Reach
from webhook.placement.devices.published.slices import DeviceSlice
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.quantity import NANO
from webhook.placement.objects.device_classes import DeviceClass
from webhook.placement.objects.node import Node

GPU = "gpu.example.com"
RESOURCE = "example.com/gpu"
GI = 2**30 * NANO
MODEL = f'device.attributes["{GPU}"].model == "A100"'
CLASS = DeviceClass(GPU, RESOURCE, selectors=(f'device.driver == "{GPU}"',))


def large(gib: int) -> str:
    """The selector of devices with so much memory."""
    return f'device.capacity["{GPU}"].memory.compareTo(quantity("{gib}Gi")) >= 0'


def devices_of(count: int, memory: int = 40) -> tuple[Device, ...]:
    """So many equal devices."""
    return tuple(
        Device(f"gpu-{at}", (Attribute("model", "A100"),), (DeviceCapacity("memory", memory * GI),))
        for at in range(count)
    )


def on(name: str, count: int, memory: int = 40) -> DeviceSlice:
    """The slice of the devices of a node."""
    return DeviceSlice(f"slice-{name}", GPU, name, reach=Reach(node=name), devices=devices_of(count, memory))


def wanting(*choices: DeviceChoice, agreements: tuple[Agreement, ...] = ()) -> ClaimSpec:
    """A claim with a request for each choice."""
    return ClaimSpec(tuple(DeviceRequest(f"r{at}", (choice,)) for at, choice in enumerate(choices)), agreements)


def equipped(
    *slices: DeviceSlice, classes: Sequence[DeviceClass] = (CLASS,), machines: Sequence[Node] = ()
) -> Inventory:
    """A cluster of three nodes, of which ``node-a`` has two devices and ``node-b`` has one, unless slices are given."""
    inventory = cluster(machines or nodes(3))
    for found in classes:
        inventory.devices.put_class(found)
    for part in slices or (on("node-a", 2), on("node-b", 1, 80)):
        inventory.devices.put_slice(part)
    inventory.devices.read = True
    return inventory


def asking(count: int = 1, *more: str) -> Json:
    """A pod whose container requests so many of the mapped resource, and of more resources."""
    both = {name: str(count) for name in (RESOURCE, *more)}
    return pod(containers=[{"name": "main", "resources": {"requests": both, "limits": both}}])


def template(inventory: Inventory, name: str, spec: ClaimSpec) -> None:
    """Add a template."""
    inventory.devices.put_template(ClaimTemplate("default", name, spec))


def held(name: str, node: str, *numbers: int, spec: ClaimSpec | None = None) -> ResourceClaim:
    """A claim that has these devices of the node."""
    devices = tuple(HeldDevice(DeviceName(GPU, node, f"gpu-{at}")) for at in numbers)
    terms = (NodeTerm(match_fields=(Requirement("metadata.name", "In", (node,)),)),)
    return ResourceClaim("default", name, spec or wanting(DeviceChoice(GPU)), ClaimAllocation(devices, terms))
