"""Whatever happens to nodes, pods and controllers, a Job runs again in the end, or says truly why it does not.

Its elements share a node, or run on hosts of a pool whose nodes are labelled one after another.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.apiserver.paths import node_path, pod_path
from tests.controller.histories.lived_histories import live_each
from tests.controller.jobs.colocation_scheduler import DEVICE, ColocationScheduler
from tests.controller.jobs.job_cluster import JobCluster
from tests.suite.example_count import some_of

pytestmark = pytest.mark.examples

Json = dict[str, Any]

HISTORIES = some_of(40)
BATCH = 10

LONG = 200.0
"""Seconds in which everything is put right: moves, nodes that are refused, and pods that are looked at again."""

DEVICES = {"node-0": 4, "node-1": 1, "node-2": 4, "node-3": 4, "node-4": 4}


def element(name: str, placement: str, devices: int) -> Json:
    container = {"name": "main", "image": "i", "resources": {"limits": {DEVICE: devices}}}
    operator = {"name": f"Op_{name.replace('-', '_')}", "placement": placement}
    return {"name": name, "operators": [operator], "template": {"spec": {"containers": [container]}}}


class RestartHistory:
    """Follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 -- repeatable, not secret
        self.cluster = JobCluster(len(DEVICES))
        self.lost: dict[str, Json] = {}
        self.story: list[str] = []
        ColocationScheduler(self.cluster, DEVICES)

    async def run(self) -> None:
        """A Job is submitted, much happens to it, and then nothing any more."""
        happenings: list[Callable[[], str]] = [
            self.pod_goes, self.pod_goes, self.all_pods_go, self.node_closes, self.node_closes, self.node_opens,
            self.node_goes, self.node_comes, self.pod_fails,
        ]  # fmt: skip
        group = [element(f"grp-{at}", 'hostColocation("a")', 1) for at in range(3)]
        hosted = [element("any", "host(P)", 3), element("fixed", "host(P[0])", 3)]
        options = {"restartDeletedPod": True, "restartFailedPod": True}
        elements = self.dice.choice([group, hosted, [*group, *hosted]])
        pools = [{"name": "P", "size": 2}] if elements is not group else []
        self.cluster.job("job", processingElement=options, processingElements=elements, hostPools=pools)
        await self.cluster.lead(self.dice.choice([0.3, 5.0]))
        for _ in range(self.dice.randint(1, 8)):
            self.story.append(self.dice.choice(happenings)())
            await self.cluster.wait(self.dice.choice([0.05, 0.3, 0.7, 3.0, 15.0]))
            if self.dice.random() < 0.2:
                self.story.append("the leader dies")
                await self.cluster.lead(0.1)
        for name in DEVICES:
            self.comes(name)
            self.marked(name, closed=False)
        await self.cluster.wait(LONG)

    def pod_goes(self) -> str:
        name = self.dice.choice(self.cluster.pods or [""])
        if name:
            self.cluster.delete(pod_path(name))
        return f"{name} is deleted"

    def all_pods_go(self) -> str:
        for name in list(self.cluster.pods):
            self.cluster.delete(pod_path(name))
        return "all pods are deleted"

    def pod_fails(self) -> str:
        running = [name for name in self.cluster.pods if self.cluster.pod(name).get("status", {}).get("startTime")]
        name = self.dice.choice(running or [""])
        if name:
            self.cluster.ends(name, 1)
        return f"{name} fails"

    def node_closes(self) -> str:
        return self.marked(self.dice.choice([*DEVICES]), closed=True)

    def node_opens(self) -> str:
        return self.marked(self.dice.choice([*DEVICES]), closed=False)

    def marked(self, name: str, *, closed: bool) -> str:
        found = self.cluster.kube.objects.get(node_path(name))
        if found is not None:
            others = [each for each in found["spec"]["taints"] if each["key"] != "node.kubernetes.io/unschedulable"]
            own = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}] if closed else []
            self.cluster.kube.change(node_path(name), {"spec": {"unschedulable": closed, "taints": [*others, *own]}})
        return f"{name} is {'cordoned' if closed else 'opened'}"

    def node_goes(self) -> str:
        """With its pods, at last."""
        name = self.dice.choice([*DEVICES])
        found = self.cluster.kube.objects.get(node_path(name))
        if found is not None:
            labels = {"kubernetes.io/hostname": name}
            self.lost[name] = {"labels": labels, "status": found["status"]}
            self.cluster.kube.delete(node_path(name))
            for pod in list(self.cluster.pods):
                if self.cluster.pod(pod)["spec"].get("nodeName") == name:
                    self.cluster.kube.remove(pod_path(pod))
        return f"{name} is lost"

    def node_comes(self) -> str:
        return self.comes(self.dice.choice([*DEVICES]))

    def comes(self, name: str) -> str:
        if found := self.lost.pop(name, None):
            metadata = {"labels": found["labels"]}
            self.cluster.kube.create(node_path(name), metadata=metadata, spec={"taints": []}, status=found["status"])
        return f"{name} is back"

    def wrong(self) -> str:
        """What is wrong in the end."""
        job = self.cluster.status("job")
        pods = {name: self.cluster.pod(name) for name in self.cluster.pods}
        running = [name for name, pod in pods.items() if pod.get("status", {}).get("phase") == "Running"]
        shared = {pods[name]["spec"]["nodeName"] for name in running if name.startswith("grp")}
        told = self.cluster.condition(self.cluster.found("job"), "Satisfiable")
        if len(shared) > 1:
            return f"the group is on {shared}"
        if job["phase"] == "Running":
            return "" if told[0] == "True" else f"it runs, and {told}"
        if job["phase"] == "Failed" and job["conditions"][0]["reason"] in {"Unsatisfiable", "TimedOut"}:
            return ""
        return "" if told[0] == "False" else f"{running} of {job['processingElements']} run, and {told}"


async def lived(seed: int) -> None:
    """A history, and what is wrong in the end."""
    history = RestartHistory(seed)
    try:
        await history.run()
        wrong = history.wrong()
        pods = {name: history.cluster.pod(name)["spec"].get("nodeName") for name in history.cluster.pods}
        assert not wrong, f"{wrong}; {pods}; {history.story}"
    finally:
        await history.cluster.end()


@pytest.mark.parametrize("first", range(0, HISTORIES, BATCH))
def test_a_job_runs_again_or_says_why_not(first: int) -> None:
    live_each(lived, range(first, min(first + BATCH, HISTORIES)))
