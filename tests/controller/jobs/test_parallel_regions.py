"""Parallel regions of a Job: their objects, and what a change of a width replaces."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import JOBS, PODS, REGIONS, job_path, node_path, pod_path, region_path
from tests.controller.jobs.job_cluster import JobCluster
from tests.suite.example_count import EVERY_DAY
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.controller.jobstore.records import StoredJob, StoredRegion
from webhook.controller.parallelregions.region_plan import region_status
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.jobs.job_fusion import JobFusion, RegionWidth
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec, region_object_name

Json = dict[str, Any]

MODEL: Json = {
    "fusion": {"type": "channelIsolation"},
    "operators": [
        {"name": "Src"},
        {"name": "Work", "region": "work", "cost": "1"},
        {"name": "Sink"},
        {"name": "Log"},
    ],
    "streams": [{"from": "Src", "to": "Work"}, {"from": "Work", "to": "Sink"}, {"from": "Sink", "to": "Log"}],
    "parallelRegions": [{"name": "work", "width": 2, "maxWidth": 16}],
}


COSTLY: Json = {
    **MODEL,
    "operators": [{"name": "Src"}, {"name": "Work", "region": "work", "cost": "6"}],
    "streams": [{"from": "Src", "to": "Work"}],
}
"""Beside the channels that run the three nodes have room for three."""

PATIENT = 3600.0
"""Seconds for a search: what a test sees does not depend on how busy the machine is."""


@pytest.fixture
async def cluster() -> AsyncIterator[JobCluster]:
    """Three nodes; nobody leads yet."""
    cluster = JobCluster()
    cluster.rules = ReconcilerSettings(Policy(), solving=lambda: AtOnce(PATIENT))
    yield cluster
    await cluster.end()


def region(cluster: JobCluster, name: str = "parallel-work") -> Json:
    return cluster.kube.objects[region_path(name)]


def scale(cluster: JobCluster, width: int, name: str = "parallel-work") -> None:
    """As kubectl scale does."""
    cluster.kube.change(region_path(name), {"spec": {"width": width}})


def uids(cluster: JobCluster) -> dict[str, str]:
    """The uid of the pod of each element."""
    return {
        found["metadata"]["labels"]["streams.ibm.com/pe"]: found["metadata"]["uid"] for found in cluster.kube.all(PODS)
    }


def operators(cluster: JobCluster) -> dict[str, list[str]]:
    return {one["name"]: one["operators"] for one in cluster.status()["fusion"]["processingElements"]}


def scaled(cluster: JobCluster, name: str = "parallel-work") -> tuple[str, str, str]:
    return cluster.condition(region(cluster, name), "Scaled")


async def test_each_region_has_an_object_of_its_own(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    found = region(cluster)
    assert found["spec"] == {"job": "parallel", "region": "work", "width": 2, "maxWidth": 16, "jobWidth": 2}
    assert found["metadata"]["labels"] == {"streams.ibm.com/job": "parallel"}
    assert found["metadata"]["ownerReferences"] == cluster.element()["metadata"]["ownerReferences"]
    assert found["status"]["width"] == 2
    assert found["status"]["selector"] == "streams.ibm.com/job=parallel,streams.ibm.com/pe in (parallel-1,parallel-2)"
    assert scaled(cluster) == ("True", "Scaled", "2 channels in 2 processing elements")
    assert cluster.status()["fusion"]["regions"] == [{"name": "work", "width": 2, "stated": 2}]


async def test_what_does_not_change_keeps_its_pods(cluster: JobCluster) -> None:
    """More channels, and fewer: the element with streams to them is replaced, and no other one."""
    cluster.job(**MODEL)
    await cluster.lead()
    before, had = uids(cluster), operators(cluster)
    scale(cluster, 4)
    await cluster.wait(5)
    after = uids(cluster)
    assert operators(cluster) == {**had, "parallel-3": ["Work[2]"], "parallel-4": ["Work[3]"]}
    assert {name for name, uid in before.items() if after[name] == uid} == {"parallel-1", "parallel-2"}
    assert cluster.element("parallel-0")["spec"]["launchCount"] == 2
    assert (cluster.status()["phase"], cluster.status()["running"]) == ("Running", 5)
    assert ("Scaled", "fused again for these parallel regions: work 4 channels") in cluster.said
    scale(cluster, 1)
    await cluster.wait(5)
    last = uids(cluster)
    assert operators(cluster) == {"parallel-0": had["parallel-0"], "parallel-1": ["Work[0]"]}
    assert last["parallel-1"] == before["parallel-1"]
    assert scaled(cluster)[2] == "1 channel in 1 processing element"


async def test_without_isolated_channels_operators_may_be_fused_again(cluster: JobCluster) -> None:
    cluster.job(**{**MODEL, "fusion": {"manual": 2}})
    await cluster.lead()
    scale(cluster, 4)
    await cluster.wait(5)
    assert {one for members in operators(cluster).values() for one in members if "[" in one} == {
        f"Work[{at}]" for at in range(4)
    }
    assert cluster.status()["fusion"]["made"] == 2
    assert cluster.status()["phase"] == "Running"


async def test_an_operator_that_must_join_a_kept_element_does(cluster: JobCluster) -> None:
    """A partition colocation across channels is stronger than the type."""
    tied = [{"name": "Src"}, {"name": "Work", "region": "work", "placement": 'partitionColocation("t")'}]
    cluster.job(**{**MODEL, "operators": tied, "streams": [{"from": "Src", "to": "Work"}]})
    await cluster.lead()
    scale(cluster, 3)
    await cluster.wait(5)
    assert operators(cluster) == {"parallel-0": ["Src"], "parallel-1": ["Work[0]", "Work[1]", "Work[2]"]}


async def test_a_width_that_does_not_fit_changes_nothing_and_is_tried_again(cluster: JobCluster) -> None:
    """Nobody reviewed it, or something has taken the room meanwhile."""
    cluster.job(**COSTLY)
    await cluster.lead()
    before, status = uids(cluster), cluster.status()
    cluster.candidate.line.writes.clear()
    scale(cluster, 6)
    await cluster.wait(5)
    assert (uids(cluster), cluster.status()) == (before, status)
    assert region(cluster)["status"]["width"] == 2
    held, reason, message = scaled(cluster)
    assert (held, reason) == ("False", "Unsatisfiable")
    assert message.startswith("still 2 channels in 2 processing elements: ")
    assert "no fusion of 7 operators fits on the cluster" in message
    cluster.kube.change(job_path("parallel"), {"metadata": {"labels": {"looked": "at"}}})
    cluster.delete(pod_path("parallel-1-1"))
    await cluster.wait(5)
    assert scaled(cluster) == (held, reason, message)
    await cluster.lead()
    assert scaled(cluster)[:2] == (held, reason)
    for name in ("node-0", "node-1", "node-2"):
        cluster.kube.change(node_path(name), {"status": {"allocatable": {"cpu": "64"}}})
    await cluster.wait(40)
    assert scaled(cluster) == ("True", "Scaled", "6 channels in 6 processing elements")


async def test_a_width_that_does_not_fit_may_be_taken_back(cluster: JobCluster) -> None:
    cluster.job(**COSTLY)
    await cluster.lead()
    scale(cluster, 6)
    await cluster.wait(5)
    scale(cluster, 2)
    await cluster.wait(5)
    assert scaled(cluster) == ("True", "Scaled", "2 channels in 2 processing elements")


async def test_fewer_channels_are_made_also_where_nothing_fits_any_more(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    for name in ("node-0", "node-1", "node-2"):
        cluster.kube.change(node_path(name), {"spec": {"taints": [{"key": "full", "effect": "NoSchedule"}]}})
    scale(cluster, 1)
    await cluster.wait(5)
    assert region(cluster)["status"]["width"] == 1
    assert cluster.condition(cluster.found(), "Satisfiable")[0] == "False"


@pytest.mark.untraced
async def test_in_audit_mode_a_width_is_made_whether_or_not_it_fits(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(audit=True), solving=lambda: AtOnce(PATIENT))
    cluster.job(**COSTLY)
    await cluster.lead()
    scale(cluster, 6)
    await cluster.wait(5)
    assert region(cluster)["status"]["width"] == 6


async def test_where_the_webhook_changes_no_pod_widths_are_made_all_the_same(cluster: JobCluster) -> None:
    cluster.rules = ReconcilerSettings(Policy(excluded=frozenset({"default"})), solving=lambda: AtOnce(PATIENT))
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 3)
    await cluster.wait(5)
    assert region(cluster)["status"]["width"] == 3
    assert cluster.status()["phase"] == "Running"


async def test_a_width_that_breaks_limits_changes_nothing(cluster: JobCluster) -> None:
    many = [{"name": f"Op{at}", "region": "work"} for at in range(9)]
    region_of_job = {"name": "work", "width": 1}
    cluster.job(operators=many, streams=[], parallelRegions=[region_of_job])
    await cluster.lead()
    scale(cluster, 600)
    await cluster.wait(5)
    assert scaled(cluster)[1:] == (
        "Unsatisfiable",
        (
            "still 1 channel in 2 processing elements: spec.operators: 5400 of them in all channels, "
            "at most 5000 are allowed"
        ),
    )


async def test_the_job_is_applied_again_and_keeps_the_width(cluster: JobCluster) -> None:
    """Whoever applies it has not changed the width; once it states another one, that counts."""
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 4)
    await cluster.wait(5)
    cluster.change(operators=[*MODEL["operators"], {"name": "More"}])
    await cluster.wait(5)
    assert (region(cluster)["status"]["width"], region(cluster)["spec"]["width"]) == (4, 4)
    cluster.change(parallelRegions=[{"name": "work", "width": 3, "maxWidth": 8}])
    await cluster.wait(5)
    assert region(cluster)["spec"] == {
        "job": "parallel", "region": "work", "width": 3, "maxWidth": 8, "jobWidth": 3,
    }  # fmt: skip
    assert region(cluster)["status"]["width"] == 3


async def test_a_width_that_the_job_still_allows_is_kept_to_its_bound(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 6)
    await cluster.wait(5)
    cluster.change(parallelRegions=[{"name": "work", "width": 2, "maxWidth": 5}])
    await cluster.wait(5)
    assert (region(cluster)["spec"]["width"], region(cluster)["status"]["width"]) == (5, 5)


@pytest.mark.untraced
async def test_fields_that_are_the_controllers_are_put_right(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 3)
    await cluster.wait(5)
    cluster.kube.change(region_path("parallel-work"), {"spec": {"maxWidth": 99, "width": 20}})
    await cluster.wait(5)
    assert region(cluster)["spec"]["maxWidth"] == 16
    assert region(cluster)["spec"]["width"] == region(cluster)["status"]["width"] == 16
    cluster.kube.change(region_path("parallel-work"), {"spec": {"jobWidth": 7}})
    await cluster.wait(5)
    assert region(cluster)["spec"] == {
        "job": "parallel", "region": "work", "width": 16, "maxWidth": 16, "jobWidth": 2,
    }  # fmt: skip
    cluster.kube.change(region_path("parallel-work"), {"spec": {"width": "many"}})
    await cluster.wait(5)
    assert region(cluster)["spec"]["width"] == 16


async def test_a_region_that_is_deleted_comes_back_and_nothing_else_changes(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 4)
    await cluster.wait(5)
    before = uids(cluster)
    cluster.delete(region_path("parallel-work"))
    await cluster.wait(5)
    assert region(cluster)["spec"]["width"] == region(cluster)["status"]["width"] == 4
    assert uids(cluster) == before


async def test_a_region_of_another_owner_does_nothing(cluster: JobCluster) -> None:
    """It has the name of the Job's own, which is made once it is gone."""
    spec = {"job": "parallel", "region": "work", "width": 9}
    cluster.kube.create(region_path("parallel-work"), spec=spec)
    cluster.kube.create(region_path("other"), spec=7)
    cluster.job(**MODEL)
    await cluster.lead()
    assert region(cluster)["spec"] == spec
    assert "status" not in region(cluster)
    assert cluster.status()["fusion"]["regions"][0]["width"] == 2
    cluster.delete(region_path("parallel-work"))
    await cluster.wait(5)
    assert region(cluster)["status"]["width"] == 2


async def test_one_that_a_forger_lets_the_job_own_goes(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    owners = region(cluster)["metadata"]["ownerReferences"]
    spec = {"job": "parallel", "region": "work", "width": 9, "jobWidth": 2}
    cluster.kube.create(region_path("forged"), metadata={"ownerReferences": owners}, spec=spec)
    await cluster.wait(5)
    assert cluster.names(REGIONS) == ["parallel-work"]
    assert region(cluster)["status"]["width"] == 2


async def test_regions_go_with_what_they_belong_to(cluster: JobCluster) -> None:
    nested = [{"name": "work", "width": 2}, {"name": "Inner_1", "width": 2, "within": "work"}]
    cluster.job(**{**MODEL, "operators": [*MODEL["operators"], {"name": "In", "region": "Inner_1"}],
                   "parallelRegions": nested})  # fmt: skip
    await cluster.lead()
    inner = region_object_name("parallel", "Inner_1")
    assert cluster.names(REGIONS) == sorted([inner, "parallel-work"])
    assert inner.startswith("parallel-inner-1-")
    assert region(cluster)["status"]["conditions"][0]["message"].startswith("2 channels in ")
    cluster.change(operators=MODEL["operators"], parallelRegions=[{"name": "work", "width": 2}])
    await cluster.wait(5)
    assert cluster.names(REGIONS) == ["parallel-work"]
    cluster.delete(job_path("parallel"))
    await cluster.wait(5)
    assert cluster.owned == []
    assert cluster.names(REGIONS) == []


async def test_a_submission_that_fails_leaves_none(cluster: JobCluster) -> None:
    cluster.runs = lambda _: False
    cluster.job(**MODEL, submissionTimeOutInSeconds=3)
    await cluster.lead(1)
    assert cluster.names(REGIONS) == ["parallel-work"]
    await cluster.wait(10)
    assert cluster.status()["phase"] == "Failed"
    assert cluster.names(REGIONS) == []


async def test_a_width_is_not_made_of_an_old_state_of_the_job(cluster: JobCluster) -> None:
    """The watch of Jobs is late: the Job is read again, and then fused."""
    cluster.delays[JOBS] = 2.0
    cluster.job(**MODEL)
    await cluster.lead(20)
    cluster.kube.change(job_path("parallel"), {"metadata": {"labels": {"new": "label"}}})
    scale(cluster, 3)
    await cluster.wait(20)
    assert (region(cluster)["status"]["width"], cluster.status()["phase"]) == (3, "Running")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"parallelRegions": [{"name": "work", "width": 9, "maxWidth": 2}]}, id="it breaks a rule"),
        pytest.param({"operators": [{"name": name, "placement": f'partitionColocation("t"), host("node-{at}")',
                                     "region": "work"} for at, name in enumerate("AB")], "streams": []},
                     id="no fusion is possible"),
    ],
)  # fmt: skip
async def test_a_job_of_which_nothing_is_made_has_none(cluster: JobCluster, wrong: Json) -> None:
    cluster.job(**{**MODEL, **wrong})
    await cluster.lead()
    assert cluster.status()["phase"] == "Failed"
    assert cluster.names(REGIONS) == []


def test_until_it_is_fused_a_region_says_what_there_is() -> None:
    stated = msgspec.convert({"operators": [], "parallelRegions": [{"name": "work", "width": 2}]}, JobSpec)
    spec = ParallelRegionSpec("parallel", "work", 5)
    found = StoredRegion(namespace="default", name="parallel-work", uid="r", stated=spec)
    job = StoredJob(namespace="default", name="parallel", uid="j")
    patch = region_status(found, job, stated, JobFusion(regions=(RegionWidth("work", 2, 2),)), "", "now")
    assert patch is not None
    # A selector with an empty set cannot be parsed, and this one selects nothing.
    assert patch["status"]["selector"] == "streams.ibm.com/job=parallel,!streams.ibm.com/job"
    [condition] = patch["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == (
        "Scaling", "2 channels in 0 processing elements, being changed to 5 channels",
    )  # fmt: skip


async def test_a_job_that_cannot_be_read_keeps_them(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    cluster.change(operators=7)
    await cluster.wait(5)
    assert cluster.names(REGIONS) == ["parallel-work"]


async def test_a_job_that_an_older_controller_has_fused_has_the_widths_that_it_states(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    before = uids(cluster)
    cluster.kube.change(job_path("parallel"), {"status": {"fusion": {"regions": None}}})
    cluster.delete(region_path("parallel-work"))
    await cluster.lead()
    assert uids(cluster) == before
    scale(cluster, 3)
    await cluster.wait(5)
    assert cluster.status()["fusion"]["regions"] == [{"name": "work", "width": 3, "stated": 2}]


@pytest.mark.parametrize("cause", [Cause.MISSING, Cause.EXISTS, Cause.CONFLICT, Cause.FORBIDDEN])
async def test_whatever_a_request_fails_with_it_is_tried_again(cluster: JobCluster, cause: Cause) -> None:
    failures = [ApiError(cause, "no")]

    def fail(path: str) -> None:
        if path.endswith("/streamsparallelregions") and failures:
            raise failures.pop()

    await cluster.lead(0)
    cluster.candidate.line.before = fail
    cluster.job(**MODEL)
    await cluster.wait(5)
    assert cluster.status()["phase"] == "Running"
    await cluster.wait(70)
    if cause is Cause.EXISTS:  # the watch would bring it
        cluster.kube.change(job_path("parallel"), {"spec": {"submissionTimeOutInSeconds": 77}})
        await cluster.wait(5)
    assert region(cluster)["status"]["width"] == 2


@pytest.mark.parametrize(("cause", "left"), [(Cause.MISSING, 1), (Cause.CONFLICT, 1), (Cause.FORBIDDEN, 0)])
async def test_a_region_that_cannot_be_deleted_is_tried_again(cluster: JobCluster, cause: Cause, left: int) -> None:
    """One that is gone, or was replaced, is looked at when the watch tells of it."""
    failures = [ApiError(cause, "no")]
    cluster.job(**MODEL)
    await cluster.lead()

    def fail(path: str) -> None:
        if path.endswith("/parallel-work") and failures:
            raise failures.pop()

    cluster.candidate.line.before = fail
    cluster.change(operators=[{"name": "Src"}], streams=[], parallelRegions=[])
    await cluster.wait(20)
    assert len(cluster.names(REGIONS)) == left


async def test_a_new_job_of_the_name_has_regions_of_its_own(cluster: JobCluster) -> None:
    cluster.job(**MODEL)
    await cluster.lead()
    scale(cluster, 4)
    await cluster.wait(5)
    cluster.delete(job_path("parallel"))
    cluster.job(**MODEL)
    await cluster.wait(20)
    assert cluster.status()["fusion"]["regions"][0]["width"] == 2
    assert region(cluster)["spec"]["width"] == region(cluster)["status"]["width"] == 2


@pytest.mark.untraced
@pytest.mark.parametrize("obeyed", [True, False], ids=["after a request", "before a request"])
async def test_the_controller_may_die_between_any_two_steps(*, obeyed: bool) -> None:
    """4 -> 8 -> 2: whenever it dies, its successor ends up with the same, and isolated channels keep their pods."""
    deaths, every = 0, 30 if EVERY_DAY else 1
    for at in range(1, 200, every):
        cluster = JobCluster()
        try:
            cluster.job(**{**MODEL, "parallelRegions": [{"name": "work", "width": 4, "maxWidth": 16}]})
            await cluster.lead()
            before = uids(cluster)
            line = cluster.candidate.line
            line.ends, line.obeyed_at_the_end = line.requests + at, obeyed
            scale(cluster, 8)
            await cluster.wait(3)
            await cluster.lead() if line.dead.is_set() else None
            assert scaled(cluster) == ("True", "Scaled", "8 channels in 8 processing elements")
            now = uids(cluster)
            assert [name for name in before if now.get(name) != before[name]] in ([], ["parallel-0"])
            scale(cluster, 2)
            await cluster.wait(3)
            await cluster.lead() if line.dead.is_set() else None
            last = uids(cluster)
            assert sorted(last) == ["parallel-0", "parallel-1", "parallel-2"]
            assert [last[name] for name in ("parallel-1", "parallel-2")] == [
                before[name] for name in ("parallel-1", "parallel-2")
            ]
            assert (region(cluster)["status"]["width"], cluster.status()["phase"]) == (2, "Running")
            deaths += line.dead.is_set()
            if not line.dead.is_set():
                break
        finally:
            await cluster.end()
    assert deaths > 20 // every
