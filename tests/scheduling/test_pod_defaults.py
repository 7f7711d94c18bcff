"""The model of what the API server adds to pods, and of whom a pod preempts."""

from typing import Any

import pytest

from tests.scheduling.pod_defaults import preempting, with_defaults
from tests.scheduling.state import Cluster

Object = dict[str, Any]


def node(name: str, cpu: str = "4") -> Object:
    return {"metadata": {"name": name, "labels": {}}, "spec": {}, "status": {"allocatable": {"cpu": cpu, "pods": "9"}}}


def pod(name: str = "p", cpu: str = "", **spec: Any) -> Object:
    resources = {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
    metadata = {"name": name, "namespace": "n", "uid": name}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "main", **resources}], **spec}}


def limits(**item: Any) -> Object:
    limit = {"type": "Container", **item}
    return {"kind": "LimitRange", "metadata": {"name": "l", "namespace": "n"}, "spec": {"limits": [limit]}}


LIMITS: dict[str, tuple[Object, Object, Object]] = {
    "a default request": (
        limits(defaultRequest={"cpu": "1"}), pod(), {"requests": {"cpu": "1"}},
    ),
    "a default limit is requested, too": (
        limits(default={"cpu": "2"}), pod(), {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
    ),
    "a maximum is the default limit": (
        limits(max={"cpu": "2"}), pod(), {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}},
    ),
    "a minimum is requested": (
        limits(min={"cpu": "1"}), pod(), {"requests": {"cpu": "1"}},
    ),
    "what is stated stays": (
        limits(defaultRequest={"cpu": "1"}), pod(cpu="3"), {"requests": {"cpu": "3"}},
    ),
    "a stated limit is requested": (
        limits(defaultRequest={"cpu": "1"}),
        pod(containers=[{"name": "main", "resources": {"limits": {"cpu": "3"}}}]),
        {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}},
    ),
    "bounds of whole pods": (
        limits(type="Pod", max={"cpu": "1"}), pod(cpu="3"), {"requests": {"cpu": "3"}},
    ),
    "another namespace": (
        {**limits(defaultRequest={"cpu": "1"}), "metadata": {"name": "l", "namespace": "m"}},
        pod(cpu="3"),
        {"requests": {"cpu": "3"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_containers_with(case: str) -> None:
    made, given, resources = LIMITS[case]
    found = with_defaults(given, Cluster((), defaults=(made,)))
    assert found["spec"]["containers"][0]["resources"] == resources
    assert with_defaults(found, Cluster((), defaults=(made,))) == found


def test_a_runtime_class_adds_overhead_labels_and_tolerations() -> None:
    taint = {"key": "vm", "operator": "Exists"}
    made = {
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "1"}},
        "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [taint]},
    }
    found = with_defaults(pod(runtimeClassName="kata"), Cluster((), defaults=(made,)))
    assert found["spec"]["overhead"] == {"cpu": "1"}
    assert found["spec"]["nodeSelector"] == {"vm": "yes"}
    assert found["spec"]["tolerations"] == [taint]
    other = with_defaults(pod(runtimeClassName="kata", nodeSelector={"vm": "no"}), Cluster((), defaults=(made,)))
    assert other["spec"]["nodeSelector"] == {"vm": "no"}


def test_a_pod_has_the_value_and_the_policy_of_its_class() -> None:
    made = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9, "preemptionPolicy": "Never"}
    found = with_defaults(pod(priorityClassName="high"), Cluster((), defaults=(made,)))
    assert (found["spec"]["priority"], found["spec"]["preemptionPolicy"]) == (9, "Never")
    assert "priority" not in with_defaults(pod(), Cluster((), defaults=(made,)))["spec"]


PREEMPTED: dict[str, tuple[Object, list[str]]] = {
    "lower pods make room": (pod(cpu="3", priority=9), ["a"]),
    "on all nodes whose pods are lower": (pod(cpu="3", priority=11), ["a", "b"]),
    "not for equals": (pod(cpu="3", priority=5), []),
    "not for a pod without a class": (pod(cpu="3"), []),
    "not for one that never preempts": (pod(cpu="3", priority=9, preemptionPolicy="Never"), []),
    "not for more than the node has": (pod(cpu="5", priority=9), []),
}


@pytest.mark.parametrize("case", PREEMPTED)
def test_preempting(case: str) -> None:
    cluster = Cluster((node("a"), node("b"), node("c", "1")))
    cluster = cluster.plus(pod("low", cpu="3", priority=5), "a").plus(pod("high", cpu="3", priority=10), "b")
    given, nodes = PREEMPTED[case]
    found = dict(preempting(given, cluster))
    assert sorted(found) == nodes
    assert all(name not in {one["spec"]["nodeName"] for one in left.pods} for name, left in found.items())
