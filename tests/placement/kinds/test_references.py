"""Objects that say of which pods others are: the runtimes of TrainJobs."""

from typing import Any, Final

import pytest

from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
from webhook.placement.kinds.references import PATCHES, reference_of, says_something, unknown_reference, with_reference

TRAIN: Final = application_kinds()["trainer.kubeflow.org", "TrainJob"]
RAY: Final = application_kinds()["ray.io", "RayCluster"]
OURS: Final = {"annotations": {"streams.ibm.com/placement": 'host("a")'}}


def job(name: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [*containers], **spec}}
    return {"name": name, "template": {"spec": {"template": template}}}


def runtime(*jobs: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [*jobs]}}}}


def patch(*jobs: object) -> dict[str, Any]:
    return {"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [*jobs]}}}}


def patched_job(name: str, metadata: object = None, **spec: Any) -> dict[str, Any]:
    return {"name": name, "template": {"spec": {"template": {"metadata": metadata, "spec": spec}}}}


def train(*patches: object, ref: Any = None, **metadata: Any) -> dict[str, Any]:
    spec = {"runtimeRef": ref or {"name": "torch"}, "runtimePatches": [*patches]}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "metadata": {"name": "t", **metadata}, "spec": spec}


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ({"name": "torch"}, "clustertrainingruntimes/torch"),
        ({"name": "torch", "kind": "ClusterTrainingRuntime"}, "clustertrainingruntimes/torch"),
        ({"name": "torch", "kind": "TrainingRuntime"}, "namespaces/apps/trainingruntimes/torch"),
    ],
)
def test_a_reference_is_where_the_api_server_has_the_object(ref: object, path: str) -> None:
    found = reference_of(TRAIN, train(ref=ref), "apps")
    assert found is not None
    assert found.path == f"/apis/trainer.kubeflow.org/v1alpha1/{path}"


@pytest.mark.parametrize(
    "ref",
    [
        {"name": "../secrets/x"}, {"name": 7}, {"name": ""}, {"kind": "Secret", "name": "x"}, {"kind": 7, "name": "x"},
        {"apiGroup": "a", "name": "x"}, 7,
    ],
)  # fmt: skip
def test_nothing_is_read_of_a_reference_to_no_such_object(ref: object) -> None:
    assert reference_of(TRAIN, train(ref=ref), "apps") is None
    assert reference_of(TRAIN, train(ref={"kind": "TrainingRuntime", "name": "x"}), "a/../b") is None
    assert reference_of(RAY, train(), "apps") is None


def test_patches_are_merged_one_after_the_other() -> None:
    found = runtime(job("node", {"name": "node"}, tolerations=[{"key": "a"}], nodeSelector={"zone": "n"}))
    application = expanded(
        TRAIN,
        train(
            patch(patched_job("node", {"labels": {"b": "2"}, **OURS}, nodeSelector={"zone": "s", "gpu": "y"})), {}, 7,
            patch(patched_job("node", {}, nodeSelector={"zone": "w"}, tolerations=[{"key": "b"}])),
        ),
        found,
    )  # fmt: skip
    [component] = application.components
    assert component.pod["spec"] == {
        "containers": [{"name": "node"}], "tolerations": [{"key": "b"}], "nodeSelector": {"zone": "w", "gpu": "y"},
    }  # fmt: skip
    assert (component.pod["metadata"]["labels"], application.asks) == ({"a": "1", "b": "2"}, True)
    assert found == runtime(job("node", {"name": "node"}, tolerations=[{"key": "a"}], nodeSelector={"zone": "n"}))


def test_with_more_patches_than_count_nothing_is_judged() -> None:
    patches = [patch(patched_job("node", OURS, nodeSelector={f"k{at}": "v"})) for at in range(PATCHES + 1)]
    [component] = expanded(TRAIN, train(*patches[:-1]), runtime(job("node"))).components
    assert len(component.pod["spec"]["nodeSelector"]) == PATCHES
    application = expanded(TRAIN, train(*patches), runtime(job("node")))
    assert (application.components, application.not_judged, application.asks) == (
        (), ("spec.runtimePatches has 17 entries, more than 16, so its pods were not judged",), True,
    )  # fmt: skip


def test_a_runtime_that_is_not_there_is_named_and_nothing_is_judged() -> None:
    application = expanded(TRAIN, train(patch(patched_job("node", OURS))))
    said = "spec.runtimeRef: ClusterTrainingRuntime torch cannot be read, so its pods were not judged"
    assert (application.components, [*application.warnings("TrainJob")]) == ((), [said])
    assert application.asks
    assert not expanded(TRAIN, train()).asks
    nothing = "spec.runtimeRef: the object cannot be read, so its pods were not judged"
    assert unknown_reference(TRAIN, {"spec": {"runtimeRef": {"kind": 7}}}) == nothing
    assert (unknown_reference(RAY, {}), with_reference(RAY, {"a": 1}, {})) == ("", {"a": 1})


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (train(annotations=OURS["annotations"]), True),
        (train(labels={"streams.ibm.com/job": "j"}), True),
        (train(annotations={"streams.ibm.com/contentId": "1"}), False),
        (train(annotations=7, labels={7: "x"}), False),
        (train(patch(patched_job("node", OURS))), True),
        (train(patch(7), 7), False),
        ({"metadata": {}, "spec": {"runtimePatches": 7}}, False),
    ],
)
def test_what_the_object_itself_says_is_known_without_the_runtime(document: dict[str, Any], *, says: bool) -> None:
    assert says_something(TRAIN, document) is says


def test_an_annotation_of_the_object_itself_is_to_be_written_in_a_patch() -> None:
    application = expanded(TRAIN, train(annotations=OURS["annotations"]), runtime(job("load"), job("node")))
    where = "spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template.metadata"
    said = "metadata.annotations[streams.ibm.com/placement]: counts for all components here, but a TrainJob's own "
    write = f"annotations do not reach its pods: write it in {where}.annotations and the like"
    assert [*application.warnings("TrainJob")] == [said + write]
