"""TrainJobs, whose runtime the webhook reads with the rights of the chart, and Workflows, by their steps."""

from typing import Any, Final

import pytest

from tests.e2e.chart.kubectl_apply import applied, refusal
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.chart.settings.test_applications import refused_anew
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.operators.open_definition import open_definition
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "described"
TRAINER: Final = "trainer.kubeflow.org"
RUNTIMES: Final = f"/apis/{TRAINER}/v1alpha1/clustertrainingruntimes"
ARGO: Final = "argoproj.io"
OURS: Final = {
    "labels": {"streams.ibm.com/job": "j"},
    "annotations": {"streams.ibm.com/placement": 'hostExlocation("own")'},
}
SECONDS: Final = 60


def runtime(name: str) -> Object:
    own = {"spec": {"containers": [{"name": "node", "image": "i"}]}}
    trainer = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": {"metadata": trainer, "spec": {"template": own}}}]
    spec = {"mlPolicy": {"torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    return {
        "apiVersion": f"{TRAINER}/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": spec,
    }


def train(name: str, nodes: int, metadata: Object = OURS, named: str = "torch") -> Object:
    own = {"name": "node", "template": {"spec": {"template": {"metadata": metadata}}}}
    patch = {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [own]}}}}
    spec = {"runtimeRef": {"name": named}, "trainer": {"numNodes": nodes}, "runtimePatches": [patch]}
    meta = {"name": name, "namespace": SPACE}
    return {"apiVersion": f"{TRAINER}/v1alpha1", "kind": "TrainJob", "metadata": meta, "spec": spec}


def workflow(name: str, items: int, cpu: str = "100m", **spec: Any) -> Object:
    container = {"image": "i", "resources": {"requests": {"cpu": cpu}}}
    loop = {"name": "main", "steps": [[{"name": "s", "template": "leaf", "withItems": [1] * items}]]}
    templates = [loop, {"name": "leaf", "metadata": OURS, "container": container}]
    return {
        "apiVersion": f"{ARGO}/v1alpha1", "kind": "Workflow", "metadata": {"name": name, "namespace": SPACE},
        "spec": {"entrypoint": "main", "templates": templates, **spec},
    }  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _reviewed(upgraded: Upgraded, plane: ControlPlane) -> None:
    namespace(plane.admin, SPACE)
    for one in (open_definition(TRAINER, "TrainJob", "v1alpha1"), open_definition(ARGO, "Workflow", "v1alpha1")):
        plane.admin.create(one)
    plane.admin.create(open_definition(TRAINER, "ClusterTrainingRuntime", "v1alpha1", scope="Cluster"))
    until(lambda: plane.admin.send("GET", RUNTIMES).code == 200, "the runtimes are served", SECONDS)
    plane.admin.create(runtime("torch"))
    upgraded({"workloads": {"kinds": ["TrainJob", "Workflow"]}})
    until(lambda: refused_anew(plane, train("probe", 9)), "TrainJobs are reviewed", SECONDS)


def test_a_train_job_is_refused_for_the_pods_of_its_runtime(admin: Api, plane: ControlPlane) -> None:
    said = refusal(plane, train("large", 4), hook="applications")
    assert said.startswith('hostExlocation("own") cannot hold: 3 of 4 pods fit (job node).')
    assert admin.find(f"/apis/{TRAINER}/v1alpha1/namespaces/{SPACE}/trainjobs/large") is None
    assert "Warning" not in applied(plane, train("fits", 3))


def test_one_whose_runtime_is_not_there_is_stored_with_a_warning(plane: ControlPlane) -> None:
    said = "Warning: spec.runtimeRef: ClusterTrainingRuntime none cannot be read, so its pods were not judged"
    assert said in applied(plane, train("early", 9, named="none"))


def test_one_that_asks_for_nothing_is_stored(plane: ControlPlane) -> None:
    assert "Warning" not in applied(plane, train("plain", 99, {}))


def test_a_workflow_is_refused_for_a_step_that_no_node_can_run(plane: ControlPlane) -> None:
    said = refusal(plane, workflow("large", 1, "5000"), hook="applications")
    assert said.startswith("requests cpu 5k cannot hold: 0 of 1 pod fits (template leaf).")


def test_one_with_more_steps_than_hosts_is_stored_with_a_warning(plane: ControlPlane) -> None:
    assert "Warning" not in applied(plane, workflow("fits", 3))
    said = "Warning: only the minimum number of pods was judged: at the maximum (template leaf: 4), not all can run"
    assert said in applied(plane, workflow("many", 4))


def test_one_that_is_patched_while_it_runs_is_stored_with_a_warning(plane: ControlPlane) -> None:
    said = "Warning: spec.podSpecPatch may change the pods, which were not judged"
    assert said in applied(plane, workflow("patched", 1, "5000", podSpecPatch="{}"))
