"""Pods of ProcessingElements are judged once their Job is known as the API server has it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.answers import patched
from tests.builders import JOB, Json, cluster, job, node, pod, review
from webhook.admission.answer import Answer, JobQuestion, JobRef, Outcome
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.memo import Memo

ELEMENT = {
    "apiVersion": "streams.ibm.com/v1", "kind": "ProcessingElement", "name": "parallel-0", "uid": "u",
    "controller": True,
}  # fmt: skip
TWO = 'hostColocation("a"), hostColocation("b")'


def element_pod(placement: str | None = TWO, *, reference: Mapping[str, Any] = {}, **tweaks: Any) -> Json:
    found = pod(placement, **tweaks)
    found["metadata"]["ownerReferences"] = [ELEMENT | reference]
    return found


def mutated(found: Json, inventory: Inventory) -> Answer:
    return mutate(review(found), inventory, Policy())


def test_the_job_is_asked_for_unless_it_is_known() -> None:
    inventory = cluster([node()])
    found = element_pod()
    answer = mutated(found, inventory)
    assert isinstance(answer.question, JobQuestion)
    assert answer.question.job == JobRef("default", JOB)
    told = answer.question.resume(job({"parallel-0": TWO}))
    labels = patched(found, told)["metadata"]["labels"]
    assert "group" in labels.values()
    inventory.set_job(job({"parallel-0": TWO}))
    assert mutated(found, inventory).question is None


@pytest.mark.parametrize("known", [{}, {"parallel-1": TWO}])
def test_what_the_watch_has_told_stays(known: Any) -> None:
    inventory, memo = cluster([node()]), Memo[Ruling]()
    if known:
        inventory.set_job(job(known))
    mutate(review(pod()), inventory, Policy(), Known(memo))
    answer = mutate(review(element_pod()), inventory, Policy(), Known(memo))
    assert isinstance(answer.question, JobQuestion)
    count = len(memo)
    inventory.remove_job("default", "parallel")
    version = inventory.jobs_version
    answer.question.resume(job({"parallel-0": TWO}))
    assert (inventory.jobs, inventory.jobs_version, len(memo)) == ({}, version, count)


def test_without_the_job_the_answer_is_what_it_was() -> None:
    answer = mutated(element_pod(), cluster([node()]))
    assert isinstance(answer.question, JobQuestion)
    assert answer.question.resume(None).message == answer.message


@pytest.mark.parametrize(
    ("found", "known", "asked"),
    [
        pytest.param(element_pod(), {"parallel-0": TWO}, False, id="known"),
        pytest.param(element_pod(), {"parallel-0": 'hostColocation("a")'}, True, id="with other clauses"),
        pytest.param(element_pod(), {"parallel-1": TWO}, True, id="without the element"),
        pytest.param(element_pod("Sink: hostIsolation"), {"parallel-0": {"Sink": "hostIsolation"}}, False, id="named"),
        pytest.param(element_pod(None), {"parallel-0": {}}, False, id="without clauses"),
        pytest.param(element_pod(pe=None), {}, False, id="of no element"),
        pytest.param(element_pod(job=None), {}, False, id="of no job"),
        pytest.param(element_pod(reference={"kind": "ReplicaSet"}), {}, False, id="of another owner"),
        pytest.param(element_pod(reference={"controller": False}), {}, False, id="that does not control it"),
        pytest.param(pod(TWO), {}, False, id="of nobody"),
    ],
)
def test_the_job_is_asked_for_where_it_may_say_more(found: Json, known: Any, *, asked: bool) -> None:
    answer = mutated(found, cluster([node()], jobs=[job(known)]))
    assert isinstance(answer.question, JobQuestion) is asked


ACCOUNT = "system:serviceaccount:streams-system:streams-placement-controller"


@pytest.mark.parametrize(
    ("user", "policy", "waits"),
    [
        pytest.param(ACCOUNT, Policy(controller_account=ACCOUNT), True, id="the controller"),
        pytest.param("alice", Policy(controller_account=ACCOUNT), False, id="somebody who claims the owner"),
        pytest.param("", Policy(), False, id="nobody, where no controller is known"),
    ],
)
def test_a_pod_that_the_controller_makes_waits_for_a_node(user: str, policy: Policy, *, waits: bool) -> None:
    found = element_pod(None, requests={"cpu": "40"})
    body = review(found, userInfo={"username": user})
    answer = mutate(body, cluster([node()], jobs=[job({"parallel-0": {}})]), policy)
    assert bool(answer.waits) is waits
    assert (answer.outcome is Outcome.DENIED) is not waits
