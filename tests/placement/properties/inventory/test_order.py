"""Decisions are functions of what there is, not of the order in which it became known, nor of the time."""

import msgspec
from hypothesis import given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster, Json
from tests.placement.properties.generated_pods import requested
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.admission.patch import encode, operations
from webhook.placement.decision.decision import decide
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.request.world import World


def answer(pod: Json, inventory: Inventory) -> tuple[object, ...]:
    """All that anybody sees of a decision."""
    read = decision_core.read(pod)
    decision = decide(read, TEAM, World(inventory, decision_core.POLICY))
    patch = encode(operations(read, decision.additions)) if decision.additions else b""
    nodes = decision.verdict and decision_core.names(decision.verdict.candidates, inventory)
    return decision.message, decision.fault, decision.warnings, patch, nodes


def shuffled(choices: RandomChoices, cluster: Cluster) -> Cluster:
    """The same things in another order."""
    return Cluster(
        choices.shuffled(cluster.nodes),
        choices.shuffled(cluster.pods),
        choices.shuffled(cluster.pools),
        cluster.jobs[::-1],
    )


@given(clusters(), requested(), drawn(18, lambda choices: choices))
@examples(250)
def test_the_order_of_nodes_pods_and_pools_does_not_matter(cluster: Cluster, pod: Json, choices: RandomChoices) -> None:
    other = decision_core.inventory(shuffled(choices, cluster))
    assert answer(pod, other) == answer(pod, decision_core.inventory(cluster))


@given(clusters(), requested())
@examples(100)
def test_asked_again_the_answer_is_the_same(cluster: Cluster, pod: Json) -> None:
    inventory = decision_core.inventory(cluster)
    assert answer(pod, inventory) == answer(pod, inventory)


@given(clusters(), requested())
@examples(100)
def test_a_decision_changes_nothing_that_it_was_given(cluster: Cluster, pod: Json) -> None:
    inventory, before = decision_core.inventory(cluster), msgspec.json.encode(pod)
    answer(pod, inventory)
    assert msgspec.json.encode(pod) == before
    assert answer(pod, inventory) == answer(pod, decision_core.inventory(cluster))
