"""``python -m bench.e2e.bystanders``: what the chart costs objects that ask for nothing, through a real API server.

Three states of one cluster take turns in every round: without the chart (its admission objects are deleted, and its
processes are stopped), with its processes only, which watch the cluster, and with the whole chart. In each state the
same requests are made: plain pods with 0, 5 and 25 annotations are created, their statuses are updated, nodes send
heartbeats, Leases are renewed, and Deployments are created. The figures are ratios to the state without the chart in
the same round, so that other load on the machine affects all of them alike.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import aiohttp
import uvloop
from msgspec import Struct

from tests.e2e import binaries
from tests.e2e.api import Api, Object
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.kubelet import Kubelet
from tests.e2e.nodes import create_nodes, node
from tests.e2e.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "bench-bystanders"
NODES: Final = 50
CLIENTS: Final = 20
SIZE: Final = 4 << 10
"""Bytes of a pod."""

ANNOTATIONS: Final = (0, 5, 25)

STATES: Final = ("without", "processes", "chart")
"""The states of the cluster, in the order of the table."""

_SETTLE: Final = 2.0
"""Seconds after a change of the state until the API server and the processes have noticed it."""

_GROUP: Final = "/apis/admissionregistration.k8s.io/v1"
_KINDS: Final = (
    "mutatingwebhookconfigurations",
    "validatingwebhookconfigurations",
    "validatingadmissionpolicybindings",
    "validatingadmissionpolicies",
)
_PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"
_LEASES: Final = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
_DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
_JSON: Final = "application/json"
_MERGE: Final = "application/merge-patch+json"


class Request(Struct, frozen=True):
    """One request: method, path, content type and body."""

    method: str
    path: str
    body: bytes
    content: str = _JSON


class Figures(Struct, frozen=True):
    """Requests a second by many clients, and the median of one client in milliseconds."""

    rate: float
    median: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        "python -m bench.e2e.bystanders", description="Measure what the chart costs others."
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which each state has its turn")
    parser.add_argument("--count", type=int, default=600, help="requests of each kind by all clients in a turn")
    parser.add_argument("--singles", type=int, default=100, help="requests of each kind by one client in a turn")
    chosen = parser.parse_args(argv)
    binaries.programs()
    seen: dict[str, list[dict[str, Figures]]] = {state: [] for state in STATES}
    with tempfile.TemporaryDirectory(prefix="bench-bystanders-") as folder, ControlPlane(Path(folder)) as plane:
        create_nodes(plane.admin, [node(f"node-{number}") for number in range(NODES)])
        namespace(plane.admin, SPACE)
        with kubelet(plane) as running:
            install(plane, running, QUICK)
            chart = _Chart(plane.admin, running)
            _turn(plane, chosen.count, chosen.singles)  # the first requests of all find small heaps
            for number in range(chosen.rounds):
                for state in STATES if number % 2 else STATES[::-1]:
                    with chart.in_state(state):
                        seen[state].append(_turn(plane, chosen.count, chosen.singles))
                sys.stderr.write(f"round {number + 1} of {chosen.rounds}\n")
    print("\n".join(table(seen)))
    return 0


class _Chart:
    """The installed chart, whose admission objects can be taken away and whose processes can be stopped."""

    def __init__(self, admin: Api, running: Kubelet) -> None:
        self._admin = admin
        self._running = running
        self._objects = [
            (kind, each)
            for kind in _KINDS
            for each in admin.get(f"{_GROUP}/{kind}")["items"]
            if "streams-placement" in each["metadata"]["name"]
        ]

    @contextlib.contextmanager
    def in_state(self, state: str) -> Iterator[None]:
        """The cluster in that state until the context ends."""
        if state == "chart":
            yield
            return
        for kind, each in self._objects:
            self._admin.delete(f"{_GROUP}/{kind}/{each['metadata']['name']}")
        pids = self._pids() if state == "without" else []
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(_SETTLE)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            for kind, each in reversed(self._objects):
                self._admin.call("POST", f"{_GROUP}/{kind}", new_object(each))
            time.sleep(2 * _SETTLE)

    def _pids(self) -> list[int]:
        found = (worker.process for worker in self._running.workers.values())
        return [process.pid for process in found if process and process.pid]


def new_object(stored: Object) -> Object:
    """The object as it can be created again."""
    metadata = {key: stored["metadata"][key] for key in ("name", "labels", "annotations") if key in stored["metadata"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        **{key: value for key, value in stored.items() if key not in ("metadata", "status")},
        "metadata": metadata,
    }


def _turn(plane: ControlPlane, count: int, singles: int) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    total = count + singles
    for annotations in ANNOTATIONS:
        created = [_pod(annotations, number) for number in range(total)]
        found[f"pods with {annotations} annotations"] = _measured(plane, created, singles)
        if annotations == ANNOTATIONS[-1]:
            found["status updates of pods"] = _measured(plane, list(map(_status, range(total))), singles)
        _emptied(plane.admin, _PODS)
    found["heartbeats of nodes"] = _measured(plane, list(map(_heartbeat, range(total))), singles)
    for number in range(NODES):
        plane.admin.call("POST", _LEASES, _lease(number))
    found["renewals of Leases"] = _measured(plane, list(map(_renewal, range(total))), singles)
    found["Deployments"] = _measured(plane, list(map(_deployment, range(total))), singles)
    for path in (_LEASES, _DEPLOYMENTS):
        _emptied(plane.admin, path)
    return found


def _emptied(admin: Api, path: str) -> None:
    admin.delete(path, gracePeriodSeconds="0")
    until(lambda: not admin.get(path, limit="1")["items"], f"{path} is empty", 120)


def _measured(plane: ControlPlane, requests: Sequence[Request], singles: int) -> Figures:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_sent(plane, requests, singles))


async def _sent(plane: ControlPlane, requests: Sequence[Request], singles: int) -> Figures:
    """The first requests by one client, the others by all."""
    config = json.loads(plane.kubeconfig().read_text())
    there = config["clusters"][0]["cluster"]
    trust = ssl.create_default_context(cafile=there["certificate-authority"])
    headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
    async with aiohttp.ClientSession(there["server"], headers=headers) as session:
        durations: list[float] = []

        async def client(mine: Iterator[Request]) -> None:
            for each in mine:
                began = perf_counter()
                async with session.request(
                    each.method, each.path, data=each.body, ssl=trust, headers={"Content-Type": each.content}
                ) as reply:
                    await reply.read()
                    reply.raise_for_status()
                durations.append(perf_counter() - began)

        await client(iter(requests[:singles]))
        median = statistics.median(durations)
        rest = iter(requests[singles:])
        began = perf_counter()
        await asyncio.gather(*(client(rest) for _ in range(CLIENTS)))
        return Figures((len(requests) - singles) / (perf_counter() - began), 1000 * median)


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


def _status(number: int) -> Request:
    condition = {"type": "example.com/Checked", "status": "True", "reason": "Checked", "message": f"check {number}"}
    return Request(
        "PATCH", f"{_PODS}/plain-{number}/status", json.dumps({"status": {"conditions": [condition]}}).encode(), _MERGE
    )


def _heartbeat(number: int) -> Request:
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": f"heartbeat {number}"}
    return Request(
        "PATCH",
        f"/api/v1/nodes/node-{number % NODES}/status",
        json.dumps({"status": {"conditions": [condition]}}).encode(),
        "application/strategic-merge-patch+json",
    )


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


def table(seen: Mapping[str, Sequence[Mapping[str, Figures]]]) -> Iterator[str]:
    """A row for each kind of request: figures without the chart, and ratios to them; medians over the rounds."""
    columns = (f"{state}, {CLIENTS} clients / one" for state in ("processes only", "chart"))
    yield f"| | without, /s and ms | {' | '.join(columns)} |"
    yield "|---|---|---|---|"
    for what in seen["without"][0]:
        base = [turn[what] for turn in seen["without"]]
        cells = [f"{_middle(base, lambda each: each.rate):.0f} · {_middle(base, lambda each: each.median):.2f}"]
        for state in STATES[1:]:
            pairs = list(zip((turn[what] for turn in seen[state]), base, strict=True))
            rate = statistics.median(own.rate / without.rate for own, without in pairs)
            alone = statistics.median(without.median / own.median for own, without in pairs)
            cells.append(f"{rate:.2f} / {alone:.2f}")
        yield f"| {what} | {' | '.join(cells)} |"


def _middle(found: Sequence[Figures], of: Callable[[Figures], float]) -> float:
    return statistics.median(map(of, found))


if __name__ == "__main__":
    sys.exit(main())
