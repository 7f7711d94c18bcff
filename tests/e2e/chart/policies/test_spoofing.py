"""Labels that look like exemptions, and forged annotations, do not exempt a pod from its placement."""

from typing import Final

import pytest

from tests.e2e.chart.placement_pods import PLACEMENT, asking
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.workloads import namespace, pod, pod_spec

pytestmark = pytest.mark.usefixtures("installed")

SPACE: Final = "spoofing"
INJECTED: Final = "streams.ibm.com/injected"
BOUND: Final = {"streams.ibm.com/host-binding": "nodeName"}
"""Past the scheduler, whoever runs on the node: a pod of the webhook there would be a reason for node affinity."""
TRUTH: Final = '{"nodeName":["host(\\"node-1\\")"]}'


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> None:  # noqa: ARG001 -- after it
    namespace(plane.admin, SPACE)


def place(one: Object) -> tuple[str, str]:
    """The node, and what the webhook says it has added."""
    return one["spec"].get("nodeName", ""), one["metadata"]["annotations"][INJECTED]


# Labels by which other products are told to look away, and some that might be ours
EXEMPTIONS: Final[dict[str, str]] = {
    "streams.ibm.com/inject": "disabled",
    "streams-placement": "disabled",
    "placement.streams.ibm.com/exempt": "true",
    "app.kubernetes.io/name": "streams-placement",
    "app.kubernetes.io/component": "webhook",
    "app.kubernetes.io/managed-by": "Helm",
    "admission.gatekeeper.sh/ignore": "no-self-managing",
    "control-plane": "controller-manager",
    "k8s-app": "kube-dns",
    "kubernetes.io/cluster-service": "true",
    "name": "kube-system",
    "sidecar.istio.io/inject": "false",
    "webhooks.example.com/exclude": "true",
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), EXEMPTIONS.items(), ids=EXEMPTIONS.keys())
def test_a_label_does_not_exempt_a_pod(admin: Api, key: str, value: str) -> None:
    stored = admin.create(asking("p", SPACE, labels={key: value}, annotations=BOUND), dryRun="All")
    assert place(stored) == ("node-1", TRUTH)


def test_labels_do_not_exempt_a_namespace(admin: Api) -> None:
    """Not even the one that exclusions go by: the API server says what it is."""
    labels = {**EXEMPTIONS, "kubernetes.io/metadata.name": "kube-system"}
    admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "exempt", "labels": labels}})
    assert place(admin.create(asking("p", "exempt", annotations=BOUND), dryRun="All")) == ("node-1", TRUTH)


def test_the_annotation_of_static_pods_does_not_exempt_a_pod(admin: Api) -> None:
    """Anybody may write it; where its pod names a node, it is judged like others."""
    stored = mirror()
    stored["spec"]["nodeName"] = "node-2"
    answer = admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", stored)
    assert answer.code == 422
    assert 'admission webhook "pods.placement.streams.ibm.com" denied the request: host("node-1")' in answer.message


def test_a_static_pod_without_a_node_is_none(admin: Api) -> None:
    plain = pod("p", SPACE, annotations={"kubernetes.io/config.mirror": "x"})
    answer = admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", plain)
    assert answer.code == 422
    assert "must set spec.nodeName if mirror pod annotation is set" in answer.message


def mirror() -> Object:
    return asking("p", SPACE, annotations={"kubernetes.io/config.mirror": "x"})


# The annotation that says what was added

FORGED: Final[dict[str, str]] = {
    "that nothing was needed": "{}",
    "the truth": TRUTH,
    "another host": '{"nodeName":["host(\\"node-2\\")"]}',
    "no JSON": "done",
    "nothing": "",
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_what_the_annotation_says_is_replaced_by_the_truth(admin: Api, forged: str) -> None:
    stored = admin.create(asking("p", SPACE, annotations=BOUND | {INJECTED: forged}), dryRun="All")
    assert place(stored) == ("node-1", TRUTH)


def test_a_pod_that_could_not_run_is_refused_whatever_the_annotation_says(admin: Api) -> None:
    forged = asking("p", SPACE, 'host("nowhere")', annotations={INJECTED: '{"nodeName":["host(\\"nowhere\\")"]}'})
    answer = admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", forged)
    assert answer.code == 403
    assert 'host("nowhere") cannot hold: 0 of 3 nodes can run this pod.' in answer.message


@pytest.mark.parametrize("space", ["kube-system", NAMESPACE])
@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_a_forged_annotation_does_not_help_in_a_namespace_without_the_webhook(
    admin: Api, space: str, forged: str
) -> None:
    answer = admin.send(
        "POST", f"/api/v1/namespaces/{space}/pods?dryRun=All", asking("p", space, annotations={INJECTED: forged})
    )
    said = f"the webhook of streams-placement has not reviewed it: namespace {space} is excluded, use another one"
    assert (answer.code, answer.message.endswith(said)) == (403, True), answer.message


# What only the webhook writes

NAME_IT: Final = "name the exclusive HostPool with host(...) instead"
EXCLUSIVE: Final = "streams.ibm.com/exclusive"
GROUP: Final = f"streams.ibm.com/hostcolocation.{'A' * 40}"
WRITTEN: Final[dict[str, tuple[Object, str]]] = {
    "a token's label": (
        pod("p", SPACE, annotations={PLACEMENT: 'host("node-1")'}, labels={GROUP: "near"}),
        f"metadata.labels[{GROUP}]: only the webhook writes this label; name the token in the placement instead",
    ),
    "our toleration": (
        asking("p", SPACE, spec=pod_spec(tolerations=[{"key": EXCLUSIVE, "operator": "Exists"}])),
        f"spec.tolerations[0]: only the webhook tolerates {EXCLUSIVE}: {NAME_IT}",
    ),
    "a seal": (
        pod("p", SPACE, labels={"streams.ibm.com/seal": "1"}),
        (
            "metadata.labels[streams.ibm.com/seal]: only the webhook writes this label; leave it out, or copy the "
            "annotations of its pod as well"
        ),
    ),
    "an annotation to be skipped by": (
        asking("p", SPACE, annotations={"streams.ibm.com/inject": "disabled"}),
        "metadata.annotations[streams.ibm.com/inject]: unknown annotation",
    ),
}


@pytest.mark.parametrize(("forged", "said"), WRITTEN.values(), ids=WRITTEN.keys())
def test_no_pod_may_bring_along(admin: Api, forged: Object, said: str) -> None:
    answer = admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", forged)
    assert answer.message == f'admission webhook "pods.placement.streams.ibm.com" denied the request: {said}'
    assert answer.code == 422
