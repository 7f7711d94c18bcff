"""While no process answers reviews, pods that do not ask for hosts are created, and those that ask are refused."""

import time
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking, ready_pods
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.chart.reviews.test_scope import CONFIG_MAP, LEASE, READY, daemon
from tests.e2e.chart.tenant import tenant
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import pod, pod_spec

SPACE: Final = "outage"
DEPLOYMENT: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{RELEASE}"
EVERYTHING: Final = pod_spec(tolerations=[{"operator": "Exists"}])


@pytest.fixture(scope="module", autouse=True)
def user(installed: object, plane: ControlPlane) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Somebody with every right on the pods of a namespace, and none that spares him a review."""
    admin, jane = plane.admin, tenant(plane, SPACE)
    admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 0}})
    until(lambda: not ready_pods(admin), "nobody answers")
    until(lambda: admin.send("POST", PODS, asking("p", SPACE)).code == 500, "the API server sees that")
    yield jane
    admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 2}})
    until(lambda: len(ready_pods(admin)) == 2, "they are back")
    until(lambda: admin.send("POST", PODS, asking("p", SPACE)).code == 201, "they answer")


PODS: Final = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"

GO_ON: Final[dict[str, Object]] = {
    "a pod that does not ask": pod("p", SPACE),
    "a pod that tolerates everything": pod("p", SPACE, EVERYTHING),
    "a pod with a node": pod("p", SPACE, pod_spec(nodeName="node-1")),
    "a pod of a DaemonSet": daemon("p", SPACE),
    "a pod of kube-system": pod("p", "kube-system", EVERYTHING),
    "a pod of our own": pod("p", NAMESPACE, labels={"app.kubernetes.io/component": "webhook"}),
    "a node's lease": LEASE,
    "a lock of the control plane": CONFIG_MAP,
}


@pytest.mark.parametrize("thing", GO_ON.values(), ids=GO_ON.keys())
def test_requests_do_not_wait_for_the_webhook(admin: Api, user: Api, thing: Object) -> None:
    started = time.monotonic()
    (user if thing["metadata"].get("namespace") == SPACE else admin).create(thing, dryRun="All")
    assert time.monotonic() - started < 1  # a time-out would be three


def test_nodes_go_on_reporting(admin: Api) -> None:
    admin.patch("/api/v1/nodes/node-1/status?dryRun=All", READY)


def test_what_asks_is_refused_rather_than_let_run_anywhere(admin: Api) -> None:
    answer = admin.send("POST", PODS, asking("p", SPACE))
    assert answer.code == 500
    assert 'failed calling webhook "pods.placement.streams.ibm.com"' in answer.message
