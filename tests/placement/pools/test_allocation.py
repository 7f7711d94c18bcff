"""Which hosts a pool gets."""

from typing import Any, Literal

import pytest

from tests.builders import bound_pod, cluster, node, nodes, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.objects.pool_labels import tag_requirements
from webhook.placement.pools.allocation import Allocation, allocate
from webhook.placement.text import keys

POLICY = Policy()


def names(found: Allocation) -> list[str]:
    """The hosts as ``index:name``."""
    return [f"{host.index}:{host.name}" for host in found.hosts]


def allocated(wanted: Pool, inventory: Inventory) -> tuple[list[str], int, str]:
    """Hosts, number of eligible nodes, and reason."""
    found = allocate(wanted, inventory, POLICY)
    return names(found), found.eligible, found.reason


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        pytest.param([], (), id="none"),
        pytest.param(["ib"], (Requirement("streams.ibm.com/hostpool", "In", ("ib",)),), id="one is a value"),
        pytest.param(["ib", "ib"], (Requirement("streams.ibm.com/hostpool", "In", ("ib",)),), id="one written twice"),
        pytest.param(
            ["ib", "blue"],
            (
                Requirement("hostpool.streams.ibm.com/blue", "Exists"),
                Requirement("hostpool.streams.ibm.com/ib", "Exists"),
            ),
            id="several are keys, sorted",
        ),
    ],
)
def test_tags_are_node_labels(tags: list[str], expected: tuple[Requirement, ...]) -> None:
    assert tag_requirements(tags) == expected


def test_the_cheapest_nodes_are_taken_and_then_by_name() -> None:
    busy = bound_pod("node-a", job="", requests={"cpu": 4000})
    assert allocated(pool(size=2), cluster(nodes(3), pods=[busy])) == (["0:node-b", "1:node-c"], 3, "")


def test_a_host_is_known_by_its_uid_too() -> None:
    assert allocate(pool(size=1), cluster(nodes(1)), POLICY).hosts[0].uid == "uid-of-node-a"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(["node-c"], ["0:node-c", "1:node-a"], id="what it has stays"),
        pytest.param(["gone", "node-c"], ["0:node-a", "1:node-c"], id="a vanished host is replaced in its place"),
        pytest.param(["node-a", "node-b", "node-c"], ["0:node-a", "1:node-b"], id="hosts beyond the size are left"),
    ],
)
def test_an_entry_keeps_its_index(given: list[str], expected: list[str]) -> None:
    assert allocated(pool(size=2, assigned=given), cluster(nodes(3)))[0] == expected


def test_a_host_is_kept_that_is_no_longer_eligible() -> None:
    own = {keys.membership("default", "mypool"): "0"}
    tainted = node("node-z", labels=own, taints=[Taint(keys.EXCLUSIVE, "other.pool", "NoSchedule")])
    assert allocated(pool(size=1, assigned=["node-z"]), cluster([*nodes(1), tainted])) == (["0:node-z"], 2, "")


@pytest.mark.parametrize(
    ("size", "count", "expected"),
    [
        pytest.param(1, 0, "it needs 1 host and 0 nodes are eligible", id="one of none"),
        pytest.param(2, 1, "it needs 2 hosts and 1 node is eligible", id="two of one"),
        pytest.param(5, 3, "it needs 5 hosts and 3 nodes are eligible", id="five of three"),
    ],
)
def test_a_shortage_is_explained(size: int, count: int, expected: str) -> None:
    hosts, eligible, reason = allocated(pool(size=size), cluster(nodes(count)))
    assert (len(hosts), eligible, reason) == (count, count, expected)


ADDRESSED = [node("node-a", addresses=["10.0.0.1"]), node("node-b", addresses=["10.0.0.2", "10.0.0.9"])]


@pytest.mark.parametrize(
    ("hosts", "expected", "reason"),
    [
        pytest.param(["node-b", "10.0.0.1"], ["0:node-b", "1:node-a"], "", id="names and addresses, in order"),
        pytest.param(["node-b", "gone"], ["0:node-b"], "it lists 2 hosts and finds 1 node", id="no such node"),
        pytest.param(["10.0.0.7", "node-b"], ["1:node-b"], "it lists 2 hosts and finds 1 node", id="no such address"),
        pytest.param(["node-a", "10.0.0.1"], ["0:node-a"], "it lists 2 hosts and finds 1 node", id="one node twice"),
        pytest.param(["x", "y"], [], "it lists 2 hosts and finds 0 nodes", id="none of them"),
        pytest.param([], [], "", id="an empty list"),
    ],
)
def test_a_literal_pool_is_its_list(hosts: list[str], expected: list[str], reason: str) -> None:
    assert allocated(pool(hosts=hosts), cluster(ADDRESSED)) == (expected, len(expected), reason)


@pytest.mark.parametrize("by", ["taint", "status"])
def test_a_node_of_an_exclusive_pool_is_none_of_a_literal_one(by: str) -> None:
    closed = [Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")] if by == "taint" else []
    others = pool("Other", size=1, mode="Exclusive", assigned=["node-a"])
    inventory = cluster([node("node-a", taints=closed), node("node-b")], [others] if by == "status" else [])
    assert allocated(pool(hosts=["node-a", "node-b"]), inventory) == (
        ["1:node-b"],
        1,
        "it lists 2 hosts and finds 1 node, as 1 host is exclusive to another HostPool",
    )


def test_what_a_literal_pool_has_stays_when_an_exclusive_one_takes_it() -> None:
    closed = [Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")]
    mine, own = pool(hosts=["node-a"], assigned=["node-a"]), {keys.membership("default", "mypool"): "0"}
    assert allocated(mine, cluster([node("node-a", labels=own, taints=closed)], [mine])) == (["0:node-a"], 1, "")


CLOSED = [Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")]


@pytest.mark.parametrize(
    "victim",
    [
        pytest.param(node("node-z", labels={"node-role.kubernetes.io/control-plane": ""}), id="that may not be pooled"),
        pytest.param(node("node-z", taints=CLOSED), id="that is another pool's"),
    ],
)
@pytest.mark.parametrize("spec", [{"size": 1}, {"hosts": ["10.0.0.9"]}], ids=["sized", "literal"])
def test_a_status_alone_gives_no_node(victim: Node, spec: dict[str, Any]) -> None:
    forged = pool(**spec, assigned=["node-z"])
    assert allocated(forged, cluster([victim], [forged]))[0] == []


def test_a_status_alone_gives_no_host_of_another_pools_status() -> None:
    owner = pool("Owner", size=1, mode="Exclusive", assigned=["node-z"])
    forged = pool(size=1, assigned=["node-z"])
    assert allocated(forged, cluster([node("node-z")], [owner, forged]))[0] == []


def test_two_hosts_that_are_others_are_counted() -> None:
    closed = [Taint(keys.EXCLUSIVE, "secret.tenant", "NoSchedule")]
    inventory = cluster([node(name, taints=closed) for name in ("node-a", "node-b")])
    assert allocated(pool(hosts=["node-a", "node-b"]), inventory)[2] == (
        "it lists 2 hosts and finds 0 nodes, as 2 hosts are exclusive to another HostPool"
    )


def test_an_address_of_two_nodes_is_none() -> None:
    twins = [node(name, addresses=["10.0.0.1"]) for name in ("node-a", "node-b")]
    assert allocated(pool(hosts=["10.0.0.1"]), cluster(twins))[2] == "it lists 1 host and finds 0 nodes"


def member(name: str, of: str) -> Node:
    """A node with the label of the pool of that object name."""
    return node(name, labels={keys.membership("default", of): "0"})


@pytest.mark.parametrize("mode", ["Shared", "Exclusive"])
def test_nodes_of_no_pool_come_first_whatever_they_cost(mode: Literal["Shared", "Exclusive"]) -> None:
    there = [member("node-a", "other"), node("node-b"), member("node-c", "other")]
    busy = bound_pod("node-b", job="", requests={"cpu": 4000})
    inventory = cluster(there, [pool("Other", size=2, assigned=["node-a", "node-c"])], [busy])
    assert allocated(pool(size=2, mode=mode), inventory) == (["0:node-b", "1:node-a"], 3, "")


def test_its_own_label_puts_no_node_last() -> None:
    wanted = pool(size=1)
    assert allocated(wanted, cluster([member("node-a", "mypool"), node("node-b")], [wanted]))[0] == ["0:node-a"]


def test_a_label_that_no_pool_stands_for_puts_no_node_last() -> None:
    assert allocated(pool(size=1), cluster([member("node-a", "gone"), node("node-b")]))[0] == ["0:node-a"]


LISTED = pool("L", hosts=["node-a"], phase=Phase.PENDING)


def test_an_exclusive_pool_takes_nodes_last_that_a_pool_without_hosts_lists() -> None:
    own = pool(size=1, mode="Exclusive", phase=Phase.PENDING)
    assert allocated(own, cluster(nodes(2), [own, LISTED])) == (["0:node-b"], 2, "")
    assert allocated(own, cluster(nodes(1), [own, LISTED])) == (["0:node-a"], 1, "")
    shared = pool(size=1, phase=Phase.PENDING)
    assert allocated(shared, cluster(nodes(2), [shared, LISTED])) == (["0:node-a"], 2, "")
    elsewhere = pool("L", namespace="other", hosts=["node-a"], phase=Phase.PENDING)
    assert allocated(own, cluster(nodes(2), [own, elsewhere])) == (["0:node-a"], 2, "")
