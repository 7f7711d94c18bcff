"""The product's own pods run as processes, and are reached at the cluster address of their Service."""

import base64
import http.client
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.pods.service_proxy import ServiceProxy
from tests.e2e.polling import until
from tests.e2e.workloads import deployment, namespace

SPACE = "real"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{SPACE}/deployments/echo"
PORT = 8080
ECHO = (sys.executable, str(Path(__file__).with_name("echo.py")))


def echo_spec() -> Object:
    """A container as a chart would write it: mounts, a wildcard address, references and the downward API."""
    probe = {"httpGet": {"path": "/ready", "port": "web"}, "periodSeconds": 1, "failureThreshold": 1}
    container = {
        "name": "echo",
        "image": "example.invalid/echo",
        "args": ["--listen=0.0.0.0", "--port=$(PORT)", "--file", "/etc/echo/text"],
        "env": [
            {"name": "PORT", "value": str(PORT)},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "text", "key": "text"}}},
            {"name": "TOKEN_FILE", "value": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
        ],
        "ports": [{"name": "web", "containerPort": PORT}],
        "readinessProbe": probe,
        "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
        "volumeMounts": [{"name": "text", "mountPath": "/etc/echo"}],
    }
    volume = {"name": "text", "secret": {"secretName": "text"}}
    return {"serviceAccountName": "default", "containers": [container], "volumes": [volume]}


def secret(text: str) -> Object:
    data = {"text": base64.b64encode(text.encode()).decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "text", "namespace": SPACE}, "data": data}


@pytest.fixture(scope="module")
def kubelet(plane: ControlPlane) -> Iterator[Kubelet]:
    """Two replicas of the echo program, and a Service; the pods wait for a Secret that comes last."""
    admin = plane.admin
    namespace(admin, SPACE)
    ports = [{"name": "http", "port": 8443, "targetPort": "web"}]
    service: Object = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "echo", "namespace": SPACE}}
    with Kubelet(plane, SPACE, programs={"": (*ECHO, "serve")}) as running, ServiceProxy(admin, SPACE):
        admin.create({**service, "spec": {"selector": {"app": "echo"}, "ports": ports}})
        label = {"app.kubernetes.io/name": "streams-placement"}
        admin.create(deployment("echo", SPACE, replicas=2, spec=echo_spec(), labels=label))
        until(lambda: waiting_for(admin) == {'secret "text" not found'}, "the pods say what they wait for")
        admin.create(secret("first"))
        until(lambda: ready(admin) == 2, "two pods are ready")
        yield running


def pods(admin: Api) -> list[Object]:
    listed: list[Object] = admin.get(f"/api/v1/namespaces/{SPACE}/pods")["items"]
    return listed


def waiting_for(admin: Api) -> set[str]:
    """The messages of containers that wait."""
    states = [one["state"] for pod in pods(admin) for one in pod["status"].get("containerStatuses", ())]
    return {state.get("waiting", {}).get("message", "") for state in states}


def ready(admin: Api) -> int:
    return int(admin.get(DEPLOYMENT)["status"].get("readyReplicas", 0))


def ask(admin: Api) -> dict[str, Any]:
    """What a process says at the cluster address of the Service; raises OSError if none listens."""
    address = admin.get(f"/api/v1/namespaces/{SPACE}/services/echo")["spec"]["clusterIP"]
    connection = http.client.HTTPConnection(address, 8443, timeout=5)
    try:
        connection.request("GET", "/")
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer
    finally:
        connection.close()


def said(admin: Api) -> str:
    """The file that a process reads, or what keeps it from answering."""
    try:
        return str(ask(admin)["file"])
    except (OSError, http.client.HTTPException) as trouble:
        return type(trouble).__name__


@pytest.mark.usefixtures("kubelet")
def test_every_ready_pod_is_reached_at_the_address_of_the_service(admin: Api) -> None:
    names = {one["metadata"]["name"] for one in pods(admin)}
    until(lambda: {ask(admin)["environment"]["POD"] for _ in range(2)} == names, "both pods answer")


@pytest.mark.usefixtures("kubelet")
def test_the_environment_of_the_container_is_the_one_of_the_process(admin: Api) -> None:
    seen = ask(admin)["environment"]
    assert (seen["PORT"], seen["SECRET"], seen["KUBERNETES_SERVICE_HOST"]) == (str(PORT), "first", "127.0.0.1")


@pytest.mark.usefixtures("kubelet")
def test_the_token_of_a_pod_is_one_of_its_service_account_and_bound_to_it(admin: Api) -> None:
    seen = ask(admin)["environment"]
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}}
    spec = {"token": Path(seen["TOKEN_FILE"]).read_text()}
    status = admin.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {**review, "spec": spec}).body["status"]
    assert status["user"]["username"] == f"system:serviceaccount:{SPACE}:default"
    assert status["user"]["extra"]["authentication.kubernetes.io/pod-name"] == [seen["POD"]]


@pytest.mark.usefixtures("kubelet")
def test_a_changed_secret_reaches_the_files_of_a_running_process(admin: Api) -> None:
    admin.apply(secret("second"))
    until(lambda: {said(admin) for _ in range(4)} == {"second"}, "both processes read the new text")


@pytest.mark.usefixtures("kubelet")
def test_without_a_ready_pod_the_service_refuses_connections(admin: Api) -> None:
    admin.apply(secret("unready"))
    until(lambda: said(admin) == "ConnectionRefusedError", "nobody listens")
    admin.apply(secret("second"))
    until(lambda: ready(admin) == 2, "the pods are ready again")


def test_a_process_that_is_killed_is_started_again(admin: Api, kubelet: Kubelet) -> None:
    victim = kubelet.worker(pods(admin)[0]["metadata"]["name"])
    assert victim.process is not None
    victim.process.signal(signal.SIGKILL)
    until(lambda: ready(admin) == 1, "one pod is unready")
    until(lambda: ready(admin) == 2, "it is ready again")
    state = next(one["status"] for one in pods(admin) if one["metadata"]["name"] == victim.name)
    assert state["containerStatuses"][0]["restartCount"] == 1


def test_deleted_pods_end_with_their_processes(admin: Api, kubelet: Kubelet) -> None:
    workers = list(kubelet.workers.values())
    admin.patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": 0}})
    until(lambda: not pods(admin), "no pods are left")
    until(lambda: not any(one.alive or one.running for one in workers), "no processes are left")
    until(lambda: said(admin) == "ConnectionRefusedError", "nobody listens any more")
