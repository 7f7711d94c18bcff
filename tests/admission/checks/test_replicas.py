"""How many pods a workload wants at the same time."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.builders import Json
from tests.workload_templates import workload
from webhook.admission.checks.replicas import grown, replicas_of
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.text import keys

HUGE = 2**31 - 1


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"replicas": 3}, 3, id="a number"),
        pytest.param({}, 1, id="nothing"),
        pytest.param({"replicas": 0}, 0, id="none"),
        pytest.param({"replicas": -1}, 0, id="fewer than none"),
        pytest.param({"replicas": "3"}, 1, id="a text"),
        pytest.param({"replicas": None}, 1, id="null"),
        pytest.param({"replicas": 2**70}, HUGE, id="more than there can be"),
    ],
)
def test_replicas_are_wanted_all_at_a_time(kind: str, said: Json, expected: int) -> None:
    assert replicas_of(workload(kind, spec=said)) == Replicas(expected, f"replicas {expected}")


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
@pytest.mark.parametrize(
    ("said", "count", "words"),
    [
        pytest.param({"parallelism": 3}, 3, "parallelism 3", id="a number"),
        pytest.param({}, 1, "parallelism 1", id="nothing"),
        pytest.param({"parallelism": 0}, 0, "parallelism 0", id="none"),
        pytest.param({"parallelism": 3, "completions": 2}, 2, "parallelism 3", id="fewer are to be completed"),
        pytest.param({"parallelism": 3, "completions": 5}, 3, "parallelism 3", id="more are to be completed"),
        pytest.param({"parallelism": 3, "completions": None}, 3, "parallelism 3", id="any one completes it"),
        pytest.param({"parallelism": 3, "completions": -5}, 0, "parallelism 3", id="fewer than none"),
    ],
)
def test_a_job_wants_as_many_as_run_in_parallel(kind: str, said: Json, count: int, words: str) -> None:
    assert replicas_of(workload(kind, spec=said)) == Replicas(count, words, in_turn=True, field="parallelism")


ONE_AFTER_THE_OTHER: dict[str, tuple[Json, Json, bool]] = {
    "as it says nothing": ({}, {}, True),
    "as it says so": ({"completionMode": "NonIndexed"}, {}, True),
    "indexed": ({"completionMode": "Indexed"}, {}, False),
    "a group of Volcano's": ({}, {"annotations": {"scheduling.k8s.io/group-name": "g"}}, False),
    "a group of the coscheduling plugin's": ({}, {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}, False),
    "a group of its older version's": ({}, {"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}, False),
    "a group of its oldest version's": ({}, {"labels": {"pod-group.scheduling.sigs.k8s.io/name": "g"}}, False),
    "a group of Kueue's": ({}, {"labels": {"kueue.x-k8s.io/pod-group-name": "g"}}, False),
    "a group of Kubernetes' own": ({}, {"schedulingGroup": {"podGroupName": "g"}}, False),
    "another label of Kueue's": ({}, {"labels": {"kueue.x-k8s.io/queue-name": "q"}}, True),
}


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
@pytest.mark.parametrize(("spec", "tweaks", "expected"), ONE_AFTER_THE_OTHER.values(), ids=ONE_AFTER_THE_OTHER)
def test_pods_of_a_job_may_run_one_after_the_other(kind: str, spec: Json, tweaks: Json, *, expected: bool) -> None:
    assert replicas_of(workload(kind, count=3, spec=spec, **tweaks)).in_turn is expected


@pytest.mark.parametrize(
    ("count", "in_turn", "needed"),
    [(3, True, 1), (3, False, 3), (1, True, 1), (0, True, 0)],
    ids=["one of several", "all of several", "one of one", "none of none"],
)
def test_room_is_needed_for_one_or_for_all(count: int, needed: int, *, in_turn: bool) -> None:
    assert Replicas(count, in_turn=in_turn).needed == needed


def suspended(*, runs: bool = False, itself: bool = False) -> Json:
    """A CronJob whose runs, or which itself, is suspended."""
    found = workload("CronJob", count=2, spec={"suspend": runs})
    found["spec"]["suspend"] = itself
    return found


IDLE: dict[str, tuple[Json, bool]] = {
    "a Job": (workload("Job", count=2, spec={"suspend": True}), True),
    "a Job that is not": (workload("Job", count=2, spec={"suspend": False}), False),
    "a Job of which nobody knows": (workload("Job", count=2, spec={"suspend": "true"}), False),
    "a Job of MultiKueue": (workload("Job", count=2, spec={"managedBy": "kueue.x-k8s.io/multikueue"}), True),
    "a Job of Kubernetes": (workload("Job", count=2, spec={"managedBy": "kubernetes.io/job-controller"}), False),
    "a CronJob": (suspended(itself=True), True),
    "the runs of a CronJob": (suspended(runs=True), True),
    "a CronJob that is not": (suspended(), False),
    "a Deployment, which cannot be": (workload(count=2, spec={"suspend": True}), False),
    "a Deployment of no pods": (workload(count=0), True),
}


@pytest.mark.parametrize(("found", "idle"), IDLE.values(), ids=IDLE)
def test_no_pod_is_to_run_of_what_is_suspended(found: Json, *, idle: bool) -> None:
    assert replicas_of(found).idle is idle


def test_who_is_suspended_still_says_how_many_are_to_run() -> None:
    found = replicas_of(workload("Job", count=3, spec={"suspend": True, "completionMode": "Indexed"}))
    assert found == Replicas(3, "parallelism 3", suspended=True, field="parallelism")


def test_a_daemon_set_is_everywhere() -> None:
    assert replicas_of(workload("DaemonSet")) == Replicas(everywhere=True)


def test_whatever_else_has_pods_has_one() -> None:
    assert replicas_of({"kind": "PodTemplate"}) == Replicas()


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob"])
def test_who_is_changed_has_pods_that_leave(kind: str) -> None:
    found = workload(kind, count=2)
    assert (replicas_of(found).owner, replicas_of(found, found).owner) == ("", f"{kind}/w")


def rollout(
    count: int | None = 4, *, changed: Mapping[str, Any] = {"image": "b"}, kind: str = "Deployment", **strategy: Any
) -> Replicas:
    """What a workload wants whose template, or a number of pods, is changed."""
    spec = {"strategy": {"type": "RollingUpdate", "rollingUpdate": strategy}} if strategy else {}
    old = workload(kind, count=count, spec=spec)
    new = workload(kind, count=count, spec=spec)
    new["spec"]["template"]["spec"]["containers"][0] |= changed
    return replicas_of(new, old)


@pytest.mark.parametrize(
    ("count", "strategy", "spare"),
    [
        pytest.param(3, {}, True, id="a quarter of 3 is no pod to miss and one too many"),
        pytest.param(4, {}, False, id="a quarter of 4 is one to miss"),
        pytest.param(None, {}, True, id="one pod, of which none may be missing"),
        pytest.param(0, {}, False, id="no pod"),
        pytest.param(4, {"maxUnavailable": 0}, True, id="none may be missing"),
        pytest.param(4, {"maxUnavailable": "0%"}, True, id="no percent may be missing"),
        pytest.param(4, {"maxUnavailable": 1}, False, id="one may be missing"),
        pytest.param(3, {"maxUnavailable": "33%"}, True, id="a share is rounded down"),
        pytest.param(3, {"maxUnavailable": "34%"}, False, id="to one"),
        pytest.param(4, {"maxUnavailable": 0, "maxSurge": 2}, True, id="one too many is enough"),
        pytest.param(4, {"maxUnavailable": 0, "maxSurge": "1%"}, True, id="a share too many is rounded up"),
        pytest.param(4, {"maxUnavailable": 0, "maxSurge": 0}, False, id="of neither it is one that is missing"),
        pytest.param(4, {"maxUnavailable": "x", "maxSurge": 1}, True, id="what is no share is none"),
        pytest.param(4, {"maxUnavailable": 0, "maxSurge": "x"}, False, id="nor one too many"),
    ],
)
def test_a_rollout_needs_one_more_where_none_may_be_missing(count: int, strategy: Json, *, spare: bool) -> None:
    found = rollout(count, **strategy)
    wanted = 1 if count is None else count
    words = f"replicas {wanted} with one more in a rollout" if spare else f"replicas {wanted}"
    assert found == Replicas(wanted + spare, words, spare=spare, owner="Deployment/w")


def test_nothing_is_rolled_out_without_a_change_of_the_template() -> None:
    assert not rollout(3, changed={}).spare


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet"])
def test_only_deployments_start_a_pod_before_one_stops(kind: str) -> None:
    assert not rollout(3, kind=kind).spare


def test_nor_do_they_if_all_pods_stop_first() -> None:
    new, old = (workload(count=3, spec={"strategy": {"type": "Recreate"}}) for _ in range(2))
    new["spec"]["template"]["spec"]["hostNetwork"] = True
    assert not replicas_of(new, old).spare


CONTAINER = {"name": "c", "resources": {"requests": {"cpu": "1"}}}

OTHERS: dict[str, tuple[Json, bool]] = {
    "another placement": ({"placement": 'hostExlocation("b")'}, False),
    "another job": ({"job": "other"}, False),
    "another label of others": ({"labels": {"app": "x"}}, True),
    "another annotation of others": ({"annotations": {"app": "x"}}, True),
    "a preference": ({"annotations": {keys.PREFERRED: "host"}}, False),
    "another size": ({"requests": {"cpu": "1"}}, False),
    "another size at the start": ({"initContainers": [CONTAINER]}, False),
    "other nodes": ({"nodeSelector": {"disk": "ssd"}}, False),
    "another affinity": ({"affinity": {}}, False),
    "another toleration": ({"tolerations": [{"operator": "Exists"}]}, False),
    "another way to end": ({"terminationGracePeriodSeconds": 1}, True),
}


@pytest.mark.parametrize(("tweaks", "spare"), OTHERS.values(), ids=OTHERS)
def test_old_pods_take_room_only_where_they_ask_for_the_same_places(tweaks: Json, *, spare: bool) -> None:
    said = {"placement": 'hostExlocation("a")', "count": 3}
    assert replicas_of(workload(**said | tweaks), workload(**said)).spare is spare


def job(**spec: Any) -> Json:
    """A Job of two pods at a time, with this in its spec."""
    return workload("Job", spec={"parallelism": 2} | spec)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(workload(count=2), workload(count=3), True, id="more replicas"),
        pytest.param(workload(count=2), workload(), False, id="fewer, as it does not say"),
        pytest.param(workload(count=3), workload(count=2), False, id="fewer"),
        pytest.param(workload(), workload(count=2), True, id="more than one"),
        pytest.param(workload(count=2), workload(count=2), False, id="as many"),
        pytest.param(workload(), workload(placement="hostIsolation"), True, id="another template"),
        pytest.param(workload(), workload(spec={"paused": True}), False, id="another field"),
        pytest.param(workload("Job", count=1), workload("Job", count=2), True, id="more in parallel"),
        pytest.param(workload("CronJob", count=1), workload("CronJob", count=2), True, id="more in each run"),
        pytest.param(workload("CronJob"), workload("CronJob", "hostIsolation"), True, id="another template of runs"),
        pytest.param(workload("CronJob", count=2), workload("CronJob", count=2), False, id="the same runs"),
        pytest.param(job(suspend=True), job(), True, id="no longer suspended"),
        pytest.param(job(suspend=True), job(suspend=False), True, id="no longer suspended, as it says"),
        pytest.param(job(), job(suspend=True), False, id="suspended"),
        pytest.param(job(suspend=True), job(suspend=True, parallelism=9), False, id="more, but suspended"),
        pytest.param(job(suspend=True, parallelism=9), job(), True, id="fewer, and no longer suspended"),
        pytest.param(suspended(itself=True), suspended(), True, id="runs no longer suspended"),
        pytest.param(suspended(runs=True), suspended(), True, id="each run no longer suspended"),
        pytest.param(suspended(), suspended(itself=True), False, id="runs suspended"),
        pytest.param(job(completions=1), job(completions=2), True, id="more to be completed"),
        pytest.param(job(completions=5), job(completions=9), False, id="more to be completed one by one"),
        pytest.param(job(completions=2), job(completions=1), False, id="fewer to be completed"),
        pytest.param(job(), job(completionMode="Indexed"), True, id="as many, but all at the same time"),
        pytest.param(job(completionMode="Indexed"), job(), False, id="as many, one after the other"),
    ],
)
def test_a_change_counts_if_pods_are_others_or_more(old: Json, new: Json, *, expected: bool) -> None:
    assert grown(new, old) is expected


@pytest.mark.parametrize("spec", [None, [], {"template": 5}, {"template": {"spec": {"containers": 5}, "metadata": 5}}])
def test_whatever_it_is_made_of_it_wants_something(spec: object) -> None:
    found = {"kind": "Deployment", "metadata": None, "spec": spec}
    assert replicas_of(found, found).owner == "Deployment/"
    assert replicas_of(found, workload()).count in {1, 2}
