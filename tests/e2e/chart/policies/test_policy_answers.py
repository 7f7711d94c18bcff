"""Admission policies refuse pods that the webhook has not reviewed, and warn of changes of nodes of pools."""

from typing import Any, Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import APPLY, MERGE, Api, Object, RefusedError
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace, pod

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "unseen"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
MEMBER: Final = f"streams.ibm.com.node-restriction.kubernetes.io/hostpool.{'A' * 40}"


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def meta(**fields: Any) -> Object:
    return {"metadata": fields}


# Pods that the webhook never sees


@pytest.mark.parametrize("space", ["kube-system", NAMESPACE])
def test_a_pod_with_placement_is_refused_in_a_namespace_without_the_webhook(admin: Api, space: str) -> None:
    with pytest.raises(RefusedError) as refused:
        admin.create(asking("p", space), dryRun="All")
    said = f"the webhook of streams-placement has not reviewed it: namespace {space} is excluded, use another one"
    assert (refused.value.code, said in refused.value.message) == (403, True), refused.value.message


def test_a_pod_of_a_job_is_refused_in_a_namespace_without_the_webhook(admin: Api) -> None:
    with pytest.raises(RefusedError, match="403: .*has not reviewed it"):
        admin.create(pod("p", "kube-system", labels={"streams.ibm.com/job": "j"}), dryRun="All")


def test_a_pod_that_does_not_ask_is_none_of_our_business_there(admin: Api) -> None:
    admin.create(pod("p", "kube-system"), dryRun="All")


def test_without_the_mutating_configuration_a_pod_that_asks_is_refused(admin: Api) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/zz-{RELEASE}"
    configuration = admin.get(path)
    admin.delete(path)
    try:
        message = "its MutatingWebhookConfiguration is missing, or the pod was made to ask only later"
        wanted = asking("p", SPACE)
        until(lambda: message in admin.send("POST", f"{PODS}?dryRun=All", wanted).message, "it is refused")
    finally:
        metadata = configuration["metadata"]
        manager = metadata["managedFields"][0]["manager"]  # helm: the next upgrade must not meet fields of another one
        configuration["metadata"] = {key: metadata[key] for key in ("name", "labels", "annotations")}
        admin.call("PATCH", f"{path}?fieldManager={manager}", configuration, content=APPLY)
        until(lambda: admin.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE)).code == 201, "it is honoured")


# Nodes


NODE: Final = "/api/v1/nodes/node-2"


@pytest.mark.parametrize("part", ["", "/status"], ids=["nodes", "nodes/status"])
def test_whoever_labels_a_node_into_a_pool_is_warned(admin: Api, part: str) -> None:
    answer = admin.call("PATCH", f"{NODE}{part}?dryRun=All", meta(labels={MEMBER: "0"}), content=MERGE)
    assert len(answer.warnings) == 1
    assert f"metadata.labels[{MEMBER}]: says which HostPool the node belongs to" in answer.warnings[0]


def test_whoever_taints_a_node_as_exclusive_is_warned(admin: Api) -> None:
    taint = {"key": "streams.ibm.com/exclusive", "value": "a.b", "effect": "NoSchedule"}
    answer = admin.call("PATCH", f"{NODE}?dryRun=All", {"spec": {"taints": [taint]}}, content=MERGE)
    assert "spec.taints: streams.ibm.com/exclusive says which HostPool the node belongs to" in answer.warnings[0]


def test_the_controller_is_not_warned(plane: ControlPlane) -> None:
    controller = plane.api(f"{NAMESPACE}/{RELEASE}-controller")
    answer = controller.call("PATCH", f"{NODE}?dryRun=All", meta(labels={MEMBER: "0"}), content=MERGE)
    assert answer.warnings == ()


def test_other_labels_of_a_node_are_none_of_our_business(admin: Api) -> None:
    answer = admin.call("PATCH", f"{NODE}?dryRun=All", meta(labels={"streams.ibm.com/hostpool": "x"}), content=MERGE)
    assert answer.warnings == ()
