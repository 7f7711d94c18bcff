"""With ``provisioningRequests`` the controller asks the cluster autoscaler, whose part the test plays."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "asking"
JOB: Final = f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamsjobs/app"
REQUESTS: Final = f"/apis/autoscaling.x-k8s.io/v1/namespaces/{SPACE}/provisioningrequests"
TEMPLATES: Final = f"/api/v1/namespaces/{SPACE}/podtemplates"
SECONDS: Final = 60
DEFINITIONS: Final = (
    open_definition("karpenter.sh", "NodePool", "v1", scope="Cluster"),
    open_definition("autoscaling.x-k8s.io", "ProvisioningRequest", "v1"),
)
POOL: Final[Object] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "fast"},
    "spec": {"template": {"spec": {"requirements": [{"key": "disktype", "operator": "In", "values": ["nvme"]}]}}},
}


@pytest.fixture(scope="module", autouse=True)
def _asking(upgraded: Upgraded, plane: ControlPlane) -> Iterator[None]:
    """A NodePool, ProvisioningRequests, and the chart with both settings."""
    namespace(plane.admin, SPACE)
    for definition in DEFINITIONS:
        plane.admin.create(definition)
    until(
        lambda: plane.kubectl("apply", "--filename", "-", stdin=json.dumps(POOL)).returncode == 0, "NodePools", SECONDS
    )
    upgraded({"settings": {"scaleUp": "auto", "provisioningRequests": True}})
    yield
    plane.admin.delete(JOB)
    until(lambda: not listed(plane.admin, TEMPLATES), "its templates are gone", SECONDS)
    for definition in DEFINITIONS:
        name = definition["metadata"]["name"]
        plane.admin.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")


def listed(admin: Api, path: str) -> list[Object]:
    found: list[Object] = admin.get(path)["items"]
    return found


def capacity(admin: Api) -> tuple[str, str, str]:
    conditions: list[Any] = (admin.get(JOB).get("status") or {}).get("conditions") or []
    return next(
        ((one["status"], one["reason"], one["message"]) for one in conditions if one["type"] == "CapacityFound"),
        ("", "", ""),
    )


def test_the_answer_of_the_autoscaler_is_in_the_status_of_the_job(plane: ControlPlane, admin: Api) -> None:
    placement = 'hostExlocation("apart")'
    container = {"name": "main", "image": "registry.example.com/app:1", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"nodeSelector": {"disktype": "nvme"}, "containers": [container]}}
    elements = [{"operators": [{"name": name, "placement": placement}], "template": template} for name in "AB"]
    job = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": "app", "namespace": SPACE},
        "spec": {"bundle": {"name": "app.sab"}, "processingElements": elements},
    }
    until(lambda: plane.kubectl("apply", "--filename", "-", stdin=json.dumps(job)).returncode == 0, "the Job", SECONDS)
    until(lambda: capacity(admin)[2].startswith("the cluster autoscaler is asked for room for 2 pods"), "ask", SECONDS)
    (request,) = listed(admin, REQUESTS)
    (found,) = listed(admin, TEMPLATES)
    assert request["spec"]["podSets"] == [{"count": 2, "podTemplateRef": {"name": found["metadata"]["name"]}}]
    assert found["template"]["spec"]["nodeSelector"] == {"disktype": "nvme"}
    # With the labels that only the webhook writes, others may make no such template.
    other = {**found, "metadata": {"name": "other", "namespace": SPACE}}
    refused = plane.kubectl("create", "--filename", "-", stdin=json.dumps({**other, **_POD_TEMPLATE}))
    assert "only the webhook writes this label" in refused.stderr
    answer = {"type": "Provisioned", "status": "True", "reason": "CapacityIsFound", "message": "found"}
    name = request["metadata"]["name"]
    admin.patch(f"{REQUESTS}/{name}", {"status": {"conditions": [answer]}})
    until(lambda: capacity(admin)[:2] == ("True", "CapacityFound"), "an answer", SECONDS)
    until(lambda: not listed(admin, REQUESTS), "the request is gone", SECONDS)


_POD_TEMPLATE: Final = {"apiVersion": "v1", "kind": "PodTemplate"}
