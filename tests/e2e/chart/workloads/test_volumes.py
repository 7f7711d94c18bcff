"""Volumes on the real plane: what is refused would never have run, and what is admitted runs where its volume is."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, of_kind, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, emptied, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "volumes"
HOSTNAME: Final = "kubernetes.io/hostname"
SECONDS: Final = 60
CLAIM: Final = "PersistentVolumeClaim {}"


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """A namespace, and a class of volumes that are chosen with the node of the pod."""
    admin = plane.admin
    namespace(admin, SPACE)
    for name, provisioner, topologies in (
        ("by-hand", "kubernetes.io/no-provisioner", None),
        ("on-node-2", "example.com/disks", [{"matchLabelExpressions": [{"key": HOSTNAME, "values": ["node-2"]}]}]),
    ):
        found = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
        topology = {"allowedTopologies": topologies} if topologies else {}
        admin.create({**found, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer", **topology})
    yield
    emptied(admin, SPACE)
    for name in ("by-hand", "on-node-2"):
        admin.delete(f"/apis/storage.k8s.io/v1/storageclasses/{name}")


def bound(admin: Api, name: str, node: str) -> str:
    """A claim that is bound to a local volume of the node."""
    terms = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}]
    spec: Object = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "by-hand",
        "local": {"path": "/x"},
        "claimRef": {"name": name, "namespace": SPACE},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }
    admin.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"of-{name}"}, "spec": spec})
    claimed(admin, name, "by-hand", volumeName=f"of-{name}")
    path = f"/api/v1/namespaces/{SPACE}/persistentvolumeclaims/{name}"
    until(lambda: admin.get(path)["status"].get("phase") == "Bound", "the claim is bound", SECONDS)
    return name


def claimed(admin: Api, name: str, storage_class: str, **spec: Any) -> str:
    """A claim of that class."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": name, "namespace": SPACE}
    found = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta}
    admin.create({**found, "spec": {**wanted, "storageClassName": storage_class, **spec}})
    return name


def using(claim: str, **tweaks: Any) -> Object:
    return pod_spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}], **tweaks)


def placed(text: str | None = None, job: str = "volumes") -> dict[str, Any]:
    annotations = {} if text is None else {"streams.ibm.com/placement": text}
    return {"labels": {"streams.ibm.com/job": job}, "annotations": annotations}


def node_of(admin: Api, name: str) -> str:
    found = admin.find(f"/api/v1/namespaces/{SPACE}/pods/{name}")
    return str(found["spec"].get("nodeName", "")) if found else ""


def streams_job(name: str, claim: str, host: str) -> Object:
    operators = [{"name": "A", "placement": f'host("{host}")'}]
    element = {"name": f"{name}-0", "operators": operators, "template": {"spec": using(claim)}}
    meta = {"name": name, "namespace": SPACE}
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {"processingElements": [element]},
    }


def stateful_set(name: str, replicas: int, placement: str | None = None) -> Object:
    """A StatefulSet with a claim of its own for each pod."""
    found = of_kind("StatefulSet", deployment(name, SPACE, replicas, **placed(placement, name)), replicas=replicas)
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"metadata": {"name": "data"}, "spec": {**wanted, "storageClassName": "by-hand"}}
    found["spec"] |= {"volumeClaimTemplates": [template], "serviceName": name, "podManagementPolicy": "Parallel"}
    return found


def contrary(claim: str, others: str = "2 nodes are") -> str:
    clause = CLAIM.format(claim)
    return (
        f'host("node-3") and {clause} cannot both hold: 0 of 3 nodes can run this pod.\n'
        f"  {others} not named node-3\n"
        f"  1 node cannot use {clause}\n"
        'Nearest fix: drop host("node-3") (1 node would fit).\n'
    )


def test_a_pod_for_another_node_than_that_of_its_volume_is_refused(admin: Api, plane: ControlPlane) -> None:
    claim = bound(admin, "local", "node-1")
    assert refusal(plane, pod("elsewhere", SPACE, using(claim), **placed('host("node-3")')), hook="pods") == (
        contrary(claim)
    )
    applied(plane, pod("there", SPACE, using(claim), **placed('host("node-1")')))
    until(lambda: node_of(admin, "there") == "node-1", "it runs where its volume is", SECONDS)


def test_so_is_a_job(admin: Api, plane: ControlPlane) -> None:
    claim = bound(admin, "of-job", "node-1")
    found = refusal(plane, streams_job("elsewhere", claim, "node-3"), hook="jobs")
    assert found == f"processing element elsewhere-0: {contrary(claim)}"
    applied(plane, streams_job("there", claim, "node-1"))
    until(lambda: node_of(admin, "there-0-1") == "node-1", "it runs where its volume is", SECONDS)


def test_so_is_a_deployment(admin: Api, plane: ControlPlane) -> None:
    claim = bound(admin, "of-deployment", "node-1")
    found = deployment("elsewhere", SPACE, spec=using(claim), **placed('host("node-3")', "deployed"))
    assert refusal(plane, found) == contrary(claim)


def test_a_claim_that_there_is_not_yet_is_waited_for(admin: Api, plane: ControlPlane) -> None:
    said = applied(plane, pod("early", SPACE, using("late"), **placed()))
    assert f"Warning: {CLAIM.format('late')}: this claim does not exist; the pod waits for it" in said
    bound(admin, "late", "node-2")
    until(lambda: node_of(admin, "early") == "node-2", "it runs once its claim is there", SECONDS)


def test_a_volume_that_its_class_makes_elsewhere_is_refused(admin: Api, plane: ControlPlane) -> None:
    claim = claimed(admin, "made", "on-node-2")
    found = pod("not-made", SPACE, using(claim), **placed('host("node-3")'))
    assert refusal(plane, found, hook="pods") == contrary(claim)


def test_a_class_without_a_provisioner_is_warned_of(admin: Api, plane: ControlPlane) -> None:
    claim = claimed(admin, "static", "by-hand")
    said = applied(plane, pod("static", SPACE, using(claim), **placed()))
    assert (
        f"Warning: {CLAIM.format(claim)}: it is not bound yet; which nodes have a volume for it is not judged" in said
    )


def test_a_stateful_set_is_tied_to_the_volumes_that_its_pods_have(admin: Api, plane: ControlPlane) -> None:
    for at in range(2):
        bound(admin, f"data-db-{at}", "node-1")
    assert refusal(plane, stateful_set("db", 2, 'hostExlocation("a")')) == (
        'volumes of db-0, db-1 and hostExlocation("a") cannot both hold: '
        "the nodes of these volumes have room for 1 of 2 pods.\n"
        'Nearest fix: drop hostExlocation("a"), or delete claims that can be recreated elsewhere.\n'
    )
    applied(plane, stateful_set("db", 2))
    until(lambda: {node_of(admin, f"db-{at}") for at in range(2)} == {"node-1"}, "both run there", SECONDS)


def test_a_stateful_set_with_volumes_of_several_nodes_runs_apart(admin: Api, plane: ControlPlane) -> None:
    for at in range(2):
        bound(admin, f"data-apart-{at}", f"node-{at + 2}")
    applied(plane, stateful_set("apart", 2, 'hostExlocation("a")'))
    until(
        lambda: [node_of(admin, f"apart-{at}") for at in range(2)] == ["node-2", "node-3"], "each runs there", SECONDS
    )
