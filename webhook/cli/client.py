"""A client of the running server, as the API server is one: reviews over HTTPS, with the server's authority trusted."""

import base64
import http.client
import json
import ssl
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonpatch
from msgspec import Struct

from webhook.admission.workloads import Document

_SECONDS = 10
"""For one answer: the API server's own default for a webhook."""


class Reply(Struct, frozen=True):
    """What the server said about a pod: ``after`` is the pod with the patch applied, ``None`` if it was refused."""

    after: Document | None
    message: str
    code: int
    warnings: tuple[str, ...]


class Client:
    """One keep-alive connection for reviews."""

    def __init__(self, url: str, authority: Path) -> None:
        place = urlsplit(url)
        context = ssl.create_default_context(cafile=str(authority))
        self._connection = http.client.HTTPSConnection(
            place.hostname or "", place.port, context=context, timeout=_SECONDS
        )

    def create(self, pod: Document, namespace: str) -> Reply:
        """Submit the pod to ``/mutate`` as the API server does; ``ConnectionError`` if that is not answered."""
        body = json.dumps(review(pod, namespace), separators=(",", ":"))
        self._connection.request("POST", "/mutate?timeout=10s", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != http.client.OK:
            raise ConnectionError(f"the server answered {answer.status}: {said.get('message', '')}")
        return _reply(pod, said["response"])

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def review(pod: Document, namespace: str) -> Document:
    """The AdmissionReview of creating the pod, in the order in which the API server writes its fields."""
    metadata = pod.get("metadata") or {}
    request = {
        "uid": str(uuid.uuid4()),
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "name": metadata.get("name", ""),
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {"username": "tour"},
        "object": pod,
        "oldObject": None,
        "dryRun": True,
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def _reply(pod: Document, response: dict[str, Any]) -> Reply:
    warnings = tuple(response.get("warnings", ()))
    if not response["allowed"]:
        return Reply(None, response["status"]["message"], response["status"]["code"], warnings)
    patch = json.loads(base64.b64decode(response.get("patch", ""))) if "patch" in response else []
    return Reply(jsonpatch.apply_patch(pod, patch), "", http.client.OK, warnings)
