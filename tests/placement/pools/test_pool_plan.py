"""What the controller is to make true of a pool, and that admission expects the same."""

from typing import Any

import pytest

from tests.builders import bound_pod, cluster, node, nodes, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.pools.pool_plan import PoolPlan, granted, hopeless, marked_nodes, plan, published, taint_of
from webhook.placement.request.world import World
from webhook.placement.text import keys

POLICY = Policy()
LABEL = keys.membership("default", "p")
OWN = Taint(keys.EXCLUSIVE, "default.p", "NoSchedule")
OTHERS = Taint(keys.EXCLUSIVE, "default.q", "NoSchedule")
CORDONED = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")


def asked(**tweaks: Any) -> Pool:
    return pool(name="p", **{"size": 2, "phase": Phase.PENDING, **tweaks})


def labelled(name: str, index: str, *taints: Taint) -> Node:
    return node(name, labels={LABEL: index}, taints=taints)


def hosts(found: PoolPlan) -> list[str]:
    return [f"{host.index}:{host.name}" for host in found.hosts]


def planned(wanted: Pool, inventory: Inventory, **more: Any) -> tuple[list[str], tuple[str, ...]]:
    """Hosts and stray nodes."""
    found = plan(wanted, inventory, POLICY, **more)
    return hosts(found), found.stray


def test_a_pool_gets_all_of_its_hosts() -> None:
    assert plan(asked(), cluster(nodes(3)), POLICY) == PoolPlan(
        (PoolHost(0, "node-a", "uid-of-node-a"), PoolHost(1, "node-b", "uid-of-node-b")), 3, "", ()
    )


def test_or_none_of_them() -> None:
    assert plan(asked(), cluster(nodes(1)), POLICY) == PoolPlan((), 1, "it needs 2 hosts and 1 node is eligible", ())


def test_but_what_has_been_published_stays() -> None:
    ready = asked(phase=Phase.READY, assigned=["node-a", "gone"])
    assert planned(ready, cluster(nodes(1))) == (["0:node-a"], ())


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param([labelled("node-c", "1")], (["0:node-a", "1:node-c"], ()), id="a label is a claim"),
        pytest.param([labelled("node-c", "1", OWN)], (["0:node-a", "1:node-c"], ()), id="so is one with its taint"),
        pytest.param(
            [labelled("node-c", "0"), labelled("node-d", "0")],
            (["0:node-c", "1:node-a"], ("node-d",)),
            id="of two claims to one index the first by name counts",
        ),
        pytest.param([labelled("node-c", "01")], (["0:node-a", "1:node-c"], ()), id="an index is a number"),
        pytest.param([labelled("node-c", "2")], (["0:node-a", "1:node-b"], ("node-c",)), id="beyond the size"),
        pytest.param([labelled("node-c", "-1")], (["0:node-a", "1:node-b"], ("node-c",)), id="a negative one"),
        pytest.param([labelled("node-c", "")], (["0:node-a", "1:node-b"], ("node-c",)), id="no index"),
        pytest.param([labelled("node-c", "1", CORDONED)], (["0:node-a", "1:node-b"], ("node-c",)), id="unusable"),
        pytest.param([labelled("node-c", "1", OTHERS)], (["0:node-a", "1:node-b"], ("node-c",)), id="another pool's"),
    ],
)
def test_what_an_earlier_controller_had_claimed_comes_first(found: list[Node], expected: Any) -> None:
    assert planned(asked(), cluster([*nodes(2), *found])) == expected


def test_a_claim_to_an_index_that_is_given_counts_for_nothing() -> None:
    ready = asked(phase=Phase.READY, assigned=["node-a", "node-b"])
    assert planned(ready, cluster([*nodes(2), labelled("node-c", "1")])) == (["0:node-a", "1:node-b"], ("node-c",))


def test_a_claim_to_the_place_of_a_host_that_is_gone_counts() -> None:
    ready = asked(phase=Phase.READY, assigned=["node-a", "gone"])
    assert planned(ready, cluster([*nodes(2), labelled("node-z", "1")])) == (["0:node-a", "1:node-z"], ())


def test_a_barred_node_is_neither_claimed_nor_chosen() -> None:
    inventory = cluster([*nodes(3), labelled("node-d", "0")])
    excluded = inventory.nodes.named("node-a") | inventory.nodes.named("node-d")
    assert planned(asked(), inventory, excluded=excluded) == (["0:node-b", "1:node-c"], ("node-d",))


def test_a_barred_node_is_none_to_a_literal_pool() -> None:
    literal, inventory = (
        asked(size=None, hosts=["node-a", "node-b"], phase=Phase.READY, assigned=["node-a"]),
        cluster(nodes(2)),
    )
    assert planned(literal, inventory, excluded=inventory.nodes.named("node-b")) == (["0:node-a"], ())


def test_a_dismissed_host_is_replaced_in_its_place() -> None:
    ready = asked(phase=Phase.READY, assigned=["node-a", "node-b"])
    inventory = cluster([labelled("node-a", "0", CORDONED), labelled("node-b", "1"), node("node-c")])
    assert planned(ready, inventory, dismissed={0}) == (["0:node-c", "1:node-b"], ("node-a",))


def test_labels_of_a_literal_pool_are_no_claims() -> None:
    literal = asked(size=None, hosts=["node-a"])
    assert planned(literal, cluster([node("node-a"), labelled("node-b", "0")])) == (["0:node-a"], ("node-b",))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (asked(phase=Phase.READY, assigned=["node-a"]), True),
        (asked(phase=Phase.READY), False),
        (asked(phase=Phase.FAILED, assigned=["node-a"]), True),
        (asked(phase=Phase.PENDING, assigned=["node-a"]), False),
        (asked(phase=Phase.RELEASING, assigned=["node-a"]), False),
    ],
)
def test_a_pool_is_published_when_it_is_ready_and_has_hosts(found: Pool, *, expected: bool) -> None:
    assert published(found) is expected


OPEN, CLOSED = node("node-a"), node("node-b", taints=[Taint("dedicated", "x", "NoSchedule")])
HAS = pool("Other", size=1, mode="Exclusive", assigned=["node-a"])


@pytest.mark.parametrize(
    ("wanted", "there", "expected"),
    [
        pytest.param(asked(size=2), [OPEN], True, id="more than there are"),
        pytest.param(asked(size=1), [OPEN], False, id="as many as there are"),
        pytest.param(asked(size=2), [OPEN, CLOSED], True, id="closed to everybody"),
        pytest.param(asked(size=2), [OPEN, node("node-b", taints=[OTHERS])], True, id="exclusive to another"),
        pytest.param(asked(size=2), [OPEN, node("node-b", taints=[OWN])], False, id="marked for it"),
        pytest.param(asked(size=2), [labelled("node-a", "0")], False, id="labelled for it"),
        pytest.param(asked(size=2, phase=Phase.READY, assigned=["node-a"]), [OPEN], False, id="a pool that has hosts"),
        pytest.param(asked(size=None, hosts=["x", "y"]), [OPEN], False, id="a literal pool"),
    ],
)
def test_hopeless_is_a_pool_that_asks_for_more_than_there_is(
    wanted: Pool, there: list[Node], *, expected: bool
) -> None:
    assert hopeless(wanted, cluster(there, [wanted])) is expected


def test_hosts_of_an_exclusive_pool_are_open_to_no_pod_before_they_are_marked() -> None:
    assert hopeless(asked(size=2), cluster([OPEN, node("node-b")], [HAS]))


def test_a_pool_that_cannot_be_completed_is_not_even_chosen_for() -> None:
    found = plan(asked(size=3), cluster([OPEN, CLOSED]), Policy())
    assert (found.hosts, found.eligible, found.reason) == ((), 1, "it needs 3 hosts and 1 node is eligible")


def test_marked_are_nodes_with_the_label_or_the_taint() -> None:
    found = [labelled("node-b", "x"), node("node-a", taints=[OWN]), node("node-c", taints=[OTHERS])]
    assert marked_nodes(("default", "p"), cluster(found)) == ["node-a", "node-b"]


@pytest.mark.parametrize(
    ("found", "policy", "expected"),
    [
        (asked(), POLICY, None),
        (asked(mode="Exclusive"), POLICY, OWN),
        (asked(mode="Exclusive"), Policy(exclusive_effect="NoExecute"), Taint(OWN.key, OWN.value, "NoExecute")),
    ],
)
def test_only_exclusive_pools_have_a_taint(found: Pool, policy: Policy, expected: Taint | None) -> None:
    assert taint_of(found, policy) == expected


def test_admission_expects_the_hosts_that_the_controller_has_claimed_already() -> None:
    """A pod of a pending pool is judged by them, though others would be cheaper by now."""
    wanted = asked(size=1)
    inventory = cluster([*nodes(2), labelled("node-z", "0")], [wanted], [bound_pod("node-z", pools=["MyPool"])])
    predicted = World(inventory, POLICY).hosts(wanted)
    assert (predicted, hosts(plan(wanted, inventory, POLICY))) == ({0: inventory.nodes.named("node-z")}, ["0:node-z"])
    assert granted(wanted, inventory, POLICY) == World(inventory, POLICY).allocation(wanted)
