"""What the API server refuses by admission policies: changes of a pod's placement, and pods that were not reviewed."""

from typing import Any, Final

import pytest

from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.tenant import tenant
from tests.e2e.client.api import JSON_PATCH, STRATEGIC, Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "policies"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
EXCLUSIVE: Final = {"key": "streams.ibm.com/exclusive", "operator": "Exists"}
DECIDED: Final = "cannot be changed after the pod is created, which fixes its placement; create a new pod"


@pytest.fixture(scope="module", autouse=True)
def user(installed: object, plane: ControlPlane) -> Api:  # noqa: ARG001 -- after it
    """Somebody with every right on the pods of the namespace."""
    admin, jane = plane.admin, tenant(plane, SPACE)
    admin.create(asking("asks", SPACE, labels={"streams.ibm.com/job": "j"}))
    admin.create(pod("plain", SPACE))
    admin.create(pod("waits", SPACE, pod_spec(schedulingGates=[{"name": "example.com/wait"}])))
    until(lambda: admin.get(f"{PODS}/plain")["spec"].get("nodeName"), "the pod is bound")
    return jane


def test_the_api_server_finds_no_fault_with_their_types(admin: Api) -> None:
    """It checks the expressions against the objects that they are about, and would warn of it."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

    def checked() -> list[Object]:
        found = [one.get("status", {}).get("typeChecking") for one in admin.get(path)["items"]]
        return [] if None in found else found

    assert until(checked, "the expressions are checked", 60) == [{}] * 10


def meta(**fields: Any) -> Object:
    return {"metadata": fields}


CHANGES: Final[dict[str, tuple[str, Object, str]]] = {
    "its placement changed": ("asks", meta(annotations={PLACEMENT: 'host("b")'}), f"metadata.annotations[{PLACEMENT}]"),
    "its placement removed": ("asks", meta(annotations={PLACEMENT: None}), f"metadata.annotations[{PLACEMENT}]"),
    "its job changed": ("asks", meta(labels={"streams.ibm.com/job": "k"}), "metadata.labels[streams.ibm.com/job]"),
    "its job removed": ("asks", meta(labels={"streams.ibm.com/job": None}), "metadata.labels[streams.ibm.com/job]"),
    "a placement added": ("plain", meta(annotations={PLACEMENT: "x"}), f"metadata.annotations[{PLACEMENT}]"),
    "a job added": ("plain", meta(labels={"streams.ibm.com/job": "k"}), "metadata.labels[streams.ibm.com/job]"),
    "the same while it waits": ("waits", meta(annotations={PLACEMENT: "x"}), f"metadata.annotations[{PLACEMENT}]"),
    "a label of the webhook's forged": (
        "plain",
        meta(labels={"streams.ibm.com/hostisolation.X": "y"}),
        "metadata.labels[streams.ibm.com/hostisolation.X]",
    ),
    "what was injected forged": (
        "asks",
        meta(annotations={"streams.ibm.com/injected": "{}"}),
        "metadata.annotations[streams.ibm.com/injected]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("part", ["", "/status"], ids=["pods", "pods/status"])
@pytest.mark.parametrize(("name", "change", "field"), CHANGES.values(), ids=CHANGES.keys())
def test_a_pod_cannot_be_given(admin: Api, name: str, change: Object, field: str, part: str) -> None:
    with pytest.raises(RefusedError) as refused:
        admin.patch(f"{PODS}/{name}{part}", change)
    assert (refused.value.code, f"{field}: {DECIDED}" in refused.value.message) == (403, True), refused.value.message


def test_all_that_was_changed_is_named(admin: Api) -> None:
    change = meta(annotations={PLACEMENT: "x"}, labels={"streams.ibm.com/job": "k"})
    with pytest.raises(RefusedError) as refused:
        admin.patch(f"{PODS}/asks", change)
    assert (
        f"metadata.annotations[{PLACEMENT}], metadata.labels[streams.ibm.com/job]: {DECIDED}" in refused.value.message
    )


@pytest.mark.parametrize("part", ["ephemeralcontainers", "resize"])
def test_other_ways_to_change_a_pod_leave_what_was_decided(admin: Api, part: str) -> None:
    """The API server itself drops labels and annotations there."""
    before = admin.get(f"{PODS}/asks")["metadata"]
    admin.send("PATCH", f"{PODS}/asks/{part}", meta(annotations={PLACEMENT: "x"}), content=STRATEGIC)
    assert admin.get(f"{PODS}/asks")["metadata"]["annotations"] == before["annotations"]


ALLOWED: Final[dict[str, Object]] = {
    "labels of others": meta(labels={"app": "x", "streams.ibm.com.example/job": "x"}),
    "annotations of others": meta(annotations={"example.com/placement": "x"}),
    "what the instance operator notes": meta(annotations={"streams.ibm.com/contentId": "x"}),
}


@pytest.mark.parametrize("name", ["asks", "plain"])
@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED.keys())
def test_a_pod_can_be_given(admin: Api, name: str, change: Object) -> None:
    admin.patch(f"{PODS}/{name}?dryRun=All", change)


def test_a_pod_that_goes_is_not_held_back(admin: Api) -> None:
    admin.create(asking("goes", SPACE, finalizers=["example.com/hold"]))
    admin.delete(f"{PODS}/goes", gracePeriodSeconds="0")
    admin.patch(f"{PODS}/goes", meta(finalizers=None, annotations={PLACEMENT: None}))
    until(lambda: admin.find(f"{PODS}/goes") is None, "the pod is gone")


# Exclusive hosts


def added(toleration: Object) -> list[Object]:
    return [{"op": "add", "path": "/spec/tolerations/-", "value": toleration}]


@pytest.mark.parametrize("name", ["asks", "plain", "waits"])
def test_no_pod_can_begin_to_tolerate_exclusive_hosts(user: Api, name: str) -> None:
    with pytest.raises(RefusedError, match="403: .*a toleration of streams.ibm.com/exclusive cannot be added to a pod"):
        user.patch(f"{PODS}/{name}", added(EXCLUSIVE), content=JSON_PATCH)


def test_a_pod_can_begin_to_tolerate_something_else(admin: Api) -> None:
    other = {"key": "example.com/x", "operator": "Exists"}
    admin.patch(f"{PODS}/plain?dryRun=All", added(other), content=JSON_PATCH)


def test_a_pod_without_a_pool_cannot_tolerate_exclusive_hosts(user: Api) -> None:
    with pytest.raises(RefusedError, match="403: .*only the webhook tolerates streams.ibm.com/exclusive"):
        user.create(pod("p", SPACE, pod_spec(tolerations=[EXCLUSIVE])), dryRun="All")


def test_one_of_a_user_with_the_right_can(admin: Api) -> None:
    admin.create(pod("p", SPACE, pod_spec(tolerations=[EXCLUSIVE])), dryRun="All")


# Bindings


@pytest.mark.parametrize("path", [f"{PODS}/waits-for-it/binding", f"/api/v1/namespaces/{SPACE}/bindings"])
@pytest.mark.parametrize("field", ["annotations", "labels"])
def test_a_binding_cannot_bring_our_keys_along(admin: Api, path: str, field: str) -> None:
    admin.delete(f"{PODS}/waits-for-it", gracePeriodSeconds="0")
    admin.create(pod("waits-for-it", SPACE, pod_spec(schedulerName="nobody")))
    with pytest.raises(RefusedError, match=f"403: .*metadata.{field}: a binding cannot set anything under"):
        admin.call("POST", path, binding(**{field: {"streams.ibm.com/job": "k"}}))


def test_a_binding_binds(admin: Api) -> None:
    admin.delete(f"{PODS}/waits-for-it", gracePeriodSeconds="0")
    admin.create(pod("waits-for-it", SPACE, pod_spec(schedulerName="nobody")))
    admin.call("POST", f"{PODS}/waits-for-it/binding", binding(annotations={"example.com/x": "y"}))
    assert admin.get(f"{PODS}/waits-for-it")["spec"]["nodeName"] == "node-1"


def binding(**fields: Any) -> Object:
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
    return {"apiVersion": "v1", "kind": "Binding", "target": target, **meta(name="waits-for-it", **fields)}
