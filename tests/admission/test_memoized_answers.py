"""Answers that are kept are those that a decision would have given."""

import pytest
from msgspec.structs import replace

from tests.answers import warnings
from tests.builders import Json, cluster, node, nodes, pod, pool, review
from tests.placement.devices.clusters import GPU, equipped, on, template, wanting
from webhook.admission.answer import Outcome
from webhook.admission.mutate import Known, Ruling, mutate
from webhook.placement.devices.published.claims import DeviceChoice
from webhook.placement.devices.published.device import Attribute, Device
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


def test_what_was_not_judged_for_lack_of_time_is_judged_by_the_next_decision() -> None:
    """Of more kinds of nodes than one decision looks at the next one looks at more, and then the answer is kept."""
    slices = [replace(on(f"node-{at}", 1), devices=(Device("d", (Attribute("model", str(at)),)),)) for at in range(40)]
    inventory = equipped(*slices, machines=[node(f"node-{at}") for at in range(40)])
    model = f'device.attributes["{GPU}"].model == "38"'
    template(inventory, "gpu", wanting(DeviceChoice(GPU, selectors=(model,))))
    claiming = pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    memo, seen = Memo[Ruling](), []
    for _ in range(3):
        answer = mutate(review(claiming), inventory, Policy(), Known(memo))
        seen.append((len(memo), warnings(answer)))
    unjudged = "ResourceClaimTemplate gpu: devices of 8 nodes are not judged; the pod may wait for them"
    assert seen == [(0, [unjudged]), (1, []), (1, [])]
