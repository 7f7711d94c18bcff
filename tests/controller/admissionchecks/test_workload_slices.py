"""A job of Kueue that grows while it runs gets another Workload, of which only the pods beyond the first are judged."""

from typing import Any, Final

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.controller.admissionchecks.checked_cluster import APART, CheckedCluster, condition, pod_set
from tests.controller.controlled_cluster import Json
from webhook.controller.admissionchecks.workload_slice import REPLACES

JOB: Final = [{"uid": "uid-other"}, {"uid": "uid-job", "controller": True}]
HELD: Final = [condition("QuotaReserved"), condition("Admitted")]
REPLACED: Final = {**condition("Finished"), "reason": "WorkloadSliceReplaced"}


def two(count: int, **tweaks: Any) -> Json:
    """So many pods, each on a node of its own."""
    return pod_set(count=count, placement=APART, cpu="8", **tweaks)


def workload(checked: CheckedCluster, name: str, *sets: Json, metadata: Json | None = None, **status: Any) -> None:
    checked.workload(name, *sets, **status)
    checked.kube.change(checked.path(name), {"metadata": {"ownerReferences": JOB, **(metadata or {})}})


def running(checked: CheckedCluster, *sets: Json, metadata: Json | None = None, **status: Any) -> None:
    """The first Workload of the job, whose two pods run; Kueue ends it when the next one has its quota."""
    conditions = [*HELD, REPLACED]
    workload(checked, "first", *(sets or (two(2),)), metadata=metadata, **{"conditions": conditions, **status})
    for name in ("node-a", "node-b"):
        checked.run(name, name, cpu="8", labels={"streams.ibm.com/job": "sets"})


def growing(checked: CheckedCluster, *sets: Json, key: str = "default/first") -> None:
    workload(checked, "next", *sets, metadata={"annotations": {REPLACES: key}})


async def test_the_pods_beyond_those_that_run_are_judged(checked: CheckedCluster) -> None:
    running(checked)
    growing(checked, two(3))
    await checked.lead()
    assert checked.answer("next") == ("Ready", "1 pod can run at the same time")


async def test_more_than_fit_beside_those_that_run_are_not_let_pass(checked: CheckedCluster) -> None:
    running(checked)
    growing(checked, two(4))
    await checked.lead(15)
    assert checked.answer("next")[0] == "Retry"


async def test_one_that_does_not_grow_is_ready(checked: CheckedCluster) -> None:
    running(checked)
    growing(checked, two(1))
    await checked.lead()
    assert checked.answer("next") == ("Ready", "")


async def test_pods_that_have_ended_do_not_run(checked: CheckedCluster) -> None:
    running(checked, reclaimablePods=[{"name": "main", "count": 1}])
    growing(checked, two(3))
    await checked.lead()
    assert checked.answer("next")[0] == "Retry"


OTHERS: Final[dict[str, tuple[Json, str]]] = {
    "other pods": ({"sets": (pod_set(count=2, placement=APART, cpu="7"),)}, "default/first"),
    "pods by another name": ({"sets": (two(2, name="other"),)}, "default/first"),
    "other flavors": (
        {"admission": {"podSetAssignments": [{"name": "main", "flavors": {"cpu": "other"}}]}}, "default/first"
    ),
    "one that was not admitted": ({"conditions": [condition("QuotaReserved")]}, "default/first"),
    "one without conditions": ({"conditions": []}, "default/first"),
    "one that was evicted": ({"conditions": [*HELD, condition("Evicted")]}, "default/first"),
    "one whose job has ended": ({"conditions": [*HELD, {**REPLACED, "reason": "Succeeded"}]}, "default/first"),
    "one of another job": ({"metadata": {"ownerReferences": [{"uid": "x", "controller": True}]}}, "default/first"),
    "one without a job": ({"metadata": {"ownerReferences": [{"uid": "uid-job"}]}}, "default/first"),
    "one of another namespace": ({}, "elsewhere/first"),
    "one that does not exist": ({}, "default/none"),
    "no name": ({}, "default/../x"),
    "no key": ({}, "first"),
}  # fmt: skip


@pytest.mark.parametrize(("other", "key"), OTHERS.values(), ids=OTHERS.keys())
async def test_all_pods_count_beside_those_of(checked: CheckedCluster, other: Json, key: str) -> None:
    first = dict(other)
    running(checked, *first.pop("sets", ()), **first)
    growing(checked, two(3), key=key)
    await checked.lead(15)
    assert checked.answer("next")[0] == "Retry"


async def test_pods_of_one_that_has_not_been_replaced_yet_run(checked: CheckedCluster) -> None:
    running(checked, conditions=HELD)
    growing(checked, two(3))
    await checked.lead()
    assert checked.answer("next")[0] == "Ready"


async def test_a_job_that_was_stopped_since_runs_no_pods(checked: CheckedCluster) -> None:
    """Kueue stops the job when its larger Workload is evicted, and the condition stays, as False."""
    running(checked)
    conditions = [condition("QuotaReserved"), condition("Evicted", "False")]
    annotations = {"annotations": {REPLACES: "default/first"}}
    workload(checked, "next", two(3), metadata=annotations, conditions=conditions)
    await checked.lead(15)
    assert checked.answer("next")[0] == "Retry"


async def test_while_the_other_one_cannot_be_read_there_is_no_answer(checked: CheckedCluster) -> None:
    await checked.lead()
    read, asked = checked.candidate.line.read, list[str]()

    async def failing(path: str) -> bytes:
        if path.endswith("/workloads/first"):
            asked.append(path)
            if len(asked) == 1:
                raise ApiError(Cause.BUSY, "no")
        return await read(path)

    checked.candidate.line.read = failing  # type: ignore[method-assign]
    running(checked)
    growing(checked, two(3))
    await checked.answered(10)
    assert (checked.answer("next")[0], len(asked)) == ("Ready", 2)
