"""HostPools that ask for devices, with the chart by default values: chosen by devices, and kept without them."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object, RefusedError
from tests.e2e.controller.pools import (
    condition,
    hostpool,
    hosts,
    members,
    pools,
    wait_for,
    wait_until_gone,
)  # fmt: skip
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.devices.device_slices import DRA, DRIVER, chip_nodes, chips
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "chips"
PATH: Final = f"{pools(SPACE)}/pairs"
PAIR: Final = {"class": DRIVER, "count": 2}
ASKED: Final = f"{pools(SPACE)}?dryRun=All"


@pytest.fixture(scope="module", autouse=True)
def _nodes(plane: ControlPlane, installed: Kubelet) -> Iterator[None]:
    """Two nodes with two devices, and one with one; no other node has any."""
    del installed
    namespace(plane.admin, SPACE)
    with chip_nodes(plane.admin, {"chip-1": 1, "chip-2": 2, "chip-3": 2}):
        yield


def degraded(admin: Api) -> str:
    """The message of the condition; empty while it is false."""
    said = condition(admin.get(PATH), "Degraded")
    return str(said["message"]) if said["status"] == "True" else ""


def said(admin: Api, path: str, pool: Object) -> str:
    """The refusal of the pool; empty if it is admitted. A webhook may not know all slices yet."""
    try:
        admin.call("POST", path, pool)
    except RefusedError as refused:
        return refused.message
    return ""


def test_too_few_nodes_have_the_devices(admin: Api) -> None:
    """What is advised is then admitted."""
    wanted = hostpool("many", SPACE, size=3, devices=[PAIR])
    known = ("it needs 3 hosts and 2 nodes are eligible", f"  1 node has only 1 of 2 devices of DeviceClass {DRIVER}\n")

    def refusal() -> str:
        """As soon as all slices are known, which come one by one."""
        message = said(admin, ASKED, wanted)
        return message if all(part in message for part in known) else ""

    message = until(refusal, "all slices are known")
    assert message.rstrip(".\n").endswith("or lower size to 2, or lower devices[0].count to 1")
    for change in ({"size": 2}, {"devices": [{"class": DRIVER, "count": 1}]}):
        smaller = {**wanted, "spec": {**wanted["spec"], **change}}
        until(lambda smaller=smaller: not said(admin, ASKED, smaller), "it is admitted")


def test_a_pool_keeps_its_hosts_while_a_driver_restarts(admin: Api) -> None:
    wanted = hostpool("pairs", SPACE, name="P", size=2, devices=[PAIR])
    until(lambda: not said(admin, pools(SPACE), wanted), "it is admitted")
    try:
        before = wait_for(admin, PATH)
        assert sorted(hosts(before)) == sorted(members(admin, SPACE, "pairs")) == ["chip-2", "chip-3"]
        assert degraded(admin) == ""
        admin.delete(f"/apis/{DRA}/resourceslices/chip-2")
        message = until(lambda: degraded(admin), "its host has no devices")
        index = hosts(before).index("chip-2")
        assert message == f"host {index} (chip-2) has no device of DeviceClass {DRIVER}"
        assert hosts(admin.get(PATH)) == hosts(before)
        admin.create(chips("chip-2", 2))
        until(lambda: not degraded(admin), "its host has them again")
        assert hosts(admin.get(PATH)) == hosts(before)
    finally:
        admin.delete(PATH)
        wait_until_gone(admin, PATH)
