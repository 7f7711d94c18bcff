"""Answers that are kept are those that a decision would have given."""

import pytest

from tests.builders import Json, cluster, nodes, pod, pool, review
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.admission.responses import Outcome
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.memo import Memo


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        pytest.param(pod("host(MyPool)"), Outcome.PATCHED, id="admitted"),
        pytest.param(pod("host(MyPol)"), Outcome.DENIED, id="refused"),
    ],
)
def test_the_second_pod_of_a_template_gets_the_first_ones_answer(found: Json, outcome: Outcome) -> None:
    memo, inventory = Memo[Ruling](), cluster(nodes(1, labels={"streams.ibm.com/hostpool": "a"}), [pool(tags=["a"])])
    first, second = (mutate(review(found), inventory, Policy(), Known(memo)) for _ in range(2))
    assert (first.outcome, len(memo)) == (outcome, 1)
    assert first == second == mutate(review(found), inventory, Policy())


@pytest.mark.parametrize(
    ("clause", "outcome", "answers"),
    [
        pytest.param("host(MyPool)", Outcome.PATCHED, 1, id="admitted"),
        pytest.param("host(MyPol)", Outcome.DENIED, 2, id="refused with a quotation"),
    ],
)
def test_pods_that_differ_in_their_operators_get_the_answer_of_a_decision(
    clause: str, outcome: Outcome, answers: int
) -> None:
    memo, inventory = Memo[Ruling](), cluster(nodes(1, labels={"streams.ibm.com/hostpool": "a"}), [pool(tags=["a"])])
    for operator in ("Filter", "Join", "Filter"):
        body = review(pod(f"{operator}: {clause}"))
        answer = mutate(body, inventory, Policy(), Known(memo))
        assert answer.outcome is outcome
        assert answer == mutate(body, inventory, Policy())
    assert len(memo) == answers
