"""``controller``: flags, the one line, and the whole program as a process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.paths import node_path, pool_path
from tests.apiserver.server import ApiServer
from webhook.cli import main
from webhook.settings import Settings

LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/streams-placement-controller"


pytestmark = pytest.mark.usefixtures("own_logs")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings that the composition root was given; it only announces and returns."""
    settings: list[Settings] = []

    async def control(given: Settings, announce: Callable[[str], None]) -> None:
        await asyncio.sleep(0)
        settings.append(given)
        announce("http://127.0.0.1:8081")

    monkeypatch.setattr("webhook.app.controller.control", control)
    return settings


def test_one_line_tells_that_it_has_begun(seen: list[Settings], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["controller"]) == 0
    assert (capsys.readouterr().out, len(seen)) == ("controlling health http://127.0.0.1:8081\n", 1)


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--lease-namespace", "streams"], "lease_namespace", "streams"),
        (["--lease-name", "other"], "lease_name", "other"),
        (["--exclusive-effect", "NoExecute"], "exclusive_effect", "NoExecute"),
        (["--exclusive-strangers", "all"], "exclusive_strangers", "all"),
        (["--excluded-namespaces", ""], "excluded_namespaces", ""),
        (["--exclusive-quota", "team-a=4"], "exclusive_quota", "team-a=4"),
        (["--pool-quota", ""], "pool_quota", ""),
        (["--poolable-nodes", "pool"], "poolable_nodes", "pool"),
        (["--elastic"], "elastic", True),
        (["--replace-unusable-after", "60"], "replace_unusable_after", 60.0),
        (["--replace-unlabelled"], "replace_unlabelled", True),
        (["--name-degraded-pools"], "name_degraded_pools", True),
        (["--runtime-image", "streams:{buildType}"], "runtime_image", "streams:{buildType}"),
        (["--reviewed-kinds", "RayCluster.ray.io"], "reviewed_kinds", "RayCluster.ray.io"),
        (["--stale-after", "0"], "stale_after", 0.0),
        (["--health-port", "0"], "health_port", 0),
    ],
)
def test_a_flag_is_a_setting(seen: list[Settings], words: list[str], field: str, value: object) -> None:
    assert main(["controller", *words]) == 0
    assert getattr(seen[0], field) == value


@pytest.mark.parametrize("words", [["--port", "1"], ["--verify-pods", "false"], ["file"]], ids=" ".join)
def test_a_flag_of_others_is_2(words: list[str]) -> None:
    assert main(["controller", *words]) == 2


def test_without_a_cluster_it_is_3_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert main(["controller"]) == 3
    said = capsys.readouterr().err
    assert said == (
        "streams-placement: there is no cluster to connect to: this is not a pod with a service account "
        "(KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set), and there is no usable kubeconfig "
        f"(there is no file {tmp_path / 'nowhere'})\n"
    )


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer().running() as server:
        server.storage.create(
            node_path("node-a"), metadata={"labels": {}}, spec={}, status={"allocatable": {"cpu": "8"}}
        )
        server.storage.create(pool_path("p"), spec={"size": 1, "mode": "Exclusive"})
        yield server


@pytest.fixture
async def process(server: ApiServer, tmp_path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program itself, on a free port, with a cluster of one node."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KUBERNETES_")}
    environment["KUBECONFIG"] = str(Kubeconfig(tmp_path / "kubeconfig", server=server.url).path)
    command = [sys.executable, "-m", "webhook", "controller", "--health-port", "0"]
    started = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    yield started
    if started.returncode is None:
        started.kill()
        await started.communicate()


async def health(process: asyncio.subprocess.Process) -> str:
    """The URL of the line that it prints."""
    assert process.stdout is not None
    line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
    assert line.startswith("controlling health http://127.0.0.1:")
    return line.split()[2]


async def page(url: str) -> str:
    def read() -> str:
        with urllib.request.urlopen(url, timeout=10) as reply:  # noqa: S310 -- a URL of our own
            return str(reply.read().decode())

    return await asyncio.to_thread(read)


async def ready(server: ApiServer) -> None:
    """The pool has its host."""
    async with asyncio.timeout(30):
        while (server.storage.pool("p").get("status") or {}).get("phase") != "Ready":  # noqa: ASYNC110 -- seen from outside
            await asyncio.sleep(0.05)


@pytest.mark.integration
class TestTheProcess:
    """What the kubelet sees of it, and the cluster."""

    async def test_leads_and_ends_with_0(self, server: ApiServer, process: asyncio.subprocess.Process) -> None:
        url = await health(process)
        await ready(server)
        pages = [await page(f"{url}/{name}") for name in ("healthz", "readyz", "metrics")]
        assert pages[:2] == ["ok\n", "ok\n"]
        assert "\nstreams_placement_leader 1.0\n" in pages[2]
        assert "\nstreams_placement_host_pools_ready 1.0\n" in pages[2]
        process.send_signal(signal.SIGTERM)
        out, _ = await asyncio.wait_for(process.communicate(), 20)
        assert (process.returncode, out) == (0, b"")
        assert server.objects[LEASE]["spec"]["holderIdentity"] == ""

    async def test_ends_with_3_and_a_sentence_when_the_lead_is_lost(
        self, server: ApiServer, process: asyncio.subprocess.Process
    ) -> None:
        await health(process)
        await ready(server)
        lease = server.objects[LEASE]
        server.put(LEASE, {**lease, "spec": {**lease["spec"], "holderIdentity": "somebody"}})
        _, err = await asyncio.wait_for(process.communicate(), 30)
        lines = err.decode().splitlines()
        assert process.returncode == 3
        assert lines[-1] == (
            "streams-placement: the work failed: the lease default/streams-placement-controller is not ours any more"
        )
        assert "stopping, because the work failed" in {json.loads(line)["message"] for line in lines[:-1]}
