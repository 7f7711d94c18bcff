"""The control plane that is measured: nodes, host pools, the chart with one process, and the echo server."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from bench.e2e import echo as echo_server
from bench.e2e import peers
from bench.e2e.chart import Chart
from bench.e2e.clients import pods
from bench.e2e.clients.load import Load, clients
from bench.e2e.clients.orders import Order
from bench.e2e.clients.variants import OURS, VARIANTS, Variant
from bench.servers.processes import ROOT
from bench.trouble import Trouble
from tests.e2e.chart.installation import PORT, QUICK, install, kubelet
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.addresses import loopback, next_pod_address
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.pods.service_proxy import ServiceProxy
from tests.e2e.polling import until
from tests.e2e.programs.modules import MODULES
from tests.e2e.programs.process import Process
from tests.e2e.workloads import namespace
from webhook.placement.text import keys

POOLS: Final[Mapping[str, tuple[str, ...]]] = {"Fast": (pods.FAST,), "Wide": pods.WIDE}
"""Tags of each HostPool, by its name in SPL."""

_CERTIFICATE_SECONDS: Final = 60


class Cluster(Struct, frozen=True):
    """Everything that runs: ``pids`` by what they do, ``echo`` directly and by its Service."""

    admin: Api
    chart: Chart
    load: Load
    pids: Mapping[str, Sequence[int]]
    echo: str
    echo_service: str
    versions: Mapping[str, str]


@contextlib.contextmanager
def cluster(folder: Path, nodes: int) -> Iterator[Cluster]:
    """A plane with so many nodes; every variant works when this begins."""
    with contextlib.ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(folder / "plane"))
        create_nodes(plane.admin, map(_node, range(nodes)))
        for variant in VARIANTS.values():
            namespace(plane.admin, variant.namespace)
        running = stack.enter_context(kubelet(plane, pace=1.0))  # probes cost as much as in a cluster
        install(plane, running, {**QUICK, "replicas": 1})
        _create_pools(plane.admin)
        echo, address = stack.enter_context(_echo(plane.admin, folder))
        version = peers.policy_version(plane.admin)
        for thing in peers.policy(plane.admin, version):
            plane.admin.create(thing)
        load = stack.enter_context(clients(plane.kubeconfig(), folder))
        for variant in VARIANTS.values():
            _wait_for(load, variant)
        yield Cluster(
            admin=plane.admin,
            chart=Chart(plane.admin, running),
            load=load,
            pids={**process_ids(plane, running), "echo": [echo], "clients": [load.pid]},
            echo=f"https://{loopback(address)}:{peers.TARGET_PORT}{echo_server.PATH}",
            echo_service=f"https://{_cluster_address(plane.admin)}:{PORT}{echo_server.PATH}",
            versions={
                **{module.name: module.version for module in MODULES},
                "MutatingAdmissionPolicy": version,
            },
        )


def _node(number: int) -> Object:
    """Half of the nodes are in the pool Fast, a third in the pool Wide."""
    labels = {"topology.kubernetes.io/zone": f"zone-{number % 3}"}
    labels |= {keys.TAG: pods.FAST} if number % 2 == 0 else {}
    labels |= {keys.TAGS + tag: "" for tag in pods.WIDE} if number % 3 == 0 else {}
    return node(f"worker-{number:05d}", labels)


def _create_pools(admin: Api) -> None:
    path = f"/apis/streams.ibm.com/v1/namespaces/{OURS.namespace}/streamshostpools"
    for name, tags in POOLS.items():
        meta = {"name": name.lower(), "namespace": OURS.namespace}
        spec = {"name": name, "tags": list(tags)}
        admin.call(
            "POST", path, {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": meta, "spec": spec}
        )


@contextlib.contextmanager
def _echo(admin: Api, folder: Path) -> Iterator[tuple[int, str]]:
    """The echo, reached through a Service like the chart's; its process and the address of its pod, so to say."""
    namespace(admin, peers.NAMESPACE)
    certificates = folder / "echo"
    names = ("--service", peers.SERVICE, "--namespace", peers.NAMESPACE)
    command = (sys.executable, "-m", "certs", "create", "--dir", str(certificates), *names)
    done = subprocess.run(  # noqa: S603 -- our own program, no shell
        command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=_CERTIFICATE_SECONDS
    )
    if done.returncode:
        raise Trouble(f"cannot make a certificate: {done.stderr.strip()}")
    address = next_pod_address()
    pair = (str(certificates / "tls.crt"), str(certificates / "tls.key"))
    program = (sys.executable, "-m", "bench.e2e.echo", loopback(address), str(peers.TARGET_PORT), *pair)
    process = Process("echo", program, folder / "echo.log", {**os.environ, "PYTHONPATH": str(ROOT)})
    with ServiceProxy(admin, peers.NAMESPACE) as forwarder, contextlib.ExitStack() as ending:
        ending.callback(process.stop)
        process.start()
        for thing in peers.service(address):
            admin.create(thing)
        until(lambda: forwarder.routes, "the echo has a cluster address")
        for thing in peers.echo_configurations(admin, certificates / "ca.crt"):
            admin.create(thing)
        assert process.pid is not None  # it is started
        yield process.pid, address


def _wait_for(load: Load, variant: Variant) -> None:
    """Configurations are honoured a little after they are there: wait until a pod is what it will be."""

    def works() -> bool:
        outcome = load.carry_out(Order("try", 1, 1, variant.name))
        return (outcome.ok, outcome.patched) == (1, int(variant.patched))

    until(works, f"pods with {variant.title} are admitted, and {'patched' if variant.patched else 'left as they are'}")


def _cluster_address(admin: Api) -> str:
    return str(admin.get(f"/api/v1/namespaces/{peers.NAMESPACE}/services/{peers.SERVICE}")["spec"]["clusterIP"])


def process_ids(plane: ControlPlane, running: Kubelet) -> dict[str, list[int]]:
    """Processes by what they do; this one is kubelet, kube-proxy and the one that counts."""
    ours: dict[str, list[Process | None]] = {name: [] for name in ("webhook", "others of the plane")}
    for worker in running.workers.values():
        beside = any(part in worker.name for part in ("-certificates-", "-controller-"))
        ours["others of the plane" if beside else "webhook"].append(worker.process)
    followers = [each.process for each in (plane.scheduler, plane.controllers, plane.kwok)]
    found: dict[str, list[Process | None]] = {
        "API server": [plane.apiserver.process],
        "etcd": [plane.etcd.process],
        "webhook": ours["webhook"],
        "others of the plane": [*followers, *ours["others of the plane"]],
    }
    pids = {role: [each.pid for each in group if each and each.pid] for role, group in found.items()}
    return {**pids, "forwarder": [os.getpid()]}
