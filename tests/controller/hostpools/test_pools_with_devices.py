"""Pools that ask for devices are given nodes with these, and keep them whatever becomes of the devices."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from tests.apiserver.paths import PATHS
from tests.controller.controlled_cluster import ControlledCluster
from webhook.controller.hostpools import reconciler
from webhook.controller.reconciler_settings import Replacement

GPU: Final = "gpu.example.com"
LOST: Final = "host 0 (node-b) has no device of DeviceClass gpu.example.com"


def publish(cluster: ControlledCluster, node: str, count: int, **attributes: str) -> None:
    """Devices of a node, as their driver publishes them."""
    said = {name: {"string": value} for name, value in attributes.items()}
    cluster.kube.create(
        f"{PATHS['resourceslices']}/{node}",
        spec={
            "driver": GPU,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{at}", "attributes": said} for at in range(count)],
        },
    )


def withdraw(cluster: ControlledCluster, node: str) -> None:
    """The driver of the node has gone, and its devices with it."""
    cluster.kube.delete(f"{PATHS['resourceslices']}/{node}")


@pytest.fixture
async def equipped() -> AsyncIterator[ControlledCluster]:
    """Three nodes, the second of which has two devices; hosts that lose a label are replaced at once."""
    controlled = ControlledCluster("node-a", "node-b", "node-c", replacement=Replacement(30.0, unlabelled=True))
    selector: dict[str, Any] = {"cel": {"expression": f"device.driver == '{GPU}'"}}
    controlled.kube.create(f"{PATHS['deviceclasses']}/{GPU}", spec={"selectors": [selector]})
    publish(controlled, "node-b", 2)
    yield controlled
    await controlled.end()


async def test_a_pool_gets_a_node_with_the_devices(equipped: ControlledCluster) -> None:
    equipped.pool(size=1, devices=[{"class": GPU, "count": 2}])
    await equipped.lead()
    assert (equipped.hosts(), equipped.status()["eligible"]) == (["0:node-b"], 1)
    assert equipped.condition("Degraded") == ("False", "HostsServe", "")


async def test_a_host_that_loses_its_devices_stays(equipped: ControlledCluster) -> None:
    """Also if another node has some, and hosts without a label are replaced; the condition tells of it."""
    equipped.pool(size=1, devices=[{"class": GPU}])
    await equipped.lead()
    publish(equipped, "node-c", 2)
    withdraw(equipped, "node-b")
    await asyncio.sleep(2)
    assert equipped.hosts() == ["0:node-b"]
    assert equipped.condition("Degraded") == ("True", "HostsInTrouble", LOST)
    await asyncio.sleep(100)
    assert equipped.hosts() == ["0:node-b"]
    publish(equipped, "node-b", 1)
    await asyncio.sleep(2)
    assert (equipped.hosts(), equipped.condition("Degraded")[0]) == (["0:node-b"], "False")


async def test_the_next_controller_keeps_a_host_without_devices(equipped: ControlledCluster) -> None:
    equipped.pool(size=1, devices=[{"class": GPU}])
    await equipped.lead()
    withdraw(equipped, "node-b")
    await equipped.lead()
    assert (equipped.hosts(), equipped.condition("Degraded")[2]) == (["0:node-b"], LOST)


async def test_a_pool_gets_its_hosts_as_soon_as_the_devices_are_there(equipped: ControlledCluster) -> None:
    equipped.pool(size=2, devices=[{"class": GPU}])
    await equipped.lead()
    reason = "it needs 2 hosts and 1 node is eligible"
    assert (equipped.status()["phase"], equipped.condition()) == ("Failed", ("False", "NotEnoughNodes", reason))
    publish(equipped, "node-c", 1)
    await asyncio.sleep(2)
    assert (equipped.status()["phase"], equipped.hosts()) == ("Ready", ["0:node-b", "1:node-c"])


@pytest.mark.parametrize("looks", [reconciler.LOOKS, 1], ids=["many looks", "one look at a time"])
async def test_devices_of_all_nodes_are_looked_at_before_a_host_is_chosen(
    equipped: ControlledCluster, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """A selector tells more nodes apart than one look goes at, and only the last one has the device."""
    monkeypatch.setattr(reconciler, "LOOKS", looks)
    for at in range(150):
        equipped.node(f"other-{at:03}")
        publish(equipped, f"other-{at:03}", 1, serial=f"s{at}")
    equipped.pool(size=1, devices=[{"class": GPU, "selector": f"has(device.attributes['{GPU}'].serial) && "
                                    f"device.attributes['{GPU}'].serial == 's149'"}])  # fmt: skip
    await equipped.lead()
    assert (equipped.hosts(), equipped.status()["eligible"]) == (["0:other-149"], 1)


async def test_devices_that_change_cost_pools_nothing_that_ask_for_none(equipped: ControlledCluster) -> None:
    equipped.pool(size=1)
    await equipped.lead()
    requests = equipped.candidate.line.requests
    publish(equipped, "node-c", 1)
    await asyncio.sleep(5)
    assert equipped.candidate.line.requests == requests
