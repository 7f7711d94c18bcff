"""What must be so while anything happens to Jobs, and what when nothing has happened for a while."""

from collections.abc import Iterator
from typing import Any

from tests.apiserver.paths import ELEMENTS, JOBS, PODS, POOLS, job_path
from tests.apiserver.storage import Change, Storage
from tests.controller.controller_process import FaultyApi
from tests.controller.jobs.histories.random_job_history import JobHistory
from tests.controller.jobs.job_cluster import FINISHED
from tests.controller.jobs.restart_table import option, restarts

Json = dict[str, Any]


class JobSafetyMonitor:
    """Sees everything that is written; ``violations`` are sentences."""

    def __init__(self, history: JobHistory) -> None:
        self.violations: list[str] = []
        self._history = history
        self._kube = history.kube
        self._last: dict[str, Json] = {}
        """Pods as they were last, by their uid."""
        self._late: set[str] = set()
        """Uids of elements for which a controller that no longer leads has made a pod."""
        self._kube.listeners.append(self._seen)

    def forget_the_gone(self) -> None:
        """Forget pods and elements that are gone; at rest the ends of all pods have been counted."""
        self._last = {pod["metadata"]["uid"]: pod for pod in self._kube.all(PODS)}
        self._late.intersection_update(each["metadata"]["uid"] for each in self._kube.all(ELEMENTS))

    def _seen(self, change: Change) -> None:
        writer = self._kube.writer
        if change.collection == PODS:
            self._pod(change, writer)
        if not isinstance(writer, FaultyApi) or change.after is None:
            return
        if change.before is None and change.collection in {PODS, ELEMENTS, POOLS}:
            self.violations += self._of_owner(change.after)
        if change.before is not None and change.collection == ELEMENTS:
            self.violations += self._of_ends(change.before, change.after)

    def _pod(self, change: Change, writer: object) -> None:
        pod = change.after or change.before
        assert pod is not None
        owner = owner_of(pod)
        if change.before is None and change.after is not None and isinstance(writer, FaultyApi):
            if writer.deposed:
                self._late.add(owner)
            for other in self._kube.all(PODS):
                same = owner_of(other) == owner
                live = (other.get("status") or {}).get("phase") not in FINISHED
                if same and live and other["metadata"]["uid"] != pod["metadata"]["uid"] and owner not in self._late:
                    self.violations.append(f"{pod['metadata']['name']} is made beside {other['metadata']['name']}")
        self._last[pod["metadata"]["uid"]] = pod

    def _of_owner(self, made: Json) -> Iterator[str]:
        owners = made["metadata"].get("ownerReferences") or ()
        if len(owners) != 1 or not owners[0].get("controller") or not owners[0].get("uid"):
            yield f"{made['metadata']['name']} has the owners {owners}"

    def _of_ends(self, before: Json, after: Json) -> Iterator[str]:
        name = after["metadata"]["name"]
        old, new = before.get("status") or {}, after.get("status") or {}
        ended, had = new.get("ended"), old.get("ended") or {}
        gained = new.get("restarts", 0) - old.get("restarts", 0)
        if before["spec"]["launchCount"] > after["spec"]["launchCount"]:
            yield f"{name}: the launch count falls to {after['spec']['launchCount']}"
        if not ended or ended == had:
            if gained:
                yield f"{name}: {gained} restarts without an end"
            return
        launch = ended["launchCount"]
        if launch <= had.get("launchCount", 0):
            yield f"{name}: the end of launch {launch} is counted twice"
        pod = self._last.get(new["podUID"])
        if pod is None or pod["metadata"]["name"] != f"{name}-{launch}":
            yield f"{name}: launch {launch} ended and never was"
            return
        yield from self._of_the_table(after, ended, pod, gained)

    def _of_the_table(self, element: Json, ended: Json, pod: Json, gained: int) -> Iterator[str]:
        """That the end is what it was, and that a restart follows if the table says so."""
        name, status, metadata = element["metadata"]["name"], pod.get("status") or {}, pod["metadata"]
        disrupted = any(each["type"] == "DisruptionTarget" for each in status.get("conditions") or ())
        truth = "Failed" if disrupted or status.get("phase") == "Failed" else "Completed"
        known = status.get("phase") in FINISHED
        gone = f"/api/v1/namespaces/default/pods/{metadata['name']}" not in self._kube.objects
        # Of a pod that is gone nobody may have seen how it ended.
        if ended["outcome"] == "Deleted":
            if not gone and uid_of(self._kube, metadata["name"]) == metadata["uid"]:
                yield f"{name}: launch {ended['launchCount']} is there, and counted as deleted"
        elif not known and not disrupted:
            yield f"{name}: launch {ended['launchCount']} lives, and counted as {ended['outcome']}"
        elif ended["outcome"] != truth:
            yield f"{name}: launch {ended['launchCount']} is counted as {ended['outcome']}, and was {truth}"
        job = self._kube.objects.get(job_path(element["spec"]["job"]))
        if job is None or job["metadata"]["uid"] != owner_of(element):
            return
        answers = {
            restarts(element, found, ended["outcome"], deleted=deleted)
            for deleted in ({False, True} if metadata.get("deletionTimestamp") or gone else {False})
            for found in self._versions(job)
        }
        if bool(gained) not in answers or gained not in {0, 1}:
            yield f"{name}: {gained} restarts after {ended}, and the table says {answers}"

    def _versions(self, job: Json) -> Iterator[Json]:
        """The Job as it is and as it was: a controller may not have heard of a change yet."""
        yield job
        for change in self._kube.changes:
            for found in (change.before, change.after):
                if change.collection == JOBS and found and found["metadata"]["uid"] == job["metadata"]["uid"]:
                    yield found


def uid_of(kube: Storage, pod: str) -> str:
    found: str = kube.objects[f"/api/v1/namespaces/default/pods/{pod}"]["metadata"]["uid"]
    return found


def owner_of(found: Json) -> str:
    uid: str = found["metadata"]["ownerReferences"][0]["uid"]
    return uid


def at_rest(kube: Storage) -> Iterator[str]:
    """Everything that is wrong with Jobs in a cluster in which nothing has happened for a while."""
    jobs = {found["metadata"]["uid"]: found for found in kube.all(JOBS)}
    elements = {found["metadata"]["uid"]: found for found in kube.all(ELEMENTS)}
    for collection in (ELEMENTS, POOLS):
        for found in kube.all(collection):
            if owner_of(found) not in jobs:
                yield f"{found['metadata']['name']} is left of a Job that is gone"
    for pod in kube.all(PODS):
        if owner_of(pod) not in elements:
            yield f"pod {pod['metadata']['name']} is left of an element that is gone"
    for job in jobs.values():
        yield from _of_a_job(job, [each for each in elements.values() if owner_of(each) == job["metadata"]["uid"]])
    for element in elements.values():
        pods = [pod for pod in kube.all(PODS) if owner_of(pod) == element["metadata"]["uid"]]
        yield from _of_an_element(element, pods, kube.objects[job_path(element["spec"]["job"])])


def _of_a_job(job: Json, elements: list[Json]) -> Iterator[str]:
    name, status, spec = job["metadata"]["name"], job.get("status") or {}, job["spec"]
    told = f"job {name} says {status}"
    submitted = next((each for each in status.get("conditions") or () if each["type"] == "Submitted"), {})
    if job["metadata"].get("deletionTimestamp"):
        yield f"{told}, and is not deleted"
        return
    if submitted.get("status") != "True":
        if elements or status.get("phase") != "Failed":
            yield f"{told}, and has {[each['metadata']['name'] for each in elements]}"
        return
    names = {f"{name}-{place}": element for place, element in enumerate(spec["processingElements"])}
    there = {each["metadata"]["name"]: each for each in elements}
    for missing in names.keys() - there.keys():
        if all(operator["restartable"] for operator in names[missing]["operators"]):
            yield f"{told}, and {missing} is missing"
    if there.keys() - names.keys():
        yield f"{told}, and {there.keys() - names.keys()} are too many"
    phases = [each.get("status", {}).get("phase") for each in there.values()]
    counts = {phase: phases.count(phase) for phase in ("Running", "Failed", "Completed", "Stopped")}
    said = (status.get("running"), status.get("failed"), status.get("completed"))
    if said != (counts["Running"], counts["Failed"], counts["Completed"]):
        yield f"{told}, and its elements are {phases}"
    yield from _of_a_phase(told, status["phase"], len(names), counts)


def _of_a_phase(told: str, phase: str, total: int, counts: dict[str, int]) -> Iterator[str]:
    if counts["Completed"] == total:
        right = "Completed"
    elif counts["Running"] + counts["Completed"] == total:
        right = "Running"
    else:
        right = "Failed" if counts["Failed"] and not counts["Running"] else "Degraded"
    if phase != right:
        yield f"{told}, and is {right}"


def _of_an_element(element: Json, pods: list[Json], job: Json) -> Iterator[str]:
    name, status, spec = element["metadata"]["name"], element.get("status") or {}, element["spec"]
    states = [(each["metadata"]["name"], each.get("status") or {}) for each in pods]
    told = f"{name} ({spec}) says {status}, and has {states}"
    live = [each for each, (_, state) in zip(pods, states, strict=True) if state.get("phase") not in FINISHED]
    ended = status.get("ended") or {}
    if status.get("phase") == "Running":
        right = [f"{name}-{spec['launchCount']}"]
        if [each["metadata"]["name"] for each in live] != right or status.get("launchCount") != spec["launchCount"]:
            yield f"{told}: not one pod of the present launch"
        made = live[0]["metadata"]["annotations"]["streams.ibm.com/contentId"] if live else ""
        if live and made != spec.get("contentId"):
            yield f"{told}: the pod is of {made}"
    elif status.get("phase") in {"Completed", "Failed", "Stopped"}:
        if live or ended.get("launchCount") != spec["launchCount"]:
            yield f"{told}: not ended"
    else:
        yield f"{told}: nothing to wait for"
    keeps = not option(element, job, "deleteFailedPod", default=True)
    old = [each for each in pods if each not in live and each["metadata"]["name"] != f"{name}-{spec['launchCount']}"]
    if len(old) > keeps:
        yield f"{told}: old pods pile up"
    if status.get("phase") == "Failed" and not keeps and pods:
        yield f"{told}: a failed pod is kept"
    if status.get("restarts", 0) >= spec["launchCount"]:
        yield f"{told}: more restarts than launches"
