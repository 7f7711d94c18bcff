"""``python -m bench.e2e.jobs``: how long a Job of Streams takes from its submission until all of its pods are bound.

For each number of processing elements: seconds until all pods have a node, and until all run; the CPU time that the
processes took; and for comparison the seconds in which the API server alone, without the chart, takes as many writes by
as many clients: an element, its pod, and two updates of the element's status. Then small Jobs, by themselves and beside
a large one.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from bench import machine
from bench.e2e import usage
from bench.e2e.chart import Chart
from bench.e2e.cluster import process_ids
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.workloads import namespace, pod

SIZES: Final = (100, 200, 300, 1000)
NODES: Final = 50
CLIENTS: Final = 10
"""As many as the controller has workers for one namespace, or more."""

RESULTS: Final = Path(__file__).parents[1] / "RESULTS-jobs.md"

SMALL: Final = 100
"""Jobs of one element, ten in a namespace."""

_SECONDS: Final = 300
_LOOK: Final = 0.2


class Run(Struct, frozen=True):
    """One Job: seconds until its pods are bound and run, and of the API server alone; CPU seconds by process."""

    elements: int
    bound: float
    running: float
    alone: float
    cpu: Mapping[str, float]


class Beside(Struct, frozen=True):
    """Small Jobs: seconds from a submission until its pod is bound, for each, by themselves and beside a large Job."""

    large: int
    alone: tuple[float, ...]
    beside: tuple[float, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser("python -m bench.e2e.jobs", description="Measure the submission of Jobs.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="processing elements of each Job")
    parser.add_argument("--results", type=Path, help=f"file for the table, such as bench/{RESULTS.name}")
    chosen = parser.parse_args(argv)
    binaries.programs()
    with tempfile.TemporaryDirectory(prefix="bench-jobs-") as folder, ControlPlane(Path(folder)) as plane:
        create_nodes(plane.admin, [node(f"node-{number}") for number in range(NODES)])
        with kubelet(plane) as running:
            install(plane, running, QUICK)
            chart = Chart(plane.admin, running)
            pids = process_ids(plane, running)
            _submitted(plane.admin, "warm-up", 20)
            runs = []
            for size in chosen.sizes:
                alone = _alone(plane.admin, chart, size)
                before = usage.now(pids)
                bound, ran = _submitted(plane.admin, f"jobs-{size}", size)
                runs.append(Run(size, bound, ran, alone, usage.between(before, usage.now(pids)).roles))
                sys.stderr.write(f"{runs[-1]}\n")
            beside = _beside(plane.admin, max(chosen.sizes))
    page = render(runs, beside)
    print(page)
    if chosen.results:
        chosen.results.write_text(page)
    return 0


def _submitted(admin: Api, space: str, size: int) -> tuple[float, float]:
    """Seconds until all pods of a Job of that size are bound, and until all run."""
    namespace(admin, space)
    path, job = _path(space), _job("parallel", size)
    # Connections of before the webhook's pause may be dead.
    until(lambda: admin.send("POST", f"{path}?dryRun=All", job).code == HTTPStatus.CREATED, "a Job is taken")
    began = time.monotonic()
    admin.call("POST", path, job)
    until(lambda: _all_at_node(admin, space, size), f"all {size} pods are bound", _SECONDS)
    bound = time.monotonic() - began
    until(
        lambda: admin.get(f"{path}/parallel").get("status", {}).get("phase") == "Running",
        f"the Job of {size} runs",
        _SECONDS,
    )
    ran = time.monotonic() - began
    admin.delete(f"{path}/parallel")
    until(lambda: not admin.get(f"/api/v1/namespaces/{space}/pods", limit="1")["items"], "all pods are gone", _SECONDS)
    return bound, ran


def _path(space: str) -> str:
    return f"/apis/streams.ibm.com/v1/namespaces/{space}/streamsjobs"


def _job(name: str, size: int) -> Object:
    template = {"spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]}}
    elements = [{"operators": [{"name": f"Op{number}"}], "template": template} for number in range(size)]
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"processingElements": elements},
    }


def _all_at_node(admin: Api, space: str, size: int) -> bool:
    """Whether there are so many pods, each with a node; no list has more than one pod, since a long one costs much."""
    time.sleep(_LOOK)
    pods = f"/api/v1/namespaces/{space}/pods"
    first = admin.get(pods, limit="1")
    if len(first["items"]) + first["metadata"].get("remainingItemCount", 0) < size:
        return False
    return not admin.get(pods, limit="1", fieldSelector="spec.nodeName=")["items"]


def _beside(admin: Api, large: int) -> Beside:
    """Small Jobs by themselves, then while a large one starts."""
    spaces = [namespace(admin, f"small-{at}") for at in range(SMALL // 10)]
    alone = _small(admin, spaces, "a")
    path = _path(namespace(admin, "large"))
    admin.call("POST", path, _job("large", large))
    beside = _small(admin, spaces, "b")
    admin.delete(f"{path}/large")
    return Beside(large, alone, beside)


def _small(admin: Api, spaces: Sequence[str], name: str) -> tuple[float, ...]:
    """Seconds from the submission of each Job until its pod is bound; one is submitted each 50 ms."""
    submitted: dict[str, float] = {}
    bound: dict[str, float] = {}

    def look() -> None:
        for space in spaces:
            for found in admin.get(f"/api/v1/namespaces/{space}/pods")["items"]:
                job = found["metadata"]["labels"]["streams.ibm.com/job"]
                if job in submitted and "nodeName" in found["spec"]:
                    bound.setdefault(job, time.monotonic() - submitted[job])

    for at in range(SMALL):
        job = f"{name}-{at}"
        submitted[job] = time.monotonic()
        admin.call("POST", _path(spaces[at % len(spaces)]), _job(job, 1))
        time.sleep(0.05)
        if at % 5 == 0:
            look()
    until(lambda: look() or len(bound) == SMALL, "all small Jobs are bound", _SECONDS)
    return tuple(sorted(bound.values()))


def _alone(admin: Api, chart: Chart, size: int) -> float:
    """Seconds in which the API server takes the same writes from clients that do nothing else."""
    space = namespace(admin, f"alone-{size}")
    chart.absent()
    elements = f"/apis/streams.ibm.com/v1/namespaces/{space}/streamspes"
    pods = f"/api/v1/namespaces/{space}/pods"

    def write(number: int) -> None:
        admin.call("POST", elements, _element(number))
        admin.call("POST", pods, pod(f"pe-{number}-1", space))
        for phase in ("Pending", "Running"):
            admin.patch(f"{elements}/pe-{number}/status", {"status": {"phase": phase}})

    began = time.monotonic()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(write, range(size)))
    duration = time.monotonic() - began
    for path in (elements, pods):
        admin.delete(path, gracePeriodSeconds="0")
        until(lambda path=path: not admin.get(path, limit="1")["items"], f"{path} is empty", _SECONDS)  # type: ignore[misc]
    chart.present()
    return duration


def _element(number: int) -> Object:
    spec: dict[str, Any] = {"job": "nobody", "operators": [{"name": f"Op{number}"}]}
    return {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "ProcessingElement",
        "metadata": {"name": f"pe-{number}"},
        "spec": spec,
    }


_HEAD: Final = """# Benchmark results, Jobs

Made by `python -m bench.e2e.jobs`: Jobs of Streams are submitted to a real control plane with the chart (two webhooks,
two controllers), whose nodes are kwok's. Seconds from the submission until all pods of the Job have a node, and until
the Job is Running; and the seconds in which the API server alone, without the chart, takes an element, its pod and two
updates of the element's status for each, from ten clients that do nothing else."""

_CPU: Final = """CPU time for each element, from the submission until the Job is Running. The others of the plane are
the scheduler, the controllers of Kubernetes, kwok, and this product's controllers."""

_SMALL: Final = (
    f"""{SMALL} Jobs of one element in ten namespaces, one submitted each 50 ms: seconds until its pod has a node."""
)


def render(runs: Sequence[Run], beside: Beside) -> str:
    """The whole page."""
    about = [("date", datetime.now(UTC).date().isoformat()), *machine.describe(), ("nodes", str(NODES))]
    rows = [
        f"| {run.elements:,} | {run.bound:.1f} s | {run.running:.1f} s | {1000 * run.bound / run.elements:.1f} ms "
        f"| {run.alone:.1f} s | {run.bound / run.alone:.1f} x |"
        for run in runs
    ]
    table = [
        "| elements | all bound | Running | for each | the API server alone | bound x alone |",
        "|---|---|---|---|---|---|",
        *rows,
    ]
    roles = [role for role in runs[0].cpu if role != "forwarder"]
    cpu = [
        f"| {run.elements:,} | {' | '.join(f'{1000 * run.cpu[role] / run.elements:.1f} ms' for role in roles)} |"
        for run in runs
    ]
    by_role = [f"| elements | {' | '.join(roles)} |", f"|---{'|---' * len(roles)}|", *cpu]
    small = [
        "| small Jobs | until bound, median | p90 | slowest |",
        "|---|---|---|---|",
        *(
            f"| {name} | {statistics.median(times):.2f} s | {times[int(0.9 * len(times))]:.2f} s | {times[-1]:.2f} s |"
            for name, times in (("by themselves", beside.alone), (f"beside a Job of {beside.large:,}", beside.beside))
        ),
    ]
    parts = ["\n".join(f"- {name}: {value}" for name, value in about), "\n".join(table), _CPU, "\n".join(by_role)]
    return "\n\n".join([_HEAD, *parts, _SMALL, "\n".join(small)]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
