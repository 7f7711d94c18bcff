"""HTTPS client that sends AdmissionReviews to a running webhook, as the API server does; used by ``tour``.

:func:`admission_review` makes the AdmissionReview of creating an object; ``explain -o review`` prints it.
"""

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

from webhook.admission.unstructured import Unstructured, group_and_kind
from webhook.placement.text.api_kinds import STREAMS_JOB, WORKLOADS

_SECONDS = 10
"""Time-out for one answer in seconds: the API server's default for a webhook."""


class Reply(Struct, frozen=True):
    """The webhook's answer about an object: ``after`` is the object with the patch applied, ``None`` if refused.

    For an object that is admitted ``message`` is empty and ``code`` is 200.
    """

    after: Unstructured | None
    message: str
    code: int
    warnings: tuple[str, ...]


class Client:
    """One keep-alive connection to the webhook at ``url``; ``authority`` is the file of the CA that is trusted."""

    def __init__(self, url: str, authority: Path) -> None:
        target = urlsplit(url)
        context = ssl.create_default_context(cafile=str(authority))
        self._connection = http.client.HTTPSConnection(
            target.hostname or "", target.port, context=context, timeout=_SECONDS
        )

    def review_pod(self, pod: Unstructured, namespace: str) -> Reply:
        """Send the review of creating the pod to ``/mutate``; ``ConnectionError`` if the answer is an HTTP error."""
        return self._ask("/mutate", pod, namespace)

    def review_workload(self, workload: Unstructured, namespace: str) -> Reply:
        """Send the review of creating the workload to ``/validate``; ``ConnectionError`` as for :meth:`review_pod`."""
        return self._ask("/validate", workload, namespace)

    def _ask(self, path: str, document: Unstructured, namespace: str) -> Reply:
        body = json.dumps(admission_review(document, namespace), separators=(",", ":"))
        self._connection.request("POST", f"{path}?timeout=10s", body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        content = json.loads(response.read())
        if response.status != http.client.OK:
            raise ConnectionError(f"the server answered {response.status}: {content.get('message', '')}")
        return _reply(document, content["response"])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def admission_review(document: Unstructured, namespace: str) -> Unstructured:
    """The AdmissionReview of creating the object, in the order in which the API server writes its fields."""
    group, kind = group_and_kind(document)
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


def is_workload(document: Unstructured) -> bool:
    """Whether the object is a workload, which the webhook validates for all its pods when the workload is created.

    A Job of Streams is one.
    """
    return group_and_kind(document) in ((kind.group, kind.name) for kind in (*WORKLOADS, STREAMS_JOB))


def _reply(document: Unstructured, response: dict[str, Any]) -> Reply:
    warnings = tuple(response.get("warnings", ()))
    if not response["allowed"]:
        return Reply(None, response["status"]["message"], response["status"]["code"], warnings)
    patch = json.loads(base64.b64decode(response.get("patch", ""))) if "patch" in response else []
    return Reply(jsonpatch.apply_patch(document, patch), "", http.client.OK, warnings)
