"""Where strangers to a pool are, against each pod asked by itself, and whatever has come and gone."""

from hypothesis import given

from tests.placement.properties import decision_core as core
from tests.placement.properties.clusters import STRANGERS, Cluster
from tests.placement.properties.random_choices import Dice, examples, thrown
from tests.placement.properties.strategies import clusters
from webhook.placement.pools.allocation import is_stranger, strangers

SPARED = frozenset({STRANGERS})


@given(clusters())
@examples(150)
def test_they_are_on_the_nodes_of_pods_that_are(cluster: Cluster) -> None:
    found = core.inventory(cluster, SPARED)
    there = {node.name for node in cluster.nodes}
    for pool in cluster.pools:
        expected = {pod.node for pod in cluster.pods if is_stranger(pod, pool, found)} & there
        assert core.names(strangers(pool, found) & found.nodes.everything, found) == expected


@given(clusters())
@examples(150)
def test_where_all_pods_count_there_is_none_less(cluster: Cluster) -> None:
    few, many = core.inventory(cluster), core.inventory(cluster, SPARED)
    for pool in cluster.pools:
        assert core.names(strangers(pool, few), few) <= core.names(strangers(pool, many), many)


@given(clusters(), thrown(40, lambda dice: dice))
@examples(100)
def test_nothing_is_kept_of_pods_that_are_gone(cluster: Cluster, dice: Dice) -> None:
    found = core.inventory(cluster, ())
    for pod in dice.shuffled(list(cluster.pods)):
        found.remove_pod(pod.uid)
    assert list(found.outsiders.nodes()) == []
