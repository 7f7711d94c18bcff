"""Workloads with more pods than there is room for, where node groups can make nodes for the others."""

from typing import Any

import pytest

from tests.builders import GIB, cluster, node
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.problem import Fault

AUTO = Policy(scale_up="auto")
APART = 'hostExlocation("t")'
TOGETHER = 'hostColocation("t")'
LARGE = {"cpu": 8000, "memory": 32 * GIB, "pods": 110}
SSD = {"disktype": LabelValues.one_of("ssd")}


def with_groups(*groups: NodeGroup) -> Inventory:
    """A cluster of one node with 8 cores, and these groups."""
    inventory = cluster([node("node-a")])
    for group in groups:
        inventory.node_groups.put(group)
    return inventory


def sized(name: str = "p", **tweaks: Any) -> NodeGroup:
    """A group of nodes as large as the one there is."""
    return NodeGroup("NodePool", name, offers=LARGE, **tweaks)


def doubts(decision: Decision) -> list[str]:
    """What an admitted workload is warned of."""
    assert not decision.refused, decision.message
    return list(decision.warnings)


def lines(decision: Decision) -> list[str]:
    """What a refused workload is told of node groups."""
    assert (decision.refused, decision.fault) == (True, Fault.FORBIDDEN)
    found = (line.strip() for line in decision.message.split("\n")[1:-1])
    return [line for line in found if line.startswith("NodePool")]


@pytest.mark.parametrize(
    ("placement", "count", "group", "requests"),
    [
        pytest.param(APART, 5, sized(), {}, id="one on each of any number of nodes"),
        pytest.param(APART, 5, sized(count=4), {}, id="one on each of enough nodes"),
        pytest.param(None, 6, sized(count=2), {"cpu": "3"}, id="two on each node"),
        pytest.param(None, 6, sized(remaining={"cpu": 12000}), {"cpu": "3"}, id="within the limits"),
        pytest.param(
            TOGETHER, 4, NodeGroup("NodePool", "p", offers={"cpu": 64000}), {"cpu": "8"}, id="all on one node"
        ),
    ],
)
def test_the_pods_that_lack_room_wait_for_new_nodes(
    placement: str | None, count: int, group: NodeGroup, requests: dict[str, str]
) -> None:
    found = crowded(placement, count, with_groups(group), AUTO, requests=requests)
    [doubt] = doubts(found)
    assert doubt.startswith("no room yet: NodePool p can make one")
    assert found.wait is None


@pytest.mark.parametrize(
    ("placement", "count", "group", "requests", "room"),
    [
        pytest.param(APART, 6, sized(count=4), {}, 4, id="one on each of too few nodes"),
        pytest.param(None, 7, sized(count=2), {"cpu": "3"}, 4, id="two on each node"),
        pytest.param(None, 7, sized(remaining={"cpu": 13000}), {"cpu": "3"}, 4, id="beyond the limits"),
        pytest.param(TOGETHER, 4, NodeGroup("NodePool", "p", offers={"cpu": 24000}), {"cpu": "8"}, 3, id="all on one"),
    ],
)
def test_a_workload_that_new_nodes_have_no_room_for_is_refused(
    placement: str | None, count: int, group: NodeGroup, requests: dict[str, str], room: int
) -> None:
    found = crowded(
        placement, count, with_groups(group, sized("closed", closed="is being deleted")), AUTO, requests=requests
    )
    assert lines(found) == [f"NodePool p has room for {room} of these pods", "NodePool closed is being deleted"]


def test_rooms_of_several_groups_add_up() -> None:
    """Also that of the nodes there are."""
    groups = with_groups(sized("a", count=2), sized("b", count=2))
    assert doubts(crowded(APART, 5, groups, AUTO)) == ["no room yet: NodePool a, NodePool b can make one"]
    refused = crowded(APART, 6, groups, AUTO)
    assert len(lines(refused)) == 2
    assert "add a node with room for one more of them, or lower replicas to 5, or" in refused.message


def test_a_workload_none_of_whose_pods_could_run_waits_for_new_nodes() -> None:
    """All of its pods need room there."""
    groups = with_groups(sized(labels=SSD, count=3))
    found = crowded(APART, 3, groups, AUTO, nodeSelector={"disktype": "ssd"})
    assert doubts(found) == ["no node yet: NodePool p can make one"]
    assert found.wait is not None
    few = crowded(APART, 4, groups, AUTO, nodeSelector={"disktype": "ssd"})
    assert few.headline == "nodeSelector disktype=ssd cannot hold: 0 of 1 node can run this pod."
    assert lines(few) == ["NodePool p has room for 3 of these pods"]
    assert few.message.splitlines()[-1].startswith("Nearest fix: lower replicas to 3, or label one more node disk")
    assert (few.warnings, few.wait) == ((), None)  # what is refused is not said to wait as well


def test_a_rollout_with_a_pod_to_spare_has_no_fewer_than_no_replicas() -> None:
    groups = with_groups(sized(labels=SSD, count=1))
    found = crowded(APART, 2, groups, AUTO, nodeSelector={"disktype": "ssd"}, spare=True)
    assert found.message.splitlines()[-1].startswith("Nearest fix: label one more node disktype=ssd")


def test_a_workload_without_pods_yet_is_only_warned() -> None:
    groups = with_groups(sized(labels=SSD, count=1))
    found = crowded(APART, 4, groups, AUTO, nodeSelector={"disktype": "ssd"}, suspended=True)
    assert doubts(found) == [
        "no node yet: NodePool p can make one",
        "not yet: nodeSelector disktype=ssd cannot hold: 0 of 1 node can run this pod.",
    ]


def test_where_no_group_is_able_all_of_them_are_named() -> None:
    groups = with_groups(sized("tainted", taints=(Taint("a", "b", "NoSchedule"),)))
    assert lines(crowded(TOGETHER, 2, groups, AUTO, requests={"cpu": "8"})) == [
        "NodePool tainted: a new node has the taint a=b:NoSchedule"
    ]


def test_without_the_setting_new_nodes_do_not_count() -> None:
    assert lines(crowded(APART, 2, with_groups(sized()), Policy())) == []


def test_no_number_of_nodes_keeps_clauses_that_exclude_one_another() -> None:
    found = crowded(f"{APART}, {TOGETHER}", 2, with_groups(sized()), AUTO)
    assert (found.refused, found.fault) == (True, Fault.INVALID)
