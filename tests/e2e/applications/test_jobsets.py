"""JobSets with their real controller: it makes the pods that the product expects, and none of what was refused."""

import json
from typing import Any, Final

import pytest

from tests.e2e.applications.expected_pods import SECONDS, as_expected, pods_of, running
from tests.e2e.applications.jobset_controller import JOBSETS
from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import emptied, is_ready, namespace
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded

pytestmark = pytest.mark.usefixtures("jobsets")

KIND: Final = application_kinds()["jobset.x-k8s.io", "JobSet"]
APART: Final = 'hostExlocation("sets")'


def part(name: str, pods: int, placement: str = APART, cpu: str = "1", **more: Any) -> Object:
    """A replicated Job of so many pods."""
    replicas = more.pop("replicas", 1)
    metadata = {
        "labels": {"streams.ibm.com/job": "sets", "team": "blue"},
        "annotations": {"streams.ibm.com/placement": placement, "example.com/note": name},
    }
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    template = {"metadata": metadata if placement else {}, "spec": {"containers": [container]}}
    job = {"parallelism": pods, "completions": pods, "template": template}
    return {"name": name, "replicas": replicas, "template": {"spec": job}, **more}


def jobset(space: str, *parts: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "set", "namespace": space},
        "spec": {"replicatedJobs": list(parts), **spec},
    }


def test_one_that_fits_runs_with_the_pods_that_were_expected(admin: Api, plane: ControlPlane, space: str) -> None:
    assert "Warning" not in applied(plane, jobset(space, part("workers", 1, replicas=2), part("driver", 2, cpu="2")))
    made = running(admin, space, 4)
    assert len({one["spec"]["nodeName"] for one in made}) == 4
    stored = admin.get(f"{JOBSETS}/namespaces/{space}/jobsets/set")
    as_expected(admin, made, expanded(KIND, stored))


def test_one_that_does_not_fit_is_refused_and_no_pod_is_made(admin: Api, plane: ControlPlane, space: str) -> None:
    said = refusal(plane, jobset(space, part("workers", 2, replicas=2), part("driver", 1)), hook="applications")
    assert said.startswith(f"{APART} cannot hold: 4 of 5 pods fit (job workers, job driver).")
    beside = applied_beside(plane, admin, space)
    running(admin, beside, 1)
    assert admin.find(f"{JOBSETS}/namespaces/{space}/jobsets/set") is None
    assert pods_of(admin, space) == []
    assert admin.get(f"/apis/batch/v1/namespaces/{space}/jobs")["items"] == []
    emptied(admin, beside)


def applied_beside(plane: ControlPlane, admin: Api, space: str) -> str:
    """Where another JobSet is, which tells that the controller has worked since."""
    beside = namespace(admin, f"{space}-beside"[:63])
    applied(plane, jobset(beside, part("only", 1)))
    return beside


def test_what_starts_later_need_not_fit_beside_the_rest(admin: Api, plane: ControlPlane, space: str) -> None:
    loads = part("load", 3)
    works = part("work", 4, dependsOn=[{"name": "load", "status": "Complete"}])
    assert "Warning" not in applied(plane, jobset(space, loads, works))
    running(admin, space, 3)
    stored = admin.get(f"{JOBSETS}/namespaces/{space}/jobsets/set")
    assert {one.name: (one.count, one.apart) for one in expanded(KIND, stored).components} == {
        "job load": (3, False),
        "job work": (4, True),
    }
    for one in pods_of(admin, space):
        admin.patch(f"/api/v1/namespaces/{space}/pods/{one['metadata']['name']}/status", {"status": ENDED})
    until(lambda: sum(map(is_ready, pods_of(admin, space))) == 4, "the four run after the three", SECONDS)


ENDED: Final = {"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False"}]}


def test_a_suspended_one_is_stored_and_makes_none(plane: ControlPlane, space: str) -> None:
    said = applied(plane, jobset(space, part("workers", 5), suspend=True))
    assert "Warning: not yet: " in said
    assert json.loads(plane.kubectl("get", "pods", "-n", space, "-o", "json").stdout)["items"] == []
