"""Clients that call the webhook's processes directly, as the API server does: with its CA bundle, by Service name."""

import base64
import http.client
import itertools
import json
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any, Final

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object

PORT: Final = 8443
"""Where a process answers reviews (the chart's Deployment)."""

NAME: Final = f"{RELEASE}.{NAMESPACE}.svc"

_CONFIGURATION: Final = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/zz-{RELEASE}"
_SECONDS: Final = 10


def bundle(admin: Api) -> str:
    """The authorities that the API server trusts, in PEM; empty while it trusts none."""
    encoded = admin.get(_CONFIGURATION)["webhooks"][0]["clientConfig"].get("caBundle", "")
    return base64.b64decode(encoded).decode()


def trusting(authorities: str) -> ssl.SSLContext:
    """What a client of these authorities connects with."""
    return ssl.create_default_context(cadata=authorities)


def shown(address: str) -> str:
    """The leaf that a process shows, in PEM."""
    return ssl.get_server_certificate((address, PORT), timeout=_SECONDS).strip()


def review(one: Object, **request: Any) -> bytes:
    """What the API server asks about a new pod."""
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    space = one["metadata"]["namespace"]
    asked = {"uid": "u", "kind": kind, "resource": resource, "operation": "CREATE", "namespace": space, "object": one}
    about = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked | request}
    return json.dumps(about).encode()


class Connection(http.client.HTTPSConnection):
    """A TLS connection to one process; made when it is first used."""

    def __init__(self, address: str, trust: ssl.SSLContext) -> None:
        super().__init__(NAME, PORT, timeout=_SECONDS, context=trust)
        self._address = address
        self._trust = trust

    def connect(self) -> None:
        """Go to the address, whatever the name means here."""
        plain = socket.create_connection((self._address, PORT), _SECONDS)
        try:
            self.sock = self._trust.wrap_socket(plain, server_hostname=NAME)
        except BaseException:
            plain.close()
            raise

    def ask(self, path: str, body: bytes) -> Object:
        """The response to a review. Raises OSError, HTTPException, ValueError, KeyError."""
        self.request("POST", path, body, {"Content-Type": "application/json"})
        answer: Object = json.loads(self.getresponse().read())["response"]
        return answer


class Clients:
    """Callers of several processes, in turn; each call's outcome is ``ok`` or what went wrong."""

    def __init__(self, addresses: Sequence[str], trust: Callable[[], ssl.SSLContext], body: bytes) -> None:
        self.connections = 0
        """That were made to be kept."""
        self._next = itertools.cycle(addresses)
        self._trust = trust
        self._body = body
        self._idle: list[Connection] = []

    def anew(self) -> str:
        """One review on a connection of its own."""
        connection = Connection(next(self._next), self._trust())
        outcome = self._asked(connection)
        connection.close()
        return outcome

    def kept(self) -> str:
        """One review on a connection that is used again."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = Connection(next(self._next), self._trust())
            self.connections += 1
        outcome = self._asked(connection)
        if outcome == "ok":
            self._idle.append(connection)
        else:
            connection.close()
        return outcome

    def close(self) -> None:
        """Hang up."""
        while self._idle:
            self._idle.pop().close()

    def _asked(self, connection: Connection) -> str:
        try:
            answer = connection.ask("/mutate", self._body)
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            return str(getattr(error, "reason", None) or f"{type(error).__name__}: {error}")
        return "ok" if answer["allowed"] and "patch" in answer else f"refused: {answer}"
