"""Devices of dynamic resource allocation: pods whose requests and claims a node can meet run, others are refused."""

import datetime as dt
import http
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, emptied, namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "devices"
GPU: Final = "gpus.example.org/gpu"
CLASS: Final = "gpus.example.org"
IMPLICIT: Final = f"deviceclass.resource.kubernetes.io/{CLASS}"
VERSION: Final = "resource.k8s.io/v1"
SECONDS: Final = 60
CLAIMS: Final = f"/apis/{VERSION}/namespaces/{SPACE}/resourceclaims"
TEMPLATES: Final = f"{CLAIMS[:-1]}templates"


@pytest.fixture(scope="module", autouse=True)
def _devices(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    """A class of devices that node-2 has ten of."""
    admin = plane.admin
    namespace(admin, SPACE)
    admin.create(device_class(CLASS, CLASS, GPU))
    pool = {"name": "node-2", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{at}"} for at in range(10)]
    spec: Object = {"driver": CLASS, "nodeName": "node-2", "pool": pool, "devices": devices}
    admin.create({"apiVersion": VERSION, "kind": "ResourceSlice", "metadata": {"name": "node-2"}, "spec": spec})
    until(lambda: known(plane), "the webhook knows the class", SECONDS)
    yield
    emptied(admin, SPACE)
    for path in (f"deviceclasses/{CLASS}", "resourceslices/node-2"):
        admin.delete(f"/apis/{VERSION}/{path}")


def device_class(name: str, driver: str, resource: str) -> Object:
    """The class of all devices of the driver, which containers may request by the resource."""
    selectors = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
    spec = {"selectors": selectors, "extendedResourceName": resource}
    return {"apiVersion": VERSION, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def known(plane: ControlPlane) -> bool:
    """Whether the webhook knows what the class maps, and the devices."""
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    answer = plane.admin.send("POST", path, asking("probe", GPU))
    judged = not any("not judged" in said for said in answer.warnings)
    return answer.code == http.HTTPStatus.CREATED and judged


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
    assert "not judged" not in applied(plane, asking(name, resource))
    until(lambda: node_of(admin, name) == "node-2", "it runs where the devices are", SECONDS)


def test_of_two_classes_of_a_resource_the_newer_gives_the_device(admin: Api) -> None:
    classes = f"/apis/{VERSION}/deviceclasses"
    shared = "shared.example.org/gpu"
    older = admin.create(device_class("a.example.org", "none.example.org", shared))["metadata"]["creationTimestamp"]
    until(lambda: f"{dt.datetime.now(dt.UTC):%FT%TZ}" > older, "another second begins", SECONDS)
    admin.create(device_class("b.example.org", CLASS, shared))
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    probe = asking("probe", shared)
    until(lambda: admin.send("POST", path, probe).code == http.HTTPStatus.CREATED, "it knows the newer", SECONDS)
    admin.create(asking("shared", shared))
    until(lambda: node_of(admin, "shared") == "node-2", "it runs where the devices of the newer class are", SECONDS)
    for name in ("a.example.org", "b.example.org"):
        admin.delete(f"{classes}/{name}")


def test_so_does_one_that_names_its_node(admin: Api, plane: ControlPlane) -> None:
    annotations = {"streams.ibm.com/placement": 'host("node-2")'}
    applied(plane, asking("placed", GPU, **annotations))
    until(lambda: node_of(admin, "placed") == "node-2", "it runs where the devices are", SECONDS)


def test_so_do_the_pods_of_a_deployment(plane: ControlPlane) -> None:
    found = deployment("deployed", SPACE, 2, spec=asking("any", GPU)["spec"], **of_job({}))
    assert "not judged" not in applied(plane, found)


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
    assert "not judged" not in applied(plane, found)
    admin.delete(f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamsjobs/devices")


def test_a_claim_that_does_not_exist_is_warned_of(plane: ControlPlane) -> None:
    spec = pod_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "missing"}])
    said = applied(plane, pod("claiming", SPACE, spec, **of_job({})))
    assert "Warning: ResourceClaim missing: this claim does not exist; the pod waits for it" in said


def template(name: str, count: int) -> Object:
    """A template of claims of so many devices."""
    exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": count}
    devices = {"requests": [{"name": "gpu", "exactly": exactly}]}
    metadata = {"name": name, "namespace": SPACE}
    return {
        "apiVersion": VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"spec": {"devices": devices}},
    }


def test_a_requirement_gives_a_pod_a_claim_that_is_allocated(admin: Api, plane: ControlPlane) -> None:
    admin.create(template("one-gpu", 1))
    required = {"streams.ibm.com/hpa-requirements": "[{device: {template: one-gpu}}]"}
    found = pod("given", SPACE, **of_job(required))
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    until(
        lambda: not any("template" in said for said in admin.send("POST", path, found).warnings),
        "the webhook knows the template",
        SECONDS,
    )
    applied(plane, found)
    until(lambda: node_of(admin, "given") == "node-2", "it runs where the devices are", SECONDS)
    claims = [one for one in admin.get(CLAIMS)["items"] if one["metadata"]["name"].startswith("given-")]
    (result,) = claims[0]["status"]["allocation"]["devices"]["results"]
    assert (len(claims), result["driver"], result["pool"]) == (1, CLASS, "node-2")


def described(name: str, **device: object) -> Object:
    """A pod whose requirement describes devices of the class."""
    required = json.dumps([{"device": {"class": CLASS, **device}}])
    return pod(name, SPACE, **of_job({"streams.ibm.com/hpa-requirements": required}))


def test_described_devices_become_a_template_that_pods_share_and_claims_that_are_allocated(
    admin: Api, plane: ControlPlane
) -> None:
    names = ("described-a", "described-b")
    for name in names:
        assert "not judged" not in applied(plane, described(name, selector=f"device.driver == '{CLASS}'"))
    for name in names:
        until(lambda name=name: node_of(admin, name) == "node-2", "it runs where the devices are", SECONDS)
    claims = [one for one in admin.get(CLAIMS)["items"] if one["metadata"]["name"].startswith("described-")]
    given = [one["status"]["allocation"]["devices"]["results"][0]["device"] for one in claims]
    assert len(set(given)) == len(names)
    label = "app.kubernetes.io/managed-by=streams-placement"
    (made,) = admin.get(f"{TEMPLATES}?labelSelector={label}")["items"]
    assert made["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == CLASS


def test_described_devices_that_no_node_has_are_refused(plane: ControlPlane) -> None:
    assert refusal(plane, described("greedy-described", count=11), hook="pods").startswith(
        f"hardware 11 devices of DeviceClass {CLASS} cannot hold: 0 of 3 nodes can run this pod."
    )


def test_a_selector_that_does_not_compile_is_told_by_an_event_of_the_pod(admin: Api, plane: ControlPlane) -> None:
    said = applied(plane, described("broken", selector="device.driver =="))
    assert "cannot be evaluated here" in said
    events = f"/apis/events.k8s.io/v1/namespaces/{SPACE}/events"

    def told() -> bool:
        notes = [one["note"] for one in admin.get(events)["items"] if one.get("reason") == "DevicesNotDescribed"]
        return any("cannot be made" in note and "device.driver ==" in note for note in notes)

    until(told, "an Event quotes what the API server says", SECONDS)


def test_one_whose_claim_no_node_can_meet_is_refused(admin: Api, plane: ControlPlane) -> None:
    admin.create(template("many-gpus", 11))
    required = {"streams.ibm.com/hpa-requirements": "[{device: {template: many-gpus}}]"}
    found = pod("greedy", SPACE, **of_job(required))
    path = f"/api/v1/namespaces/{SPACE}/pods?dryRun=All"
    until(lambda: admin.send("POST", path, found).code != http.HTTPStatus.CREATED, "it knows the template", SECONDS)
    assert refusal(plane, found, hook="pods").startswith(
        "ResourceClaimTemplate many-gpus cannot hold: 0 of 3 nodes can run this pod."
    )


def test_a_resource_of_no_class_is_refused(plane: ControlPlane) -> None:
    assert refusal(plane, asking("none", "gpus.example.org/other"), hook="pods").startswith(
        "requests gpus.example.org/other 1 cannot hold: 0 of 3 nodes can run this pod."
    )
