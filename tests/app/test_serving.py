"""The whole product as one server: its paths over real TLS, and what Prometheus sees of them."""

import asyncio
import contextlib
import json
import os
import select
import signal
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.golden.examples import EXAMPLES
from webhook.admission.answer import Answer
from webhook.admission.conversion import SLICE
from webhook.app.serve import converted, serve
from webhook.cli.client import admission_review
from webhook.settings import read

pytestmark = pytest.mark.integration


class Running(NamedTuple):
    """Where the server is, and whom to trust."""

    url: str
    health: str
    context: ssl.SSLContext

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - a server of ours
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        answer = await asyncio.to_thread(self._open, request)
        found: dict[str, Any] = json.loads(answer)["response"]
        return found

    async def metrics(self) -> str:
        return (await asyncio.to_thread(self._open, urllib.request.Request(f"{self.health}/metrics"))).decode()  # noqa: S310 - the same

    def _open(self, request: urllib.request.Request) -> bytes:
        context = self.context if request.full_url.startswith("https") else None
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:  # noqa: S310 - the same
            found: bytes = answer.read()
            return found


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(tmp_path))
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    files = {"tls_cert": str(tmp_path / "tls.crt"), "tls_key": str(tmp_path / "tls.key")}
    settings = read({**files, "snapshot": str(EXAMPLES / "cluster"), "port": "0", "health_port": "0", "drain": "0"})
    ready: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(settings, lambda *urls: ready.set_result(urls)))
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
    yield Running(*ready.result(), ssl.create_default_context(cafile=str(tmp_path / "ca.crt")))
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"annotations": {"streams.ibm.com/placement": "host(MyPool)"}},
    "spec": {"containers": [{"name": "c"}]},
}


async def test_a_pod_is_patched_and_what_lacks_the_patch_is_refused(server: Running) -> None:
    assert (await server.post("/mutate", admission_review(POD, "default")))["patchType"] == "JSONPatch"
    refused = await server.post("/validate", admission_review(POD, "default"))
    assert refused["status"]["message"] == (
        "spec: lacks nodeAffinity that its clauses require: something removed what the placement webhook had added"
    )


async def test_a_daemon_set_that_tolerates_everything_is_looked_at(server: Running) -> None:
    spec = {"containers": [{"name": "c"}], "tolerations": [{"operator": "Exists"}]}
    body = admission_review({"spec": {"template": {"spec": spec}}}, "default")
    kind = {"group": "apps", "version": "v1", "kind": "DaemonSet"}
    answer = await server.post("/guard", {**body, "request": {**body["request"], "kind": kind}})
    assert answer["status"]["message"].startswith("spec.template.spec.tolerations[0]: a toleration of everything")


@pytest.mark.parametrize("count", [1, 2 * SLICE + 1], ids=["one", "many"])
async def test_objects_are_converted_between_versions(server: Running, count: int) -> None:
    pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "spec": {"mode": "Exclusive"}}
    request = {"uid": "u", "desiredAPIVersion": "streams.ibm.com/v2", "objects": [pool] * count}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    answer = await server.post("/convert", review)
    changed = {"apiVersion": "streams.ibm.com/v2", "kind": "HostPool", "spec": {"exclusive": True}}
    assert answer["convertedObjects"] == [changed] * count


async def test_while_many_objects_are_converted_others_have_their_turn() -> None:
    pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool"}
    request = {"uid": "u", "desiredAPIVersion": "streams.ibm.com/v2", "objects": [pool] * (2 * SLICE + 1)}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    work = converted(json.dumps(review).encode())
    assert not isinstance(work, Answer)
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count_turns())
    answer = await work
    other.cancel()
    assert (answer.status, turns) == (200, 2)


async def test_prometheus_sees_the_cluster_and_what_was_reviewed(server: Running) -> None:
    await server.post("/mutate", admission_review(POD, "default"))
    seen = await server.metrics()
    assert 'streams_placement_reviews_total{kind="Pod",outcome="patched",path="/mutate",reason=""} 1.0' in seen
    for line in ("streams_placement_nodes 13.0", "streams_placement_skipped_objects 0.0"):
        assert f"\n{line}\n" in seen


def job(count: int) -> dict[str, Any]:
    """The review of a Job of so many elements."""
    spec = {"bundle": {"name": "a.sab"}, "processingElements": [{"template": FULL} for _ in range(count)]}
    body = admission_review({"metadata": {"name": "j"}, "spec": spec}, "default")
    kind = {"group": "streams.ibm.com", "version": "v1", "kind": "Job"}
    return {**body, "request": {**body["request"], "kind": kind}}


FULL = {"metadata": {"annotations": {"note": "x" * 4096}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.mark.parametrize("count", [2, 30], ids=["small", "large"])
async def test_a_job_is_decided_about_in_a_process_of_its_own(server: Running, count: int) -> None:
    for line in ("job_process_running 0.0", "job_process_starts_total 0.0"):
        assert f"\nstreams_placement_{line}\n" in await server.metrics()
    assert (await server.post("/validate", job(count)))["allowed"]
    seen = await server.metrics()
    for line in (
        "job_process_running 1.0",
        "job_process_starts_total 1.0",
        'job_process_fallbacks_total{cause="ended"} 0.0',
        "job_decision_seconds_count 1.0",
    ):
        assert f"\nstreams_placement_{line}\n" in seen


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[tuple[Running, asyncio.subprocess.Process]]:
    """A server that is a process of its own."""
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(tmp_path), stdout=asyncio.subprocess.DEVNULL
    )
    assert await program.wait() == 0
    pair = ("--tls-cert", str(tmp_path / "tls.crt"), "--tls-key", str(tmp_path / "tls.key"))
    ports = ("--port", "0", "--health-port", "0", "--drain", "0")
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "webhook", "serve", "--snapshot", str(EXAMPLES / "cluster"), *pair, *ports,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert started.stdout is not None
    words = (await started.stdout.readline()).decode().split()
    yield Running(words[1], "", ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))), started
    if started.returncode is None:
        started.kill()
    await started.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_process_for_jobs_ends_with_the_server(
    process: tuple[Running, asyncio.subprocess.Process], number: signal.Signals
) -> None:
    server, started = process
    assert (await server.post("/validate", job(2)))["allowed"]
    listed = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    children = (await asyncio.to_thread(listed.read_text)).split()
    child = os.pidfd_open(int(*children))
    try:
        started.send_signal(number)
        await started.wait()
        assert select.select([child], [], [], 30)[0]
    finally:
        os.close(child)
