"""The product on a cluster that is watched: served, and explained."""

import asyncio
import contextlib
import gc
import json
import logging
from pathlib import Path

import pytest
from aiohttp import web

from tests.admission.checks.test_applications import runtime, train
from tests.apiserver.kubeconfig import Kubeconfig
from tests.apiserver.server import TOO_OLD, ApiServer, Seen, status
from tests.cluster.live.watched_cluster import until
from tests.cluster.objects import node, pool
from tests.server.pki import Pair
from webhook import app
from webhook.cli import main
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings, read

pytestmark = pytest.mark.integration

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {streams.ibm.com/placement: 'host(\"node-a\")'}}\n"


@pytest.fixture
def settings(pair: Pair, tmp_path: Path) -> Settings:
    cert, key = pair.write(tmp_path, "serving")
    return read({"tls_cert": str(cert), "tls_key": str(key), "port": "0", "health_port": "0", "drain": "0"})


async def test_reviews_are_answered_once_the_cluster_is_listed(
    server: ApiServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    server.store("nodes", node())
    server.store("streamshostpools", pool(size=-1))
    ready: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()
    with caplog.at_level(logging.INFO):
        task = asyncio.create_task(app.serve.serve(settings, lambda *urls: ready.set_result(urls)))
        await asyncio.wait_for(ready, 10)
        await until(lambda: server.watching["nodes"])
        server.send("nodes", TOO_OLD)
        async with asyncio.timeout(10):
            while sum("cluster: 1 Node" in message for message in caplog.messages) < 2:  # noqa: ASYNC110 - seen from outside
                await asyncio.sleep(0.02)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    gc.unfreeze()
    assert "cluster: HostPool default/ib-blue: spec.size: -1 is not between 1 and 5000" in caplog.messages


async def test_explain_waits_until_everything_is_listed(server: ApiServer, tmp_path: Path) -> None:
    server.store("nodes", node())
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    assert await asyncio.to_thread(main, ["explain", "-f", str(manifest), "-o", "json"]) == 0


async def test_explain_counts_what_has_come(server: ApiServer) -> None:
    server.store("nodes", node())
    steps: list[tuple[str, int, int]] = []

    def step(what: str, done: int, total: int) -> None:
        steps.append((what, done, total))

    await asyncio.to_thread(app.explain.explaining, Settings(), [], print, step=step)
    assert steps[-1] == ("reading the cluster", 1, 0)


async def test_explain_reads_what_a_train_job_refers_to(
    server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", node())

    async def answer(seen: Seen) -> web.StreamResponse | None:
        there = seen.path.endswith("clustertrainingruntimes/torch")
        return web.json_response(runtime()) if there else None

    server.before = answer
    manifest = tmp_path / "jobs.json"
    known = train(1, 'host("node-a")')
    unknown = {**train(1, name="other"), "metadata": {"name": "u"}}
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [known, unknown]}))
    assert await asyncio.to_thread(main, ["explain", "-f", str(manifest), "-o", "json"]) == 0
    found = {one["origin"]: one["warnings"] for one in json.loads(capfd.readouterr().out)}
    assert found == {
        "TrainJob t": [], "TrainJob t, job node": [],
        "TrainJob u": ["spec.runtimeRef: ClusterTrainingRuntime other cannot be read, so its pods were not judged"],
    }  # fmt: skip


@pytest.mark.parametrize("there", [True, False])
async def test_explain_reads_which_kinds_the_cluster_describes(
    server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str], *, there: bool
) -> None:
    server.store("nodes", node())
    root = {"name": "thing", "kind": {"group": "example.com", "version": "v1", "kind": "Thing"}}
    root |= {"specDefinition": {"podTemplateSpecPath": ".spec.pods"}}
    own = {"metadata": {"name": "things"}, "spec": {"structureDefinition": {"rootComponent": root}}}

    async def answer(seen: Seen) -> web.StreamResponse | None:
        found = there and seen.path.endswith("/resourceinterfaces")
        return web.json_response({"items": [own, {"metadata": 7}, {}]}) if found else None

    server.before = answer
    manifest = tmp_path / "thing.json"
    pods = {"spec": {"containers": [{"name": "c"}]}}
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"pods": pods}}
    manifest.write_text(json.dumps(thing))
    await asyncio.to_thread(main, ["explain", "-f", str(manifest), "-o", "json"])
    out = capfd.readouterr().out
    origins = [one["origin"] for one in json.loads(out)] if out else []
    assert origins == (["Thing t", "Thing t, thing"] if there else [])


async def test_explain_names_what_it_could_not_use(
    server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server.store("nodes", node())
    server.store("streamshostpools", pool(size=-1))
    server.answers["streamsjobs", "list"].append(
        lambda: status(404, "the server could not find the requested resource")
    )
    server.answers["pods", "list"].append(lambda: status(500, "etcd"))
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    assert await asyncio.to_thread(main, ["explain", "-f", str(manifest), "-o", "json"]) == 0
    assert sorted(capfd.readouterr().err.splitlines()) == [
        "streams-placement: warning: cluster: HostPool default/ib-blue: spec.size: -1 is not between 1 and 5000",
        "streams-placement: warning: cluster: pods: the API server answers 500: etcd",
    ]


async def test_explain_says_what_it_waits_for_in_vain(server: ApiServer) -> None:
    server.stuck = True
    server.answers["nodes", "list"].append(lambda: status(500, "etcd"))
    with pytest.raises(FatalError, match="^the cluster is not read yet: nodes: the API server answers 500: etcd$"):
        await asyncio.to_thread(app.explain.explaining, Settings(), [], print, patience=0.5)


async def test_a_fault_of_the_watching_itself_ends_the_waiting(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, kubeconfig: Kubeconfig
) -> None:
    del server, kubeconfig

    async def broken(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("webhook.cluster.watch.reflector.Reflector.run", broken)
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(app.explain.explaining, Settings(), [], print)


class TestNodeGroupsOfAutoscalers:
    """NodePools of Karpenter, and objects of Cluster API in the newest version that is served."""

    @staticmethod
    def grouped(server: ApiServer, folder: Path) -> str:
        """A cluster of one node with a NodePool and a MachineDeployment; the file of two pods that wait for these."""
        server.store("nodes", node())
        disk = {"key": "disktype", "operator": "In", "values": ["ssd"]}
        spec = {"template": {"spec": {"requirements": [disk]}}}
        server.put("/apis/karpenter.sh/v1/nodepools/fast", {"metadata": {"name": "fast"}, "spec": spec})
        size = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
        labels = "capacity.cluster-autoscaler.kubernetes.io/labels"
        annotations = {f"{size}min-size": "0", f"{size}max-size": "3", labels: "disktype=hdd"}
        machines = {"metadata": {"name": "workers", "namespace": "capi", "annotations": annotations}}
        server.put("/apis/cluster.x-k8s.io/v1beta2/namespaces/capi/machinedeployments/workers", machines)

        async def unserved(seen: Seen) -> web.StreamResponse | None:
            """Cluster API serves ``v1beta2``, and no MachinePools at all."""
            gone = seen.path.startswith("/apis/cluster.x-k8s.io/v1/") or seen.resource == "machinepools"
            return status(404, "the server could not find the requested resource") if gone else None

        server.before = unserved
        file = folder / "pods.yaml"
        pods = [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": disk},
                "spec": {"nodeSelector": {"disktype": disk}},
            }
            for disk in ("ssd", "hdd")
        ]
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
        return str(file)

    async def test_are_read_with_the_setting(
        self, server: ApiServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["explain", "-f", self.grouped(server, tmp_path), "-o", "json", "--scale-up", "auto"]
        assert await asyncio.to_thread(main, arguments) == 0
        assert [one["warnings"][-1].partition(" if ")[0] for one in json.loads(capfd.readouterr().out)] == [
            "no node yet: NodePool fast can make one",
            "no node yet: MachineDeployment workers can make one",
        ]

    async def test_are_not_asked_for_without_it(self, server: ApiServer, tmp_path: Path) -> None:
        assert await asyncio.to_thread(main, ["explain", "-f", self.grouped(server, tmp_path), "-o", "json"]) == 1
        assert not [seen.path for seen in server.seen if "karpenter" in seen.path or "x-k8s.io" in seen.path]
