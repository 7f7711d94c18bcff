"""Answers to the admission checks of Workloads: Ready, Retry, Rejected, and what is left alone."""

from typing import Any

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import (
    APART,
    CHECKS,
    THEN,
    CheckedCluster,
    condition,
    plain,
    pod_set,
)
from tests.controller.controlled_cluster import Json
from tests.controller.controller_process import wall_clock
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.timestamps import timestamp

SHORT = f"{APART} cannot hold: 3 of 4 pods fit (main)."


async def test_one_whose_pods_all_fit_is_ready(checked: CheckedCluster) -> None:
    checked.workload("fits", pod_set(count=3, placement=APART), pod_set("driver", 2))
    await checked.lead()
    assert checked.answer("fits") == ("Ready", "5 pods can run at the same time")
    (entry,) = checked.stored("fits")["status"]["admissionChecks"]
    assert entry == {
        "name": "placement",
        "state": "Ready",
        "message": "5 pods can run at the same time",
        "lastTransitionTime": timestamp(wall_clock() - 3),
    }


async def test_one_that_fits_on_no_empty_cluster_is_rejected(checked: CheckedCluster) -> None:
    checked.occupy("node-a")
    checked.workload("large", pod_set(count=4, placement=APART))
    await checked.lead(15)
    assert checked.answer("large") == ("Rejected", SHORT)


async def test_one_that_has_to_wait_for_others_is_told_to_retry_later_each_time(checked: CheckedCluster) -> None:
    checked.occupy("node-a", "node-b")
    checked.workload("waits", pod_set(count=2, placement=APART))
    await checked.lead()
    waits = []
    for retried in range(1, 8):
        state, message = checked.answer("waits")
        assert (state, message) == ("Retry", f"requests cpu 1 and {APART} cannot both hold: 1 of 2 pods fits (main).")
        waits.append(checked.stored("waits")["status"]["admissionChecks"][0]["requeueAfterSeconds"])
        checked.evict("waits", retried=retried)
        checked.reserve("waits")
        await checked.answered()
    assert waits == [10, 20, 40, 80, 160, 300, 300]
    assert checked.stored("waits")["status"]["admissionChecks"][0]["retryCount"] == 7
    assert "others" not in checked.answer("waits")[1]


async def test_a_pool_that_the_watch_brings_later_than_the_workload_is_no_reason_to_reject_it(
    checked: CheckedCluster,
) -> None:
    """Kueue would deactivate it; a mistake of its own is told at once."""
    checked.delays = {"/apis/streams.ibm.com/v1/streamshostpools": 5.0}
    await checked.lead()
    checked.pool(size=1)
    checked.workload("at-once", pod_set(placement="host(p[0])"))
    checked.workload("mistaken", pod_set(placement="host(p["))
    await checked.answered()
    assert checked.answer("at-once")[0] == "Pending"
    assert checked.answer("mistaken")[0] == "Rejected"
    await checked.answered(10)
    assert checked.answer("at-once")[0] == "Ready"


async def test_one_that_cannot_run_is_rejected_ten_seconds_later_however_often_it_changes(
    checked: CheckedCluster,
) -> None:
    await checked.lead()
    checked.workload("large", pod_set(count=4, placement=APART))
    await checked.answered()
    reads = checked.candidate.line.reads
    for number in range(8):
        checked.kube.change(checked.path("large"), {"metadata": {"labels": {"number": str(number)}}})
        await checked.answered()
    assert checked.candidate.line.reads == reads
    assert checked.answer("large")[0] == "Pending"
    await checked.answered(1.5)
    assert checked.answer("large") == ("Rejected", SHORT)


@pytest.mark.parametrize("again", ["made again", "queued again"])
async def test_one_that_begins_anew_is_judged_twice_again(checked: CheckedCluster, again: str) -> None:
    await checked.lead()
    checked.workload("large", pod_set(count=4, placement=APART))
    await checked.answered(5)
    if again == "made again":
        checked.kube.remove(checked.path("large"))
        checked.workload("large", pod_set(count=4, placement=APART))
    else:
        checked.evict("large")
        await checked.answered()
        checked.reserve("large")
    await checked.answered(9)
    assert checked.answer("large")[0] == "Pending"
    await checked.answered(2)
    assert checked.answer("large")[0] == "Rejected"


@pytest.mark.parametrize("cause", ["cordoned", "not ready"])
async def test_a_node_that_comes_back_is_waited_for(checked: CheckedCluster, cause: str) -> None:
    taint = {"cordoned": "node.kubernetes.io/unschedulable", "not ready": "node.kubernetes.io/not-ready"}[cause]
    checked.retaint("node-a", {"key": taint, "effect": "NoSchedule"})
    checked.workload("w", pod_set(count=3, placement=APART))
    await checked.lead()
    assert checked.answer("w")[0] == "Retry"


async def test_a_node_that_somebody_keeps_others_from_is_not(checked: CheckedCluster) -> None:
    checked.retaint("node-a", {"key": "dedicated", "value": "infra", "effect": "NoSchedule"})
    checked.workload("w", pod_set(count=3, placement=APART))
    await checked.lead(15)
    assert checked.answer("w")[0] == "Rejected"


@pytest.mark.parametrize(
    ("pods", "message"),
    [
        (
            pod_set(placement="hostExlocation("),
            (
                "component main: metadata.annotations[streams.ibm.com/placement]: expected a string after "
                '"hostExlocation(", found the end of the text'
            ),
        ),
        (pod_set(placement='host("node-x")'), 'host("node-x") cannot hold: '),
        ({**pod_set(), "template": {**pod_set()["template"], "spec": {"containers": 7}}}, "spec.podSets[0].template."),
        ({**pod_set(), "count": "x"}, "the pod sets cannot be read: "),
    ],
    ids=["a mistake", "a host that does not exist", "no pod", "no pod set"],
)
async def test_what_cannot_run_as_it_is_is_rejected(checked: CheckedCluster, pods: Json, message: str) -> None:
    checked.workload("wrong", pods)
    await checked.lead(15)
    state, said = checked.answer("wrong")
    assert state == "Rejected"
    assert message in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("namespace", "sets", "status", "message"),
    [
        ("default", [plain()], {}, "nothing is judged: no pod set asks for placement"),
        (
            "default",
            [plain(nodeSelector={"streams.ibm.com/x": "y"})],
            {},
            "nothing is judged: no pod set asks for placement",
        ),
        (
            "kube-system",
            [pod_set(count=99)],
            {},
            "nothing is judged: the webhook does not review pods of this namespace",
        ),
        (
            "default",
            [pod_set(count=99, placement=APART)],
            {"conditions": [condition("QuotaReserved"), condition("Admitted")]},
            "nothing is judged: the Workload is admitted already",
        ),
    ],
    ids=["asks for nothing", "a selector is no question", "excluded", "admitted"],
)
async def test_what_is_not_to_be_judged_passes(
    checked: CheckedCluster, namespace: str, sets: list[Json], status: Json, message: str
) -> None:
    checked.workload("w", *sets, namespace=namespace, **status)
    await checked.lead()
    assert checked.answer("w", namespace) == ("Ready", message)


async def test_audit_says_what_would_have_happened() -> None:
    checked = CheckedCluster(policy=Policy(audit=True))
    checked.occupy("node-a")
    checked.workload("waits", pod_set(count=3, placement=APART))
    checked.workload("large", pod_set(count=4, placement=APART))
    await checked.lead()
    said = f"requests cpu 1 and {APART} cannot both hold: 2 of 3 pods fit (main)."
    assert checked.answer("waits") == ("Ready", f"audit: this would be retried: {said}")
    assert checked.answer("large") == ("Ready", f"audit: this would be rejected: {SHORT}")
    await checked.end()


async def test_warnings_are_said_of_what_passes(checked: CheckedCluster) -> None:
    checked.kube.create("/apis/scheduling.k8s.io/v1/priorityclasses/high", value=5)
    checked.workload("w", pod_set(priorityClassName="high", placement=APART, count=3))
    for name in ("node-a", "node-b", "node-c"):
        checked.run(f"low-{name}", name, cpu="8", namespace="others")
    await checked.lead()
    assert checked.answer("w") == (
        "Ready",
        "3 pods can run at the same time; there is room only if the scheduler preempts pods of lower priority",
    )


async def test_pods_too_many_to_be_decided_about_are_rejected_if_the_nodes_have_no_room_for_them(
    checked: CheckedCluster,
) -> None:
    checked.workload("w", pod_set(count=10_001))
    await checked.lead(15)
    assert checked.answer("w") == (
        "Rejected", "component main: 10001 pods cannot hold: 24 of 10001 pods fit on 3 of 3 nodes."
    )  # fmt: skip


# What counts of a Workload


async def test_the_pods_that_have_the_quota_count(checked: CheckedCluster) -> None:
    admission = {"clusterQueue": "q", "podSetAssignments": [{"name": "main", "count": 4}]}
    ended = [{"name": "main", "count": 1}]
    checked.workload("w", pod_set(count=9, placement=APART), admission=admission, reclaimablePods=ended)
    checked.workload("all", pod_set("main", 2, APART), reclaimablePods=[{"name": "main", "count": 2}])
    await checked.lead()
    assert checked.answer("w") == ("Ready", "3 pods can run at the same time")
    assert checked.answer("all")[0] == "Ready"


async def test_what_resource_flavors_and_other_checks_add_counts(checked: CheckedCluster) -> None:
    for name, zone in (("node-a", "one"), ("node-b", "one"), ("node-c", "two")):
        checked.relabel(name, zone=zone)
    taint = {"key": "dedicated", "value": "jobs", "effect": "NoSchedule"}
    checked.retaint("node-b", taint)
    checked.flavor(nodeLabels={"zone": "one"}, tolerations=[{**taint, "operator": "Equal"}])
    checked.flavor("other", nodeLabels={"zone": "two"})
    flavors = {"cpu": "default", "memory": "default"}
    admission = {
        "podSetAssignments": [{"name": "main", "flavors": flavors}, {"name": "b", "flavors": {"cpu": "other"}}]
    }
    checked.workload("w", pod_set(count=2, placement=APART), pod_set("b", placement=APART), admission=admission)
    checked.workload("too-many", pod_set(count=3, placement=APART, tolerations=[]), admission=admission)
    updates = [{"name": "main", "nodeSelector": {"zone": "two"}, "labels": {"a": "b"}}, {"name": "b"}]
    ready = {"name": "prov", "state": "Ready", "message": "", "lastTransitionTime": THEN, "podSetUpdates": updates}
    pending = {"name": "placement", "state": "Pending", "message": "", "lastTransitionTime": THEN}
    checked.workload("elsewhere", pod_set(count=2, placement=APART), checks=[pending, ready])
    await checked.lead(15)
    assert checked.answer("w") == ("Ready", "3 pods can run at the same time")
    assert checked.answer("too-many") == (
        "Rejected",
        f"nodeSelector zone=one and {APART} cannot both hold: 2 of 3 pods fit (main).",
    )
    assert checked.answer("elsewhere")[0] == "Rejected"


async def test_a_flavor_that_cannot_be_read_is_asked_for_again(checked: CheckedCluster) -> None:
    admission = {"podSetAssignments": [{"name": "main", "flavors": {"cpu": "late"}}]}
    checked.workload("w", pod_set(), admission=admission)
    await checked.lead()
    assert checked.answer("w")[0] == "Pending"
    checked.flavor("late")
    await checked.answered(30)
    assert checked.answer("w")[0] == "Ready"


async def test_claims_of_pods_are_looked_up(checked: CheckedCluster) -> None:
    checked.relabel("node-a", **{"topology.kubernetes.io/zone": "one"})
    terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["one"]}]}]
    affinity = {"required": {"nodeSelectorTerms": terms}}
    checked.kube.create("/api/v1/persistentvolumes/v", spec={"nodeAffinity": affinity, "claimRef": {}})
    claim = {"volumeName": "v", "accessModes": ["ReadWriteOnce"]}
    checked.kube.create(
        "/api/v1/namespaces/default/persistentvolumeclaims/c", spec=claim, status={"phase": "Bound"}
    )  # fmt: skip
    volumes = [{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]
    checked.workload("w", pod_set(count=2, placement=APART, volumes=volumes))
    await checked.lead(15)
    assert checked.answer("w")[0] == "Rejected"


# What is answered


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"conditions": [condition("QuotaReserved", "False")]}},
        {"status": {"conditions": []}},
        {"status": {"conditions": [condition("QuotaReserved"), condition("Evicted")]}},
        {"status": {"conditions": [condition("QuotaReserved"), condition("Finished")]}},
        {"status": {"conditions": [condition("QuotaReserved"), condition("DeactivationTarget")]}},
        {"spec": {"active": False}},
        {"metadata": {"deletionTimestamp": THEN, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}},
        {"status": {"admissionChecks": [{"name": "other", "state": "Pending"}]}},
        {"status": {"admissionChecks": None}},
    ],
    ids=["no quota", "not yet", "evicted", "finished", "to be ended", "inactive", "deleted", "another's", "no checks"],
)
async def test_no_answer_is_given_to(checked: CheckedCluster, change: Json) -> None:
    checked.workload("w", pod_set())
    checked.kube.change(checked.path("w"), change)
    before = checked.stored("w")
    await checked.lead()
    assert checked.stored("w") == before
    assert checked.patched == []


async def test_the_answer_is_given_once_and_to_our_checks_only(checked: CheckedCluster) -> None:
    checked.check("second")
    checked.check("others", "example.com/check")
    states = {"others": "Pending", "placement": "Pending", "second": "Pending"}
    checks = [
        {"name": name, "state": state, "message": "m", "lastTransitionTime": THEN} for name, state in states.items()
    ]
    checked.workload("w", pod_set(), checks=checks)
    await checked.lead()
    found = {one["name"]: (one["state"], one["message"]) for one in checked.stored("w")["status"]["admissionChecks"]}
    assert found == {
        "others": ("Pending", "m"),
        "placement": ("Ready", "1 pod can run at the same time"),
        "second": ("Ready", "1 pod can run at the same time"),
    }
    assert len(checked.patched) == 1
    checked.kube.change(checked.path("w"), {"metadata": {"labels": {"a": "b"}}})
    await checked.answered()
    assert len(checked.patched) == 1


async def test_one_that_comes_later_is_answered(checked: CheckedCluster) -> None:
    await checked.lead()
    assert checked.patched == []
    checked.workload("w", pod_set())
    await checked.answered()
    assert checked.answer("w")[0] == "Ready"


async def test_a_check_that_comes_after_its_workload(checked: CheckedCluster) -> None:
    checks = [{"name": "late", "state": "Pending", "message": "", "lastTransitionTime": THEN}]
    checked.workload("w", pod_set(), checks=checks)
    checked.workload("other", plain())
    await checked.lead()
    assert checked.answer("w")[0] == "Pending"
    checked.check("late")
    await checked.answered()
    assert checked.answer("w")[0] == "Ready"


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda checked: checked.kube.remove(checked.path("w")),
        lambda checked: checked.kube.change(checked.path("w"), {"spec": {"active": False}}),
        lambda checked: checked.kube.change(checked.path("w"), {"status": {"admissionChecks": None}}),
    ],
    ids=["deleted", "inactive", "without checks"],
)
async def test_one_that_is_gone_before_it_is_read(checked: CheckedCluster, meanwhile: Any) -> None:
    checked.delays = {checked.path("w").replace("/namespaces/default", "").removesuffix("/w"): 60.0}
    checked.workload("w", pod_set())
    await checked.lead(0.001)
    meanwhile(checked)
    await checked.answered()
    assert checked.patched == []


@pytest.mark.parametrize("changed", [True, False], ids=["changed", "deleted"])
async def test_one_that_changes_while_it_is_judged(checked: CheckedCluster, *, changed: bool) -> None:
    """What was judged is another Workload by then: the answer is not stored, and its room not kept."""
    once = [checked.path("w")]

    def before(path: str) -> None:
        if path.startswith(checked.path("w")) and once:
            if changed:
                checked.kube.change(once.pop(), {"metadata": {"labels": {"a": "b"}}})
            else:
                checked.kube.remove(once.pop())

    await checked.lead()
    checked.candidate.line.before = before
    checked.workload("w", pod_set(count=3, placement=APART))
    await checked.answered()
    checked.workload("next", pod_set(count=3, placement=APART))
    await checked.answered()
    if changed:
        assert checked.answer("w")[0] == "Ready"
        assert checked.answer("next")[0] == "Retry"
    else:
        assert checked.answer("next")[0] == "Ready"


@pytest.mark.parametrize(
    ("cause", "kept"), [(Cause.FORBIDDEN, False), (Cause.UNREACHABLE, True)], ids=["refused", "unknown"]
)
async def test_an_answer_that_fails_is_given_again(checked: CheckedCluster, cause: Cause, *, kept: bool) -> None:
    """What may be stored keeps its room."""
    await checked.lead()
    line = checked.candidate.line
    line.before = lambda _: line.lost.append(ApiError(cause, "lost")) if kept else _raise(cause)
    checked.workload("w", pod_set(count=3, placement=APART))
    await checked.answered(0.05)
    line.before = lambda _: None
    await checked.answered(30)
    assert checked.answer("w") == ("Ready", "3 pods can run at the same time")


def _raise(cause: Cause) -> None:
    raise ApiError(cause, "no")


# AdmissionChecks


def active(checked: CheckedCluster, name: str = "placement") -> tuple[str, str, str]:
    (found,) = checked.kube.objects[f"{CHECKS}/{name}"]["status"]["conditions"]
    return found["status"], found["reason"], found["message"]


async def test_our_checks_are_active(checked: CheckedCluster) -> None:
    checked.check("others", "example.com/check")
    await checked.lead()
    assert active(checked) == ("True", "Active", "pod sets are judged before a Workload is admitted")
    assert "status" not in checked.kube.objects[f"{CHECKS}/others"]
    writes = len(checked.candidate.line.writes)
    checked.kube.change(f"{CHECKS}/placement", {"metadata": {"labels": {"a": "b"}}})
    await checked.answered()
    assert len(checked.candidate.line.writes) == writes


@pytest.mark.parametrize("cause", [Cause.CONFLICT, Cause.UNREACHABLE])
async def test_a_condition_that_is_not_stored_is_written_again(checked: CheckedCluster, cause: Cause) -> None:
    await checked.lead(0.001)
    line = checked.candidate.line

    def fail(_: str) -> None:
        line.before = lambda _: None
        raise ApiError(cause, "no")

    line.before = fail
    await checked.answered(5)
    assert active(checked)[0] == "True"


async def test_one_with_parameters_is_not(checked: CheckedCluster) -> None:
    await checked.lead()
    checked.check("with", parameters={"apiGroup": "g", "kind": "K", "name": "n"})
    checks = [{"name": "with", "state": "Pending", "message": "", "lastTransitionTime": THEN}]
    checked.workload("w", pod_set(), checks=checks)
    await checked.answered()
    said = "spec.parameters: this controller takes none, so remove them"
    assert active(checked, "with") == ("False", "BadParametersRef", said)
    assert checked.answer("w")[0] == "Pending"
    checked.kube.change(f"{CHECKS}/with", {"spec": {"parameters": None}})
    await checked.answered()
    assert active(checked, "with")[0] == "True"
    assert checked.answer("w")[0] == "Ready"


async def test_one_that_is_deleted_is_left_alone(checked: CheckedCluster) -> None:
    metadata = {"deletionTimestamp": THEN, "finalizers": ["kueue.x-k8s.io/resource-in-use"]}
    checked.kube.change(f"{CHECKS}/placement", {"metadata": metadata})
    await checked.lead()
    checked.kube.remove(f"{CHECKS}/placement")
    checked.workload("w", pod_set())
    await checked.answered()
    assert checked.candidate.line.writes == []


async def test_nothing_is_watched_or_answered_unless_it_is_switched_on(checked: CheckedCluster) -> None:
    checked.rules = ReconcilerSettings(Policy())
    checked.workload("w", pod_set())
    await checked.lead()
    assert checked.candidate.line.writes == []
    assert not any("kueue" in kind.path for kind in checked.candidate.work.kinds)
    assert not checked.candidate.work.watched.on_bound
