"""Hosts that vanish, return, or become unusable, with the chart by default values: they are kept and reported.

``test_replacing.py`` tests the settings with which such hosts are replaced.
"""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api, Object
from tests.e2e.controller.conftest import TAG
from tests.e2e.controller.events import told
from tests.e2e.controller.pools import condition, create_pool, exclusive, hosts, marks, pools, wait_for, wait_until_gone
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node, wait_for_nodes
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import namespace
from webhook.placement.text.keys import EXCLUSIVE, membership

SPACE: Final = "trouble"
PATH: Final = f"{pools(SPACE)}/kept"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
SOON: Final = 10.0
"""Seconds within which a host that is gone is replaced."""


@pytest.fixture(scope="module", autouse=True)
def _pool(plane: ControlPlane, installed: Kubelet) -> Iterator[None]:
    del installed
    namespace(plane.admin, SPACE)
    create_pool(plane.admin, exclusive("kept", SPACE, 3, name="P", tags=["ib"]))
    wait_for(plane.admin, PATH)
    yield
    plane.admin.delete(PATH)
    wait_until_gone(plane.admin, PATH)


def whole(admin: Api) -> bool:
    """Whether every host is there, marked, and without trouble."""
    pool = admin.get(PATH)
    for index, host in enumerate(pool["status"]["hosts"]):
        found = admin.find(f"/api/v1/nodes/{host['name']}")
        if found is None or found["metadata"]["uid"] != host["uid"]:
            return False
        if marks(found) != {membership(SPACE, "kept"): str(index), EXCLUSIVE: f"{SPACE}.kept"}:
            return False
    return bool(condition(pool, "Degraded")["status"] == "False")


def degraded(admin: Api) -> str:
    """The message of the condition; empty while it is false."""
    said = condition(admin.get(PATH), "Degraded")
    return str(said["message"]) if said["status"] == "True" else ""


def test_a_host_that_is_gone_is_replaced_at_its_index_and_nothing_else_moves(admin: Api) -> None:
    before = hosts(admin.get(PATH))
    admin.delete(f"/api/v1/nodes/{before[1]}")
    began = time.monotonic()
    until(lambda: hosts(admin.get(PATH))[1] != before[1] and whole(admin), "it is replaced")
    took = time.monotonic() - began
    say(f"a host was replaced {took:.1f} s after its node was deleted")
    after = hosts(admin.get(PATH))
    create_nodes(admin, [node(before[1], {TAG: "ib"})])
    assert (after[0], after[2]) == (before[0], before[2])
    text = f"host 1: {after[1]} takes the place of {before[1]}"
    until(lambda: ("Normal", "HostReplaced", text) in told(admin, SPACE, "kept"), "an Event says so")
    assert took < SOON


def test_a_node_that_comes_again_under_its_name_is_another_one(admin: Api) -> None:
    name = hosts(admin.get(PATH))[0]
    old = admin.get(f"/api/v1/nodes/{name}")["metadata"]["uid"]
    admin.delete(f"/api/v1/nodes/{name}")
    began = time.monotonic()
    admin.create(node(name, {TAG: "ib"}))
    until(lambda: admin.get(PATH)["status"]["hosts"][0]["uid"] != old and whole(admin), "it has a new host")
    took = time.monotonic() - began
    say(f"a host was good again {took:.1f} s after its node was made anew")
    wait_for_nodes(admin, [name])
    assert took < SOON


def test_a_pod_gets_the_host_that_took_the_place(admin: Api) -> None:
    admin.create(asking("first", SPACE, "host(P[0])"))
    until(lambda: admin.get(f"{PODS}/first")["spec"].get("nodeName"), "it is bound")
    assert admin.get(f"{PODS}/first")["spec"]["nodeName"] == hosts(admin.get(PATH))[0]
    admin.delete(f"{PODS}/first", gracePeriodSeconds="0")


def test_marks_that_are_removed_are_soon_restored(admin: Api) -> None:
    before = hosts(admin.get(PATH))
    change = {"metadata": {"labels": {membership(SPACE, "kept"): None}}, "spec": {"taints": None}}
    admin.patch(f"/api/v1/nodes/{before[1]}", change)
    until(lambda: whole(admin), "they are there again", SOON)
    assert hosts(admin.get(PATH)) == before


def test_a_node_that_another_client_marks_does_not_become_a_host(admin: Api) -> None:
    admin.patch("/api/v1/nodes/node-7", {"metadata": {"labels": {membership(SPACE, "kept"): "7"}}})
    until(lambda: not marks(admin.get("/api/v1/nodes/node-7")), "it is let go", SOON)
    assert "node-7" not in hosts(admin.get(PATH))


def test_marks_of_a_pool_that_never_was_are_taken_off(admin: Api) -> None:
    taint = {"key": EXCLUSIVE, "value": f"{SPACE}.never", "effect": "NoSchedule"}
    change = {"metadata": {"labels": {membership(SPACE, "never"): "0"}}, "spec": {"taints": [taint]}}
    admin.patch("/api/v1/nodes/node-7", change)
    until(lambda: not marks(admin.get("/api/v1/nodes/node-7")), "they are gone", SOON)


UNDOING: Final[dict[str, tuple[Object, Object, str]]] = {
    "is cordoned": ({"spec": {"unschedulable": True}}, {"spec": {"unschedulable": None}}, "is cordoned"),
    "has lost its tag": (
        {"metadata": {"labels": {TAG: None}}},
        {"metadata": {"labels": {TAG: "ib"}}},
        "has lost a tag or label that the pool asks for",
    ),
}


@pytest.mark.parametrize(("change", "back", "text"), UNDOING.values(), ids=UNDOING.keys())
def test_a_host_is_kept_and_told_of_when_it(admin: Api, change: Object, back: Object, text: str) -> None:
    before = hosts(admin.get(PATH))
    admin.patch(f"/api/v1/nodes/{before[2]}", change)
    said = until(lambda: degraded(admin), "the condition says so")
    assert said == f"host 2 ({before[2]}) {text}"
    until(lambda: ("Warning", "Degraded", said) in told(admin, SPACE, "kept"), "an Event says so")
    admin.patch(f"/api/v1/nodes/{before[2]}", back)
    until(lambda: whole(admin), "all is well again")
    assert hosts(admin.get(PATH)) == before
