"""RayCronJobs with their real operator: a run makes the pods that are expected, and a refused one never runs."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.applications.expected_pods import as_expected, pods_of, running
from tests.e2e.applications.kuberay_operator import RAY
from tests.e2e.applications.test_rayclusters import APART, cluster
from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("rays")]

KIND: Final = application_kinds()["ray.io", "RayCronJob"]
EVERY_MINUTE: Final = "* * * * *"
NEXT_RUN_SECONDS: Final = 90
"""A run begins with the next minute; the operator may be busy until then."""


def cron_job(space: str, workers: int, **spec: Any) -> Object:
    """A run every minute, of the cluster that the tests of RayClusters have."""
    job = {"entrypoint": "python x.py", "rayClusterSpec": cluster(space, workers)["spec"]}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCronJob",
        "metadata": {"name": "nightly", "namespace": space},
        "spec": {"schedule": EVERY_MINUTE, "jobTemplate": job, **spec},
    }


def path(space: str) -> str:
    return f"{RAY}/namespaces/{space}/raycronjobs/nightly"


def runs(admin: Api, space: str) -> list[Object]:
    listed: list[Object] = admin.get(f"{RAY}/namespaces/{space}/rayjobs")["items"]
    return listed


def component(pod: Object) -> str:
    """The component of a pod, by the labels of KubeRay; the submitter is a pod of a Job."""
    group = pod["metadata"]["labels"].get("ray.io/group", "")
    return {"headgroup": "head", "": "submitter"}.get(group, f"worker {group}")


@pytest.fixture
def ended(admin: Api, space: str) -> Iterator[str]:
    """The namespace of the test, whose RayJobs are deleted before the operator loses the right to finish them."""
    yield space
    admin.patch(path(space), {"spec": {"suspend": True}})
    admin.delete(f"{RAY}/namespaces/{space}/rayjobs")
    until(lambda: not runs(admin, space), "the runs are deleted", NEXT_RUN_SECONDS)


def test_a_run_has_the_pods_that_were_expected(admin: Api, plane: ControlPlane, ended: str) -> None:
    assert "Warning" not in applied(plane, cron_job(ended, 2))
    until(lambda: runs(admin, ended), "a run begins", NEXT_RUN_SECONDS)
    admin.patch(path(ended), {"spec": {"suspend": True}})
    made = running(admin, ended, 4)
    as_expected(admin, made, expanded(KIND, admin.get(path(ended))), component)
    nodes = [one["spec"]["nodeName"] for one in made if component(one) != "submitter"]
    assert len({*nodes}) == 3


def test_one_whose_run_does_not_fit_is_refused(admin: Api, plane: ControlPlane, space: str) -> None:
    said = refusal(plane, cron_job(space, 4), hook="applications")
    assert said.startswith(f"{APART} cannot hold: 4 of 5 pods fit (head, worker small).")
    assert admin.find(path(space)) is None


def test_a_suspended_one_is_stored_and_makes_none(admin: Api, plane: ControlPlane, space: str) -> None:
    assert "Warning: not yet: " in applied(plane, cron_job(space, 4, suspend=True))
    assert admin.get(path(space))["spec"]["suspend"] is True
    assert pods_of(admin, space) == []
