"""Devices of dynamic resource allocation: pods that request them by a DeviceClass or a claim run, with a warning."""

import http
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.api import Api, Object
from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, emptied, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "devices"
GPU: Final = "gpus.example.org/gpu"
CLASS: Final = "gpus.example.org"
IMPLICIT: Final = f"deviceclass.resource.kubernetes.io/{CLASS}"
SECONDS: Final = 60
UNJUDGED: Final = f"devices of DeviceClass {CLASS} are not judged; without free ones the pod waits"


@pytest.fixture(scope="module", autouse=True)
def _devices(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """A class of devices that node-2 has ten of."""
    admin = plane.admin
    namespace(admin, SPACE)
    version = "resource.k8s.io/v1"
    selectors = [{"cel": {"expression": f"device.driver == '{CLASS}'"}}]
    spec: Object = {"selectors": selectors, "extendedResourceName": GPU}
    admin.create({"apiVersion": version, "kind": "DeviceClass", "metadata": {"name": CLASS}, "spec": spec})
    pool = {"name": "node-2", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": CLASS, "nodeName": "node-2", "pool": pool, "devices": [{"name": f"gpu-{at}"} for at in range(10)]}
    admin.create({"apiVersion": version, "kind": "ResourceSlice", "metadata": {"name": "node-2"}, "spec": spec})
    until(lambda: known(plane), "the webhook knows the class", SECONDS)
    yield
    emptied(admin, SPACE)
    for path in (f"deviceclasses/{CLASS}", "resourceslices/node-2"):
        admin.delete(f"/apis/{version}/{path}")


def known(plane: ControlPlane) -> bool:
    """Whether the webhook knows what the class maps."""
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    return plane.admin.send("POST", path, asking("probe", GPU)).code == http.HTTPStatus.CREATED


def asking(name: str, resource: str, **annotations: str) -> Object:
    """A pod of a job that requests one of the devices."""
    both = {resource: "1"}
    spec = pod_spec()
    spec["containers"][0]["resources"] = {"requests": both, "limits": both}
    return pod(name, SPACE, spec, **of_job(annotations))


def of_job(annotations: dict[str, str]) -> dict[str, Any]:
    return {"labels": {"streams.ibm.com/job": "devices"}, "annotations": annotations}


def node_of(admin: Api, name: str) -> str:
    return str(admin.get(f"/api/v1/namespaces/{SPACE}/pods/{name}")["spec"].get("nodeName", ""))


@pytest.mark.parametrize(("name", "resource"), [("named", GPU), ("implicit", IMPLICIT)])
def test_a_pod_that_requests_a_device_by_a_resource_runs(
    admin: Api, plane: ControlPlane, name: str, resource: str
) -> None:
    assert f"Warning: {resource}: {UNJUDGED}" in applied(plane, asking(name, resource))
    until(lambda: node_of(admin, name) == "node-2", "it runs where the devices are", SECONDS)


def test_so_does_one_that_names_its_node(admin: Api, plane: ControlPlane) -> None:
    annotations = {"streams.ibm.com/placement": 'host("node-2")'}
    applied(plane, asking("placed", GPU, **annotations))
    until(lambda: node_of(admin, "placed") == "node-2", "it runs where the devices are", SECONDS)


def test_so_do_the_pods_of_a_deployment(plane: ControlPlane) -> None:
    found = deployment("deployed", SPACE, 2, spec=asking("any", GPU)["spec"], **of_job({}))
    assert f"Warning: {GPU}: {UNJUDGED}" in applied(plane, found)


def test_so_does_a_pod_given_its_device_by_a_requirement(admin: Api, plane: ControlPlane) -> None:
    required = {"streams.ibm.com/hpa-requirements": f"[{{name: {GPU}, limits: 1}}]"}
    applied(plane, pod("required", SPACE, **of_job(required)))
    until(lambda: node_of(admin, "required") == "node-2", "it runs where the devices are", SECONDS)


def test_a_job_that_requests_devices_is_not_refused(admin: Api, plane: ControlPlane) -> None:
    template = {"spec": asking("any", GPU)["spec"]}
    found = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "devices", "namespace": SPACE},
        "spec": {"processingElements": [{"name": "devices-0", "template": template}]},
    }
    assert f"Warning: processing element devices-0: {GPU}: {UNJUDGED}" in applied(plane, found)
    admin.delete(f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamsjobs/devices")


def test_a_claim_that_no_device_meets_is_warned_of(plane: ControlPlane) -> None:
    spec = pod_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "missing"}])
    said = applied(plane, pod("claiming", SPACE, spec, **of_job({})))
    assert "ResourceClaims are not judged; the pod waits until devices that meet them are free" in said


def test_a_resource_of_no_class_is_refused(plane: ControlPlane) -> None:
    assert refusal(plane, asking("none", "gpus.example.org/other"), hook="pods").startswith(
        "requests gpus.example.org/other 1 cannot hold: 0 of 3 nodes can run this pod."
    )
