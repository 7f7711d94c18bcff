"""PlacementReviews by kubectl, through the API server's aggregation layer, with certificates of the chart's own.

What a tenant is told, what becomes of the cluster while nobody answers, and what is left after an uninstallation.
"""

import json
import os
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.rendering import NAMESPACE, RELEASE, Values
from tests.e2e.chart.test_uninstall import remains, uninstall
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.workloads import namespace
from webhook.aggregated.discovery import aggregated_type
from webhook.placementreview.review import API_VERSION, GROUP, KIND

SPACE: Final = "team-review"
NODES: Final = ("mercury-1", "mercury-2", "venus-3")
VALUES: Final[Values] = {**QUICK, "placementReview": {"enabled": True}, "replicas": 1, "controller": {"replicas": 1}}
SERVICE: Final = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{GROUP}"
RBAC: Final = "rbac.authorization.k8s.io"
BINDINGS: Final = f"/apis/{RBAC}/v1/namespaces/kube-system/rolebindings"


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of its own: the chart comes and goes."""
    with ControlPlane(tmp_path_factory.mktemp("asked")) as running:
        create_nodes(running.admin, [node(name) for name in NODES])
        tenant(running)
        yield running


@pytest.fixture(scope="module")
def running(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart with PlacementReviews."""
    with kubelet(plane) as found:
        install(plane, found, VALUES)
        until(lambda: available(plane.admin) == "True", "the API server reaches the aggregated API", 60)
        yield found


def tenant(plane: ControlPlane) -> None:
    """Jane may edit one namespace, by the role of Kubernetes."""
    namespace(plane.admin, SPACE)
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "edit"}
    subject = {"apiGroup": RBAC, "kind": "User", "name": plane.identities["user"].user}
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": "jane", "namespace": SPACE}}
    plane.admin.create({**binding, "roleRef": ref, "subjects": [subject]})


def available(admin: Api) -> str:
    """Whether the API server reaches the aggregated API, as it says itself."""
    conditions = admin.get(SERVICE).get("status", {}).get("conditions", [])
    return next((one["status"] for one in conditions if one["type"] == "Available"), "")


def freshness(plane: ControlPlane) -> str:
    """What the API server's discovery says of the group: ``Current`` or ``Stale``."""
    headers = {"Authorization": f"Bearer {plane.identities['admin'].token}", "Accept": aggregated_type("v2")}
    request = urllib.request.Request(f"{plane.url}/apis", headers=headers)  # noqa: S310 -- an API server of ours
    trusting = ssl.create_default_context(cafile=str(plane.authority))
    with urllib.request.urlopen(request, timeout=10, context=trusting) as answer:  # noqa: S310 -- the same
        groups = json.loads(answer.read())["items"]
    versions = [version for group in groups if group["metadata"]["name"] == GROUP for version in group["versions"]]
    return str(versions[0].get("freshness", "")) if versions else ""


def away(plane: ControlPlane) -> None:
    """End all pods of the webhook, and wait until the API server has noticed."""
    done = plane.kubectl("--namespace", NAMESPACE, "scale", "deployment", RELEASE, "--replicas", "0")
    assert done.returncode == 0, done.stderr
    chosen = f"app.kubernetes.io/instance={RELEASE},app.kubernetes.io/component=webhook"
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
    until(lambda: plane.admin.get(pods, labelSelector=chosen)["items"] == [], "the pods have ended", 60)
    until(lambda: available(plane.admin) == "False", "the API server notices", 60)
    # Discovery looks again once a minute, and when the APIService changes.
    plane.kubectl("annotate", "apiservice", f"v1.{GROUP}", f"looked={time.monotonic()}", "--overwrite")
    until(lambda: freshness(plane) == "Stale", "discovery notices", 90)


def review(*manifests: Object, **spec: Any) -> str:
    """A review as a file of kubectl."""
    return json.dumps({"apiVersion": API_VERSION, "kind": KIND, "spec": {"manifests": list(manifests), **spec}})


def pod(placement: str) -> Object:
    """A pod with that constraint."""
    containers = [{"name": "main", "image": "example.invalid/main"}]
    metadata = {"name": "mine", "annotations": {"streams.ibm.com/placement": placement}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


ANYWHERE: Final[Object] = {**pod(""), "metadata": {"name": "mine", "labels": {"streams.ibm.com/job": "j"}}}


def asked(plane: ControlPlane, user: str, body: str, space: str = SPACE) -> Object:
    """The status of the review that the user creates with kubectl."""
    done = plane.kubectl("create", "-f", "-", "-o", "json", "--namespace", space, user=user, stdin=body)
    assert done.returncode == 0, done.stderr
    found: Object = json.loads(done.stdout)["status"]
    return found


@pytest.mark.usefixtures("running")
def test_an_administrator_is_told_everything(plane: ControlPlane) -> None:
    status = asked(plane, "admin", review(pod('host("mercury-1")'), pod('host("pluto-9")')))
    first, second = status["results"]
    assert (first["verdict"], first["candidates"]) == ("Admitted", {"count": 1, "nodes": ["mercury-1"]})
    assert second["verdict"] == "Refused"


@pytest.mark.usefixtures("running")
def test_a_tenant_is_told_counts_and_no_name_of_a_node(plane: ControlPlane) -> None:
    until(
        lambda: plane.kubectl("auth", "can-i", "create", f"placementreviews.{GROUP}", "--namespace", SPACE, user="user")
        .stdout.startswith("yes"),
        "the role edit is aggregated",
    )  # fmt: skip
    status = asked(plane, "user", review(ANYWHERE, pod('host("pluto-9")'), plan=True))
    assert not [name for name in NODES if name in json.dumps(status)]
    assert [one["verdict"] for one in status["results"]] == ["Admitted", "Refused"]
    assert status["results"][0]["candidates"] == {"count": len(NODES)}


def explained(plane: ControlPlane, manifest: Object, *words: str) -> tuple[int, Object]:
    """The exit code of ``explain --server`` for the tenant, and the first object of its answer."""
    done = subprocess.run(  # noqa: S603 -- the program of this repository
        [sys.executable, "-m", "webhook", "explain", "--server", "-f", "-", "-n", SPACE, "-o", "json", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        input=json.dumps(manifest),
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig("user"))},
    )
    assert done.returncode in (0, 1), done.stderr
    found: list[Object] = json.loads(done.stdout)
    return done.returncode, found[0]


@pytest.mark.usefixtures("running")
def test_explain_asks_the_webhook_as_the_tenant(plane: ControlPlane) -> None:
    code, first = explained(plane, pod('host("pluto-9")'))
    assert (code, first["verdict"]) == (1, "refused")
    code, first = explained(plane, ANYWHERE)
    assert (code, first["verdict"], first["candidateCount"]) == (0, "admitted", len(NODES))


@pytest.mark.usefixtures("running")
def test_a_tenant_asks_in_no_other_namespace(plane: ControlPlane) -> None:
    done = plane.kubectl("create", "-f", "-", "--namespace", "default", user="user", stdin=review())
    assert done.returncode == 1
    assert f'cannot create resource "placementreviews" in API group "{GROUP}" in the namespace "default"' in done.stderr


@pytest.mark.usefixtures("running")
def test_a_drain_is_answered_for_those_who_may_list_nodes(plane: ControlPlane) -> None:
    status = asked(plane, "admin", review(pod('host("mercury-1")'), whatIf={"drain": ["mercury-1"]}))
    assert status["results"][0]["verdict"] == "Refused"
    done = plane.kubectl(
        "create", "-f", "-", "--namespace", SPACE, user="user", stdin=review(whatIf={"drain": ["mercury-1"]})
    )
    assert done.returncode == 1
    assert "spec.whatIf.drain" in done.stderr


@pytest.mark.usefixtures("running")
def test_kubectl_explains_the_kind(plane: ControlPlane) -> None:
    def explained() -> str:
        return plane.kubectl("explain", "placementreview.spec.whatIf").stdout

    said = until(lambda: text if "drain" in (text := explained()) else None, "the documents are merged", 60)
    assert f"GROUP:      {GROUP}" in said
    assert "Nodes that take no new pods, and whose pods are evicted as by kubectl drain." in " ".join(said.split())


@pytest.mark.usefixtures("running")
def test_nothing_is_stored_and_kubectl_says_so(plane: ControlPlane) -> None:
    done = plane.kubectl("get", "placementreviews", "--namespace", SPACE)
    assert done.returncode == 1
    assert "can only be created" in done.stderr or "does not allow this method" in done.stderr, done.stderr
    assert "placementreviews" in plane.kubectl("api-resources", "--api-group", GROUP, "--verbs", "create").stdout


def test_while_nobody_answers_namespaces_wait_and_everything_else_goes_on(
    plane: ControlPlane, running: Kubelet
) -> None:
    admin = plane.admin
    namespace(admin, "leaving")
    assert freshness(plane) == "Current"
    away(plane)
    assert plane.kubectl("get", "nodes").returncode == 0
    assert plane.kubectl("create", "configmap", "kept", "--namespace", SPACE, user="user").returncode == 0
    assert plane.kubectl("delete", "configmap", "kept", "--namespace", SPACE, user="user").returncode == 0
    assert "deployments" in plane.kubectl("api-resources", "--api-group", "apps").stdout
    plane.kubectl("create", "configmap", "content", "--namespace", "leaving")
    assert plane.kubectl("delete", "namespace", "leaving", "--wait=false").returncode == 0

    def discovery_fails() -> bool:
        conditions = admin.get("/api/v1/namespaces/leaving")["status"].get("conditions", [])
        failing = [one["type"] for one in conditions if one["status"] == "True"]
        return "NamespaceDeletionDiscoveryFailure" in failing

    until(discovery_fails, "the namespace controller says what it waits for", 60)
    assert admin.find("/api/v1/namespaces/leaving/configmaps/content") is None
    time.sleep(2)
    assert admin.find("/api/v1/namespaces/leaving") is not None

    plane.kubectl("--namespace", NAMESPACE, "scale", "deployment", RELEASE, "--replicas", "1")
    until(lambda: admin.find("/api/v1/namespaces/leaving") is None, "the namespace ends", 90)
    until(lambda: available(admin) == "True", "reviews are answered again", 60)
    assert asked(plane, "admin", review(pod('host("mercury-1")')))["results"], running.logs()[-2000:]


def test_deleting_the_api_service_frees_namespaces_at_once_while_nobody_answers(plane: ControlPlane) -> None:
    admin = plane.admin
    namespace(admin, "stuck")
    away(plane)
    assert plane.kubectl("delete", "namespace", "stuck", "--wait=false").returncode == 0
    assert plane.kubectl("delete", "apiservice", f"v1.{GROUP}").returncode == 0
    until(lambda: admin.find("/api/v1/namespaces/stuck") is None, "the namespace ends", 60)


def test_an_uninstallation_leaves_nothing(plane: ControlPlane, running: Kubelet) -> None:
    admin = plane.admin
    install(plane, running, VALUES)
    until(lambda: available(admin) == "True", "reviews are answered", 90)
    namespace(admin, "after")
    done = uninstall(plane)
    assert done.returncode == 0, f"{done.stderr}\n{running.logs()[-4000:]}"
    until(lambda: remains(admin) == [], f"nothing is left: {remains(admin)} is", 30)
    assert admin.find(SERVICE) is None
    assert admin.get(BINDINGS, labelSelector=f"app.kubernetes.io/instance={RELEASE}")["items"] == []
    assert plane.kubectl("delete", "namespace", "after", "--timeout", "240s").returncode == 0
