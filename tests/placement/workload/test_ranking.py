"""The nodes that can run a pod, in the order in which they are preferred, and how replicas share them."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.builders import GIB, NAMESPACE, Json, bound_pod, cluster, node, nodes, pod, pool, typed
from tests.placement.spreading_pods import APP, apart, spread
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.workload.ranking import Ranked, preferences, rank
from webhook.placement.workload.workload import decide_replicas

ZONED = cluster([node("node-a", labels={"zone": "x"}), node("node-b", labels={"zone": "y"}), node("node-c")])
CASES = {
    "three equal nodes share six pods two by two": (pod(), 6, [2, 2, 2]),
    "one more goes to the first name": (pod(), 7, [3, 2, 2]),
    "a node holds as many as it offers room for": (pod(requests={"cpu": "3"}), 7, [2, 2, 2]),
    "one on a node by exlocation": (pod('hostExlocation("t")'), 2, [1, 1, 0]),
    "one on a node, and no more than there are nodes": (pod('hostExlocation("t")'), 5, [1, 1, 1]),
    "all on one node by colocation": (pod('hostColocation("t")'), 3, [3, 0, 0]),
    "as many as one node holds": (pod('hostColocation("t")', requests={"cpu": "3"}), 3, [2, 0, 0]),
    "apart and together is one pod": (pod('hostColocation("t"), hostExlocation("u")'), 3, [1, 0, 0]),
}


def ranked(found: Json, inventory: Inventory, count: int = 1) -> list[Ranked]:
    """The ranking of so many replicas of a pod that nothing is wrong with."""
    decision = decide_replicas(typed(found), NAMESPACE, inventory, Policy(), Replicas(count))
    assert decision.verdict is not None
    return rank(decision.ask, decision.verdict, World(inventory, Policy()), count)


def prefers(*terms: tuple[int, Mapping[str, Any]]) -> Json:
    """Preferred node affinity of these weights and terms."""
    said = [{"weight": weight, "preference": term} for weight, term in terms]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": said}}


def zone(*values: str) -> Json:
    return {"matchExpressions": [{"key": "zone", "operator": "In", "values": list(values)}]}


def shares(found: Json, inventory: Inventory, count: int) -> dict[str, int | None]:
    """The replicas of each candidate."""
    return {each.node: each.replicas for each in ranked(found, inventory, count)}


def test_candidates_stand_in_the_order_of_their_cost() -> None:
    inventory = cluster(nodes(3), pods=[bound_pod("node-a", requests={"cpu": 4000})])
    assert ranked(pod(), inventory) == [Ranked("node-b", 1000), Ranked("node-c", 1000), Ranked("node-a", 1250)]


def test_equal_costs_stand_in_the_order_of_the_names_whatever_came_first() -> None:
    inventory = cluster(nodes(3)[::-1])
    assert [each.node for each in ranked(pod(), inventory)] == ["node-a", "node-b", "node-c"]


def test_only_candidates_are_ranked() -> None:
    assert [each.node for each in ranked(pod('host("node-b")'), ZONED)] == ["node-b"]


def test_without_candidates_there_is_no_ranking() -> None:
    assert ranked(pod('host("node-z")'), ZONED, 3) == []


def test_what_the_pod_requests_counts() -> None:
    inventory = cluster([node("node-a"), node("node-b", cpu=16000)])
    found = ranked(pod(requests={"cpu": "8"}), inventory)
    assert found == [Ranked("node-b", 1250), Ranked("node-a", 1500)]


def test_the_pods_own_preferences_count() -> None:
    found = ranked(pod(affinity=prefers((60, zone("y")), (10, zone("x", "y")))), ZONED)
    assert found == [Ranked("node-b", 930), Ranked("node-a", 990), Ranked("node-c", 1000)]


def test_a_preferred_constraint_counts_a_hundred() -> None:
    found = ranked(pod('host("node-c")', annotations={keys.PREFERRED: "host"}), ZONED)
    assert found == [Ranked("node-c", 900), Ranked("node-a", 1000), Ranked("node-b", 1000)]


def test_a_preference_that_the_webhook_has_added_already_counts_once() -> None:
    """As it is in a pod that comes a second time."""
    own = prefers((100, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-c"]}]}))
    found = ranked(pod('host("node-c")', annotations={keys.PREFERRED: "host"}, affinity=own), ZONED)
    assert found[0] == Ranked("node-c", 900)


@pytest.mark.parametrize("affinity", [None, {}, {"nodeAffinity": {}}, prefers()], ids=str)
def test_a_pod_that_prefers_nothing_has_no_preferences(affinity: Json | None) -> None:
    decision = decide_replicas(typed(pod(affinity=affinity)), NAMESPACE, ZONED, Policy(), Replicas())
    assert decision.verdict is not None
    assert preferences(decision.ask, decision.verdict, World(ZONED, Policy())) == ()


def test_preferred_pod_affinity_is_left_to_the_scheduler() -> None:
    """It depends on where pods run by then."""
    preferred = pod('hostExlocation("t")', annotations={keys.PREFERRED: "hostExlocation"})
    assert {each.cost for each in ranked(preferred, ZONED)} == {1000}


def test_a_pod_of_its_own_has_no_shares() -> None:
    assert {each.replicas for each in ranked(pod(), ZONED)} == {None}


@pytest.mark.parametrize(("found", "count", "expected"), CASES.values(), ids=CASES)
def test_replicas_share_the_nodes(found: Json, count: int, expected: list[int]) -> None:
    assert shares(found, cluster(nodes(3)), count) == dict(zip(("node-a", "node-b", "node-c"), expected, strict=True))


def test_a_preferred_node_gets_more_replicas() -> None:
    """Two weights of 100 stand for two pods more."""
    found = pod(affinity=prefers((100, zone("y")), (100, zone("y"))))
    assert shares(found, ZONED, 5) == {"node-b": 3, "node-a": 1, "node-c": 1}


def test_replicas_that_go_past_the_scheduler_get_what_is_free() -> None:
    inventory = cluster(nodes(1), pods=[bound_pod("node-a", requests={"cpu": 4000})])
    found = pod('host("node-a")', annotations={keys.HOST_BINDING: "nodeName"}, requests={"cpu": "2"})
    assert shares(found, inventory, 3) == {"node-a": 2}


def test_pods_that_lie_together_go_where_all_of_them_are_cheapest() -> None:
    """One pod would be cheaper on the small node, but three are dearer."""
    inventory = cluster(
        [node("big", memory=128 * GIB), node("small")], pods=[bound_pod("big", requests={"memory": 38 * GIB})]
    )
    together = pod('hostColocation("t")', requests={"memory": "6Gi"})
    assert [(each.node, each.cost) for each in ranked(together, inventory)] == [("small", 1093), ("big", 1171)]
    assert shares(together, inventory, 3) == {"small": 0, "big": 3}


def test_pods_that_lie_together_go_where_all_of_them_fit() -> None:
    inventory = cluster([node("big", cpu=16000), node("small")], pods=[bound_pod("big", requests={"cpu": 14000})])
    assert shares(pod('hostColocation("t")', requests={"cpu": "4"}), inventory, 3) == {"big": 3}


def test_replicas_that_are_spread_or_keep_apart_share_what_domains_take() -> None:
    zones = cluster(
        [node("node-a", labels={"zone": "x"}, pods=1), node("node-b", labels={"zone": "y"}), node("node-c")]
    )
    assert shares(pod(topologySpreadConstraints=spread("zone")), zones, 3) == {"node-a": 1, "node-b": 2}
    keeping = pod(labels=APP, affinity=apart("zone"))
    assert shares(keeping, zones, 4) == {"node-a": 1, "node-b": 1, "node-c": 2}


def test_hosts_of_a_pool_are_shared_like_other_nodes() -> None:
    inventory = cluster(nodes(3), [pool("P", size=2, assigned=["node-a", "node-c"])])
    assert shares(pod("host(P)"), inventory, 4) == {"node-a": 2, "node-c": 2}
