"""Requests for objects that ask for nothing: what everybody else in a cluster does while the chart is there."""

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from tests.e2e.client.api import Api, Object
from tests.e2e.polling import until
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.kind import OperatorKind

SPACE: Final = "bench-bystanders"
NODES: Final = 50
SIZE: Final = 4 << 10
"""Bytes of a pod."""

ANNOTATIONS: Final = (0, 5, 25)

KINDS: Final[Sequence[OperatorKind]] = tuple(application_kinds().values())
"""The kinds of other operators, of which applications take turns."""

_PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
_LEASES: Final = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
_DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
_JSON: Final = "application/json"
_MERGE: Final = "application/merge-patch+json"


class Request(Struct, frozen=True):
    """One request: method, path, content type and body; the same client sends those ``following`` right after it."""

    method: str
    path: str
    body: bytes
    content: str = _JSON
    following: tuple["Request", ...] = ()


class PlainRequests(Struct, frozen=True):
    """One kind of request: the request of each number, what must be there before, and what they leave behind."""

    name: str
    request: Callable[[int], Request]
    before: Callable[[Api, int], None] = lambda _api, _total: None
    leaves: tuple[str, ...] = ()
    share: int = 1
    """Of so many requests by many clients one is made."""

    def of(self, singles: int, many: int) -> list[Request]:
        """The requests of a turn: ``singles`` by one client, then ``many``, or a share of them, by all."""
        return [self.request(number) for number in range(singles + many // self.share)]

    def empty(self, admin: Api) -> None:
        """Delete what the requests have left behind."""
        for path in self.leaves:
            _emptied(admin, path)


def plain_requests(*, applications: bool) -> Iterator[PlainRequests]:
    """All kinds of requests, those for ``applications`` of other operators if they are known to the API server."""
    for annotations in ANNOTATIONS:
        yield PlainRequests(
            f"pods with {annotations} annotations", functools.partial(_pod, annotations), leaves=(_PODS,)
        )
    yield PlainRequests("status updates of pods", _status, _with_pods, leaves=(_PODS,))
    # The kubelets of the plane report on these pods, too, so each life takes the API server some ten times as long.
    yield PlainRequests("whole lives of pods", life, share=5)
    yield PlainRequests("heartbeats of nodes", _heartbeat)
    yield PlainRequests("renewals of Leases", _renewal, _with_leases, leaves=(_LEASES,))
    yield PlainRequests("Deployments", _deployment, leaves=(_DEPLOYMENTS,))
    if applications:
        collections = tuple(map(collection_of, KINDS))
        yield PlainRequests("applications of other operators", application, leaves=collections)


def _pod(annotations: int, number: int) -> Request:
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"plain-{number}",
            "labels": {"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": f"web-{number % 20}"},
            "annotations": {f"example.com/key-{each}": f"value {each} of pod {number}" for each in range(annotations)},
        },
        "spec": {
            "schedulerName": "nobody",
            "containers": [
                {
                    "name": "web",
                    "image": "registry.example.com/web:1.0",
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "env": [{"name": "PADDING", "value": ""}],
                }
            ],
        },
    }
    env = pod["spec"]["containers"][0]["env"][0]
    env["value"] = "x" * max(0, SIZE - len(json.dumps(pod)))
    return Request("POST", _PODS, json.dumps(pod).encode())


def _emptied(admin: Api, path: str) -> None:
    admin.delete(path, gracePeriodSeconds="0")
    until(lambda: not admin.get(path, limit="1")["items"], f"{path} is empty", 120)


def _with_pods(admin: Api, total: int) -> None:
    for number in range(total):
        admin.call("POST", _PODS, json.loads(_pod(ANNOTATIONS[-1], number).body))


def _status(number: int) -> Request:
    condition = {"type": "example.com/Checked", "status": "True", "reason": "Checked", "message": f"check {number}"}
    return Request(
        "PATCH", f"{_PODS}/plain-{number}/status", json.dumps({"status": {"conditions": [condition]}}).encode(), _MERGE
    )


def life(number: int) -> Request:
    """A pod with 25 annotations from its creation to its end."""
    created = _pod(ANNOTATIONS[-1], number)
    path = f"{_PODS}/plain-{number}"
    target = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % NODES}"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": f"plain-{number}"}, "target": target}
    reports = (
        Request(
            "PATCH", f"{path}/status", json.dumps({"status": {"phase": phase, "message": str(step)}}).encode(), _MERGE
        )
        for step, phase in enumerate(("Pending", "Running", "Running"))
    )
    bound = Request("POST", f"{path}/binding", json.dumps(binding).encode())
    ended = Request("DELETE", path, b'{"gracePeriodSeconds":0}')
    return replace(created, following=(bound, *reports, ended))


def _heartbeat(number: int) -> Request:
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": f"heartbeat {number}"}
    return Request(
        "PATCH",
        f"/api/v1/nodes/node-{number % NODES}/status",
        json.dumps({"status": {"conditions": [condition]}}).encode(),
        "application/strategic-merge-patch+json",
    )


def _with_leases(admin: Api, _total: int) -> None:
    for number in range(NODES):
        admin.call("POST", _LEASES, _lease(number))


def _lease(number: int) -> Object:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": f"node-{number}", "namespace": SPACE},
        "spec": {"holderIdentity": f"node-{number}", "leaseDurationSeconds": 40},
    }


def _renewal(number: int) -> Request:
    renewed = {"spec": {"renewTime": f"2026-01-01T00:00:00.{number:06d}Z"}}
    return Request("PATCH", f"{_LEASES}/node-{number % NODES}", json.dumps(renewed).encode(), _MERGE)


def _deployment(number: int) -> Request:
    labels = {"app": f"web-{number}"}
    spec = {"containers": [{"name": "web", "image": "registry.example.com/web:1.0"}]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"web-{number}", "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    return Request("POST", _DEPLOYMENTS, json.dumps(deployment).encode())


def collection_of(kind: OperatorKind) -> str:
    """Where the API server has the applications of a kind."""
    return f"/apis/{kind.kind.group}/{kind.kind.versions[0]}/namespaces/{SPACE}/{kind.kind.resource}"


def application(number: int) -> Request:
    """An application that asks for nothing; the kinds take turns."""
    kind = KINDS[number % len(KINDS)]
    made = {
        "apiVersion": f"{kind.kind.group}/{kind.kind.versions[0]}",
        "kind": kind.kind.kind,
        "metadata": {"name": f"plain-{number}", "labels": {"app": f"plain-{number}"}},
        "spec": dict(kind.probe),
    }
    return Request("POST", collection_of(kind), json.dumps(made).encode())
