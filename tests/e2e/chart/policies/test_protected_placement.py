"""A user with every right on the pods of a namespace cannot change how the webhook has placed a pod."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.chart.exclusive import NODE, exclusive_pool
from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.tenant import by_policy, place, refusal, tenant
from tests.e2e.client.api import JSON_PATCH, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "ways"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
JOB: Final = "streams.ibm.com/job"
INJECTED: Final = "streams.ibm.com/injected"
GROUP: Final = f"streams.ibm.com/hostcolocation.{'A' * 40}"
EVERYTHING: Final = {"operator": "Exists"}
GATES: Final = [{"name": "example.com/wait"}]

DECIDED: Final = "cannot be changed after the pod is created, which fixes its placement; create a new pod"
TOLERATING: Final = (
    "a toleration of streams.ibm.com/exclusive cannot be added to a pod: name the HostPool when you create it"
)


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    tenant_of = tenant(plane, SPACE)
    waiting = pod_spec(schedulingGates=GATES)
    for one in (
        asking("asks", SPACE, labels={JOB: "j"}),
        pod("plain", SPACE),
        asking("gated", SPACE, spec=waiting),
        pod("gated-plain", SPACE, waiting),
    ):
        tenant_of.create(one)
    running = (f"{PODS}/asks", f"{PODS}/plain")
    until(lambda: all(is_ready(tenant_of.get(path)) for path in running), "two of them run")
    return tenant_of


# Annotations and labels

CHANGES: Final[dict[str, tuple[str, str, str, str | None]]] = {
    "its placement changed": ("asks", "annotations", PLACEMENT, 'host("node-2")'),
    "its placement removed": ("asks", "annotations", PLACEMENT, None),
    "what was injected removed": ("asks", "annotations", INJECTED, None),
    "its job changed": ("asks", "labels", JOB, "k"),
    "a token's label added": ("asks", "labels", GROUP, "near"),
    "a placement added": ("plain", "annotations", PLACEMENT, 'host("node-2")'),
    "a job added": ("plain", "labels", JOB, "j"),
    "a placement added while it waits": ("gated-plain", "annotations", PLACEMENT, 'host("node-2")'),
    "its placement changed while it waits": ("gated", "annotations", PLACEMENT, 'host("node-2")'),
}  # fmt: skip


@pytest.mark.parametrize("part", ["", "/status"], ids=["pods", "pods/status"])
@pytest.mark.parametrize(("name", "field", "key", "value"), CHANGES.values(), ids=CHANGES.keys())
def test_a_pod_cannot_be_replaced_by_one_with(
    user: Api, name: str, field: str, key: str, value: str | None, part: str
) -> None:
    def replaced() -> str:
        wanted = user.get(f"{PODS}/{name}")
        entries = {**wanted["metadata"].get(field, {}), key: value}
        wanted["metadata"][field] = {own: text for own, text in entries.items() if text is not None}
        return refusal(user, f"{PODS}/{name}", "PUT", f"{PODS}/{name}{part}", wanted)

    assert replaced() == by_policy(f'pods "{name}"', "protected", f"metadata.{field}[{key}]: {DECIDED}")


# Tolerations


def tolerating(toleration: Object) -> list[Object]:
    return [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]


OURS: Final[dict[str, Object]] = {
    "of any pool": {"key": "streams.ibm.com/exclusive", "operator": "Exists"},
    "of one pool": {"key": "streams.ibm.com/exclusive", "value": f"{SPACE}.reserved", "effect": "NoSchedule"},
    "for a while": {"key": "streams.ibm.com/exclusive", "effect": "NoExecute", "tolerationSeconds": 9, "value": "x"},
}


@pytest.mark.parametrize("name", ["asks", "plain", "gated"])
@pytest.mark.parametrize("toleration", OURS.values(), ids=OURS.keys())
def test_our_toleration_cannot_be_added(user: Api, name: str, toleration: Object) -> None:
    said = refusal(user, f"{PODS}/{name}", "PATCH", f"{PODS}/{name}", tolerating(toleration), JSON_PATCH)
    assert said == by_policy(f'pods "{name}"', "protected", f"spec.tolerations: {TOLERATING}")


@pytest.fixture
def _exclusive(admin: Api) -> Iterator[None]:
    with exclusive_pool(admin, SPACE):
        yield


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize("name", ["asks", "plain", "gated"])
def test_a_toleration_of_everything_cannot_be_added_while_there_are_exclusive_hosts(user: Api, name: str) -> None:
    at = len(user.get(f"{PODS}/{name}")["spec"]["tolerations"])
    said = refusal(user, f"{PODS}/{name}", "PATCH", f"{PODS}/{name}", tolerating(EVERYTHING), JSON_PATCH)
    by = 'admission webhook "tolerations.placement.streams.ibm.com" denied the request: '
    assert said == f"{by}spec.tolerations[{at}]: {TOLERATING}"


EVERYWHERE: Final = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
STRANGERS: Final[dict[str, tuple[Object, str]]] = {
    "tolerates everything": (pod_spec(tolerations=[EVERYTHING]), f"spec.tolerations[0]: {EVERYWHERE}"),
    "tolerates everything of one effect": (
        pod_spec(tolerations=[{**EVERYTHING, "effect": "NoSchedule"}]),
        f"spec.tolerations[0]: {EVERYWHERE}",
    ),
    "has the node's name": (pod_spec(nodeName=NODE), "spec.nodeName: the node is exclusive to another HostPool"),
}  # fmt: skip


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize(("spec", "said"), STRANGERS.values(), ids=STRANGERS.keys())
def test_no_pod_gets_onto_an_exclusive_host_because_it(user: Api, spec: Object, said: str) -> None:
    answer = user.send("POST", PODS, pod("stranger", SPACE, spec))
    assert answer.message == f'admission webhook "guard.placement.streams.ibm.com" denied the request: {said}'
    assert (answer.code, user.find(f"{PODS}/stranger")) == (403, None)


def test_everything_may_be_tolerated_where_nothing_is_exclusive(user: Api) -> None:
    before = place(user.get(f"{PODS}/asks"))
    after = user.patch(f"{PODS}/asks?dryRun=All", tolerating(EVERYTHING), content=JSON_PATCH)
    assert place(after) == {**before, "tolerations": [*before["tolerations"], EVERYTHING]}
