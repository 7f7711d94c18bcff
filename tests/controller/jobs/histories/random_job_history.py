"""A history of Jobs: people submit, change and delete them, pods end, nodes are lost, and controllers die or stall."""

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.garbage import GarbageCollector
from tests.apiserver.paths import ELEMENTS, JOBS, NODES, PODS, POOLS, element_path, job_path, node_path, pod_path
from tests.apiserver.requests import delete
from tests.apiserver.storage import Storage
from tests.controller.controller_process import ControllerProcess, wall_clock
from tests.controller.jobs.job_cluster import FINISHED, moment
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy

Json = dict[str, Any]

NAMES = ("app", "web")
MOST_ELEMENTS = 6
"""Of one Job: each change may add one, and without an end a long history becomes a history of large Jobs."""

RESTART = ("restartCompletedPod", "restartDeletedPod", "restartFailedPod", "deleteFailedPod")


class JobHistory:
    """One of them; everything follows from the seed. ``story`` tells what happened."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 -- repeatable, not secret
        self.kube = Storage()
        self.kube.graceful = lambda found: bool((found.get("spec") or {}).get("nodeName"))
        self.garbage = GarbageCollector(self.kube)
        self.rules = ReconcilerSettings(Policy())
        self.story: list[str] = []
        self.candidates: list[ControllerProcess] = []
        self.now: Callable[[], float] = wall_clock
        self._standby: ControllerProcess | None = None
        self._quota = False
        self._busy = True
        self._late: list[asyncio.Task[None]] = []
        self._happenings: list[Callable[[], None]] = [
            self.job_comes, self.job_comes, self.job_changes, self.job_changes, self.job_changes,
            self.dice.choice([self.job_goes, self.job_goes_slowly, self.pod_fails, self.pod_completes]),
            self.pod_completes, self.pod_completes, self.pod_fails, self.pod_fails, self.pod_fails, self.pod_fails,
            self.pod_is_evicted, self.pod_is_evicted, self.node_is_lost, self.pod_goes, self.pod_goes, self.pod_goes,
            self.element_goes, self.launch_is_raised, self.launch_is_raised, self.options_change, self.pool_goes,
            self.leader_dies, self.leader_dies, self.leader_dies, self.leader_stalls, self.watch_ends,
            self.requests_fail, self.quota_changes,
        ]  # fmt: skip

    @property
    def leader(self) -> ControllerProcess | None:
        return next((one for one in self.candidates if not one.line.deposed and not one.ended), None)

    async def run(self) -> None:
        """Let it happen."""
        for number in range(3):
            self.node_comes(number)
        self.begin()
        self.job_comes()
        self._lead()
        for _ in range(self.dice.randint(4, 30)):
            await asyncio.sleep(self.dice.choice([0.0, 0.004, 0.02, 0.06, 0.3, 1.1, 1.1, 4.0, 14.0]))
            if self.leader is None:
                self._lead()
            self.dice.choice(self._happenings)()
        await asyncio.sleep(self.dice.choice([0.0, 0.5, 2.0]))
        self.calm()

    def begin(self) -> None:
        """From now on pods begin and end by themselves."""
        self._late.append(asyncio.create_task(self._world()))

    def calm(self) -> None:
        """From now on nothing happens by itself, but for pods that begin, and end if they are deleted."""
        self._busy = self._quota = False
        for candidate in self.candidates:
            candidate.line.ends = float("inf")
            candidate.line.going.set()
        if self.leader is None:
            self._lead()
        self.tell("calm")

    async def end(self) -> None:
        for task in self._late:
            task.cancel()
        for candidate in (*self.candidates, *filter(None, [self._standby])):
            await candidate.end()

    def tell(self, what: str) -> None:
        self.story.append(f"{asyncio.get_running_loop().time() - 1000:8.3f} {what}")

    def any(self, collection: str) -> Json | None:
        found = self.kube.all(collection)
        return self.dice.choice(found) if found else None

    def end_of_jobs(self) -> None:
        """Everybody deletes their Jobs."""
        for job in self.kube.all(JOBS):
            self._delete(job_path(job["metadata"]["name"]), self.dice.choice(["", "Foreground"]))

    # Jobs and elements

    def job_comes(self) -> None:
        name = self.dice.choice(NAMES)
        if job_path(name) not in self.kube.objects:
            spec = {"bundle": {"name": "app.sab"}, "processingElements": [*self._elements(self.dice.randint(1, 3))]}
            if self.dice.random() < 0.5:
                spec["hostPools"] = [{"name": "P", "size": self.dice.choice([1, 2])}]
            if self.dice.random() < 0.3:
                spec["processingElement"] = self._options()
            spec["submissionTimeOutInSeconds"] = self.dice.choice([3, 20, 300])
            self.kube.create(job_path(name), spec=spec)
            self.tell(f"job {name} comes: {spec}")

    def _elements(self, number: int) -> Iterator[Json]:
        for _ in range(number):
            operators = [{"name": f"Op{self.dice.randint(0, 10**6)}", "restartable": self.dice.random() < 0.7}]
            yield {**self._options(), "operators": operators, "dataPath": self.dice.choice(["/a", "/b"])}

    def _options(self) -> Json:
        return {option: self.dice.random() < 0.5 for option in RESTART if self.dice.random() < 0.4}

    def job_changes(self) -> None:
        if job := self.any(JOBS):
            elements = list(job["spec"]["processingElements"])
            what = self.dice.choice(["more", "fewer", "other", "options"])
            if what == "more" and len(elements) < MOST_ELEMENTS:
                elements += self._elements(1)
            elif what == "fewer" and len(elements) > 1:
                elements.pop()
            elif what == "other":
                elements[0] = {**elements[0], "dataPath": f"/{self.dice.randint(0, 99)}"}
            more = {"processingElement": self._options()} if what == "options" else {}
            name = job["metadata"]["name"]
            self.kube.write(job_path(name), {**job, "spec": {**job["spec"], "processingElements": elements, **more}})
            self.tell(f"job {name} changes: {what} {more}")

    def job_goes(self) -> None:
        if job := self.any(JOBS):
            self._delete(job_path(job["metadata"]["name"]))

    def job_goes_slowly(self) -> None:
        if job := self.any(JOBS):
            self._delete(job_path(job["metadata"]["name"]), "Foreground")

    def element_goes(self) -> None:
        if element := self.any(ELEMENTS):
            self._delete(element_path(element["metadata"]["name"]), self.dice.choice(["", "Foreground"]))

    def launch_is_raised(self) -> None:
        if element := self.any(ELEMENTS):
            path = element_path(element["metadata"]["name"])
            launch = element["spec"]["launchCount"] + self.dice.choice([1, 1, 1, 2, 7])
            self.kube.change(path, {"spec": {"launchCount": launch}})
            self.tell(f"{path} is to have launch {launch}")

    def options_change(self) -> None:
        """Somebody edits an element by hand."""
        if element := self.any(ELEMENTS):
            path, options = element_path(element["metadata"]["name"]), self._options()
            self.kube.change(path, {"spec": options})
            self.tell(f"{path} has {options} now")

    def pool_goes(self) -> None:
        if pool := self.any(POOLS):
            self._delete(
                f"{POOLS.removesuffix('/streamshostpools')}/namespaces/default/streamshostpools/"
                f"{pool['metadata']['name']}"
            )

    def _delete(self, path: str, propagation: str = "") -> None:
        self.tell(f"delete {path} {propagation}")
        delete(self.kube, path, propagation)

    # Pods and nodes

    def node_comes(self, number: int) -> None:
        name = f"node-{number}"
        metadata = {"labels": {"kubernetes.io/hostname": name}}
        status = {"allocatable": {"cpu": "8", "pods": "110"}}
        self.kube.create(node_path(name), metadata=metadata, spec={"taints": []}, status=status)

    def _live(self) -> Json | None:
        found = [pod for pod in self.kube.all(PODS) if (pod.get("status") or {}).get("phase") not in FINISHED]
        return self.dice.choice(found) if found else None

    def pod_completes(self) -> None:
        if pod := self._live():
            self._ends(pod, 0)

    def pod_fails(self) -> None:
        if pod := self._live():
            self._ends(pod, self.dice.choice([1, 137]))

    def _ends(self, pod: Json, code: int, **status: Any) -> None:
        terminated = {"exitCode": code, "finishedAt": moment()}
        ended = {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"name": "pe", "state": {"terminated": terminated}}],
        }
        path = pod_path(pod["metadata"]["name"])
        self.kube.change(path, {"status": {**ended, **status}})
        self.tell(f"{path} ends with {code}")

    def pod_is_evicted(self) -> None:
        """By a drain: the pod has the condition, and then a deletionTimestamp."""
        if pod := self._live():
            path = pod_path(pod["metadata"]["name"])
            condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
            self.kube.change(path, {"status": {"conditions": [condition]}})
            self._delete(path)

    def node_is_lost(self) -> None:
        """What its pods did is not known; the garbage collector of pods ends one."""
        if pod := self._live():
            condition = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
            self.kube.change(
                pod_path(pod["metadata"]["name"]), {"status": {"phase": "Failed", "conditions": [condition]}}
            )
            self.tell(f"the node of {pod['metadata']['name']} is lost")

    def pod_goes(self) -> None:
        if pod := self.any(PODS):
            path = pod_path(pod["metadata"]["name"])
            if self.dice.random() < 0.3:
                self.tell(f"{path} is removed by force")
                self.kube.remove(path)
            else:
                self._delete(path)

    async def _world(self) -> None:
        changed = asyncio.Event()
        self.kube.listeners.append(lambda _: changed.set())
        while True:
            await asyncio.sleep(self.dice.choice([0.02, 0.05, 0.3]) if self._busy else 2.0)
            if not self._busy:
                await changed.wait()
            if not self._busy:
                changed.clear()  # a look of busy times may pass over what has changed, so it stays to be looked at
            if not self._busy or self.dice.random() < 0.7:
                self.garbage.sweep()
            for pod in self.kube.all(PODS):
                if not self._busy or self.dice.random() < 0.6:
                    self._advance(pod)

    def _advance(self, pod: Json) -> None:
        metadata, status, path = pod["metadata"], pod.get("status") or {}, pod_path(pod["metadata"]["name"])
        if metadata.get("deletionTimestamp"):
            if status.get("phase") not in FINISHED and self.dice.random() < 0.6:
                self._ends(pod, self.dice.choice([0, 143]))
            else:
                self.kube.remove(path)
        elif status.get("phase") in FINISHED:
            return
        elif not pod["spec"].get("nodeName"):
            node = self.dice.choice(self.kube.all(NODES))["metadata"]["name"]
            self.kube.change(path, {"spec": {"nodeName": node}, "status": {"phase": "Pending"}})
        elif status.get("phase") != "Running":
            self.kube.change(path, {"status": {"phase": "Running", "startTime": moment()}})

    # Controllers

    def _lead(self) -> None:
        """The one that stood by, whose caches are as late as its watches, and another one stands by."""
        leader, self._standby = self._standby or self._candidate(), self._candidate()
        self.candidates.append(leader)
        leader.begin()
        self.tell(f"controller {len(self.candidates)} leads")

    def _candidate(self) -> ControllerProcess:
        delays = {
            kind: self.dice.choice([0.0, 0.0, 0.003, 0.05, 0.7, 6.0]) for kind in (NODES, PODS, POOLS, JOBS, ELEMENTS)
        }
        candidate = ControllerProcess(self.kube, rules=self.rules, delays=delays, now=self.now)
        candidate.line.before = self._refuse
        return candidate

    def _refuse(self, path: str) -> None:
        if self._quota and path.endswith("/pods?fieldValidation=Strict"):
            raise ApiError(Cause.FORBIDDEN, "the API server answers 403: exceeded quota")

    def leader_dies(self) -> None:
        if self.leader is not None:
            line = self.leader.line
            line.ends = line.requests + self.dice.randint(1, 8)
            line.obeyed_at_the_end = self.dice.random() < 0.5
            self.tell(f"the leader dies {line.ends - line.requests} requests later")

    def leader_stalls(self) -> None:
        """It is paused, and deposed meanwhile; what it had in hand comes later."""
        if self.leader is not None:
            candidate = self.leader
            candidate.line.going.clear()
            candidate.depose()

            async def later() -> None:
                await asyncio.sleep(self.dice.choice([0.5, 2.0, 9.0]))
                candidate.line.going.set()

            task = asyncio.create_task(later())
            task.add_done_callback(self._late.remove)  # it keeps the controller with all its caches
            self._late.append(task)
            self._lead()
            self.tell("the leader before stalls")

    def watch_ends(self) -> None:
        if self.leader is not None:
            self.leader.relist(self.dice.choice([PODS, POOLS, JOBS, ELEMENTS]))

    def requests_fail(self) -> None:
        """Some requests do not arrive, or their answers do not."""
        if self.leader is not None:
            for failures in (self.leader.line.failures, self.leader.line.lost):
                lost = [ApiError(Cause.UNREACHABLE, "no answer")] * self.dice.randint(0, 2)
                failures.extend(lost)

    def quota_changes(self) -> None:
        self._quota = not self._quota
        self.tell(f"quota refuses pods: {self._quota}")
