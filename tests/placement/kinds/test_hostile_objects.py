"""Objects with anything anywhere: the expansion never raises, and stays bounded."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.app.application_kinds import application_kinds
from webhook.placement.jobs.whole_application import read_pods
from webhook.placement.kinds.application import INSTANCES, PODS, expanded
from webhook.placement.kinds.kind import OperatorKind

KINDS: Final = list(application_kinds().values())
NAMES: Final = sorted(
    {
        "spec", "template", "metadata", "annotations", "labels", "containers", "resources", "requests", "limits", "cpu",
        "memory", "replicas", "name", "headGroupSpec", "workerGroupSpecs", "replicatedJobs", "tasks", "minAvailable",
        "driver", "executor", "gpu", "sparkConf", "jobManager", "taskManager", "podTemplate", "job",
        "flinkConfiguration",
        "parallelism", "rayClusterSpec", "rayClusterConfig", "leaderWorkerTemplate", "workerTemplate", "size", "pod",
        "enableInTreeAutoscaling", "numOfHosts", "minReplicas", "dependsOn", "dynamicAllocation", "nodeSelector",
        "pytorchReplicaSpecs", "mpiReplicaSpecs", "Master", "Worker", "entityOperator", "quantity", "namespace",
        "templates", "templateDefaults", "entrypoint", "steps", "dag", "container", "depends",
        "withItems", "withParam", "withSequence", "count", "hooks", "onExit", "workflowSpec", "sidecars",
        "runtimeRef", "runtimePatches", "trainingRuntimeSpec", "trainer", "volumes", "caller", "runtime",
    }
)  # fmt: skip
SCALARS: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["1g", "x", "", "500m", "-1", "1" * 40]),
)
VALUES: Final = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=25,
)


@given(kind=st.sampled_from(KINDS), document=st.dictionaries(st.sampled_from(["spec", "metadata"]), VALUES))
def test_an_object_of_any_shape_is_expanded_or_has_problems(kind: OperatorKind, document: dict[str, Any]) -> None:
    application = expanded(kind, document)
    assert len(application.components) <= INSTANCES * 3
    assert all(0 <= one.count <= one.most <= PODS for one in application.components)
    pods = read_pods(application)
    assert isinstance(pods, tuple) or len(pods) == len(application.components)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind.kind)
def test_templates_of_any_depth_are_merged(kind: OperatorKind) -> None:
    deep: Any = {"metadata": {"annotations": {"streams.ibm.com/placement": "x"}}}
    for _ in range(400):
        deep = {"spec": deep, "containers": [deep]}
    spec = {
        name: deep
        if name in {"podTemplate", "driver", "executor", "jobManager", "taskManager"}
        else [{"template": deep}]
        for name in NAMES
    }
    assert expanded(kind, {"spec": spec}).problems == ()


def test_an_object_that_contains_itself_is_expanded() -> None:
    cyclic: dict[str, Any] = {}
    cyclic |= {"podTemplate": cyclic, "spec": cyclic, "metadata": cyclic, "containers": [cyclic], "jobManager": cyclic}
    flink = application_kinds()["flink.apache.org", "FlinkDeployment"]
    assert [one.name for one in expanded(flink, {"spec": cyclic}).components] == ["jobManager"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind.kind)
@pytest.mark.parametrize("spec", ["a text", 7, [], True])
def test_a_spec_that_is_not_a_mapping_is_a_problem(kind: OperatorKind, spec: object) -> None:
    """A kind whose fields have defaults would have pods without any spec."""
    application = expanded(kind, {"spec": spec})
    [problem] = application.problems
    assert (problem.field, problem.message.endswith(", expected a mapping")) == ("spec", True)
    assert (application.components, application.asks) == ((), False)


def test_one_that_asks_is_refused_for_its_spec() -> None:
    flink = application_kinds()["flink.apache.org", "FlinkDeployment"]
    said = {"annotations": {"streams.ibm.com/placement": "hostIsolation"}}
    assert expanded(flink, {"metadata": said, "spec": "a text"}).asks
