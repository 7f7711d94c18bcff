"""HPAIntents that the API server accepts and the webhook refuses; and pods that get what HPAIntents require."""

import json
from typing import Any, Final

import pytest

from tests.e2e.chart.objects.intents import CPU, FIRST, WORKLOAD, intent, of, path
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, namespace, pod

pytestmark = pytest.mark.usefixtures("installed")

DENIED: Final = 'admission webhook "hpaintents.placement.streams.ibm.com" denied the request: '


@pytest.fixture(scope="module")
def space(plane: ControlPlane, installed: object) -> str:  # noqa: ARG001 -- after it
    return namespace(plane.admin, "intents")


LEFT: Final[dict[str, tuple[object, str]]] = {
    "text that is no quantity": (
        {"name": "cpu", "limits": "lots"},
        f'{FIRST}.limits: "lots" is not a Kubernetes quantity',
    ),
    "more than the limit, as text": (
        {"name": "cpu", "requests": "2", "limits": "1500m"},
        f"{FIRST}.requests: requests 2 of cpu are more than limits 1500m",
    ),
    "half a device": (
        {"name": "nvidia.com/gpu", "limits": "0.5"},
        f'{FIRST}.limits: "0.5" is not a whole number of pieces',
    ),
    "no resource": (
        {"name": "gpu", "limits": 1},
        f'{FIRST}.name: "gpu" is not a container resource: cpu, memory, ephemeral-storage, or a device such as nvidia',
    ),
}


def submit(plane: ControlPlane, space: str, *requirements: object) -> tuple[int, str]:
    """``kubectl apply``, which leaves nothing behind."""
    asked = json.dumps(intent(of(*requirements), space=space))
    done = plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=asked)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("requirement", "said"), LEFT.values(), ids=LEFT)
def test_the_webhook_refuses_what_cel_lets_through(
    plane: ControlPlane, space: str, requirement: object, said: str
) -> None:
    code, text = submit(plane, space, requirement)
    assert code == 1
    assert f"{DENIED}{said}" in text


def test_the_webhook_lets_a_good_intent_through(plane: ControlPlane, space: str) -> None:
    assert submit(plane, space, {"name": "cpu", "limits": "1500m"}) == (0, "")


@pytest.fixture(scope="module")
def edge(plane: ControlPlane, installed: object) -> str:  # noqa: ARG001 -- after it
    """A namespace in which intents hold unasked, with one for a core and one for a device that no node has."""
    space = namespace(plane.admin, "eager", **{"streams.ibm.com/inject": "enabled"})
    plane.admin.call("POST", path(space), intent(of(CPU), space=space))
    device = of({"name": "example.com/none", "limits": 1}, workload={**WORKLOAD, "name": "nowhere"})
    plane.admin.call("POST", path(space), intent(device, "nowhere", space))
    return space


def test_a_pod_of_an_enabled_namespace_gets_what_is_for_its_workload(plane: ControlPlane, edge: str) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api-server-1", "uid": "1", "controller": True}
    asked = json.dumps(pod("p", edge, labels={"pod-template-hash": "1"}, ownerReferences=[owner]))

    def given() -> Any:
        done = plane.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=asked)
        return json.loads(done.stdout)["spec"]["containers"][0]["resources"] if done.returncode == 0 else None

    until(lambda: given() == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "the webhook knows both", 60)


def test_a_workload_of_an_enabled_namespace_is_told_when_it_is_submitted(plane: ControlPlane, edge: str) -> None:
    asked = json.dumps(deployment("nowhere", edge))
    refusal = 'admission webhook "namespaces.placement.streams.ibm.com" denied the request: hardware example.com/none 1'

    def said() -> str:
        return plane.kubectl("create", "--dry-run=server", "-f", "-", stdin=asked).stderr

    until(lambda: refusal in said(), "the webhook knows both", 60)


def test_a_workload_that_no_intent_is_for_passes_there(plane: ControlPlane, edge: str) -> None:
    done = plane.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(deployment("other", edge)))
    assert (done.returncode, done.stderr) == (0, "")
