"""What somebody can do who has the controller's token: what the controller does, and nothing else."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import STRATEGIC, Api, Object
from tests.e2e.controller.rights import ACCOUNT
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import emptied, namespace, pod, pod_spec
from webhook.placement.text.keys import EXCLUSIVE, JOB, PE, membership
from webhook.placement.text.keys import exclusive as exclusive_value

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "stolen"
ONLY: Final = "the controller of Jobs may only create pods of ProcessingElements, outside excluded namespaces"
OBJECTS: Final = "the controller of Jobs may only create objects that belong to a Job, outside excluded namespaces"
DELETES: Final = "the controller of Jobs may only delete pods of ProcessingElements"
LABELS: Final = {JOB: "j", PE: "e"}
OWNER: Final = {
    "apiVersion": "streams.ibm.com/v1",
    "kind": "ProcessingElement",
    "name": "e",
    "uid": "0",
    "controller": True,
}


@pytest.fixture(scope="module")
def thief(plane: ControlPlane, installed: object) -> Iterator[Api]:  # noqa: ARG001 -- after it
    """Whoever has its token."""
    namespace(plane.admin, SPACE)
    plane.admin.create(pod("there", SPACE))
    yield plane.api(ACCOUNT)
    emptied(plane.admin, SPACE)


def made(space: str = SPACE, **metadata: Any) -> Object:
    return pod("p", space, pod_spec(), **metadata)


ELSE: Final[dict[str, Object]] = {
    "a pod of nobody": made(),
    "a pod of a ReplicaSet": made(ownerReferences=[{**OWNER, "apiVersion": "apps/v1", "kind": "ReplicaSet"}]),
    "a pod of another group's ProcessingElement": made(
        labels=LABELS, ownerReferences=[{**OWNER, "apiVersion": "example.com/v1"}]
    ),
    "a pod that a ProcessingElement owns without controlling it": made(
        labels=LABELS, ownerReferences=[{**OWNER, "controller": False}]
    ),
    "a pod of an element without a job": made(labels={PE: "e"}, ownerReferences=[OWNER]),
    "a pod of another element": made(labels={**LABELS, PE: "x"}, ownerReferences=[OWNER]),
    "a pod of two owners": made(labels=LABELS, ownerReferences=[OWNER, {**OWNER, "name": "f", "controller": False}]),
}


@pytest.mark.parametrize("found", ELSE.values(), ids=ELSE)
def test_no_other_pod_is_made_with_it(thief: Api, found: Object) -> None:
    answer = thief.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", found)
    assert (answer.code, answer.message) == (403, by_policy('pods "p"', "created", ONLY))


@pytest.mark.parametrize("space", ["kube-system", NAMESPACE])
def test_none_is_made_where_the_product_has_no_business(thief: Api, space: str) -> None:
    found = made(space, labels=LABELS, ownerReferences=[OWNER])
    answer = thief.send("POST", f"/api/v1/namespaces/{space}/pods?dryRun=All", found)
    assert answer.code == 403
    assert ONLY in answer.message


def test_a_pod_of_an_element_is_made(thief: Api) -> None:
    found = made(labels=LABELS, ownerReferences=[OWNER])
    answer = thief.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", found)
    assert answer.code == 201, answer.message


def test_no_other_pod_is_deleted(thief: Api) -> None:
    answer = thief.send("DELETE", f"/api/v1/namespaces/{SPACE}/pods/there?dryRun=All")
    assert (answer.code, answer.message) == (403, by_policy('pods "there"', "objects", DELETES))


def ours(kind: str, spec: Object) -> Object:
    return {"apiVersion": "streams.ibm.com/v1", "kind": kind, "spec": spec}


JOB_OWNER: Final = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "name": "j", "uid": "0", "controller": True}
TEMPLATE: Final = {"spec": {"containers": [{"name": "c", "image": "i"}]}}


MADE: Final = {
    "streamspes": ours("ProcessingElement", {"job": "j", "template": TEMPLATE}),
    "streamshostpools": ours("HostPool", {"size": 1, "job": "j"}),
    "streamsparallelregions": ours("ParallelRegion", {"job": "j", "region": "r", "width": 1}),
}


@pytest.mark.parametrize("plural", MADE)
@pytest.mark.parametrize(
    ("space", "owners", "code"),
    [
        pytest.param(SPACE, [], 403, id="of nobody"),
        pytest.param(SPACE, [{**JOB_OWNER, "name": "k"}], 403, id="of another Job"),
        pytest.param(SPACE, [{**JOB_OWNER, "apiVersion": "batch/v1"}], 403, id="of a batch Job"),
        pytest.param("kube-system", [JOB_OWNER], 403, id="where the product has no business"),
        pytest.param(SPACE, [JOB_OWNER], 201, id="of its Job"),
    ],
)
def test_elements_and_pools_are_those_of_a_job(
    thief: Api, plural: str, space: str, owners: list[Object], code: int
) -> None:
    found = {**MADE[plural], "metadata": {"name": "x", "ownerReferences": owners}}
    answer = thief.send("POST", f"/apis/streams.ibm.com/v1/namespaces/{space}/{plural}?dryRun=All", found)
    assert (answer.code, OBJECTS in answer.message) == (code, code == 403), answer.message


# Nodes

MEMBER: Final = membership("default", "p")
TAINT: Final = {"key": EXCLUSIVE, "value": exclusive_value("default", "p"), "effect": "NoSchedule"}
NODE: Final = "/api/v1/nodes/node-7?dryRun=All"
HOSTS: Final = (
    "spec.taints: the controller of HostPools may only taint hosts of a pool, with the effect NoSchedule "
    "(setting exclusiveEffect)"
)
POOLABLE: Final = "the controller of HostPools may only assign poolable nodes to pools (setting poolableNodes)"


def test_no_pod_is_evicted_by_a_taint(thief: Api) -> None:
    change = {"metadata": {"labels": {MEMBER: "0"}}, "spec": {"taints": [{**TAINT, "effect": "NoExecute"}]}}
    answer = thief.send("PATCH", NODE, change, content=STRATEGIC)
    assert (answer.code, answer.message) == (403, by_policy('nodes "node-7"', "controller", HOSTS))


def test_only_nodes_of_a_pool_are_closed(thief: Api) -> None:
    answer = thief.send("PATCH", NODE, {"spec": {"taints": [TAINT]}}, content=STRATEGIC)
    assert (answer.code, answer.message) == (403, by_policy('nodes "node-7"', "controller", HOSTS))


@pytest.mark.parametrize("taints", [[], [TAINT]], ids=["shared", "exclusive"])
def test_no_node_is_given_that_may_not_be_pooled(thief: Api, admin: Api, taints: list[Object]) -> None:
    plane = {"node-role.kubernetes.io/control-plane": ""}
    path = NODE.partition("?")[0]
    admin.patch(path, {"metadata": {"labels": plane}})
    try:
        change = {"metadata": {"labels": {MEMBER: "0"}}, "spec": {"taints": taints}}
        answer = thief.send("PATCH", NODE, change, content=STRATEGIC)
    finally:
        admin.patch(path, {"metadata": {"labels": dict.fromkeys(plane)}})
    assert (answer.code, answer.message) == (403, by_policy('nodes "node-7"', "controller", POOLABLE))
