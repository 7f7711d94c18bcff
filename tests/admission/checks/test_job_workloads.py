"""``/validate`` of a workload asks about the other workloads of its job, and answers by what it is told."""

from collections.abc import Sequence

import pytest

from tests.admission.submitted_workloads import submitted
from tests.answers import refused, response, warnings
from tests.builders import JOB, NAMESPACE, Json, cluster, nodes, pool
from tests.placement.planning.at_once import AtOnce
from tests.workload_templates import workload
from webhook.admission.answer import Answer, RightsQuestion, WorkloadsQuestion
from webhook.admission.checks.job_workloads import live_workloads
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.search.solver import finished

APART = 'hostExlocation("a")'
THREE = cluster(nodes(3))
JUDGED = ["Deployment", "StatefulSet", "ReplicaSet"]

TOO_MANY = (
    f'The workloads of job {JOB} together: hostExlocation("a") cannot hold: '
    "3 of 4 pods fit (Deployment source, Deployment sink)."
)

SOURCE = workload("Deployment", APART, count=2, name="source")
SINK = workload("Deployment", APART, count=2, name="sink")
OWNED: Json = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "controller": True}]}


def beside(answer: Answer, *others: Json) -> Answer:
    """The answer once these are known as the workloads of the job."""
    question = answer.question
    assert isinstance(question, WorkloadsQuestion)
    assert (question.namespace, question.job) == (NAMESPACE, JOB)
    return finished(question.resume(others).resume(AtOnce()))


def test_a_workload_that_does_not_fit_beside_the_others_is_refused() -> None:
    answer = beside(submitted(SINK, THREE), SOURCE)
    assert refused(answer) == (
        403, f'{TOO_MANY}\nNearest fix: add a node, or drop hostExlocation("a") (all 4 would fit), or run 3 of these 4.'
    )  # fmt: skip
    assert response(answer)["auditAnnotations"]["verdict"] == "refused"


def test_one_that_fits_is_allowed() -> None:
    answer = beside(submitted(workload("Deployment", APART, name="sink"), THREE), SOURCE)
    assert response(answer) == response(submitted(workload("Deployment", APART, name="sink"), THREE))


def test_what_is_not_known_refuses_nothing() -> None:
    assert response(submitted(SINK, THREE))["allowed"]


def test_in_audit_mode_it_is_a_warning() -> None:
    assert warnings(beside(submitted(SINK, THREE, Policy(audit=True)), SOURCE)) == [
        f"audit: this would be refused: {TOO_MANY}"
    ]


def test_warnings_of_the_workload_itself_are_kept() -> None:
    many = workload("Job", APART, count=4, name="sink")
    [said] = warnings(beside(submitted(many, THREE), SOURCE))
    assert said.startswith("parallelism 4: 3 of 4 pods run at a time")


def test_a_user_who_may_use_the_pools_is_told() -> None:
    inventory = cluster(nodes(3), pools=[pool(hosts=["node-a"], assigned=["node-a"])])
    question = submitted(workload("Deployment", "host(MyPool)", name="sink"), inventory).question
    assert isinstance(question, RightsQuestion)
    assert isinstance(question.then, WorkloadsQuestion)


@pytest.mark.parametrize("kind", [*JUDGED, "Job"])
def test_is_asked_of_every_kind_with_a_number_of_pods(kind: str) -> None:
    assert isinstance(submitted(workload(kind, name="sink"), THREE).question, WorkloadsQuestion)


UNASKED = {
    "a DaemonSet": workload("DaemonSet", name="sink"),
    "a CronJob, which is not there to stay": workload("CronJob", name="sink"),
    "a ReplicationController": workload("ReplicationController", name="sink"),
    "no pods": workload("Deployment", count=0, name="sink"),
    "a suspended Job": workload("Job", spec={"suspend": True}, name="sink"),
    "a ReplicaSet of a Deployment": workload("ReplicaSet", name="sink", metadata=OWNED),
    "one that is refused by itself": workload("Deployment", APART, count=4, name="sink"),
    "pods of no job": workload("Deployment", name="sink", job=None),
}


@pytest.mark.parametrize("found", UNASKED.values(), ids=UNASKED)
def test_is_not_asked_about(found: Json) -> None:
    assert submitted(found, THREE).question is None


def test_one_that_is_refused_by_itself_is_not_asked_about_in_audit_mode_either() -> None:
    assert submitted(UNASKED["one that is refused by itself"], THREE, Policy(audit=True)).question is None


class TestAChange:
    def test_to_more_pods_is_asked_about(self) -> None:
        before = workload("Deployment", APART, count=1, name="sink")
        assert refused(beside(submitted(SINK, THREE, old=before), SOURCE))[0] == 403

    def test_to_less_is_not(self) -> None:
        before = workload("Deployment", APART, count=3, name="sink")
        assert submitted(SINK, THREE, old=before).question is None

    def test_of_where_the_pods_may_run_is_asked_about(self) -> None:
        before = workload("Deployment", count=2, name="sink")
        assert isinstance(submitted(SINK, THREE, old=before).question, WorkloadsQuestion)

    def test_that_wakes_the_workload_is_asked_about(self) -> None:
        before = workload("Job", name="sink", spec={"suspend": True})
        assert isinstance(submitted(workload("Job", name="sink"), THREE, old=before).question, WorkloadsQuestion)

    def test_that_demands_no_more_is_not(self) -> None:
        after = workload("Deployment", APART, count=2, name="sink")
        after["spec"]["template"]["spec"]["containers"][0]["image"] = "another:1"
        assert submitted(after, THREE, old=SINK).question is None

    def test_is_not_judged_beside_what_the_workload_was(self) -> None:
        before = workload("Deployment", APART, count=1, name="sink")
        after = workload("Deployment", APART, count=3, name="sink")
        assert response(beside(submitted(after, THREE, old=before), before))["allowed"]


def counts(documents: Sequence[Json]) -> list[tuple[str, int]]:
    return [(found.replicas.owner, found.replicas.needed) for found in live_workloads(documents)]


INDEXED = {"completionMode": "Indexed"}
LIVE: dict[str, tuple[Json, int]] = {
    "as many as it says": (workload("Deployment", count=3), 3),
    "one where it says nothing": (workload("StatefulSet"), 1),
    "none of a suspended Job": (workload("Job", count=3, spec={"suspend": True}), 0),
    "one of a Job that runs one pod after another": (workload("Job", count=3), 1),
    "all of an Indexed Job": (workload("Job", count=3, spec=INDEXED), 3),
    "what is left of an Indexed Job": (
        workload("Job", count=3, spec={**INDEXED, "completions": 5}) | {"status": {"succeeded": 3}}, 2,
    ),
    "no less than nothing": (workload("Job", spec={"completions": 2}) | {"status": {"succeeded": 3}}, 0),
    "none of a Job whose work is done": (workload("Job", count=3) | {"status": {"succeeded": 1}}, 0),
    "all of a Job that began": (workload("Job", count=3, spec=INDEXED) | {"status": {"succeeded": 0}}, 3),
    "none of a Job that failed": (
        workload("Job", count=3, spec=INDEXED) | {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}, 0,
    ),
    "all of a Job that did not": (
        workload("Job", count=3, spec=INDEXED) | {"status": {"conditions": [{"type": "Failed", "status": "False"}]}}, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "count"), LIVE.values(), ids=LIVE)
def test_how_many_pods_a_live_workload_is_to_have(found: Json, count: int) -> None:
    assert counts([found]) == [(f"{found['kind']}/w", count)]


def test_what_is_not_readable_is_left_out() -> None:
    odd = workload("Deployment", name="odd")
    odd["spec"]["template"]["spec"]["containers"] = 7
    assert counts([odd, SOURCE]) == [("Deployment/source", 2)]
