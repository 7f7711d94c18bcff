"""Where strangers to a pool are, against each pod asked by itself, and whatever has come and gone."""

from hypothesis import given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import STRANGERS, Cluster
from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placement.properties.strategies import clusters
from webhook.placement.pools.allocation import is_stranger, strangers

SPARED = frozenset({STRANGERS})


@given(clusters())
@examples(150)
def test_they_are_on_the_nodes_of_pods_that_are(cluster: Cluster) -> None:
    found = decision_core.inventory(cluster, SPARED)
    there = {node.name for node in cluster.nodes}
    for pool in cluster.pools:
        expected = {pod.node for pod in cluster.pods if is_stranger(pod, pool, found)} & there
        assert decision_core.names(strangers(pool, found) & found.nodes.everything, found) == expected


@given(clusters())
@examples(150)
def test_where_all_pods_count_there_is_none_less(cluster: Cluster) -> None:
    few, many = decision_core.inventory(cluster), decision_core.inventory(cluster, SPARED)
    for pool in cluster.pools:
        assert decision_core.names(strangers(pool, few), few) <= decision_core.names(strangers(pool, many), many)


@given(clusters(), drawn(40, lambda choices: choices))
@examples(100)
def test_nothing_is_kept_of_pods_that_are_gone(cluster: Cluster, choices: RandomChoices) -> None:
    found = decision_core.inventory(cluster, ())
    for pod in choices.shuffled(list(cluster.pods)):
        found.remove_pod(pod.uid)
    assert list(found.foreign_pods.nodes()) == []
