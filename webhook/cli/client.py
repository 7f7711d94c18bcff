"""A client of the running server, which sends reviews over HTTPS as the API server does."""

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

from webhook.admission.unstructured import Unstructured
from webhook.placement.text.api_kinds import WORKLOADS

_SECONDS = 10
"""For one answer: the API server's own default for a webhook."""


class Reply(Struct, frozen=True):
    """What the server said about an object: ``after`` is it with the patch applied, ``None`` if it was refused."""

    after: Unstructured | None
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

    def create(self, pod: Unstructured, namespace: str) -> Reply:
        """Submit the pod to ``/mutate`` as the API server does; ``ConnectionError`` if that is not answered."""
        return self._ask("/mutate", pod, namespace)

    def submit(self, workload: Unstructured, namespace: str) -> Reply:
        """Submit the workload that has pods like that to ``/validate``, in the same way."""
        return self._ask("/validate", workload, namespace)

    def _ask(self, path: str, document: Unstructured, namespace: str) -> Reply:
        body = json.dumps(review(document, namespace), separators=(",", ":"))
        self._connection.request("POST", f"{path}?timeout=10s", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != http.client.OK:
            raise ConnectionError(f"the server answered {answer.status}: {said.get('message', '')}")
        return _reply(document, said["response"])

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def review(document: Unstructured, namespace: str) -> Unstructured:
    """The AdmissionReview of creating the object, in the order in which the API server writes its fields."""
    group, kind = kind_of(document)
    request = {
        "uid": str(uuid.uuid4()),
        "kind": {"group": group, "version": "v1", "kind": kind},
        "resource": {"group": group, "version": "v1", "resource": f"{kind.lower()}s"},
        "name": (document.get("metadata") or {}).get("name", ""),
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {"username": "streams-placement"},
        "object": document,
        "oldObject": None,
        "dryRun": True,
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def kind_of(document: Unstructured) -> tuple[str, str]:
    """Group and kind of the object; a pod's unless it says so."""
    return str(document.get("apiVersion", "")).rpartition("/")[0], str(document.get("kind", "Pod"))


def is_workload(document: Unstructured) -> bool:
    """Whether the webhook decides about all pods of the object when it is created."""
    return kind_of(document) in ((kind.group, kind.name) for kind in WORKLOADS)


def _reply(document: Unstructured, response: dict[str, Any]) -> Reply:
    warnings = tuple(response.get("warnings", ()))
    if not response["allowed"]:
        return Reply(None, response["status"]["message"], response["status"]["code"], warnings)
    patch = json.loads(base64.b64decode(response.get("patch", ""))) if "patch" in response else []
    return Reply(jsonpatch.apply_patch(document, patch), "", http.client.OK, warnings)
