"""Sleepers whose last gate is removed while there are exclusive hosts: none can come to an exclusive host."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.exclusive import NODE, exclusive_pool
from tests.e2e.chart.tenant import tenant
from tests.e2e.client.api import JSON_PATCH, MERGE, Answer, Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "sleepers"
OWNER: Final = "sleepers-pool"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
GATES: Final = [{"name": "example.com/wait"}, {"name": "example.com/too"}]
EVERYTHING: Final = {"operator": "Exists"}
HOSTNAME: Final = "kubernetes.io/hostname"
BY: Final = 'admission webhook "tolerations.placement.streams.ibm.com" denied the request: '
LOOSE: Final = (
    "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool: "
    "let it select other nodes before its last scheduling gate is removed, or create a new pod without the toleration"
)
NARROWED: Final = (
    "with a toleration of everything the pod could run only on hosts that are exclusive to another HostPool: "
    "let it select other nodes"
)


@pytest.fixture(scope="module")
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    return tenant(plane, SPACE)


@pytest.fixture(scope="module")
def _exclusive(user: Api, plane: ControlPlane) -> Iterator[None]:
    """The tenant's pods are there, and then a host becomes somebody else's."""
    for name in ("jumps", "narrows", "leaves", "opens", "renamed"):
        user.create(pod(name, SPACE, pod_spec(schedulingGates=GATES, tolerations=[EVERYTHING])))
    user.create(pod("ordinary", SPACE, pod_spec(schedulingGates=GATES)))
    plane.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OWNER}})
    with exclusive_pool(plane.admin, OWNER):
        yield
        plane.admin.delete(PODS, gracePeriodSeconds="0")


def changed(user: Api, name: str, **spec: Any) -> Answer:
    """What is said to a change of the pod's spec."""
    steps = [
        {"op": "add" if value else "remove", "path": f"/spec/{field}", "value": value} for field, value in spec.items()
    ]
    return user.send("PATCH", f"{PODS}/{name}", steps, content=JSON_PATCH)


def only(*nodes: str, operator: str = "In") -> Object:
    """Affinity to these nodes."""
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": operator, "values": list(nodes)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.usefixtures("_exclusive")
def test_a_waiting_pod_cannot_move_onto_an_exclusive_host(user: Api) -> None:
    answer = changed(user, "jumps", nodeSelector={HOSTNAME: NODE}, schedulingGates=None)
    assert (answer.code, answer.message) == (403, f"{BY}spec.tolerations[0]: {LOOSE}")
    assert "nodeName" not in user.get(f"{PODS}/jumps")["spec"]


@pytest.mark.usefixtures("_exclusive")
@pytest.mark.parametrize(
    "spec", [{"nodeSelector": {HOSTNAME: NODE}}, {"affinity": only(NODE)}], ids=["a node selector", "an affinity"]
)
def test_a_gated_pod_cannot_be_narrowed_to_an_exclusive_host(user: Api, spec: Object) -> None:
    answer = changed(user, "narrows", **spec)
    assert (answer.code, answer.message) == (403, f"{BY}spec.tolerations[0]: {NARROWED}")


@pytest.mark.usefixtures("_exclusive")
def test_a_gate_that_is_not_the_last_may_go(user: Api) -> None:
    assert changed(user, "opens", schedulingGates=GATES[:1]).code == 200
    answer = changed(user, "opens", schedulingGates=None)
    assert (answer.code, answer.message) == (403, f"{BY}spec.tolerations[0]: {LOOSE}")


@pytest.mark.usefixtures("_exclusive")
def test_who_selects_other_nodes_is_let_loose_as_the_refusal_says(user: Api) -> None:
    assert changed(user, "leaves", affinity=only(NODE, operator="NotIn")).code == 200
    assert changed(user, "leaves", schedulingGates=None).code == 200
    until(lambda: is_ready(user.get(f"{PODS}/leaves")), "it runs")
    assert user.get(f"{PODS}/leaves")["spec"]["nodeName"] != NODE


@pytest.mark.usefixtures("_exclusive")
def test_a_new_pod_without_the_toleration_is_let_loose_too(user: Api) -> None:
    assert changed(user, "ordinary", schedulingGates=None).code == 200
    until(lambda: is_ready(user.get(f"{PODS}/ordinary")), "it runs")
    assert user.get(f"{PODS}/ordinary")["spec"]["nodeName"] != NODE


@pytest.mark.usefixtures("_exclusive")
def test_any_other_change_of_a_sleeper_is_not_looked_at(user: Api) -> None:
    answer = user.send("PATCH", f"{PODS}/renamed", {"metadata": {"labels": {"a": "b"}}}, content=MERGE)
    assert answer.code == 200
