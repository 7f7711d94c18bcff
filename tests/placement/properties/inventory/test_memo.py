"""A memo never changes an answer, whatever happens to the cluster between two pods that ask the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.inventory.test_updates import apply, history
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.admission.answer import Answer, SizeQuestion, WorkloadRef
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.request import memo as memory
from webhook.placement.request.memo import Memo


def body(pod: Json) -> bytes:
    """The review of the pod's creation."""
    request = {"uid": "u", "kind": {"kind": "Pod"}, "operation": "CREATE", "namespace": TEAM, "object": pod}
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return json.dumps(review, separators=(",", ":")).encode()


def comparable(answer: Answer) -> tuple[Answer, WorkloadRef | None]:
    """The answer without the function that decides again, and the workload that it would ask about."""
    question = answer.question
    assert question is None or isinstance(question, SizeQuestion)
    return replace(answer, question=None), question and question.workload


@given(clusters(), clusters(), st.lists(requested(), min_size=1, max_size=3), drawn(60, lambda choices: choices))
@examples(150)
def test_an_answer_is_the_same_with_and_without_a_memo(
    first: Cluster, second: Cluster, pods: list[Json], choices: RandomChoices
) -> None:
    inventory, memo = decision_core.inventory(first), Memo[Ruling]()
    bodies = [body(pod) for pod in pods]
    for update in [None, None, *history(choices, first, second)[:12]]:
        if update is not None:
            apply(inventory, update)
        for asked in bodies:
            kept = mutate(asked, inventory, decision_core.POLICY, Known(memo))
            assert comparable(kept) == comparable(mutate(asked, inventory, decision_core.POLICY))


PLAIN = {"metadata": {"annotations": {"streams.ibm.com/placement": "hostIsolation"}}}


def test_another_cluster_is_another_memo() -> None:
    memo = Memo[Ruling]()
    labelled = {**PLAIN, "metadata": {**PLAIN["metadata"], "labels": {"streams.ibm.com/job": "j"}}}
    for inventory in (Inventory(), decision_core.inventory(Cluster(())), Inventory()):
        assert mutate(body(labelled), inventory, decision_core.POLICY, Known(memo)) == mutate(
            body(labelled), inventory, decision_core.POLICY
        )


def test_a_memo_does_not_grow_beyond_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SIZE", 100)
    memo, inventory = Memo[Ruling](), Inventory()
    for number in range(100 + 2):
        pod = {"metadata": {"labels": {"streams.ibm.com/job": f"j{number}"}}}
        mutate(body(pod), inventory, decision_core.POLICY, Known(memo))
    assert len(memo) == 2


@pytest.mark.parametrize(
    "said",
    [
        {"annotations": {"streams.ibm.com/injected": "{}"}},
        {"annotations": {"streams.ibm.com/placment": "host(P)"}},
        {"labels": {"streams.ibm.com/hostcolocation.X": "t"}},
    ],
    ids=["an annotation of ours", "an unknown annotation", "a label of ours"],
)
def test_a_pod_that_says_more_than_usual_is_decided_again(said: Json) -> None:
    memo = Memo[Ruling]()
    metadata = {**said, "labels": {"streams.ibm.com/job": "j", **said.get("labels", {})}}
    mutate(body({"metadata": metadata}), Inventory(), decision_core.POLICY, Known(memo))
    assert len(memo) == 0
