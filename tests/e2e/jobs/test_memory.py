"""The memory of the product's processes does not grow with what has happened: nothing of objects that are gone stays.

``MEMORY_MINUTES`` says how long objects come and go, 60 by default; the first third is not compared with anything.
Names come again after a twelfth of that time, and either replica of the webhook has seen nearly all of them after a
third: by then caches that are bounded by a number of answers have all they will get, and what grows after that is kept
for objects that are gone. Less than half an hour says little: the API server keeps its connection to one replica for
minutes, and what the other one has seen by the end of the first third is then not much.
"""

import itertools
import os
import re
import statistics
import time
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, POOLS, Jobs, elements
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import deployment, pod

pytestmark = pytest.mark.long

SECONDS: Final = float(os.environ.get("MEMORY_MINUTES", "60")) * 60
ROUND_SECONDS: Final = 1.0
SETTLED_SECONDS: Final = 300
SAMPLES: Final = 60
NAMES: Final = max(60, round(SECONDS / ROUND_SECONDS / 12))
"""Different names of objects."""

STAY: Final = 12
"""Rounds that the objects of a round stay."""

GROWTH: Final = 1.04
"""The most that the median of the last third may be, times that of the third before it."""

_RESIDENT: Final = re.compile(r"^RssAnon:\s+(\d+) kB$", re.MULTILINE)
_APART: Final = {"streams.ibm.com/placement": 'hostExlocation("apart")'}
_NOWHERE: Final = {"streams.ibm.com/placement": 'host("nowhere")'}


class Life:
    """Objects that come and go in one namespace."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._space = f"/apis/apps/v1/namespaces/{jobs.space}/deployments"
        self._pods = f"/api/v1/namespaces/{jobs.space}/pods"

    def come(self, number: int) -> None:
        """A Deployment, a plain pod, a Job with a HostPool of its own, and a pod that is refused."""
        api, space, name = self._jobs.api, self._jobs.space, f"n{number % NAMES}"
        labels = {"streams.ibm.com/job": name}
        api.create(deployment(f"d-{name}", space, 2, annotations=_APART, labels=labels))
        api.create(pod(f"p-{name}", space, labels={"note": name}))
        refused = api.send("POST", self._pods, pod(f"r-{name}", space, annotations=_NOWHERE, labels=labels))
        assert not 200 <= refused.code < 300, refused
        pools = [{"name": "P", "size": 1, "tags": ["source"]}]
        assert self._jobs.submitted(f"j-{name}", elements("a", "b", placement="host(P)"), hostPools=pools)

    def go(self, number: int) -> None:
        """All of them."""
        api, name = self._jobs.api, f"n{number % NAMES}"
        api.delete(f"{self._space}/d-{name}")
        api.delete(f"{self._pods}/p-{name}", gracePeriodSeconds="0")
        api.delete(self._jobs.path(JOBS, f"j-{name}"))

    def change(self, number: int) -> None:
        """A node gets another label, and is cordoned for a round."""
        path = f"/api/v1/nodes/node-{3 + number % 3}"
        self._jobs.api.patch(path, {"metadata": {"labels": {"round": str(number)}}})
        self._jobs.api.patch(path, {"spec": {"unschedulable": number % 2 == 0}})

    def left(self) -> list[Object]:
        """Jobs, elements and pools that are there."""
        found: list[Any] = []
        for resource in (JOBS, ELEMENTS, POOLS):
            found += self._jobs.api.get(self._jobs.path(resource))["items"]
        return found


def resident(running: Kubelet) -> dict[str, float]:
    """Megabytes of memory of its own that each process has, by the name of its pod and its process id."""
    found: dict[str, float] = {}
    for worker in running.workers.values():
        if worker.running and worker.process and worker.process.pid:
            status = Path(f"/proc/{worker.process.pid}/status").read_text()
            found[f"{worker.name} {worker.process.pid}"] = int(_RESIDENT.findall(status)[0]) * 1024 / 1e6
    return found


def test_memory_does_not_grow_with_what_has_been(installed: Kubelet, admin: Api, jobs: Jobs) -> None:
    life = Life(jobs)
    samples: list[dict[str, float]] = []
    number = 0
    began = time.monotonic()
    for number in itertools.count():
        life.come(number)
        life.change(number)
        if number >= STAY:
            life.go(number - STAY)
        passed = time.monotonic() - began
        if passed >= len(samples) * SECONDS / SAMPLES:
            samples.append(resident(installed))
            say(f"round {number}, {passed:.0f} s: {samples[-1]}")
        if passed >= SECONDS:
            break
        time.sleep(max(0.0, began + (number + 1) * ROUND_SECONDS - time.monotonic()))
    for one in range(max(0, number - STAY + 1), number + 1):
        life.go(one)
    for number in range(3, 6):
        admin.patch(f"/api/v1/nodes/node-{number}", {"spec": {"unschedulable": False}})
    until(lambda: not life.left(), "what was deleted is gone", SETTLED_SECONDS)
    third = len(samples) // 3
    grown: dict[str, tuple[float, float]] = {}
    for process in samples[-1]:
        before, after = (
            statistics.median(sample[process] for sample in part) for part in (samples[third:-third], samples[-third:])
        )
        say(f"{process}: {before:.1f} MB, later {after:.1f} MB")
        if after > before * GROWTH:
            grown[process] = before, after
    assert samples[-1].keys() == samples[third].keys(), "a process ended"
    assert not grown
