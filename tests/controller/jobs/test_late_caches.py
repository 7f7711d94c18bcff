"""One pass over an element or a Job whose caches are not what the API server has."""

import json
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import element_path, job_path, pod_path
from tests.apiserver.storage import Storage
from tests.builders import node
from tests.controller.controller_process import FaultyApi, RecordedEvents
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs import satisfiable_review
from webhook.controller.jobs.job_judge import JobJudge
from webhook.controller.jobs.job_reports import PACE, JobReports
from webhook.controller.jobs.launch_plans import LaunchPlans
from webhook.controller.jobs.reconciler import Jobs
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobs.satisfiable_review import SatisfiableReview
from webhook.controller.jobs.scaled_regions import ScaledRegions
from webhook.controller.jobs.stored_job_status import status_of_job
from webhook.controller.jobstore.pod_reader import read_element_pod
from webhook.controller.jobstore.records import read_element, read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.processingelements import element_reports, reconciler
from webhook.controller.processingelements.element_reports import SETTLED, ElementReports
from webhook.controller.processingelements.reconciler import ProcessingElements
from webhook.controller.processingelements.steering import Steering
from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.elements.names import owned_by
from webhook.placement.elements.plan import UNPLANNED
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_progress import JobPhase, Tallied
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.api_kinds import PROCESSING_ELEMENT, STREAMS_JOB

Json = dict[str, Any]

NAME = ("default", "pe-0")
PE = element_path("pe-0")
JOB = job_path("pe")
END = {"launchCount": 1, "outcome": "Deleted", "finishedAt": "2026-01-01T00:00:00Z"}


class Passes:
    """Reconcilers whose store has only what a test puts into it."""

    def __init__(self) -> None:
        self.passed = 0.0
        """Seconds since the test began."""
        self.kube = Storage()
        self.line = FaultyApi(self.kube, latency=0)
        self.store = JobStore()
        self.events = RecordedEvents()
        elements = ElementReports(self.line, self.store, self.events, self.now)
        self.reports = jobs = JobReports(self.line, self.store, self.events, self.now)
        self.watched = watched = ObservedInventory(Inventory())
        watched.set_node(node("node-a"))
        judge = JobJudge(watched.inventory, Policy(), Reservations(watched, self.store, (self.now, self.now)))
        self.plans = LaunchPlans(self.line, watched, self.store, judge, jobs, self.now)
        steering = Steering(lambda _: UNPLANNED, watched.inventory)
        self.elements = ProcessingElements(self.line, self.store, elements, steering, image="image", now=self.now)
        self.review = SatisfiableReview(watched, self.store, judge, jobs, self.plans, self.now)
        self.jobs = Jobs(
            self.line,
            self.store,
            jobs,
            judge,
            regions=ScaledRegions(self.store, self.now),
            times=(self.now, self.now),
        )
        job = self.kube.create(JOB, spec={"bundle": {"name": "app.sab"}, "processingElements": [{}]})
        self.kube.create(PE, metadata=self.owned(job), spec={"job": "pe", "launchCount": 1})
        self.watch()

    def now(self) -> float:
        return 1_767_225_600.0 + self.passed

    @staticmethod
    def owned(job: Json) -> Json:
        return {"ownerReferences": [owned_by(STREAMS_JOB, "pe", job["metadata"]["uid"])]}

    def watch(self) -> None:
        """The watches of Jobs and elements bring what there is."""
        if PE in self.kube.objects:
            self.store.elements.put(read_element(raw(self.kube.objects[PE])))
        self.store.jobs.put(read_job(raw(self.kube.objects[JOB])))

    def pod(self, launch: int, **status: Any) -> Json:
        uid = self.kube.objects[PE]["metadata"]["uid"]
        metadata = {
            "labels": {"streams.ibm.com/pe": "pe-0"},
            "ownerReferences": [owned_by(PROCESSING_ELEMENT, "pe-0", uid)],
        }
        status = status or {"phase": "Running"}
        return self.kube.create(pod_path(f"pe-0-{launch}"), metadata=metadata, spec={"containers": []}, status=status)

    def put_pod(self, pod: Json) -> None:
        found = read_element_pod(raw(pod))
        assert found is not None
        self.store.put_pod(found)

    @property
    def pods(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.kube.objects if "/pods/" in path]

    @property
    def status(self) -> Json:
        found: Json = self.kube.objects[PE].get("status") or {}
        return found


def raw(thing: Json) -> Raw:
    return Raw(json.dumps(thing).encode())


@pytest.fixture
def passes() -> Passes:
    return Passes()


async def test_an_element_that_is_gone_is_left_alone(passes: Passes) -> None:
    passes.store.elements.drop(NAME)
    assert (await passes.elements.reconcile(NAME), await passes.jobs.reconcile(("default", "other"))) == (None, None)


async def test_an_element_that_is_being_deleted_gets_no_pod(passes: Passes) -> None:
    passes.kube.change(PE, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}})
    assert await passes.elements.reconcile(NAME) is None
    passes.watch()
    assert await passes.elements.reconcile(NAME) is None
    assert passes.pods == []


async def test_an_element_that_is_not_there_any_more_gets_no_pod(passes: Passes) -> None:
    passes.kube.remove(PE)
    assert (await passes.elements.reconcile(NAME), passes.pods) == (0.1, [])


async def test_another_element_of_the_name_gets_no_pod_by_the_cache_of_the_first(passes: Passes) -> None:
    passes.kube.remove(PE)
    passes.kube.create(PE, spec={"job": "pe", "launchCount": 1})
    assert (await passes.elements.reconcile(NAME), passes.pods) == (0.1, [])


async def test_an_element_whose_status_has_changed_is_read_again_and_not_written(passes: Passes) -> None:
    passes.store.elements.put(read_element(raw({**passes.kube.objects[PE], "spec": {"job": "gone"}})))
    passes.kube.change(PE, {"status": {"launchCount": 7, "podUID": "x", "phase": "Running"}})
    assert await passes.elements.reconcile(NAME) == 0.1
    assert passes.status["launchCount"] == 7
    assert passes.store.elements.all[NAME].phase is ElementPhase.RUNNING


async def test_a_conflict_while_the_api_server_is_away_is_looked_at_later(passes: Passes) -> None:
    passes.line.failures += [ApiError(Cause.CONFLICT, "no"), ApiError(Cause.UNREACHABLE, "no")]
    assert await passes.elements.reconcile(NAME) == 0.1
    passes.line.failures += [ApiError(Cause.CONFLICT, "no"), ApiError(Cause.UNREACHABLE, "no")]
    assert await passes.jobs.reconcile(("default", "pe")) == 0.1


async def test_a_pod_of_an_earlier_launch_that_the_watch_has_not_brought_is_waited_for(passes: Passes) -> None:
    passes.kube.change(PE, {"spec": {"launchCount": 3}})
    passes.watch()
    passes.pod(1)
    assert (await passes.elements.reconcile(NAME), passes.pods) == (0.1, ["pe-0-1"])


async def test_a_pod_of_an_earlier_launch_that_has_ended_blocks_no_launch(passes: Passes) -> None:
    passes.kube.change(PE, {"spec": {"launchCount": 3}})
    passes.watch()
    passes.pod(1, phase="Failed")
    assert (await passes.elements.reconcile(NAME), passes.pods) == (5.0, ["pe-0-1", "pe-0-3"])


async def test_a_pod_that_cannot_be_read_is_asked_for_again(passes: Passes) -> None:
    passes.kube.change(PE, {"status": {"launchCount": 1, "podUID": "x", "phase": "Running"}})
    passes.watch()
    passes.line.failures.append(ApiError(Cause.UNREACHABLE, "no"))
    with pytest.raises(ApiError, match="^no$"):
        await passes.elements.reconcile(NAME)


async def test_a_pod_that_cannot_be_deleted_is_deleted_later(passes: Passes) -> None:
    passes.put_pod(passes.pod(1))
    passes.kube.change(PE, {"spec": {"launchCount": 2}})
    passes.watch()

    def refuse(path: str) -> None:
        if "/pods/" in path:
            raise ApiError(Cause.FORBIDDEN, "no")

    passes.line.before = refuse
    with pytest.raises(ApiError, match="^no$"):
        await passes.elements.reconcile(NAME)
    passes.line.before = lambda _: None
    passes.kube.remove(pod_path("pe-0-1"))
    assert await passes.elements.reconcile(NAME) is None  # it is gone already


async def test_a_pass_ends_after_some_steps(passes: Passes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler, "STEPS", 1)
    assert (await passes.elements.reconcile(NAME), passes.pods) == (0.1, [])


async def test_an_element_of_an_earlier_job_of_the_name_gets_no_pod(passes: Passes) -> None:
    passes.kube.remove(JOB)
    passes.kube.create(JOB, spec={})
    passes.watch()
    await passes.elements.reconcile(NAME)
    assert [each["reason"] for each in passes.status["conditions"]] == ["JobReplaced", "Unknown", "JobReplaced"]


async def test_a_status_that_breaks_rules_counts_as_none(passes: Passes) -> None:
    passes.kube.change(PE, {"status": {"launchCount": "many", "conditions": [{"type": "Ready", "reason": 1}]}})
    passes.watch()
    assert (await passes.elements.reconcile(NAME), passes.status["launchCount"]) == (5.0, 1)


async def test_the_first_status_is_written_once_the_pod_runs(passes: Passes) -> None:
    """Most pods run within two seconds: one write of the status instead of two."""
    assert (await passes.elements.reconcile(NAME), passes.status) == (SETTLED, {})
    passes.passed = 0.5
    pod = passes.kube.change(pod_path("pe-0-1"), {"spec": {"nodeName": "node-a"}, "status": {"phase": "Pending"}})
    passes.put_pod(pod)
    assert (await passes.elements.reconcile(NAME), passes.status) == (SETTLED - 0.5, {})
    passes.put_pod(passes.kube.change(pod_path("pe-0-1"), {"status": {"phase": "Running"}}))
    assert await passes.elements.reconcile(NAME) is None
    assert (passes.status["phase"], passes.status["launchCount"], passes.status["node"]) == ("Running", 1, "node-a")


async def test_the_status_of_a_pod_that_does_not_run_soon_is_written(passes: Passes) -> None:
    await passes.elements.reconcile(NAME)
    passes.passed = SETTLED
    await passes.elements.reconcile(NAME)
    assert (passes.status["phase"], passes.status["launchCount"]) == ("Pending", 1)


async def test_a_pod_that_is_deleted_before_the_first_status_was_written_is_not_created_again(passes: Passes) -> None:
    """The controller knows that it has created it: its launch has ended, and the next one has another name."""
    await passes.elements.reconcile(NAME)
    pod = passes.kube.objects[pod_path("pe-0-1")]
    passes.put_pod(pod)
    uid = pod["metadata"]["uid"]
    passes.kube.remove(pod_path("pe-0-1"))
    passes.store.drop_pod(uid)
    await passes.elements.reconcile(NAME)
    assert (passes.pods, passes.status["ended"]["outcome"], passes.status["ended"]["launchCount"]) == ([], "Deleted", 1)


async def test_statuses_of_elements_that_are_gone_are_not_held_back_for_ever(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(element_reports, "_DELAYED", 1)
    await passes.elements.reconcile(NAME)
    passes.passed = 2 * SETTLED
    passes.kube.remove(PE)
    passes.kube.remove(pod_path("pe-0-1"))
    passes.kube.create(PE, metadata=passes.owned(passes.kube.objects[JOB]), spec={"job": "pe", "launchCount": 1})
    passes.watch()
    assert await passes.elements.reconcile(NAME) == SETTLED


async def test_counts_of_jobs_that_are_gone_are_not_held_back_for_ever(passes: Passes) -> None:
    """A Job that is created anew under the name of one that was counted a moment ago is counted at once."""
    names = ["pe", "one", "two", "three"]
    for name in names[1:]:
        passes.kube.create(job_path(name), spec={"bundle": {"name": "app.sab"}, "processingElements": [{}]})

    async def counted(name: str, running: int) -> float | None:
        job = read_job(raw(passes.kube.objects[job_path(name)]))
        passes.store.jobs.put(job)
        tally = Tallied(total=1000, running=running)
        return await passes.reports.count(job, replace(status_of_job(job), tally=tally))

    assert [await counted(name, 1) for name in names] == [None, None, None, None]
    assert await counted("pe", 2) == 1000 * PACE
    for name in names[:3]:
        passes.store.jobs.drop(("default", name))
    assert await counted("three", 2) == 1000 * PACE
    passes.passed = 1000 * PACE
    assert await counted("three", 3) is None
    passes.passed = 0.0
    assert await counted("pe", 2) is None


async def test_an_element_that_this_process_has_created_is_not_read_again(passes: Passes) -> None:
    """Nobody else has acted on it; every other one is read before its pod is created."""
    passes.store.unlaunched.add(passes.kube.objects[PE]["metadata"]["uid"])
    await passes.elements.reconcile(NAME)
    assert (passes.pods, passes.line.reads) == (["pe-0-1"], 0)


async def test_the_pod_of_a_later_launch_is_not_taken_for_the_one_that_does_not_exist(passes: Passes) -> None:
    """The caches are those of before launch 2, whose pod runs: the look found that the pod of launch 1 is gone."""
    passes.put_pod(passes.pod(1))
    passes.kube.remove(pod_path("pe-0-1"))
    pod = passes.pod(2)
    status = {"launchCount": 2, "podUID": pod["metadata"]["uid"], "phase": "Running", "ended": END}
    passes.kube.change(PE, {"spec": {"launchCount": 2}, "status": status})
    await passes.elements.reconcile(NAME)
    assert (passes.pods, passes.status["ended"], passes.status["phase"]) == (["pe-0-2"], END, "Running")


@pytest.mark.parametrize("late", [True, False])
async def test_an_end_is_counted_by_the_options_of_a_job_that_the_watch_has_not_brought(
    passes: Passes, *, late: bool
) -> None:
    passes.kube.change(JOB, {"spec": {"processingElement": {"restartFailedPod": False, "deleteFailedPod": False}}})
    passes.store.jobs.drop(("default", "pe"))
    if not late:
        other = {**passes.kube.objects[JOB], "spec": {}}
        passes.store.jobs.put(read_job(raw({**other, "metadata": {**other["metadata"], "uid": "of-an-earlier-job"}})))
    passes.put_pod(passes.pod(1, phase="Failed"))
    await passes.elements.reconcile(NAME)
    assert (passes.status["phase"], passes.status["restarts"], passes.pods) == ("Failed", 0, ["pe-0-1"])


async def test_a_failed_pod_is_kept_as_a_job_says_that_the_watch_has_not_brought(passes: Passes) -> None:
    passes.kube.change(JOB, {"spec": {"processingElement": {"deleteFailedPod": False}}})
    passes.store.jobs.drop(("default", "pe"))
    pod = passes.pod(1, phase="Failed")
    passes.put_pod(pod)
    status = {"launchCount": 1, "podUID": pod["metadata"]["uid"], "phase": "Failed"}
    passes.kube.change(PE, {"status": {**status, "ended": {**END, "outcome": "Failed"}}})
    passes.store.elements.put(read_element(raw(passes.kube.objects[PE])))
    await passes.elements.reconcile(NAME)
    assert passes.pods == ["pe-0-1"]


@pytest.mark.parametrize("replaced", [True, False])
async def test_an_end_of_an_element_without_a_job_is_counted_by_its_own_options(
    passes: Passes, *, replaced: bool
) -> None:
    passes.kube.remove(JOB)
    passes.store.jobs.drop(("default", "pe"))
    if replaced:
        passes.kube.create(JOB, spec={"processingElement": {"restartFailedPod": False}})
    passes.put_pod(passes.pod(1, phase="Failed"))
    await passes.elements.reconcile(NAME)
    assert (passes.status["restarts"], passes.kube.objects[PE]["spec"]["launchCount"]) == (1, 2)


async def test_an_end_is_not_counted_while_its_job_cannot_be_read(passes: Passes) -> None:
    pod = passes.pod(1, phase="Failed")
    passes.put_pod(pod)
    passes.kube.change(PE, {"status": {"launchCount": 1, "podUID": pod["metadata"]["uid"], "phase": "Running"}})
    passes.watch()
    passes.store.jobs.drop(("default", "pe"))
    passes.line.failures.append(ApiError(Cause.UNREACHABLE, "no"))
    with pytest.raises(ApiError, match="^no$"):
        await passes.elements.reconcile(NAME)
    assert "ended" not in passes.status


# Jobs


async def test_a_job_that_has_changed_is_looked_at_again(passes: Passes) -> None:
    passes.kube.change(JOB, {"spec": {"processingElements": []}})
    assert await passes.jobs.reconcile(("default", "pe")) == 0.1
    assert passes.store.jobs.all["default", "pe"].generation == 2


async def test_another_job_of_the_name_is_not_touched(passes: Passes) -> None:
    passes.kube.remove(JOB)
    passes.kube.create(JOB, spec={"processingElements": [{}, {}]})
    assert await passes.jobs.reconcile(("default", "pe")) == 0.1
    assert passes.line.writes == []


async def test_nothing_is_made_for_a_job_that_was_changed_meanwhile(passes: Passes) -> None:
    await passes.jobs.reconcile(("default", "pe"))
    passes.watch()
    passes.kube.remove(PE)
    passes.store.elements.drop(NAME)
    passes.kube.change(JOB, {"spec": {"processingElements": []}})
    assert (await passes.jobs.reconcile(("default", "pe")), PE in passes.kube.objects) == (0.1, False)


async def test_objects_that_cannot_be_deleted_are_deleted_later(passes: Passes) -> None:
    passes.kube.change(JOB, {"spec": {"processingElements": [{"name": "other"}]}})
    passes.watch()
    passes.line.before = lambda path: path == PE and raises(ApiError(Cause.UNREACHABLE, "no"))
    with pytest.raises(ApiError, match="^no$"):
        await passes.jobs.reconcile(("default", "pe"))
    passes.line.before = lambda _: None
    passes.kube.remove(PE)
    await passes.jobs.reconcile(("default", "pe"))
    assert element_path("other") in passes.kube.objects


def raises(error: Exception) -> None:
    raise error


def test_a_status_of_a_job_that_breaks_rules_counts_as_none(passes: Passes) -> None:
    passes.kube.change(JOB, {"status": {"phase": "Odd", "conditions": "none"}})
    passes.watch()
    stored = passes.store.jobs.all["default", "pe"]
    assert (status_of_job(stored).phase, status_of_job(stored).since) == (JobPhase.SUBMITTING, None)
    assert stored.phase is JobPhase.SUBMITTING


async def test_a_job_that_is_gone_before_its_turn_is_not_judged(passes: Passes) -> None:
    before = passes.line.requests
    assert await passes.review.look(("default", "gone")) is None
    assert passes.line.requests == before


async def test_running_jobs_are_looked_at_again_when_a_node_group_changes(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the leader, and not for an event that changes nothing."""
    monkeypatch.setattr(satisfiable_review, "DELAY", 0.0)
    queue, groups = passes.review.queue, passes.watched.node_groups
    groups.put(NodeGroup("NodePool", "p"))
    assert queue.depth == 0
    passes.review.begin()
    for group, depth in ((None, 1), (NodeGroup("NodePool", "p"), 0), (NodeGroup("NodePool", "p", count=1), 1)):
        if group:
            groups.put(group)
        assert queue.depth == depth
        if depth:
            queue.done(await queue.take())


async def test_a_pod_whose_creation_was_not_answered_is_found_by_its_name(passes: Passes) -> None:
    """The watch has not brought it either, and it is nobody else's."""
    passes.watch()

    def refuse(path: str) -> None:
        if "/pods" in path:
            raise ApiError(Cause.UNREACHABLE, "no")

    passes.line.after = refuse
    with pytest.raises(ApiError, match="^no$"):
        await passes.elements.reconcile(NAME)
    passes.line.after = lambda _: None
    assert passes.pods == ["pe-0-1"]
    assert await passes.elements.reconcile(NAME) == SETTLED
    passes.passed = SETTLED
    await passes.elements.reconcile(NAME)
    assert passes.pods == ["pe-0-1"]
    assert passes.kube.objects[PE]["status"]["podUID"] == passes.kube.objects[pod_path("pe-0-1")]["metadata"]["uid"]
