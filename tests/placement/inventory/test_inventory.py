"""The cluster, kept up to date one object at a time."""

import pytest

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, job, node, nodes, pool
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.node import Node
from webhook.placement.text import keys

MY_POOL = (NAMESPACE, "mypool")


def used(inventory: Inventory, name: str = "node-a") -> int:
    """Pods counted on a node."""
    return inventory.nodes.capacity.used("pods", inventory.nodes.slot_of.get(name, 10**6))


def test_a_bound_pod_uses_what_it_requests() -> None:
    inventory = cluster([node()], pods=[bound_pod(requests={"cpu": 1500})])
    assert inventory.nodes.capacity.used("cpu", 0) == 1500


def test_a_pod_that_waits_holds_nothing() -> None:
    inventory = cluster([node()], pods=[bound_pod(on="")])
    assert (used(inventory), inventory.job_pods(NAMESPACE, JOB).everyone.nodes) == (0, 0)


def test_a_pod_of_no_job_is_counted_but_is_not_a_sibling() -> None:
    inventory = cluster([node()], pods=[bound_pod(job="")])
    assert (used(inventory), list(inventory.jobs_with_pods())) == (1, [])


@pytest.mark.parametrize("name", [JOB, ""], ids=["of a job", "of nobody"])
def test_a_pod_that_is_gone_gives_everything_back(name: str) -> None:
    inventory = cluster([node()], pods=[bound_pod(job=name, uid="u")])
    inventory.remove_pod("u")
    assert (used(inventory), list(inventory.jobs_with_pods())) == (0, [])


def test_every_pod_is_known_by_its_uid_until_it_is_gone() -> None:
    inventory = cluster([node()], pods=[bound_pod(uid="1"), bound_pod("", uid="2"), bound_pod("", job="", uid="3")])
    known = inventory.pod_uids
    everybody = {*known}
    inventory.remove_pod("2")
    inventory.remove_pod("3")
    assert (everybody, known) == ({"1", "2", "3"}, {"1"})


def test_only_a_pod_that_is_bound_is_there() -> None:
    inventory = cluster([node()], pods=[bound_pod(uid="1"), bound_pod("", job="", uid="2")])
    assert [inventory.has_pod(uid) for uid in ("1", "2", "3")] == [True, False, False]


def test_a_pod_that_was_never_seen_can_be_removed() -> None:
    inventory = cluster([node()])
    inventory.remove_pod("u")
    assert used(inventory) == 0


def test_a_pod_that_changes_is_counted_once() -> None:
    inventory = cluster([node()], pods=[bound_pod(uid="u"), bound_pod(uid="u", pe="parallel-2")])
    assert (used(inventory), inventory.job_pods(NAMESPACE, JOB).elements.keys()) == (1, {"parallel-2"})


def test_a_pod_that_is_being_deleted_uses_its_node_but_repels_no_pod() -> None:
    inventory = cluster([node()], pods=[bound_pod(uid="u", terminating=True)])
    assert (used(inventory), inventory.job_pods(NAMESPACE, JOB).everyone.nodes) == (1, 0)
    inventory.remove_pod("u")
    assert used(inventory) == 0


def test_a_job_keeps_its_other_pods_when_one_is_gone() -> None:
    inventory = cluster(nodes(2), pods=[bound_pod("node-a", uid="u"), bound_pod("node-b")])
    inventory.remove_pod("u")
    assert inventory.job_pods(NAMESPACE, JOB).everyone.nodes == 0b10


def test_a_pod_may_be_seen_before_its_node() -> None:
    inventory = cluster(pods=[bound_pod("node-b")])
    inventory.set_node(node("node-a"))
    inventory.set_node(node("node-b"))
    assert (used(inventory, "node-b"), inventory.nodes.everything.bit_count()) == (1, 2)


def test_a_pod_may_outlive_its_node() -> None:
    inventory = cluster([node()], pods=[bound_pod(uid="u")])
    inventory.remove_node("node-a")
    inventory.remove_pod("u")
    assert inventory.nodes.slot_of == {}


def test_jobs_come_and_go() -> None:
    inventory = cluster(jobs=[job({"parallel-0": "hostIsolation"})])
    assert list(inventory.jobs) == [(NAMESPACE, JOB)]
    inventory.remove_job(NAMESPACE, JOB)
    inventory.remove_job(NAMESPACE, JOB)
    assert inventory.jobs == {}


def test_pools_of_one_name_are_found_sorted_by_object() -> None:
    inventory = cluster(pools=[pool("P", name="b"), pool("P", name="a"), pool("P", name="c", namespace="other")])
    assert [found.name for found in inventory.pools.named(NAMESPACE, "P")] == ["a", "b"]


def test_a_pool_that_changes_its_spl_name_is_found_under_the_new_one() -> None:
    inventory = cluster(pools=[pool("P", name="a"), pool("Q", name="a")])
    assert [len(inventory.pools.named(NAMESPACE, name)) for name in ("P", "Q")] == [0, 1]


def test_a_pool_that_is_gone_leaves_the_other_of_its_name() -> None:
    inventory = cluster(pools=[pool("P", name="a"), pool("P", name="b")])
    inventory.remove_pool(NAMESPACE, "a")
    assert [found.name for found in inventory.pools.named(NAMESPACE, "P")] == ["b"]


def test_a_pool_that_is_gone_leaves_no_trace() -> None:
    inventory = cluster(nodes(1), pools=[pool(size=1, assigned=["node-a"], mode="Exclusive")])
    inventory.pools.hosts(inventory.pools[MY_POOL])
    inventory.remove_pool(*MY_POOL)
    assert (inventory.pools, inventory.pools.members, inventory.pools.named(NAMESPACE, "MyPool")) == ({}, {}, [])
    assert inventory.pools.exclusives() == {}


def test_a_pool_that_was_never_seen_can_be_removed() -> None:
    inventory = cluster(pools=[pool()])
    inventory.remove_pool(NAMESPACE, "other")
    assert list(inventory.pools) == [MY_POOL]


def test_a_membership_label_leads_to_its_pool() -> None:
    assert cluster(pools=[pool()]).pools.members == {keys.membership(*MY_POOL): MY_POOL}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(node(), 0b1, id="same node"),
        pytest.param(node(uid="another"), 0, id="another node of that name"),
        pytest.param(node(uid=""), 0b1, id="a node without a uid is taken at its name"),
        pytest.param(node("node-b"), 0, id="no such node"),
    ],
)
def test_a_host_is_a_node_of_that_name_and_uid(now: Node, expected: int) -> None:
    given = pool(size=1, assigned=["node-a"])
    assert cluster([now], pools=[given]).pools.hosts(given) == {0: expected}


def test_a_recreated_node_is_no_longer_the_host() -> None:
    given = pool(size=1, assigned=["node-a"], mode="Exclusive")
    inventory = cluster([node()], pools=[given])
    before = inventory.pools.hosts(given), inventory.pools.claimed([])
    inventory.set_node(node(uid="another"))
    assert (before, inventory.pools.hosts(given), inventory.pools.claimed([])) == (({0: 1}, 1), {0: 0}, 0)


def test_a_changed_label_of_a_node_keeps_its_hosts() -> None:
    given = pool(size=1, assigned=["node-a"])
    inventory = cluster([node()], pools=[given])
    before = inventory.pools.hosts(given)
    inventory.set_node(node(labels={"zone": "1"}))
    assert inventory.pools.hosts(given) is before


def test_a_removed_node_is_no_longer_the_host() -> None:
    given = pool(size=1, assigned=["node-a"])
    inventory = cluster([node()], pools=[given])
    inventory.pools.hosts(given)
    inventory.remove_node("node-a")
    assert inventory.pools.hosts(given) == {0: 0}


def test_only_other_exclusive_pools_claim_their_hosts() -> None:
    pools = [
        pool("A", size=1, assigned=["node-a"], mode="Exclusive"),
        pool("B", size=1, assigned=["node-b"], mode="Exclusive"),
        pool("C", size=1, assigned=["node-c"]),
    ]
    assert cluster(nodes(3), pools=pools).pools.claimed([(NAMESPACE, "a")]) == 0b010


def test_a_job_that_says_the_same_changes_nothing() -> None:
    inventory = cluster(jobs=[job({"p0": "hostIsolation"})])
    model, version = inventory.jobs["default", "parallel"], inventory.jobs_version
    inventory.set_job(job({"p0": "hostIsolation"}))
    assert (inventory.jobs["default", "parallel"] is model, inventory.jobs_version) == (True, version)
    inventory.set_job(job({"p0": ""}))
    assert inventory.jobs_version == version + 1
