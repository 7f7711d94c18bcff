"""DisaggregatedSets with their real controllers: they make the pods that are expected, and none of what was refused."""

from typing import Final

import pytest

from tests.e2e.applications.expected_pods import as_expected, pods_of, running
from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.leaderworkersets.lws_controller import DISAGGREGATED, GROUPS
from tests.e2e.workloads import emptied, namespace
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded

pytestmark = pytest.mark.long

KIND: Final = application_kinds()["disaggregatedset.x-k8s.io", "DisaggregatedSet"]
APART: Final = 'hostExlocation("chat")'


def template(name: str, cpu: str) -> Object:
    metadata = {
        "labels": {"streams.ibm.com/job": "chat", "team": "blue"},
        "annotations": {"streams.ibm.com/placement": APART, "example.com/note": name},
    }
    container = {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    return {"metadata": metadata, "spec": {"containers": [container]}}


def disaggregated(space: str, decoders: int) -> Object:
    """A group of a leader and a worker, each of another template, and so many leaders alone."""
    pair = {"size": 2, "leaderTemplate": template("lead", "1"), "workerTemplate": template("work", "2")}
    alone = {"workerTemplate": template("decode", "3")}
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": "chat", "namespace": space},
        "spec": {
            "roles": [
                {"name": "prefill", "spec": {"replicas": 1, "leaderWorkerTemplate": pair}},
                {"name": "decode", "spec": {"replicas": decoders, "leaderWorkerTemplate": alone}},
            ]
        },
    }


def path(space: str) -> str:
    return f"{DISAGGREGATED}/namespaces/{space}/disaggregatedsets/chat"


def component(pod: Object) -> str:
    """The component of a pod, by the labels of its controllers."""
    labels = pod["metadata"]["labels"]
    part = "leader" if labels["leaderworkerset.sigs.k8s.io/worker-index"] == "0" else "worker"
    return f"{part} {labels['disaggregatedset.x-k8s.io/role']}"


def test_one_that_fits_runs_with_the_pods_that_were_expected(admin: Api, plane: ControlPlane, space: str) -> None:
    assert "Warning" not in applied(plane, disaggregated(space, 2))
    made = running(admin, space, 4)
    assert len({one["spec"]["nodeName"] for one in made}) == 4
    as_expected(admin, made, expanded(KIND, admin.get(path(space))), component)


def test_one_that_does_not_fit_is_refused_and_no_pod_is_made(admin: Api, plane: ControlPlane, space: str) -> None:
    said = refusal(plane, disaggregated(space, 3), hook="applications")
    assert said.startswith(f"{APART} cannot hold: 4 of 5 pods fit (leader prefill, leader decode, worker prefill).")
    beside = namespace(admin, f"{space}-beside"[:63])
    applied(plane, disaggregated(beside, 1))
    running(admin, beside, 3)  # so the controllers have worked since
    assert admin.find(path(space)) is None
    assert admin.get(f"{GROUPS}/namespaces/{space}/leaderworkersets")["items"] == []
    assert pods_of(admin, space) == []
    emptied(admin, beside)
