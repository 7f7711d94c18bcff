"""What is kept of a pod that waits for a node."""

from typing import Any

import msgspec
import pytest

from tests.cluster.objects import pod
from webhook.cluster.objects import pods, wire
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.objects.pod import NodeDemand

JOB = {"streams.ibm.com/job": "parallel"}
GPU = {"key": "gpu", "operator": "Exists"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def demand(labels: dict[str, str] = JOB, **spec: Any) -> NodeDemand | None:
    """What a pod of this spec is known to demand."""
    found = pods.bound_pod(msgspec.convert({**pod(labels=labels), "spec": spec}, wire.PodObject))[0]
    assert found is not None
    return found.demand


def affinity(**node: Any) -> dict[str, Any]:
    return {"nodeAffinity": node}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, NodeDemand("web-1"), id="nothing"),
        pytest.param({"affinity": {}}, NodeDemand("web-1"), id="an affinity that says nothing"),
        pytest.param(
            {"affinity": affinity(**{PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [GPU]}}]})},
            NodeDemand("web-1"),
            id="what it only prefers",
        ),
        pytest.param(
            {"nodeSelector": {"disk": "ssd"}},
            NodeDemand("web-1", (Requirement("disk", "In", ("ssd",)),)),
            id="a node selector",
        ),
        pytest.param(
            {"affinity": affinity(**{REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [GPU]}]}})},
            NodeDemand("web-1", terms=(NodeTerm(match_expressions=(Requirement("gpu", "Exists"),)),)),
            id="required terms",
        ),
        pytest.param(
            {"affinity": affinity(**{REQUIRED: {}})}, NodeDemand("web-1", terms=()), id="no term, which is none"
        ),
    ],
)
def test_a_pod_of_a_job_that_waits_demands(spec: dict[str, Any], expected: NodeDemand) -> None:
    assert demand(**spec) == expected


EVERY = {"operator": "Exists"}
OURS = {"key": "streams.ibm.com/exclusive", "value": "a.b"}
OTHERS = {"key": "gpu", "operator": "Exists"}


def test_tolerations_that_open_exclusive_hosts_are_kept() -> None:
    every, ours = Toleration(operator="Exists"), Toleration(key="streams.ibm.com/exclusive", value="a.b")
    found = demand(tolerations=[OTHERS, EVERY, OURS])
    assert found == NodeDemand("web-1", tolerates=(every, ours))


@pytest.mark.parametrize(
    ("spec", "sleeps"),
    [
        pytest.param({"tolerations": [EVERY]}, True, id="of everything"),
        pytest.param({"tolerations": [OURS]}, True, id="of exclusive hosts"),
        pytest.param({"tolerations": [OTHERS]}, False, id="of something else"),
        pytest.param({}, False, id="none"),
        pytest.param({"tolerations": [EVERY], "nodeName": "node-a"}, False, id="of everything, where it is bound"),
    ],
)
def test_of_others_only_sleepers_are_known_to_wait(spec: dict[str, Any], *, sleeps: bool) -> None:
    assert (demand({}, **spec) is not None) is sleeps


def test_an_agent_of_a_daemon_set_is_not_a_sleeper() -> None:
    made = {**pod(labels={}), "spec": {"tolerations": [EVERY]}}
    made["metadata"] |= {
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "controller": True}]
    }
    found = pods.bound_pod(msgspec.convert(made, wire.PodObject))[0]
    assert found is not None
    assert (found.demand, found.sleeps) == (None, False)


def test_a_pod_that_has_its_node_demands_nothing_more() -> None:
    assert demand(nodeName="node-a", nodeSelector={"disk": "ssd"}) is None


def test_a_pod_of_no_job_is_not_kept() -> None:
    assert demand(labels={"app": "web"}, nodeSelector={"disk": "ssd"}) is None
