"""RayClusters with their real operator: it makes the pods that are expected, and growth beyond what fits waits."""

from typing import Any, Final

import pytest

from tests.e2e.applications.expected_pods import SECONDS, as_expected, pods_of, running
from tests.e2e.applications.kuberay_operator import RAY
from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import JSON_PATCH, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, is_ready, namespace
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("rays")]

KIND: Final = application_kinds()["ray.io", "RayCluster"]
APART: Final = 'hostExlocation("ray")'
WAITS: Final = "streams.ibm.com/waits"


def template(name: str) -> Object:
    metadata = {
        "labels": {"streams.ibm.com/job": "ray", "team": "blue"},
        "annotations": {"streams.ibm.com/placement": APART, "example.com/note": name},
    }
    resources = {"limits": {"cpu": "1", "memory": "2Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}}
    return {"metadata": metadata, "spec": {"containers": [{"name": name, "image": "i", "resources": resources}]}}


def cluster(space: str, workers: int, *, group: Object | None = None, **spec: Any) -> Object:
    small = {"groupName": "small", "replicas": workers, "rayStartParams": {}, "template": template("ray-worker")}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "demo", "namespace": space},
        "spec": {
            "rayVersion": "2.52.0",
            "headGroupSpec": {"rayStartParams": {}, "template": template("ray-head")},
            "workerGroupSpecs": [{**small, "minReplicas": 0, "maxReplicas": 9, **(group or {})}],
            **spec,
        },
    }


def path(space: str) -> str:
    return f"{RAY}/namespaces/{space}/rayclusters/demo"


@pytest.mark.parametrize(("autoscaled", "workers"), [(False, 3), (True, 2)], ids=["plain", "autoscaled"])
def test_one_that_fits_runs(admin: Api, plane: ControlPlane, space: str, *, autoscaled: bool, workers: int) -> None:
    """The sidecar of the autoscaler, and the init container of workers, are as they were expected."""
    bounds = {"minReplicas": workers, "maxReplicas": 3}
    said = applied(plane, cluster(space, workers, group=bounds, enableInTreeAutoscaling=autoscaled))
    assert "Warning" not in said
    made = running(admin, space, workers + 1)
    assert len({one["spec"]["nodeName"] for one in made}) == workers + 1
    as_expected(admin, made, expanded(KIND, admin.get(path(space))))


def test_one_that_does_not_fit_is_refused_and_no_pod_is_made(admin: Api, plane: ControlPlane, space: str) -> None:
    said = refusal(plane, cluster(space, 4), hook="applications")
    assert said.startswith(f"{APART} cannot hold: 4 of 5 pods fit (head, worker small).")
    beside = namespace(admin, f"{space}-beside")
    applied(plane, cluster(beside, 0))
    running(admin, beside, 1)  # so the operator has worked since
    assert admin.find(path(space)) is None
    assert pods_of(admin, space) == []
    emptied(admin, beside)


def test_growth_by_the_autoscaler_waits_and_breaks_nothing(admin: Api, plane: ControlPlane, space: str) -> None:
    applied(plane, cluster(space, 1, group={"minReplicas": 1}, enableInTreeAutoscaling=True))
    running(admin, space, 2)
    grow(admin, space, 3)
    first = {one["metadata"]["uid"] for one in running(admin, space, 4)}
    grow(admin, space, 5)

    def waiting() -> list[Object]:
        """Those that wait, once the operator has made all six."""
        found = pods_of(admin, space)
        return [one for one in found if WAITS in one["metadata"]["annotations"]] if len(found) == 6 else []

    until(lambda: len(waiting()) == 2, "two of six pods wait", SECONDS)
    assert first == {one["metadata"]["uid"] for one in pods_of(admin, space) if is_ready(one)}
    until(lambda: told(admin, space) >= {"Pod", "RayCluster"}, "the pod and the cluster have the Event", SECONDS)


def grow(admin: Api, space: str, workers: int) -> None:
    """As the autoscaler does it."""
    change = [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": workers}]
    admin.patch(path(space), change, content=JSON_PATCH)


def told(admin: Api, space: str) -> set[str]:
    """Kinds of the objects that have the Event of what waits."""
    events = admin.get(f"/apis/events.k8s.io/v1/namespaces/{space}/events")["items"]
    return {one["regarding"]["kind"] for one in events if one["reason"] == "PlacementWaiting"}
