"""Random histories of Workloads, of pods that come on any node that they fit on, and of watches that are late.

Each pod takes more than half of a node, so that whatever the scheduler chooses is as good: no pod of an admitted
Workload is ever without a node.
"""

import asyncio
import random
from typing import Final

import pytest

from tests.apiserver.paths import pod_path
from tests.controller.admissionchecks.checked_cluster import WORKLOADS, CheckedCluster, condition, pod_set
from tests.suite.example_count import EVERY_DAY
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

NODES: Final = tuple(f"node-{number}" for number in range(4))
MANY: Final = 8
SEEDS: Final = range(1 if EVERY_DAY else 6)


class RestingSearch(AtOnce):
    """A search during which the watches go on."""

    async def rest(self) -> None:
        await asyncio.sleep(0.005)


class KueueAndScheduler:
    """Kueue, which admits what is ready and queues again what is to retry; and the scheduler, which knows no plan."""

    def __init__(self, checked: CheckedCluster, chance: random.Random) -> None:
        self.admitted = 0
        self.without_node: list[str] = []
        self._checked = checked
        self._chance = chance
        self._free = set(NODES)

    async def live(self, name: str) -> None:
        """The life of a Workload of one to three pods, to its end."""
        await asyncio.sleep(self._chance.uniform(0, 8))
        count = self._chance.randint(1, 3)
        cpu = self._chance.choice(("5", "6", "8"))
        self._checked.workload(name, pod_set(count=count, cpu=cpu, job=name))
        while (state := self._checked.answer(name)[0]) != "Ready":
            await asyncio.sleep(self._chance.uniform(0.01, 0.3))
            if state == "Retry":
                self._checked.evict(name)
                await asyncio.sleep(self._chance.uniform(0.2, 5))
                self._checked.reserve(name)
        await asyncio.sleep(self._chance.choice((0.0, 0.1, 2.0, 70.0)))
        self._checked.admit(name)
        self.admitted += 1
        await self._run(name, count, cpu)

    async def _run(self, name: str, count: int, cpu: str) -> None:
        """Its pods come one after the other, run, and end."""
        pods: dict[str, str] = {}
        for number in range(count):
            await asyncio.sleep(self._chance.choice((0.0, 0.05, 1.0)))
            pod = f"{name}-{number}"
            if not self._free:
                self.without_node.append(pod)
                continue
            pods[pod] = node = self._chance.choice(sorted(self._free))
            self._free.remove(node)
            self._checked.run(pod, node, cpu=cpu, labels={keys.JOB: name})
        await asyncio.sleep(self._chance.uniform(1, 10))
        for pod, node in pods.items():
            self._checked.kube.remove(pod_path(pod))
            self._free.add(node)
        ended = [condition("QuotaReserved"), condition("Admitted"), condition("Finished")]
        self._checked.kube.change(self._checked.path(name), {"status": {"conditions": ended}})


@pytest.mark.examples
@pytest.mark.parametrize("seed", SEEDS)
async def test_no_pod_of_an_admitted_workload_is_without_a_node(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 -- repeatable, not secret
    checked = CheckedCluster(*NODES)
    checked.rules = ReconcilerSettings(Policy(), kueue=True, solving=chance.choice((AtOnce, RestingSearch)))
    checked.latency = chance.choice((0.005, 0.05, 0.2))
    checked.delays = {"/api/v1/pods": chance.choice((0.0, 0.3)), WORKLOADS: chance.choice((0.0, 0.2))}
    await checked.lead(0.1)
    played = KueueAndScheduler(checked, chance)
    lives = [asyncio.create_task(played.live(f"job-{number}")) for number in range(MANY)]
    for _ in range(chance.randint(0, 2)):
        await asyncio.sleep(chance.uniform(1, 30))
        await checked.lead(0.01)
    await asyncio.gather(*lives)
    await checked.end()
    assert (played.admitted, played.without_node) == (MANY, [])
