"""With client certificates only the API server can call the webhook, set up as ``docs/operations.md`` describes."""

import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.chart.installation import PORT, install, kubelet
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.workloads import namespace
from tests.server.pki import Authority

SPACE: Final = "certified"
SERVICE: Final = f"/api/v1/namespaces/{NAMESPACE}/services/{RELEASE}"


def _admission(folder: Path, authority: Authority) -> Path:
    """The two files that the page shows, and the pair that they name."""
    cert, key = authority.issue("api-server").write(folder, "webhooks")
    kubeconfig, file = folder / "webhooks.kubeconfig", folder / "admission.yaml"
    user = {"client-certificate": str(cert), "client-key": str(key)}
    users = [{"name": f"{RELEASE}.{NAMESPACE}.svc:{PORT}", "user": user}]
    kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "users": users}))
    version = "apiserver.config.k8s.io/v1"
    told: Object = {"apiVersion": version, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": str(kubeconfig)}
    names = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
    plugins = [{"name": name, "configuration": told} for name in names]
    file.write_text(json.dumps({"apiVersion": version, "kind": "AdmissionConfiguration", "plugins": plugins}))
    return file


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane whose API server shows a certificate, and the chart, which wants one."""
    folder, authority = tmp_path_factory.mktemp("certified"), Authority()
    with ControlPlane(folder / "plane", admission=_admission(folder, authority)) as plane:
        create_nodes(plane.admin, [node("node-1")])
        namespace(plane.admin, SPACE)
        with kubelet(plane) as running:
            data = {"ca.crt": authority.cert.decode()}
            metadata = {"name": "clients", "namespace": NAMESPACE}
            plane.admin.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
            values = {"tls": {"clientCA": {"configMap": "clients"}}, "settings": {"drain": 1}}
            install(plane, running, values)
            yield plane


def test_pods_are_placed_by_an_api_server_that_shows_its_certificate(certified: ControlPlane) -> None:
    made = certified.admin.create(asking("p", SPACE))
    assert "streams.ibm.com/injected" in made["metadata"]["annotations"]


def test_whoever_has_no_certificate_is_turned_away(certified: ControlPlane) -> None:
    """With TLS 1.3 a client learns of it as soon as it reads: by an alert, if that is not lost with the connection."""
    address = certified.admin.get(SERVICE)["spec"]["clusterIP"]
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((address, PORT), 10) as plain, anyone.wrap_socket(plain) as stranger:
        stranger.sendall(b"POST /mutate HTTP/1.1\r\nHost: w\r\nContent-Length: 0\r\n\r\n")
        try:
            heard = stranger.recv(1)
        except OSError:
            heard = b""
    assert heard == b""
