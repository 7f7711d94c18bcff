"""The rules that explain a pool's hosts are those by which they are chosen."""

from hypothesis import given

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from webhook.placement.checks.completion import complete
from webhook.placement.checks.eligibility import hurdles, ruled_out
from webhook.placement.pools.allocation import allocate
from webhook.placement.request.world import World


@given(clusters())
@examples(200)
def test_the_nodes_that_clear_every_hurdle_are_the_eligible_ones(cluster: Cluster) -> None:
    world = World(decision_core.inventory(cluster), decision_core.POLICY)
    for pool in world.inventory.pools.values():
        left = world.everything
        for rule in hurdles(pool, world):
            left &= rule.nodes
        if pool.size is not None:
            assert left.bit_count() == world.allocation(pool).eligible


@given(clusters())
@examples(100)
def test_every_other_node_is_ruled_out_once(cluster: Cluster) -> None:
    world = World(decision_core.inventory(cluster), decision_core.POLICY)
    for pool in world.inventory.pools.values():
        out = [reason.nodes for reason in ruled_out(hurdles(pool, world), world)]
        clear = world.everything & ~sum(out)
        assert sum(nodes.bit_count() for nodes in out) + clear.bit_count() == world.everything.bit_count()
        assert [nodes.bit_count() for nodes in out] == sorted((nodes.bit_count() for nodes in out), reverse=True)


@given(clusters())
@examples(100)
def test_a_pool_is_objected_to_exactly_if_it_cannot_have_all_of_its_hosts(cluster: Cluster) -> None:
    world = World(decision_core.inventory(cluster), decision_core.POLICY)
    for pool in world.inventory.pools.values():
        if pool.sized:
            found = complete(pool, world)
            assert bool(found.refusal or found.warning) == bool(
                allocate(pool, world.inventory, decision_core.POLICY).reason
            )
            assert not (found.refusal and pool.elastic)
