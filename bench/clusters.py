"""``python -m bench.clusters``: how long placement over 100 clusters takes once they are read, and reading them.

Each row is one kind of fleet: every cluster is examined for all apps, and then the clusters are shared. The goal is 2 s
for 100 clusters of 1,000 nodes. The last part reads snapshots as the command does, in a process of its own, whose
memory is measured: as many clusters are held as are read at the same time.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from bench import machine
from webhook.app import clusters as reading
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.clusters.answer import ClustersAnswer, answer
from webhook.placement.clusters.application import AppWorkload, ClusterApp
from webhook.placement.clusters.examination import examine
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.settings import Settings

RESULTS: Final = Path(__file__).parent / "RESULTS-clusters.md"
CLUSTERS: Final = 100
NODES: Final = 1000
GPU: Final = "nvidia.com/gpu"
QAT: Final = "intel.com/qat"
WISH: Final = f"[{{name: {GPU}, limits: 1, mandatory: false, weight: 9}}, {{name: disk, value: ssd, mandatory: false}}]"


def world(seed: int, *, qat: int = 20, cpu: int = 8000) -> World:
    """A cluster of 1,000 nodes with five pods each; every tenth node has a GPU, every ``qat``-th an accelerator."""
    chance = random.Random(seed)  # noqa: S311 -- the same instances each time
    found = Inventory()
    for at in range(NODES):
        offers = {"cpu": cpu, "memory": 32 << 30, "pods": 110, **({GPU: 1} if at % 10 == 0 else {})}
        if qat and at % qat == 0:
            offers[QAT] = 1
        labels = {"kubernetes.io/hostname": f"node-{at}", "disk": chance.choice(("ssd", "hdd"))}
        found.set_node(Node(f"node-{at}", f"uid-{at}", labels, (), (), offers))
        for pod in range(5):
            requests = {"cpu": chance.randint(100, 1200), "memory": 1 << 30, "pods": 1}
            found.set_pod(PodInfo(f"pod-{at}-{pod}", "default", f"node-{at}", requests))
    return World(found, Policy())


def workload(name: str, count: int = 1, hardware: str = "", **requests: str) -> AppWorkload:
    """A Deployment whose pods request that."""
    amounts = {key.replace("gpu", GPU).replace("qat", QAT): amount for key, amount in requests.items()}
    stated = {
        "metadata": {"annotations": {keys.HARDWARE: hardware} if hardware else {}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": amounts}}]},
    }
    return AppWorkload("default", "apps/v1", "Deployment", name, msgspec.convert(stated, Pod), count)


def design() -> list[ClusterApp]:
    """The two apps of EMCO's design, and eight like them."""
    return [
        ClusterApp(
            "default",
            f"app-{at}",
            3,
            (workload("core", 1, WISH, cpu="4", memory="1G"), workload("api", 3, cpu="1"), workload("log", qat="1")),
        )
        for at in range(10)
    ]


def rivals() -> list[ClusterApp]:
    """Six apps, each of which wants most accelerators of a cluster: any two of them do not fit together."""
    return [ClusterApp("default", f"app-{at}", 5, (workload("log", 30, cpu="1", qat="1"),)) for at in range(6)]


def lacking() -> list[ClusterApp]:
    """Five apps that no cluster can take: each cluster has a reason and a fix for each of them."""
    return [ClusterApp("default", f"app-{at}", 1, (workload("huge", 2, cpu="64"),)) for at in range(5)]


KINDS: Final[dict[str, tuple[Callable[[], list[ClusterApp]], dict[str, int]]]] = {
    "10 apps of 5 pods that fit together": (design, {}),
    "6 apps of 30 pods, any two in contention": (rivals, {}),
    "5 apps that no cluster can take": (lacking, {}),
    "10 apps, no cluster with an accelerator": (design, {"qat": 0}),
}


def judged(apps: Sequence[ClusterApp], worlds: Sequence[World]) -> ClustersAnswer:
    """The answer about the apps, as the command gets it."""
    found = [finished(examine(f"c{at:03}", apps, one, AtOnce(10))) for at, one in enumerate(worlds)]
    return finished(answer(apps, found, AtOnce(10)))


def row(name: str, runs: int) -> str:
    """The line of one kind."""
    make, tweaks = KINDS[name]
    worlds = [world(seed, **tweaks) for seed in range(CLUSTERS)]
    apps, times = make(), []
    found = judged(apps, worlds[:1])
    for _ in range(runs):
        fresh = [World(one.inventory, one.policy) for one in worlds]
        begun = time.perf_counter()
        found = judged(apps, fresh)
        times.append(time.perf_counter() - begun)
    lists = f"{len(found.apps)} lists, {len(found.refused)} refused"
    return f"| {name} | {statistics.median(times):.2f} | {max(times):.2f} | {lists} |"


def _node(at: int) -> dict[str, Any]:
    labels = {f"example.com/label-{number}": f"value-{number}" for number in range(20)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{at}",
            "uid": f"uid-{at}",
            "labels": {**labels, "kubernetes.io/hostname": f"node-{at}"},
        },
        "spec": {},
        "status": {
            "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110", QAT: "1"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": [f"registry.example.com/image-{number}"], "sizeBytes": 1} for number in range(50)],
        },
    }


def _peak() -> int:
    """The largest memory that this process ever had, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def read_snapshots(parallel: int, count: int) -> None:
    """Read so many snapshots of 1,000 nodes in JSON, and print seconds and the growth of memory in MB."""
    with tempfile.TemporaryDirectory() as parent:
        first = Path(parent) / "c000"
        first.mkdir()
        with (first / "nodes.json").open("w") as file:
            file.write('{"apiVersion": "v1", "kind": "List", "items": [')
            for at in range(NODES):
                file.write(("," if at else "") + json.dumps(_node(at)))
            file.write("]}")
        for at in range(1, count):
            shutil.copytree(first, Path(parent) / f"c{at:03}")
        before = _peak()
        begun = time.perf_counter()
        sources = reading.folders(Path(parent), Settings())
        apps = design()[:2]
        found = reading.placed(sources, apps, (), reading.ClusterReading(parallel=parallel, timeout=600), print)
        seconds = time.perf_counter() - begun
    assert not found.unread
    grown = (_peak() - before) / 1024
    print(f"| {count} snapshots, {parallel} at a time | {seconds:.1f} | {grown:.0f} |")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser("python -m bench.clusters", description="Measure placement over many clusters.")
    parser.add_argument("--runs", type=int, default=5, help="Runs of each kind.")
    parser.add_argument("--results", type=Path, metavar="FILE", help=f"Write there, such as {RESULTS.name}.")
    parser.add_argument("--read", nargs=2, type=int, metavar=("PARALLEL", "COUNT"), help="Only read snapshots.")
    arguments = parser.parse_args(argv)
    if arguments.read:
        read_snapshots(*arguments.read)
        return 0
    lines = [f"| {CLUSTERS} clusters of {NODES} nodes | median, s | largest, s | answer |", "|---|---|---|---|"]
    for name in KINDS:
        lines.append(row(name, arguments.runs))
        print(lines[-1], flush=True)
    lines += ["", "| snapshots of 1,000 nodes, JSON, read and examined | s | memory, MB |", "|---|---|---|"]
    for parallel, count in ((1, 20), (8, 20), (8, CLUSTERS)):
        words = [sys.executable, "-m", "bench.clusters", "--read", str(parallel), str(count)]
        run = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 -- our own
        lines.append(run.stdout.strip())
        print(lines[-1], flush=True)
    if arguments.results:
        where = ", ".join(f"{name} {value}" for name, value in machine.describe())
        when = f"{datetime.now(UTC):%Y-%m-%d}, {arguments.runs} runs of each kind: {where}"
        arguments.results.write_text("\n".join(["# Placement over several clusters", "", when, "", *lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
