"""What the worker makes of messages, without a process: the same answers as in the server."""

import socket
import threading
import time
from typing import Any

import pytest

from tests.answers import refused, response, warnings
from tests.builders import NAMESPACE, Json, cluster, nodes, pool, review
from tests.cluster.judging.job_reviews import LARGE, MANY, TWO, elements, job_review
from tests.workload_templates import workload
from webhook.admission.answer import ClassQuestion, FieldsQuestion, RightsQuestion, VolumesQuestion, WorkloadsQuestion
from webhook.admission.validate import validate
from webhook.cluster.judging import worker_judge
from webhook.cluster.judging.changes import ChangeLog, InventoryChange
from webhook.cluster.judging.messages import (
    ApiReply,
    Asking,
    Failed,
    Forget,
    Judge,
    JudgedReview,
    MessageReader,
    ToWorker,
    written,
)
from webhook.cluster.judging.worker_judge import WorkerJudge, judge_from
from webhook.cluster.objects.kinds import KINDS, NODES
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import UNDECIDED
from webhook.placement.objects.volumes import Volumes
from webhook.placement.pod_defaults.priority_class import PriorityClass

POLICY = Policy()


def judge(inventory: Inventory | None = None) -> WorkerJudge:
    return WorkerJudge(inventory or cluster(nodes(2)), POLICY, ChangeLog())


def asked(body: bytes, number: int = 1, seconds: float = 5.0) -> Judge:
    return Judge(number, body, time.monotonic() + seconds)


def told(found: object) -> Json:
    assert isinstance(found, JudgedReview)
    return response(found.answer)


def question(found: object, kind: type) -> Any:
    assert isinstance(found, Asking)
    assert isinstance(found.question, kind)
    return found.question


@pytest.mark.parametrize("body", [TWO, MANY, LARGE], ids=["two", "many", "large"])
def test_a_job_is_judged_to_the_end(body: bytes) -> None:
    assert told(judge().take(asked(body)))["allowed"]
    found = judge(cluster(nodes(1))).take(asked(body))
    assert isinstance(found, JudgedReview)
    assert refused(found.answer)[0] == 403


def test_a_job_whose_time_is_over_is_not_decided_about() -> None:
    found = judge().take(asked(TWO, seconds=-1.0))
    assert isinstance(found, JudgedReview)
    assert warnings(found.answer) == [UNDECIDED]


def test_changes_count_from_the_next_job_on() -> None:
    judging, kind = judge(cluster(nodes(1))), KINDS.index(NODES)
    assert not told(judging.take(asked(TWO)))["allowed"]
    assert judging.take(InventoryChange(kind, nodes(2)[1])) is None
    assert told(judging.take(asked(TWO)))["allowed"]
    assert judging.take(InventoryChange(kind, "node-a", gone=True)) is None
    assert not told(judging.take(asked(TWO)))["allowed"]


def test_a_change_that_the_server_cannot_use_is_of_no_use_here_either() -> None:
    judging = judge()
    assert judging.take(InventoryChange(KINDS.index(NODES), None)) is None
    assert told(judging.take(asked(TWO)))["allowed"]


ON_POOL = job_review(elements("host(MyPool)"))
POOLED = cluster(nodes(1, labels={"streams.ibm.com/hostpool": "ib"}), [pool(tags=["ib"])])


def test_rights_are_for_the_server_to_ask_about() -> None:
    judging = judge(POOLED)
    rights = question(judging.take(asked(ON_POOL)), RightsQuestion)
    assert (rights.namespace, len(rights.pools), rights.resume, rights.then) == (NAMESPACE, 1, None, None)
    assert told(judging.take(ApiReply(1, [])))["allowed"]
    judging.take(asked(ON_POOL, 2))
    found = judging.take(ApiReply(2, list(rights.pools)))
    assert isinstance(found, JudgedReview)
    assert refused(found.answer)[1].startswith(
        'spec.processingElements: host(MyPool): user "alice" may not use HostPool mypool of namespace "default"'
    )


def with_template(**spec: object) -> bytes:
    template = {"spec": {"containers": [{"name": "app", "image": "app"}], **spec}}
    return job_review({"bundle": {"name": "a.sab"}, "processingElements": [{"template": template}]})


def test_unknown_fields_are_for_the_server_to_ask_about() -> None:
    judging, body = judge(), with_template(teleport=True)
    fields = question(judging.take(asked(body)), FieldsQuestion)
    assert fields.fields == (("spec", "teleport"),)
    found = judging.take(ApiReply(1, frozenset(fields.fields)))
    assert isinstance(found, JudgedReview)
    assert refused(found.answer)[0] == 422
    judging.take(asked(body, 2))
    assert told(judging.take(ApiReply(2, frozenset())))["allowed"]


def test_classes_are_for_the_server_to_ask_about() -> None:
    judging, body = judge(), with_template(priorityClassName="high")
    classes = question(judging.take(asked(body)), ClassQuestion)
    assert [one.name for one in classes.classes] == ["high"]
    assert told(judging.take(ApiReply(1, ([PriorityClass("high", 7)], []))))["allowed"]
    judging.take(asked(body, 2))
    assert told(judging.take(ApiReply(2, None)))["allowed"]


def test_claims_are_for_the_server_to_look_up() -> None:
    judging = judge()
    body = with_template(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    assert question(judging.take(asked(body)), VolumesQuestion).claims == ((NAMESPACE, "c"),)
    assert told(judging.take(ApiReply(1, Volumes())))["allowed"]


WORKLOAD = workload("Deployment", 'hostExlocation("a")', name="sink", count=1)


def test_other_workloads_are_for_the_server_to_list() -> None:
    judging, body = judge(cluster(nodes(1))), review(WORKLOAD, kind="Deployment", group="apps")
    other = workload("Deployment", 'hostExlocation("a")', name="source", count=1)
    assert question(judging.take(asked(body)), WorkloadsQuestion).namespace == NAMESPACE
    assert not told(judging.take(ApiReply(1, [other])))["allowed"]
    judging.take(asked(body, 2))
    assert told(judging.take(ApiReply(2, None)))["allowed"]


def test_what_is_forgotten_gets_no_answer() -> None:
    judging = judge(POOLED)
    judging.take(asked(ON_POOL))
    assert judging.take(Forget(1)) is None
    assert judging.take(ApiReply(1, [])) is None


def test_an_answer_that_depends_on_something_else_is_a_failure() -> None:
    found = {"metadata": {"name": "pe"}, "spec": {"job": "parallel"}}
    body = review(found, kind="ProcessingElement", group="streams.ibm.com")
    failed = judge().take(asked(body))
    assert isinstance(failed, Failed)
    assert failed.trace.splitlines()[-1] == "TypeError: no whole Job depends on a JobQuestion"


def test_an_error_is_told_with_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ValueError("unforeseen")

    monkeypatch.setattr(worker_judge, "validate", broken)
    failed = judge().take(asked(TWO, 7))
    assert isinstance(failed, Failed)
    assert (failed.number, failed.trace.splitlines()[-1]) == (7, "ValueError: unforeseen")


def spoken(*messages: ToWorker) -> list[Any]:
    """What is said to the messages, which arrive together; the last one gets an answer."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"".join(map(written, messages)))
        judging = threading.Thread(target=judge_from, args=(theirs, judge(cluster(nodes(1)))))
        judging.start()
        reader, said = MessageReader(), list[Any]()
        while not said or said[-1].number != messages[-1].number:  # type: ignore[union-attr]
            said += reader.read(ours.recv(100_000))
        ours.shutdown(socket.SHUT_WR)
        judging.join()
    return said


def test_messages_are_answered_until_the_server_hangs_up() -> None:
    (said,) = spoken(InventoryChange(KINDS.index(NODES), nodes(2)[1]), asked(TWO))
    assert told(said)["allowed"]
    assert said.answer == _here(TWO)


def test_a_review_is_judged_by_what_is_true_at_its_turn() -> None:
    said = spoken(asked(TWO, 1), InventoryChange(KINDS.index(NODES), nodes(2)[1]), asked(MANY, 2))
    assert [told(one)["allowed"] for one in said] == [True, True]


def test_a_forgotten_review_is_not_judged() -> None:
    said = spoken(asked(TWO, 1), ApiReply(7, []), asked(MANY, 2), Forget(1), asked(TWO, 3))
    assert [one.number for one in said] == [2, 3]


def test_a_server_that_is_gone_is_not_an_error() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.sendall(written(asked(TWO)))
        ours.close()
        judge_from(theirs, judge())


def _here(body: bytes) -> object:
    """The answer of a judge in this process."""
    found = judge().take(asked(body))
    assert isinstance(found, JudgedReview)
    assert validate(body, cluster(nodes(2)), POLICY).question is not None
    return found.answer
