"""An installation with a quota of exclusive hosts, where changes of nodes and bindings can be refused."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod_spec
from webhook.placement.text import keys

pytestmark = pytest.mark.usefixtures("strict")

SPACE: Final = "strict"
FULL: Final = "strict-full"
POOLS: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
STRICT: Final = {
    "guardNodes": "refuse",
    "guardBindings": True,
    "exclusiveQuota": f"100,{SPACE}=1",
    "poolQuota": f"100,{FULL}=1",
}
LABELS: Final = {keys.JOB: "j", keys.PE: "pe-0"}


@pytest.fixture(scope="module")
def strict(upgraded: Upgraded, plane: ControlPlane) -> Iterator[None]:
    """The installation with these settings, a pool with one node, and a processing element that waits."""
    admin = plane.admin
    namespace(admin, SPACE)
    namespace(admin, FULL)
    names = create_nodes(admin, [node("strict-1", {keys.TAG: "strict"}), node("strict-2")])
    upgraded({"settings": STRICT})
    try:
        admin.call("POST", POOLS, pool("tagged", tags=["strict"]))
        waits = asking("pe-0", SPACE, "host(tagged)", pod_spec(schedulerName="nobody"), labels=LABELS)
        until(lambda: admin.send("POST", f"{PODS}?dryRun=All", waits).code == 201, "the pool is known", 60)
        admin.create(waits)
        yield
    finally:
        admin.delete(f"{PODS}/pe-0", gracePeriodSeconds="0")
        admin.delete(POOLS)
        for name in names:  # or the webhook's next processes might run there, and end with their nodes
            admin.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}})
        upgraded({})
        delete_nodes(admin, names)


def pool(name: str, **spec: object) -> Object:
    metadata = {"name": name, "namespace": SPACE}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": metadata, "spec": spec}


def bind(admin: Api, target: str, query: str = "?dryRun=All", **metadata: str) -> Answer:
    """Put the pod onto a node past every scheduler."""
    on = {"apiVersion": "v1", "kind": "Node", "name": target}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "pe-0", **metadata}, "target": on}
    return admin.send("POST", f"{PODS}/pe-0/binding{query}", body)


def test_a_namespace_gets_no_more_exclusive_hosts_than_its_quota(plane: ControlPlane) -> None:
    made = json.dumps(pool("greedy", size=2, mode="Exclusive"))
    done = plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=made)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "HostPool greedy cannot be completed: "
        "namespace strict may have 1 exclusive host and this HostPool asks for 2.\n"
        "Nearest fix: ask for a larger quota of exclusive hosts, or lower size to 1.\n"
    )


def test_a_pool_within_the_quota_is_created(plane: ControlPlane) -> None:
    made = json.dumps(pool("modest", size=1, mode="Exclusive"))
    assert plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=made).stderr == ""


def test_a_namespace_gets_no_more_pools_than_its_quota(plane: ControlPlane) -> None:
    """Nor when another one was deleted and is not gone yet; when it is, there is room."""
    path = POOLS.replace(SPACE, FULL)
    first, second = ({**pool(name), "metadata": {"name": name, "namespace": FULL}} for name in ("first", "second"))
    plane.admin.call("POST", path, first)

    def said() -> str:
        return plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(second)).stderr

    until(said, "the first pool is known")
    assert said().endswith(
        "HostPool second cannot be completed: "
        "namespace strict-full may have 1 HostPool, and already has that many besides this one.\n"
        "Nearest fix: delete a HostPool that is not needed, or ask for a larger quota of HostPools.\n"
    )
    plane.admin.delete(f"{path}/first")
    until(lambda: not said(), "the advice works")


def test_a_change_that_breaks_a_pool_is_refused(plane: ControlPlane) -> None:
    done = plane.kubectl("label", "node", "strict-1", f"{keys.TAG}-")
    assert done.returncode == 1
    assert (
        'admission webhook "nodes.placement.streams.ibm.com" denied the request: node strict-1 cannot be changed so: '
        "HostPool strict/tagged: its last node would lose the tag strict\n"
    ) in done.stderr


def test_so_is_a_deletion(plane: ControlPlane) -> None:
    done = plane.kubectl("delete", "node", "strict-1")
    assert done.returncode == 1
    assert "node strict-1 cannot be deleted: HostPool strict/tagged: its last node would vanish\n" in done.stderr


def test_so_is_a_change_of_what_is_the_controllers(plane: ControlPlane) -> None:
    done = plane.kubectl("label", "node", "strict-2", f"{keys.membership(SPACE, 'tagged')}=0")
    assert done.returncode == 1
    assert f"ValidatingAdmissionPolicy '{RELEASE}-nodes'" in done.stderr


def test_a_node_can_be_drained_all_the_same(plane: ControlPlane) -> None:
    done = plane.kubectl("cordon", "strict-1")
    assert (done.returncode, done.stderr) == (
        0,
        (
            "Warning: node strict-1 is a host of HostPool strict/tagged: no new pods are scheduled to it until it is "
            "uncordoned\n"
        ),
    )
    assert plane.kubectl("uncordon", "strict-1").stderr == ""


def test_a_binding_that_gets_round_a_pool_is_refused(admin: Api) -> None:
    answer = until(lambda: (said := bind(admin, "strict-2")).code == 403 and said, "the pod that waits is known", 60)
    assert answer.message == (
        'admission webhook "bindings.placement.streams.ibm.com" denied the request: pod pe-0 cannot be bound: '
        "node strict-2 does not meet the pod's node selector or required node affinity"
    )


def test_one_onto_a_host_of_the_pool_is_not(admin: Api) -> None:
    uid = admin.get(f"{PODS}/pe-0")["metadata"]["uid"]
    assert bind(admin, "strict-1", "", uid=uid).code == 201
    assert admin.get(f"{PODS}/pe-0")["spec"]["nodeName"] == "strict-1"
