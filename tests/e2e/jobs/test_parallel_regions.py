"""Parallel regions in a real cluster: kubectl and an autoscaler change their widths, and what runs keeps its pods."""

import json
from typing import Any, Final

import pytest

from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import JOBS, TEMPLATE, Jobs
from tests.e2e.jobs.test_colocated_restarts import kill_the_leader
from tests.e2e.polling import until

REGIONS: Final = "streamsparallelregions"
NAME: Final = "scaled-work"
MINUTE: Final = 90
"""Seconds for an autoscaler."""

OPERATORS: Final = [
    {"name": "Src", "cost": "100m"},
    {"name": "Work", "region": "work", "cost": "100m"},
    {"name": "Sink", "cost": "100m"},
    {"name": "Log", "placement": "partitionIsolation", "cost": "100m"},
]
STREAMS: Final = [{"from": "Src", "to": "Work"}, {"from": "Work", "to": "Sink"}, {"from": "Sink", "to": "Log"}]


def submit(jobs: Jobs, width: int = 4, most: int | None = 16, cost: str = "100m", **fusion: Any) -> None:
    """A Job with one parallel region, once it runs."""
    operators = [{"template": TEMPLATE, **one, **({"cost": cost} if "region" in one else {})} for one in OPERATORS]
    region = {"name": "work", "width": width, **({"maxWidth": most} if most else {})}
    spec = {"operators": operators, "streams": STREAMS, "parallelRegions": [region], "fusion": fusion}
    metadata = {"name": "scaled", "namespace": jobs.space}
    job = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    jobs.api.call("POST", jobs.path(JOBS), job)
    runs(jobs, width)


def apply_spec(jobs: Jobs, job: Object) -> None:
    """The spec is that of this object, whatever the controller has written to the status meanwhile."""
    jobs.api.patch(jobs.path(JOBS, "scaled"), {"spec": job["spec"]}, content="application/merge-patch+json")


def kubectl_scale(plane: ControlPlane, jobs: Jobs, width: int, user: str = "admin") -> tuple[int, str]:
    """What ``kubectl scale`` ends with, and what it says."""
    arguments = ("scale", "stpr", NAME, f"--replicas={width}", "--namespace", jobs.space)
    done = plane.kubectl(*arguments, user=user)
    return done.returncode, done.stdout + done.stderr


def region(jobs: Jobs) -> Object:
    found: Object = jobs.api.find(jobs.path(REGIONS, NAME)) or {}
    return found


def pods(jobs: Jobs) -> dict[str, str]:
    """The uid of the pod of each element."""
    return {one["metadata"]["labels"]["streams.ibm.com/pe"]: one["metadata"]["uid"] for one in jobs.pods()}


def channels(jobs: Jobs) -> dict[str, str]:
    """The element of each operator."""
    fusion = jobs.job("scaled")["status"]["fusion"]["processingElements"]
    return {operator: one["name"] for one in fusion for operator in one["operators"]}


def runs(jobs: Jobs, width: int, seconds: float = 40) -> dict[str, str]:
    """The pods, once the Job runs with that width and nothing else is left."""
    last: dict[str, Any] = {}

    def found() -> bool:
        job, one = jobs.job("scaled"), region(jobs)
        last.update(job=job.get("status"), region=one)
        fusion = job.get("status", {}).get("fusion", {})
        made = [entry["width"] for entry in fusion.get("regions", ())] == [width]
        settled = one.get("status", {}).get("width") == width and job["status"]["phase"] == "Running"
        return made and settled and job["status"]["running"] == fusion["made"] == len(jobs.pods())

    try:
        until(found, f"the Job runs with width {width}", seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}: {json.dumps(last)}") from None
    return pods(jobs)


def test_kubectl_scales_and_what_does_not_change_keeps_its_pods(plane: ControlPlane, jobs: Jobs) -> None:
    """4 -> 8 -> 2, with isolated channels: only elements with streams to the new channels are replaced."""
    submit(jobs, type="channelIsolation")
    before, of = pods(jobs), channels(jobs)
    assert kubectl_scale(plane, jobs, 8) == (0, f"parallelregion.streams.ibm.com/{NAME} scaled\n")
    after = runs(jobs, 8)
    untouched = {of[f"Work[{at}]"] for at in range(4)} | {of["Log"]}
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert channels(jobs) | of == channels(jobs)
    assert kubectl_scale(plane, jobs, 2)[0] == 0
    last = runs(jobs, 2)
    kept = {of["Work[0]"], of["Work[1]"], of["Log"]}
    assert {name: last[name] for name in kept} == {name: before[name] for name in kept}
    found = region(jobs)
    assert found["status"]["selector"] == (
        f"streams.ibm.com/job=scaled,streams.ibm.com/pe in ({of['Work[0]']},{of['Work[1]']})"
    )
    [condition] = found["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["message"]) == (
        "Scaled", "True", "2 channels in 2 processing elements",
    )  # fmt: skip


def test_controllers_that_are_killed_on_the_way_end_up_with_the_same(plane: ControlPlane, jobs: Jobs) -> None:
    """4 -> 8 -> 2: as soon as the width is asked for, and again when the first pods have come or gone."""
    submit(jobs, type="channelIsolation")
    before, of = pods(jobs), channels(jobs)
    untouched = {of["Work[0]"], of["Work[1]"], of["Log"]}
    for width in (8, 2):
        there = len(jobs.pods())
        assert kubectl_scale(plane, jobs, width)[0] == 0
        kill_the_leader(jobs)
        until(lambda there=there: len(jobs.pods()) != there, "the first pods come or go", 120)  # type: ignore[misc]
        kill_the_leader(jobs)
        after = runs(jobs, width, 120)
        assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
        assert {name for name in channels(jobs) if name.startswith("Work")} == {f"Work[{at}]" for at in range(width)}


def test_an_autoscaler_scales_and_what_does_not_change_keeps_its_pods(jobs: Jobs) -> None:
    """4 -> 8 -> 2, as by kubectl; ``test_a_job_that_is_applied_again...`` scales one of another type."""
    submit(jobs, type="channelIsolation")
    before, of = pods(jobs), channels(jobs)
    target = {"apiVersion": "streams.ibm.com/v1", "kind": "ParallelRegion", "name": NAME}
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    metadata = {"name": "work", "namespace": jobs.space}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": {"scaleTargetRef": target, "minReplicas": 8, "maxReplicas": 8, "metrics": [metric]},
    }
    path = f"/apis/autoscaling/v2/namespaces/{jobs.space}/horizontalpodautoscalers"
    jobs.api.call("POST", path, autoscaler)
    after = runs(jobs, 8, MINUTE)
    untouched = {of[f"Work[{at}]"] for at in range(4)} | {of["Log"]}
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    bounds = {"spec": {"minReplicas": 2, "maxReplicas": 2}}
    jobs.api.patch(f"{path}/work", bounds, content="application/merge-patch+json")
    last = runs(jobs, 2, MINUTE)
    kept = {of["Work[0]"], of["Work[1]"], of["Log"]}
    assert {name: last[name] for name in kept} == {name: before[name] for name in kept}
    jobs.api.delete(f"{path}/work")


def test_a_width_that_does_not_fit_is_refused_and_nothing_changes(plane: ControlPlane, jobs: Jobs) -> None:
    """Each channel takes more than half a node, so there are as many as nodes with room."""
    free = int(jobs.api.get("/api/v1/nodes/node-0")["status"]["allocatable"]["cpu"]) * 1000
    submit(jobs, 3, cost=f"{free * 6 // 10}m", type="channelIsolation")
    before, job, found = pods(jobs), jobs.job("scaled"), region(jobs)
    code, said = kubectl_scale(plane, jobs, 12)
    assert code == 1
    assert "12 channels of parallel region work do not fit beside the running pods: at most 6 fit now." in said
    assert "Nearest fix: scale to 6" in said
    assert (pods(jobs), jobs.job("scaled"), region(jobs)) == (before, job, found)
    assert kubectl_scale(plane, jobs, 6)[0] == 0
    assert (
        before.items()
        >= {name: uid for name, uid in runs(jobs, 6).items() if name in before and uid == before[name]}.items()
    )


def test_the_width_keeps_to_the_bounds_of_the_job(plane: ControlPlane, jobs: Jobs) -> None:
    submit(jobs, 2, 3)
    code, said = kubectl_scale(plane, jobs, 4)
    assert code == 1
    assert "is more than maxWidth, which the Job states" in said
    code, said = kubectl_scale(plane, jobs, 0)
    assert code == 1
    assert "should be greater than or equal to 1" in said
    runs(jobs, 2)


def test_a_job_that_is_applied_again_keeps_the_width_until_it_states_another(plane: ControlPlane, jobs: Jobs) -> None:
    submit(jobs, 2)
    kubectl_scale(plane, jobs, 4)
    runs(jobs, 4)
    job = jobs.job("scaled")
    job["spec"]["operators"].append({"name": "More", "template": TEMPLATE})
    apply_spec(jobs, job)
    until(lambda: "More" in channels(jobs), "the Job is fused again")
    runs(jobs, 4)
    job = jobs.job("scaled")
    job["spec"]["parallelRegions"][0]["width"] = 3
    apply_spec(jobs, job)
    runs(jobs, 3)
    until(lambda: region(jobs)["spec"]["width"] == 3, "the region follows")


def test_only_the_controller_makes_one(plane: ControlPlane, jobs: Jobs) -> None:
    made = {
        "apiVersion": "streams.ibm.com/v1",
        "kind": "ParallelRegion",
        "metadata": {"name": "own", "namespace": jobs.space},
        "spec": {"job": "scaled", "region": "work", "width": 1},
    }
    done = plane.kubectl("create", "--filename", "-", stdin=json.dumps(made))
    assert "the controller makes a ParallelRegion for each of spec.parallelRegions of a Job" in done.stderr


def test_it_goes_with_its_job_and_is_made_again_without(jobs: Jobs) -> None:
    submit(jobs, 2)
    uid = region(jobs)["metadata"]["uid"]
    jobs.api.delete(jobs.path(REGIONS, NAME))
    until(lambda: region(jobs) and region(jobs)["metadata"]["uid"] != uid, "it is made again")
    runs(jobs, 2)
    jobs.api.delete(jobs.path(JOBS, "scaled"))
    jobs.gone(JOBS, REGIONS)


@pytest.mark.parametrize(("role", "may"), [("view", False), ("edit", True)])
def test_whoever_may_edit_may_scale(plane: ControlPlane, jobs: Jobs, role: str, *, may: bool) -> None:
    submit(jobs, 2)
    group = "rbac.authorization.k8s.io"
    jobs.api.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": role, "namespace": jobs.space},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": plane.identities["user"].user}],
        }
    )

    def scaled() -> bool:
        return kubectl_scale(plane, jobs, 3, user="user")[0] == 0

    if may:
        until(scaled, "the role is there", 20)
        runs(jobs, 3)
    else:
        assert not scaled()
