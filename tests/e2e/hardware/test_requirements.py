"""Pods with hardware requirements get the amounts and run on nodes that have them, or are refused if there is none."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import (
    applied,
    asked,
    denied,
    nodes_of,
    printed,
    resources,
    running,
    space,
    stateful,
)
from tests.e2e.hardware.node_hardware import GPU, QAT, TURBO
from tests.e2e.workloads import deployment, pod
from webhook.placement.text import keys

SPACE: Final = "requirements"
FIELD: Final = f"metadata.annotations[{keys.HARDWARE}]"

TRAINER: Final = f"""
- {{name: {GPU}, limits: 1}}
- {{name: cpu, requests: 2, limits: 2}}
- {{name: memory, requests: 1000, limits: 2000, units: MB}}
"""


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        yield


def requiring(text: str) -> Object:
    """Metadata of a pod that requires this."""
    return {"annotations": {keys.HARDWARE: text}}


def test_a_deployment_is_given_what_it_requires_and_runs_where_that_is(admin: Api, plane: ControlPlane) -> None:
    """As many pods as there are devices: two on one node, one on another."""
    applied(plane, deployment("trainer", SPACE, 3, **requiring(TRAINER)))
    found = running(admin, SPACE, "trainer", 3)
    assert nodes_of(found) == ["gpu-1", "gpu-1", "gpu-2"]
    assert [resources(one) for one in found] == [
        {"requests": {GPU: "1", "cpu": "2", "memory": "1G"}, "limits": {GPU: "1", "cpu": "2", "memory": "2G"}}
    ] * 3


def test_so_does_a_stateful_set_whose_requirements_are_json(admin: Api, plane: ControlPlane) -> None:
    applied(plane, stateful("logger", SPACE, 2, **requiring(f'[{{"name": "{QAT}", "requests": 1, "limits": 1}}]')))
    assert nodes_of(running(admin, SPACE, "logger", 2)) == ["qat-1", "qat-1"]


def test_a_label_that_is_required_of_the_node_decides(admin: Api, plane: ControlPlane) -> None:
    text = f"[{{name: {TURBO}, value: 'true', allocatable: false}}]"
    applied(plane, deployment("fast", SPACE, 2, **requiring(text)))
    assert nodes_of(running(admin, SPACE, "fast", 2)) == ["plain-1", "plain-1"]


def test_labels_that_are_only_wanted_weigh_ten_times_their_weight(admin: Api, plane: ControlPlane) -> None:
    wanted = [("'false'", 9), ("'true'", 2)]
    text = "".join(f"- {{name: {TURBO}, value: {value}, mandatory: false, weight: {by}}}\n" for value, by in wanted)
    applied(plane, deployment("choosy", SPACE, **requiring(text)))
    (found,) = running(admin, SPACE, "choosy")
    terms = found["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [(term["weight"], term["preference"]["matchExpressions"]) for term in terms] == [
        (90, [{"key": TURBO, "operator": "In", "values": ["false"]}]),
        (20, [{"key": TURBO, "operator": "In", "values": ["true"]}]),
    ]
    assert found["spec"]["nodeName"] == "plain-2"


NOWHERE: Final = f"""\
hardware {TURBO}=true and hardware {QAT} 1 cannot both hold: 0 of 5 nodes can run this pod.
  4 nodes do not match hardware {TURBO}=true
  1 node has less than {QAT} 1
Nearest fix: add a node that matches hardware {TURBO}=true, or drop hardware {TURBO}=true (1 node would fit).
"""


def test_kubectl_prints_which_requirements_no_node_meets_together(admin: Api, plane: ControlPlane) -> None:
    """One node must have all of it."""
    text = f"[{{name: {QAT}, limits: 1}}, {{name: cpu, requests: 1}}, {{name: {TURBO}, value: 'true'}}]"
    assert printed(plane, deployment("nowhere", SPACE, **requiring(text))) == denied("workloads", NOWHERE)
    assert admin.find(f"/apis/apps/v1/namespaces/{SPACE}/deployments/nowhere") is None


TOO_MANY: Final = f"""\
hardware {GPU} 1 and replicas 4 cannot both hold: 3 of 4 pods fit on 2 of 5 nodes.
  3 nodes have less than {GPU} 1
Nearest fix: add a node with room for one more of them, or lower replicas to 3, or drop hardware {GPU} 1 (4 of 4 would \
fit).
"""


def test_more_replicas_than_devices_are_refused(plane: ControlPlane) -> None:
    found = deployment("crowd", SPACE, 4, **requiring(f"[{{name: {GPU}, limits: 1}}]"))
    assert printed(plane, found) == denied("workloads", TOO_MANY)


BAD: Final[dict[str, tuple[str, str]]] = {
    "a misspelt field": ("[{name: cpu, request: 1}]", '[0]: unknown field "request" (did you mean requests?)'),
    "no amount": (f"[{{name: {GPU}}}]", f"[0]: needs requests or limits: how much of {GPU}"),
    "half a device": (f"[{{name: {GPU}, limits: 500m}}]", '[0].limits: "500m" is not a whole number of pieces'),
    "requests above limits": (
        "[{name: cpu, requests: 2, limits: 1}]",
        "[0].requests: requests 2 of cpu are more than limits 1",
    ),
    "a unit that there is not": (
        "[{name: memory, requests: 1, units: Mb}]",
        '[0].units: unknown unit "Mb" (did you mean MB?)',
    ),
    "a weight out of range": (
        f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 11}}]",
        '[0].weight: "11" is not a whole number from 1 to 10',
    ),
    "a container that there is not": (
        f"[{{name: {GPU}, limits: 1, container-name: worker}}]",
        '[0]: there is no container "worker"; the containers: "main"',
    ),
    "no list": (f"name: {GPU}", ": must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_meant_is_refused_where_it_is_written(admin: Api, text: str, said: str) -> None:
    answer = asked(admin, pod("bad", SPACE, **requiring(text)))
    assert answer.message == f'admission webhook "pods.placement.streams.ibm.com" denied the request: {FIELD}{said}'
    assert answer.code == 422
