"""The warnings and refusals that kubectl shows for a change of a node that breaks a HostPool."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking, reviews
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import MERGE, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, delete_nodes, node
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod_spec
from webhook.placement.text import keys

pytestmark = pytest.mark.usefixtures("guarded")

SPACE: Final = "guarded"
POOLS: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools"
HOST: Final = "guarded-1"
LAST: Final = "guarded-2"
MEMBER: Final = keys.membership(SPACE, "sized")


@pytest.fixture(scope="module")
def guarded(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """A pool with a host, one with a last node, and a processing element there."""
    admin = plane.admin
    namespace(admin, SPACE)
    names = create_nodes(admin, [node(HOST, {keys.TAG: "sized"}), node(LAST, {keys.TAG: "last"})])
    admin.call("POST", POOLS, pool("sized", size=1, tags=["sized"]))
    admin.call("POST", POOLS, pool("last", tags=["last"]))
    host = {"index": 0, "name": HOST, "uid": admin.get(f"/api/v1/nodes/{HOST}")["metadata"]["uid"]}
    admin.patch(f"{POOLS}/sized/status", {"status": {"phase": "Ready", "hosts": [host]}})
    labels = {keys.JOB: "j", keys.PE: "pe-0"}
    until(lambda: admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", there(labels)).code == 201, "known")
    admin.create(there(labels))
    until(lambda: "1 of its pods" in said(plane, "label", "node", LAST, f"{keys.TAG}-"), "the pod is known", 60)
    until(lambda: "its host 0" in said(plane, "label", "node", HOST, f"{keys.TAG}-"), "the host is known", 60)
    yield
    admin.delete(f"/api/v1/namespaces/{SPACE}/pods/pe-0", gracePeriodSeconds="0")
    admin.delete(POOLS)
    delete_nodes(admin, names)


def pool(name: str, **spec: object) -> Object:
    metadata = {"name": name, "namespace": SPACE}
    return {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": metadata, "spec": spec}


def there(labels: dict[str, str]) -> Object:
    return asking("pe-0", SPACE, "host(last)", pod_spec(), labels=labels)


def said(plane: ControlPlane, *words: str) -> str:
    """What kubectl warns of; nothing is changed."""
    done = plane.kubectl(*words, "--dry-run=server")
    assert done.returncode == 0, done.stderr
    return done.stderr


CHANGES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "a tag is taken from a host": (
        ("label", "node", HOST, f"{keys.TAG}-"),
        "Warning: HostPool guarded/sized: its host 0 would lose the tag sized\n",
    ),
    "the last node of a pool loses its tag": (
        ("label", "node", LAST, f"{keys.TAG}=other", "--overwrite"),
        "Warning: HostPool guarded/last: its last node would lose the tag last; 1 of its pods runs there\n",
    ),
    "a host is tainted": (
        ("taint", "node", HOST, "dedicated=infra:NoSchedule"),
        "Warning: HostPool guarded/sized: its host 0 would get the taint dedicated=infra:NoSchedule\n",
    ),
    "a host is deleted": (
        ("delete", "node", HOST),
        "Warning: HostPool guarded/sized: its host 0 would vanish\n",
    ),
    "a node is deleted where an element runs": (
        ("delete", "node", LAST),
        (
            "Warning: HostPool guarded/last: its last node would vanish; 1 of its pods runs there\n"
            "Warning: 1 processing element runs there\n"
        ),
    ),
    "a host is cordoned, as a drain begins": (
        ("cordon", HOST),
        (
            "Warning: node guarded-1 is a host of HostPool guarded/sized: "
            "no new pods are scheduled to it until it is uncordoned\n"
        ),
    ),
    "a label of the controller's is changed": (
        ("label", "node", HOST, f"{MEMBER}=7", "--overwrite"),
        (
            f"Warning: Validation failed for ValidatingAdmissionPolicy '{RELEASE}-nodes' with binding "
            f"'{RELEASE}-nodes': metadata.labels[{MEMBER}]: says which HostPool the node belongs to; "
            "only the controller of HostPools should change it\n"
        ),
    ),
    "other labels are changed": (("label", "node", HOST, "example.com/x=y"), ""),
    "another node is deleted": (("delete", "node", "node-1"), ""),
}


@pytest.mark.parametrize(("words", "warned"), CHANGES.values(), ids=CHANGES.keys())
def test_whoever_changes_a_node_is_told_when(plane: ControlPlane, words: tuple[str, ...], warned: str) -> None:
    assert said(plane, *words) == warned


def test_a_new_node_with_a_label_of_the_controllers_is_told_of(admin: Api) -> None:
    made = node("forged", {MEMBER: "0"})
    [warning] = admin.call("POST", "/api/v1/nodes?dryRun=All", made).warnings
    assert f"metadata.labels[{MEMBER}]: says which HostPool the node belongs to" in warning


def test_changes_by_the_controller_of_host_pools_are_not_reviewed(plane: ControlPlane) -> None:
    taint = {"key": keys.EXCLUSIVE, "value": keys.exclusive(SPACE, "sized"), "effect": "NoSchedule"}
    before = reviews(plane.admin)
    answer = plane.api(f"{NAMESPACE}/{RELEASE}-controller").call(
        "PATCH", f"/api/v1/nodes/{HOST}?dryRun=All", {"spec": {"taints": [taint]}}, content=MERGE
    )
    assert (reviews(plane.admin), answer.warnings) == (before, ())


def test_what_a_kubelet_reports_of_its_node_is_not_reviewed(plane: ControlPlane) -> None:
    before = reviews(plane.admin)
    plane.api("node").patch("/api/v1/nodes/node-1?dryRun=All", {"metadata": {"labels": {"example.com/x": "y"}}})
    assert reviews(plane.admin) == before
