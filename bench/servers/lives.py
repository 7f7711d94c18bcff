"""Whole lives of pods as watches tell them: ``python -m bench.servers.lives CERTIFICATE KEY COUNT RATE`` serves them.

Pods are created, bound, reported on three times, asked to end and deleted. A pod has 8 KB with its ``managedFields``.
The server lists nothing. Who watches pods is told of so many lives at that rate a second, each event in a chunk and in
a TLS record of its own as the API server writes them; every watch that begins later is told the same.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import uvloop

VERSION: Final = 1000
"""The version of the lists; that of the first event is the next one."""

START: Final = 2.0
"""Seconds from the beginning of a watch to its first event, in which the client gets ready."""

SIZE: Final = 8 << 10
NODES: Final = 50

_PADDING: Final = "example.com/padding"
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def life(number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of one pod, which is changed from one to the next."""
    pod = _pod(number)
    yield "ADDED", pod
    pod["spec"]["nodeName"] = f"node-{number % NODES}"
    yield "MODIFIED", pod
    for step, phase in enumerate(("Pending", "Running", "Running")):
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": f"2026-01-01T00:00:0{step}Z"}
        pod["status"] = {"phase": phase, "conditions": [condition], "podIP": "10.0.0.1"}
        yield "MODIFIED", pod
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:09Z"
    yield "MODIFIED", pod
    yield "DELETED", pod


def _pod(number: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    fields = {
        "f:spec": {"f:containers": {f'k:{{"name":"web-{each}"}}': {".": {}, "f:image": {}} for each in range(20)}}
    }
    managers = ("kube-controller-manager", "kubelet")
    pod: dict[str, Any] = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"web-7c9d8b6f5-{number:05}",
            "namespace": f"tenant-{number % 20}",
            "uid": f"5a1f0c3e-8a52-4c1e-9d2b-{number:012x}",
            "labels": {"app.kubernetes.io/name": "web", "pod-template-hash": "7c9d8b6f5"},
            "annotations": {_PADDING: ""},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}],
            "managedFields": [{"manager": name, "fieldsType": "FieldsV1", "fieldsV1": fields} for name in managers],
        },
        "spec": {
            "containers": [
                {"name": f"web-{each}", "image": "example.com/web:1", "resources": resources} for each in "ab"
            ],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            "priority": 0,
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }
    pod["metadata"]["annotations"][_PADDING] = "x" * (SIZE - len(json.dumps(pod)))
    return pod


def chunks(count: int) -> Iterator[bytes]:
    """The events of so many lives, one after the other, as chunks of an answer."""
    version = VERSION
    for number in range(count):
        for kind, pod in life(number):
            version += 1
            pod["metadata"]["resourceVersion"] = str(version)
            line = json.dumps({"type": kind, "object": pod}, separators=(",", ":")).encode() + b"\n"
            yield b"%x\r\n%b\r\n" % (len(line), line)


async def _answered(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: list[bytes], pace: float
) -> None:
    """Answer the requests of one connection; ``pace`` is the number of seconds between two events."""
    while True:
        request = await reader.readuntil(b"\r\n\r\n")
        target = urlsplit(request.split(b" ", 2)[1].decode())
        if "watch" in parse_qs(target.query):
            writer.write(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
            if target.path.endswith("/pods"):
                await _tell(writer, events, pace)
            await asyncio.Event().wait()
        body = json.dumps({"kind": "List", "metadata": {"resourceVersion": str(VERSION)}, "items": []}).encode()
        writer.write(_HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def _tell(writer: asyncio.StreamWriter, events: list[bytes], pace: float) -> None:
    begun = monotonic() + START
    for number, chunk in enumerate(events):
        await asyncio.sleep(begun + number * pace - monotonic())
        writer.write(chunk)
        await writer.drain()


async def serve(certificate: str, key: str, count: int, rate: float) -> None:
    """Answer on a free port of loopback until cancelled."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    events = [*chunks(count)]
    pace = count / rate / len(events)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _answered(reader, writer, events, pace)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    host, port = server.sockets[0].getsockname()[:2]
    print(f"ready https://{host}:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(*sys.argv[1:3], int(sys.argv[3]), float(sys.argv[4])))
