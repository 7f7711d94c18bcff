"""Another mutating webhook in the cluster: a real server with real TLS, and a configuration of its own."""

import base64
import collections
import contextlib
import copy
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from certs.authority import create_authority
from certs.names import LOOPBACK
from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until
from tests.e2e.workloads import pod
from webhook.server.tls import context

Change: TypeAlias = Callable[[Object, int], object]
"""Changes a pod in place; the number says how often it has been asked about this pod, from 1."""

_CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_PROBE: Final = "probe"
_STOP_SECONDS: Final = 5


class SecondWebhook(http.server.ThreadingHTTPServer):
    """The server; ``change`` is what it does to pods now."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.change: Change = _nothing
        self.asked: collections.Counter[str] = collections.Counter()
        """How often it was asked about a pod of this name."""
        now = datetime.now(UTC)
        authority = create_authority(now, timedelta(days=1))
        leaf = authority.issue(LOOPBACK, now, lifetime=timedelta(days=1))
        self.authority = authority.certificate_pem
        self.socket = context(leaf.certificate_pem, leaf.key_pem).wrap_socket(self.socket, server_side=True)

    def patch(self, one: Object) -> list[Object]:
        """What to change about a pod."""
        self.asked[one["metadata"]["name"]] += 1
        after = copy.deepcopy(one)
        self.change(after, self.asked[one["metadata"]["name"]])
        parts = [part for part in ("metadata", "spec") if after[part] != one[part]]
        return [{"op": "replace", "path": f"/{part}", "value": after[part]} for part in parts]


class _Handler(http.server.BaseHTTPRequestHandler):
    server: SecondWebhook

    def do_POST(self) -> None:
        request: Object = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        response: Object = {"uid": request["uid"], "allowed": True}
        if steps := self.server.patch(request["object"]):
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(steps).encode()).decode()}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        body = json.dumps(review).encode()
        self.send_response(http.HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


@contextlib.contextmanager
def serving() -> Iterator[SecondWebhook]:
    """The server at work; nobody asks it yet."""
    with SecondWebhook() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="second webhook", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(_STOP_SECONDS)


@contextlib.contextmanager
def registered(admin: Api, server: SecondWebhook, name: str, space: str) -> Iterator[None]:
    """The API server asks it about new pods of one namespace: before or after us, as the name says."""
    admin.create(_configuration(server, name, space))
    probe, server.change = pod(_PROBE, space), _nothing
    try:
        until(lambda: admin.create(probe, dryRun="All") and server.asked[_PROBE], "the second webhook is asked")
        yield
    finally:
        # The API server may ask about the probe once more, and a test's change is made for that test's pods.
        server.change = _nothing
        admin.delete(f"{_CONFIGURATIONS}/{name}")
        until(lambda: not _asks(admin, server, probe), "the second webhook is not asked any more")


def _nothing(_pod: Object, _times: int) -> None:
    """A pod as it came."""


def _asks(admin: Api, server: SecondWebhook, probe: Object) -> bool:
    server.asked.clear()
    admin.create(probe, dryRun="All")
    return bool(server.asked)


def _configuration(server: SecondWebhook, name: str, space: str) -> Object:
    authority = base64.b64encode(server.authority).decode()
    webhook = {
        "name": "second.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"https://127.0.0.1:{server.server_port}/", "caBundle": authority},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space}},
        "reinvocationPolicy": "IfNeeded",
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    meta, api = {"name": name}, "admissionregistration.k8s.io/v1"
    return {"apiVersion": api, "kind": "MutatingWebhookConfiguration", "metadata": meta, "webhooks": [webhook]}
