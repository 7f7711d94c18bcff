"""The subresource ``scale`` of applications: more pods than fit are a warning, whoever scales."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.chart.placement_pods import ready_pods
from tests.e2e.chart.reviews.test_outage import DEPLOYMENT
from tests.e2e.client.api import MERGE, Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

GROUP: Final = "leaderworkerset.x-k8s.io"
SPACE: Final = "scales"
SETS: Final = f"/apis/{GROUP}/v1/namespaces/{SPACE}/leaderworkersets"
WAIT: Final = "not all of the pods can run now, so some of them wait: "
APART: Final = 'hostExlocation("serve") cannot hold: 4 of 6 pods fit (leader, worker).'
SECONDS: Final = 60

DEFINITION: Final = open_definition(
    GROUP,
    "LeaderWorkerSet",
    "v1",
    approved="unapproved, for a test",
    subresources={
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    },
)


def leaders(name: str, replicas: int, placement: str = 'hostExlocation("serve")') -> Object:
    """So many groups of a leader and a worker."""
    metadata: dict[str, Any] = {}
    if placement:
        metadata = {
            "labels": {"streams.ibm.com/job": name},
            "annotations": {"streams.ibm.com/placement": placement},
        }
    template = {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }


@pytest.fixture(scope="module", autouse=True)
def _served(plane: ControlPlane, installed: Kubelet) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)
    plane.admin.create(DEFINITION)
    until(lambda: plane.admin.send("GET", SETS).code == 200, "the kind is served", SECONDS)
    until(lambda: asked(plane.admin) == 403, "it is judged", SECONDS)


def asked(api: Api) -> int:
    """The code of the answer to a set that does not fit."""
    return api.send("POST", f"{SETS}?dryRun=All", leaders("probe", 9)).code


@pytest.fixture
def serve(plane: ControlPlane) -> Iterator[str]:
    """A set of one group that was judged."""
    applied(plane, leaders("serve", 1))
    yield "serve"
    plane.admin.delete(f"{SETS}/serve")


def scaled(api: Api, name: str, replicas: int) -> Answer:
    change = {"spec": {"replicas": replicas}}
    return api.send("PATCH", f"{SETS}/{name}/scale", change, content=MERGE)


def test_kubectl_scale_warns_of_pods_that_will_wait(plane: ControlPlane, serve: str) -> None:
    done = plane.kubectl("scale", f"leaderworkerset/{serve}", "--replicas=3", "--namespace", SPACE)
    assert done.returncode == 0
    assert f"Warning: {WAIT}{APART}" in done.stderr
    assert plane.admin.get(f"{SETS}/{serve}")["spec"]["replicas"] == 3


def test_what_fits_and_what_shrinks_is_not_warned_of(plane: ControlPlane, serve: str) -> None:
    for replicas in (2, 1):
        answer = scaled(plane.admin, serve, replicas)
        assert (answer.code, answer.warnings) == (200, ())


def test_a_change_of_the_object_itself_is_refused(plane: ControlPlane, serve: str) -> None:
    assert refusal(plane, leaders(serve, 3), hook="applications").startswith(APART)
    assert plane.admin.get(f"{SETS}/{serve}")["spec"]["replicas"] == 1


def test_one_that_asks_for_nothing_is_scaled_without_a_word(plane: ControlPlane) -> None:
    applied(plane, leaders("plain", 1, ""))
    answer = scaled(plane.admin, "plain", 99)
    assert (answer.code, answer.warnings) == (200, ())


def test_without_a_running_webhook_it_is_scaled_without_a_warning(plane: ControlPlane, serve: str) -> None:
    plane.admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 0}})
    try:
        until(lambda: not ready_pods(plane.admin), "nobody is ready", SECONDS)
        until(lambda: asked(plane.admin) == 500, "nobody answers", SECONDS)
        answer = scaled(plane.admin, serve, 3)
        assert (answer.code, answer.warnings) == (200, ())
    finally:
        plane.admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 2}})
        until(lambda: len(ready_pods(plane.admin)) == 2, "they are back", SECONDS)
        until(lambda: asked(plane.admin) == 403, "they answer", SECONDS)
