"""Elastic HostPools that lack nodes: node groups can make these, or the pool is refused."""

import itertools
import random

import pytest

from tests.builders import cluster, node, pool
from tests.suite.example_count import some_of
from webhook.placement.checks.completion import Completion, complete
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pool import Pool
from webhook.placement.request.world import World
from webhook.placement.text import keys

AUTO = Policy(scale_up="auto")
IB = {keys.TAG: "ib"}
SHORT = "HostPool MyPool cannot be completed: it needs 3 hosts and 1 node is eligible."


def group(name: str, tag: str = "ib", **tweaks: object) -> NodeGroup:
    """A group whose nodes have the tag."""
    return NodeGroup("NodePool", name, **{"labels": {keys.TAG: LabelValues.one_of(tag)}, **tweaks})  # type: ignore[arg-type]


def completion(*groups: NodeGroup, wanted: Pool | None = None, policy: Policy = AUTO) -> Completion:
    """That of a pool of three hosts in a cluster with one node for it."""
    inventory = cluster([node("node-a", labels=IB)])
    for one in groups:
        inventory.node_groups.put(one)
    return complete(wanted or pool(size=3, tags=["ib"], elastic=True), World(inventory, policy))


@pytest.mark.parametrize(
    ("groups", "named"),
    [
        pytest.param([group("a", count=2)], "NodePool a", id="as many as it lacks"),
        pytest.param([group("a"), group("b", "blue")], "NodePool a", id="any number"),
        pytest.param([group("a", count=1), group("b", count=1)], "NodePool a, NodePool b", id="several groups"),
        pytest.param([group("a", taints=(Taint("a", "b", "PreferNoSchedule"),))], "NodePool a", id="a soft taint"),
        pytest.param([group("a", labels={}, unstated="live")], "NodePool a", id="labels of nodes there are"),
    ],
)
def test_groups_that_can_make_the_nodes_are_named(groups: list[NodeGroup], named: str) -> None:
    found = completion(*groups)
    assert found.refusal is None
    assert found.warning == f"no hosts yet: {SHORT} {named} can make the missing nodes."


def test_a_pool_that_no_groups_can_complete_is_refused_with_the_reason_of_each() -> None:
    found = completion(
        group("few", count=1), group("blue", "blue"), group("closed", closed="is being deleted"),
        group("infra", taints=(Taint("dedicated", "infra", "NoSchedule"),)),
    )  # fmt: skip
    assert found.warning == ""
    assert found.refusal is not None
    assert found.refusal.text.splitlines() == [
        SHORT,
        "  NodePool blue makes no nodes with streams.ibm.com/hostpool=ib (it makes blue)",
        "  NodePool closed is being deleted",
        "  NodePool few can make only 1 more node",
        "  NodePool infra makes nodes with the taint dedicated=infra:NoSchedule",
        "Nearest fix: add a node with the label streams.ibm.com/hostpool=ib, or lower size to 2.",
    ]


def test_the_nodes_that_groups_make_count_in_what_a_refused_pool_is_advised() -> None:
    smaller = pool(size=2, tags=["ib"], elastic=True)
    assert completion(group("few", count=1), wanted=smaller).refusal is None


def test_many_groups_are_counted_where_a_pool_is_refused() -> None:
    found = completion(*(group(f"p{at}", "blue") for at in range(11)))
    assert found.refusal is not None
    assert found.refusal.text.splitlines()[-2] == "  3 more node groups do not make enough either"


@pytest.mark.parametrize(
    ("groups", "policy", "wanted"),
    [
        pytest.param([group("blue", "blue")], Policy(), None, id="the setting off"),
        pytest.param([group("blue", "blue")], Policy(scale_up="auto", elastic=True), None, id="elastic"),
        pytest.param([], AUTO, None, id="no groups"),
        pytest.param([group("blue", "blue")], AUTO, pool(hosts=["gone"], elastic=True), id="a list of hosts"),
    ],
)
def test_where_no_group_is_asked_an_elastic_pool_waits_for_any_nodes(
    groups: list[NodeGroup], policy: Policy, wanted: Pool | None
) -> None:
    found = completion(*groups, policy=policy, wanted=wanted)
    assert found.refusal is None
    assert found.warning.startswith("no hosts yet: HostPool MyPool cannot be completed:")
    assert "NodePool" not in found.warning


def test_a_pool_that_is_not_elastic_goes_by_the_nodes_there_are() -> None:
    found = completion(group("a"), wanted=pool(size=3, tags=["ib"]))
    assert found.refusal is not None
    assert "NodePool" not in found.refusal.text


@pytest.mark.examples
def test_random_pools_are_completed_as_every_way_to_make_nodes_says() -> None:
    for seed in range(some_of(600)):
        chance = random.Random(seed)  # noqa: S311 -- the same cases each time
        groups = [
            group(name, labels={keys.TAG: LabelValues.one_of(*chance.sample(("ib", "blue"), chance.choice((1, 2))))},
                  count=chance.choice((0, 1, 2, 3)))
            for name in "abc"[: chance.randint(1, 3)]
        ]  # fmt: skip
        size = chance.randint(1, 6)
        made = itertools.product(
            *(
                itertools.combinations_with_replacement(sorted(one.labels[keys.TAG].values or ()), one.count or 0)
                for one in groups
            )
        )
        possible = any(1 + [*itertools.chain.from_iterable(tags)].count("ib") >= size for tags in made)
        found = completion(*groups, wanted=pool(size=size, tags=["ib"], elastic=True))
        assert (found.refusal is None) == possible, f"case {seed}"
