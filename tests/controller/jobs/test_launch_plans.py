"""Which elements of a Job wait for a plan, and plans that are asked for while other things happen."""

from typing import Any

import pytest
from msgspec.structs import replace

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import element_path, node_path, pod_path
from tests.builders import node
from tests.controller.jobs.colocation_scheduler import DEVICE, ColocationScheduler
from tests.controller.jobs.job_cluster import JobCluster
from tests.controller.jobs.test_late_caches import PE, Passes
from webhook.controller.jobs.element_standing import ElementStandings
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.elements.plan import PlannedNodes
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_progress import JobPhase
from webhook.placement.jobs.replanning import Standing
from webhook.placement.objects.jobs.job_spec import JobSpec

Json = dict[str, Any]

JOB = ("default", "pe")


@pytest.fixture
def passes() -> Passes:
    return Passes()


def standing(passes: Passes, *, begun: bool = True) -> Standing:
    """How the only element stands, on a cluster with the node ``node-a``."""
    job = passes.store.jobs.all[JOB]
    if begun:
        job = replace(job, phase=JobPhase.RUNNING)
    spec = job.stated() or JobSpec()
    there = {"node-a": node("node-a")}
    return ElementStandings(job, spec, passes.store, there.get).find(PlannedNodes())


def test_an_element_that_is_not_there_waits_if_it_will_be_made(passes: Passes) -> None:
    passes.store.elements.drop(("default", "pe-0"))
    assert standing(passes).waiting == {"pe-0"}
    job = passes.kube.objects["/apis/streams.ibm.com/v1/namespaces/default/streamsjobs/pe"]
    firm = {"operators": [{"name": "Op", "restartable": False}]}
    passes.kube.write(
        "/apis/streams.ibm.com/v1/namespaces/default/streamsjobs/pe",
        {**job, "spec": {**job["spec"], "processingElements": [firm]}},
    )
    passes.watch()
    passes.store.elements.drop(("default", "pe-0"))
    assert standing(passes).waiting == frozenset()
    assert standing(passes, begun=False).waiting == {"pe-0"}


@pytest.mark.parametrize(
    ("change", "pod", "waits"),
    [
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}}, None, False),
        ({"metadata": {"ownerReferences": []}}, None, False),
        ({"spec": {"restartFailedPod": "maybe"}}, None, True),
        ({"status": {"phase": "Stopped", "ended": {"launchCount": 1}}}, None, False),
        ({"status": {"phase": "Failed", "ended": "odd"}}, None, True),
        ({"status": {"phase": "Failed", "ended": {"launchCount": 1}}, "spec": {"launchCount": 2}}, None, True),
        ({}, {"phase": "Failed"}, True),
        ({"spec": {"restartFailedPod": False}}, {"phase": "Failed"}, False),
        ({"spec": {"restartFailedPod": "maybe"}}, {"phase": "Failed"}, True),
    ],
    ids=["deleting", "not the Job's", "odd", "stopped", "odd end", "raised", "failed", "for good", "failed, odd"],
)
def test_an_element_waits_if_a_pod_of_it_will_be_made(
    passes: Passes, change: Json, pod: Json | None, *, waits: bool
) -> None:
    passes.kube.change(PE, change)
    passes.watch()
    if pod is not None:
        passes.put_pod(passes.pod(1, **pod))
    assert standing(passes).waiting == ({"pe-0"} if waits else set())


def test_a_pod_on_a_node_that_is_gone_does_not_run(passes: Passes) -> None:
    pod = passes.pod(1)
    for name, runs in (("node-a", {"pe-0": "node-a"}), ("gone", {})):
        passes.put_pod({**pod, "spec": {"nodeName": name}})
        assert standing(passes).running == runs


@pytest.mark.parametrize(("cause", "again"), [(Cause.CONFLICT, 0.1), (Cause.MISSING, 0.1), (Cause.BROKEN, None)])
async def test_a_plan_that_cannot_be_written_is_made_later(passes: Passes, cause: Cause, again: float | None) -> None:
    element = passes.store.elements.all["default", "pe-0"]
    passes.store.jobs.put(replace(passes.store.jobs.all[JOB], phase=JobPhase.RUNNING))
    assert passes.plans.of(element) is None
    passes.line.failures.append(ApiError(cause, "no"))
    if again is None:
        with pytest.raises(ApiError):
            await passes.plans.plan(JOB)
    else:
        assert await passes.plans.plan(JOB) == again
    assert passes.plans.of(element) is None
    assert await passes.plans.plan(JOB) is None
    planned = passes.plans.of(element)
    assert planned is not None
    assert planned.node == "node-a"


async def test_a_job_that_is_gone_or_that_nothing_waits_of_is_not_planned(passes: Passes) -> None:
    assert await passes.plans.plan(("default", "other")) is None
    passes.kube.change(PE, {"status": {"phase": "Stopped", "ended": {"launchCount": 1}}})
    passes.watch()
    assert await passes.plans.plan(JOB) is None
    assert passes.line.writes == []


async def test_an_element_that_is_yet_to_be_made_is_planned_with_the_others(passes: Passes) -> None:
    element = passes.store.elements.all["default", "pe-0"]
    passes.store.jobs.put(replace(passes.store.jobs.all[JOB], phase=JobPhase.RUNNING))
    assert passes.plans.of(element) is None
    passes.store.elements.drop(element.key)
    assert await passes.plans.plan(JOB) is None
    assert passes.store.jobs.all[JOB].planned().by_element() == {"pe-0": "node-a"}


async def test_a_pod_of_an_element_that_is_gone_is_not_planned(passes: Passes) -> None:
    passes.plans.begin()
    pod = passes.pod(1, phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "message": "no"}])
    passes.store.elements.drop(("default", "pe-0"))
    passes.put_pod(pod)
    assert (passes.plans.queue.depth, passes.plans.queue.scheduled) == (0, 0)


async def test_a_pod_that_waits_when_a_controller_begins_to_lead_is_looked_at(cluster: JobCluster) -> None:
    ColocationScheduler(cluster, {"node-0": 4, "node-1": 1, "node-2": 4})
    cluster.binds = lambda _: ""
    clauses = [{"name": "A", "placement": 'hostColocation("a")'}, {"name": "B", "placement": 'hostColocation("a")'}]
    cluster.job(processingElements=[{"operators": [clause]} for clause in clauses])
    await cluster.lead()
    (first,) = {found["name"] for found in cluster.status()["plan"]["nodes"]}
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
    for name in cluster.pods:
        cluster.kube.change(pod_path(name), {"status": {"conditions": [said]}})
    await cluster.lead(1)
    cluster.kube.delete(node_path(first))
    await cluster.wait(12)
    assert cluster.pods == ["parallel-0-2", "parallel-1-2"]


async def test_a_tight_job_does_not_corner_itself_when_all_of_it_restarts(cluster: JobCluster) -> None:
    """The scheduler likes node-1, which only the larger element needs."""
    ColocationScheduler(cluster, {"node-0": 1, "node-1": 4, "node-2": 0})
    elements = []
    for name, count in {"small": 1, "large": 4}.items():
        container = {"name": "main", "image": "i", "resources": {"limits": {DEVICE: count}}}
        elements.append({"name": name, "template": {"spec": {"containers": [container]}}})
    cluster.job(processingElement={"restartDeletedPod": True}, processingElements=elements)
    await cluster.lead()
    for _ in range(3):
        nodes = {name.rpartition("-")[0]: cluster.pod(name)["spec"]["nodeName"] for name in cluster.pods}
        assert nodes == {"small": "node-0", "large": "node-1"}
        for name in list(cluster.pods):
            cluster.delete(pod_path(name))
        await cluster.wait(5)


async def test_in_audit_mode_a_plan_is_a_preference_and_nothing_is_held_back(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(audit=True))
    options = {"restartDeletedPod": True}
    elements = [{"operators": [{"name": f"Op{at}", "placement": 'hostColocation("a")'}]} for at in range(2)]
    cluster.job(processingElement=options, processingElements=elements)
    await cluster.lead()
    for launch in (1, 2):
        affinity = cluster.pod(f"parallel-0-{launch}")["spec"]["affinity"]["nodeAffinity"]
        assert [*affinity] == ["preferredDuringSchedulingIgnoredDuringExecution"]
        cluster.delete(pod_path(f"parallel-0-{launch}"))
        await cluster.wait(5)
    assert cluster.pods == ["parallel-0-3", "parallel-1-1"]


async def test_a_template_that_cannot_be_read_is_not_changed(cluster: JobCluster) -> None:
    cluster.job(processingElements=[{}])
    await cluster.lead()
    cluster.kube.change(element_path("parallel-0"), {"spec": {"template": {"spec": {"volumes": 7}}, "launchCount": 2}})
    await cluster.wait(5)
    assert cluster.pod("parallel-0-2")["spec"]["volumes"] == 7
