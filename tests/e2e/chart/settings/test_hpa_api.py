"""The chart with ``hpaApi.enabled``: two pods behind a Service, which clients of the cluster reach over TLS."""

import http.client
import json
import ssl
from typing import Any, Final

import pytest

from tests.e2e.chart.conftest import SECRET
from tests.e2e.chart.objects.intents import path
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.chart.settings.conftest import Upgraded
from tests.e2e.client.api import Answer
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.rest.hpa_process import INTENTS
from tests.e2e.workloads import namespace
from tests.rest.rest_server import intent

NAME: Final = f"{RELEASE}-hpa-api"
PORT: Final = 9444


class Client:
    """Asks the Service."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._tls = ssl._create_unverified_context()  # noqa: S323, SLF001 -- the certificate names the webhook's Service

    def ask(self, method: str, where: str, body: Any = None, token: str = "") -> Answer:
        """An answer of any of the pods."""
        service = self._plane.admin.get(f"/api/v1/namespaces/{NAMESPACE}/services/{NAME}")
        address = service["spec"]["clusterIP"]
        connection = http.client.HTTPSConnection(address, PORT, timeout=20, context=self._tls)
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            connection.request(method, where, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            return Answer(reply.status, json.loads(reply.read() or b"null"))
        finally:
            connection.close()


@pytest.fixture(scope="module")
def service(upgraded: Upgraded, plane: ControlPlane) -> Client:
    namespace(plane.admin, "edge")
    upgraded({"hpaApi": {"enabled": True, "port": PORT, "tlsSecret": SECRET, "audience": ""}})
    return Client(plane)


def test_users_create_intents_in_the_namespace_of_their_project(service: Client, plane: ControlPlane) -> None:
    """Helm has waited until the probes of both pods pass, which are HTTPS."""
    pods = plane.admin.get(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector="app.kubernetes.io/component=hpa-api")
    assert len(pods["items"]) == 2
    until(lambda: _reached(service), "the Service leads to them", 30)
    assert service.ask("GET", INTENTS).code == http.HTTPStatus.UNAUTHORIZED
    assert service.ask("GET", INTENTS, token=plane.identities["user"].token).code == http.HTTPStatus.FORBIDDEN
    admin = plane.identities["admin"].token
    assert service.ask("POST", INTENTS, intent("fwall"), admin).code == http.HTTPStatus.CREATED
    (stored,) = plane.admin.get(path("edge"))["items"]
    assert stored["spec"]["app"] == "fwall"
    assert service.ask("DELETE", f"{INTENTS}/fwall", token=admin).code == http.HTTPStatus.NO_CONTENT


def _reached(service: Client) -> bool:
    try:
        return service.ask("GET", "/openapi.json").code == http.HTTPStatus.OK
    except OSError:
        return False
