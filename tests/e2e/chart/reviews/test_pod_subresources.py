"""Gates, ephemeral containers, resizes and bindings do not change where a pod runs."""

import time
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.tenant import by_policy, place, refusal, tenant
from tests.e2e.client.api import JSON_PATCH, STRATEGIC, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "doors"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
JOB: Final = "streams.ibm.com/job"
GROUP: Final = f"streams.ibm.com/hostcolocation.{'A' * 40}"
GATES: Final = [{"name": "example.com/wait"}]


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    return tenant(plane, SPACE)


@pytest.fixture(scope="module")
def asks(user: Api) -> str:
    """A pod that runs where it asked to."""
    container = {"name": "main", "image": "example.invalid/main", "resources": {"requests": {"cpu": "100m"}}}
    user.create(asking("asks", SPACE, spec=pod_spec(containers=[container]), labels={JOB: "j"}))
    until(lambda: is_ready(user.get(f"{PODS}/asks")), "it is ready")
    # a kubelet that can resize says what a container has; kwok does not
    (status,) = user.get(f"{PODS}/asks")["status"]["containerStatuses"]
    has = {"containerStatuses": [{**status, "resources": container["resources"]}]}
    user.patch(f"{PODS}/asks/status", {"status": has})
    return f"{PODS}/asks"


# Pods that wait for a gate to open


# Pods that wait for a gate to open

NODES: Final = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
ELSEWHERE: Final = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-2"]}]}

WIDER: Final[dict[str, Object]] = {
    "no affinity": {"op": "remove", "path": "/spec/affinity"},
    "other node terms": {"op": "replace", "path": NODES, "value": [ELSEWHERE]},
    "one node term more": {"op": "add", "path": f"{NODES}/-", "value": ELSEWHERE},
    "no neighbours to avoid": {"op": "remove", "path": "/spec/affinity/podAntiAffinity"},
    "a node": {"op": "add", "path": "/spec/nodeName", "value": "node-2"},
}  # fmt: skip


@pytest.fixture(scope="module")
def gated(user: Api) -> str:
    """A pod that waits."""
    clauses = 'host("node-1"), hostExlocation("apart")'
    user.create(asking("gated", SPACE, clauses, pod_spec(schedulingGates=GATES), labels={JOB: "j"}))
    return f"{PODS}/gated"


@pytest.mark.parametrize("step", WIDER.values(), ids=WIDER.keys())
def test_a_pod_that_waits_gets_no_wider_choice(user: Api, gated: str, step: Object) -> None:
    """The API server's own rule."""
    assert user.send("PATCH", gated, [step], content=JSON_PATCH).code == 422


def test_a_narrower_choice_leaves_ours(user: Api, gated: str) -> None:
    before = place(user.get(gated))
    narrower = {"kubernetes.io/arch": "amd64"}
    assert place(user.patch(gated, {"spec": {"nodeSelector": narrower}})) == {**before, "nodeSelector": narrower}


def test_when_its_gate_opens_it_runs_where_it_was_to(user: Api) -> None:
    user.create(asking("opens", SPACE, 'host("node-2")', pod_spec(schedulingGates=GATES)))
    user.patch(f"{PODS}/opens", {"spec": {"schedulingGates": None}})
    until(lambda: is_ready(user.get(f"{PODS}/opens")), "it runs")
    assert user.get(f"{PODS}/opens")["spec"]["nodeName"] == "node-2"


# Other doors


def test_an_ephemeral_container_moves_nothing(user: Api, asks: str) -> None:
    before = place(user.get(asks))
    debugger = {"name": "debugger", "image": "example.invalid/debugger"}
    change = {"spec": {"ephemeralContainers": [debugger]}, "metadata": {"labels": {JOB: "k"}}}
    changed = user.patch(f"{asks}/ephemeralcontainers", change, content=STRATEGIC)
    assert changed["spec"]["ephemeralContainers"][0]["name"] == "debugger"
    assert place(user.get(asks)) == before


def test_a_resize_changes_the_size_alone(user: Api, asks: str) -> None:
    before = place(user.get(asks))
    bigger = {"name": "main", "resources": {"requests": {"cpu": "200m"}}}
    change = {
        "spec": {"containers": [bigger], "nodeSelector": {"a": "b"}},
        "metadata": {"annotations": {PLACEMENT: "x"}},
    }
    began = time.monotonic()
    changed = user.patch(f"{asks}/resize", change, content=STRATEGIC)
    assert time.monotonic() - began < 3  # a time-out would be as long
    assert changed["spec"]["containers"][0]["resources"] == bigger["resources"]
    assert place(user.get(asks)) == before


@pytest.mark.parametrize("door", ["pods/{}/binding", "bindings"])
@pytest.mark.parametrize(("field", "key"), [("annotations", PLACEMENT), ("labels", JOB), ("labels", GROUP)])
def test_a_binding_brings_nothing_of_ours_along(user: Api, door: str, field: str, key: str) -> None:
    name = f"unbound-{field}-{key[-3:].lower()}-{len(door)}"
    user.create(pod(name, SPACE, pod_spec(schedulerName="nobody")))
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-2"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, field: {key: "x"}}, "target": target}
    said = refusal(user, f"{PODS}/{name}", "POST", f"/api/v1/namespaces/{SPACE}/{door.format(name)}", binding)
    brought = f"metadata.{field}: a binding cannot set anything under streams.ibm.com/ on a pod"
    assert said == by_policy(f'{door.rpartition("/")[0][:4] or door} "{name}"', "bindings", brought)
