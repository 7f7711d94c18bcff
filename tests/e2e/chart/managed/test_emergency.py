"""Webhook configurations that are deleted in an emergency stay deleted; pods that ask for hosts are refused then."""

from typing import Final

import pytest

from tests.e2e.chart.clients import bundle
from tests.e2e.chart.installation import QUICK, install
from tests.e2e.chart.managed.certificates import Certificates
from tests.e2e.chart.placement_pods import asking, ready_pods, reviews
from tests.e2e.chart.rendering import RELEASE
from tests.e2e.chart.tenant import by_policy
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, namespace, pod, pod_spec

SPACE: Final = "emergency"
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
REGISTRATIONS: Final = "/apis/admissionregistration.k8s.io/v1"
MUTATING: Final = f"{REGISTRATIONS}/mutatingwebhookconfigurations/zz-{RELEASE}"
VALIDATING: Final = f"{REGISTRATIONS}/validatingwebhookconfigurations/zz-{RELEASE}"

UNSEEN: Final = (
    "this pod asks for hosts, but the webhook of streams-placement has not reviewed it: "
    "its MutatingWebhookConfiguration is missing, or the pod was made to ask only later"
)


@pytest.fixture(scope="module", autouse=True)
def _mutating_gone(plane: ControlPlane, managed: Kubelet) -> None:  # noqa: ARG001 -- after it
    admin = plane.admin
    namespace(admin, SPACE)
    admin.delete(MUTATING)
    until(lambda: UNSEEN in admin.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE)).message, "it is not asked")


@pytest.fixture(scope="module")
def _both_gone(plane: ControlPlane) -> None:
    plane.admin.delete(VALIDATING)
    until(lambda: not asked(plane.admin), "it is not asked")


def asked(admin: Api) -> bool:
    """Whether a pod that has a node still is reviewed."""
    before = reviews(admin)
    admin.create(pod("p", SPACE, pod_spec(nodeName="node-1")), dryRun="All")
    return reviews(admin) > before


def test_what_asks_for_hosts_is_refused_rather_than_let_run_anywhere(admin: Api) -> None:
    answer = admin.send("POST", PODS, asking("p", SPACE))
    assert (answer.code, answer.message) == (403, by_policy('pods "p"', "created", UNSEEN))


FORGED: Final = {"annotations": {"streams.ibm.com/injected": '{"nodeName":["host(\\"node-1\\")"]}'}}


def test_an_annotation_that_says_it_was_seen_does_not_help(admin: Api) -> None:
    answer = admin.send("POST", PODS, asking("p", SPACE, **FORGED))
    assert (answer.code, answer.message) == (403, by_policy('pods "p"', "created", UNSEEN))


def test_nor_does_a_seal_that_is_not_the_webhooks(admin: Api) -> None:
    """As long as the other configuration is there, the webhook looks for what the annotation says."""
    answer = admin.send("POST", PODS, asking("p", SPACE, labels={"streams.ibm.com/seal": "1"}, **FORGED))
    said = "spec: lacks nodeAffinity that its clauses require: something removed what the placement webhook had added"
    assert answer.message == f'admission webhook "pods.placement.streams.ibm.com" denied the request: {said}'
    assert answer.code == 403


@pytest.mark.usefixtures("_both_gone")
def test_without_either_it_still_is(admin: Api) -> None:
    answer = admin.send("POST", PODS, asking("p", SPACE))
    assert (answer.code, answer.message) == (403, by_policy('pods "p"', "created", UNSEEN))


@pytest.mark.usefixtures("_both_gone")
def test_everybody_else_goes_on(admin: Api) -> None:
    admin.create(pod("plain", SPACE))
    until(lambda: is_ready(admin.get(f"{PODS}/plain")), "it runs")


@pytest.mark.usefixtures("_both_gone")
def test_they_are_not_created_again(admin: Api, certificates: Certificates) -> None:
    """Not even who keeps their ``caBundle``: it goes on with the certificates, and leaves that alone."""
    for _ in range(2):  # the second is made after another look at everything
        certificates.take_away("tls.crt")
    assert (admin.find(MUTATING), admin.find(VALIDATING)) == (None, None)


@pytest.mark.usefixtures("_both_gone")
def test_an_upgrade_brings_them_back(admin: Api, plane: ControlPlane, managed: Kubelet) -> None:
    """Without restarting anybody; who they are to trust is told them once more."""
    before = {one["metadata"]["uid"] for one in ready_pods(admin)}
    install(plane, managed, QUICK)
    until(lambda: bundle(admin), "they are told whom to trust")
    until(lambda: admin.send("POST", f"{PODS}?dryRun=All", asking("p", SPACE)).code == 201, "pods are placed again")
    assert admin.create(asking("placed", SPACE))["spec"]["nodeName"] == "node-1"
    assert {one["metadata"]["uid"] for one in ready_pods(admin)} == before
