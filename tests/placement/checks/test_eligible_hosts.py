"""Which nodes a pool may take."""

import pytest

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, node, nodes, pool, selector
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import CONTROL_PLANE, Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
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


OTHER = pool("Other", size=1, mode="Exclusive", assigned=["node-a"])


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        pytest.param(node(labels={CONTROL_PLANE: ""}), pool(size=1), id="runs the control plane"),
        pytest.param(node(), pool(size=1, tags=["ib"]), id="has not the tag"),
        pytest.param(node(labels={keys.TAG: "ib"}), pool(size=1, tags=["ib", "blue"]), id="has not all the tags"),
        pytest.param(node(), pool(size=1, selector=selector("disk", "In", "ssd")), id="does not meet the selector"),
        pytest.param(
            node(taints=[Taint(keys.EXCLUSIVE, "default.other", "NoSchedule")]),
            pool(size=1),
            id="has another pool's taint",
        ),
        pytest.param(node(taints=[Taint("dedicated", "x", "NoSchedule")]), pool(size=1), id="has a taint of others"),
    ],
)
def test_a_node_cannot_serve_that(found: Node, wanted: Pool) -> None:
    assert allocated(wanted, cluster([found]))[:2] == ([], 0)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        pytest.param(node(labels={keys.TAG: "ib"}), pool(size=1, tags=["ib"]), id="has the only tag"),
        pytest.param(
            node(labels={f"{keys.TAGS}ib": "", f"{keys.TAGS}blue": "x"}),
            pool(size=1, tags=["ib", "blue"]),
            id="has all the tags",
        ),
        pytest.param(
            node(labels={"disk": "ssd"}), pool(size=1, selector=selector("disk", "In", "ssd")), id="meets the selector"
        ),
        pytest.param(
            node(taints=[Taint(keys.EXCLUSIVE, "default.mypool", "NoSchedule")]),
            pool(size=1),
            id="has the pool's own taint",
        ),
        pytest.param(
            node(taints=[Taint("dedicated", "x", "PreferNoSchedule")]), pool(size=1), id="has a taint that keeps nobody"
        ),
    ],
)
def test_a_node_can_serve_that(found: Node, wanted: Pool) -> None:
    assert allocated(wanted, cluster([found]))[:2] == (["0:node-a"], 1)


def test_hosts_of_another_exclusive_pool_are_not_taken() -> None:
    assert allocated(pool(size=1), cluster(nodes(2), pools=[OTHER]))[:2] == (["0:node-b"], 1)


EXCLUSIVE = pool(size=1, mode="Exclusive")


@pytest.mark.parametrize(
    ("wanted", "pod", "expected"),
    [
        pytest.param(EXCLUSIVE, bound_pod(job="other"), 0, id="of a job that does not use the pool"),
        pytest.param(EXCLUSIVE, bound_pod(job="other", pools=["MyPool"]), 1, id="of any job that uses it"),
        pytest.param(
            EXCLUSIVE, bound_pod(pools=["MyPool"], namespace="other"), 0, id="of another namespace's pool of that name"
        ),
        pytest.param(EXCLUSIVE, bound_pod(job=""), 1, id="of no job at all"),
        pytest.param(EXCLUSIVE, bound_pod(terminating=True), 0, id="that is being deleted and still runs"),
        pytest.param(
            pool(size=1, mode="Exclusive", job=JOB), bound_pod(pools=["MyPool"]), 1, id="of the job that owns the pool"
        ),
        pytest.param(
            pool(size=1, mode="Exclusive", job=JOB),
            bound_pod(job="other", pools=["MyPool"]),
            0,
            id="of another job than the one that owns it",
        ),
        pytest.param(pool(size=1), bound_pod(job="other"), 1, id="of anybody, for a shared pool"),
    ],
)
def test_an_exclusive_pool_takes_no_node_with_a_strangers_element(wanted: Pool, pod: PodInfo, expected: int) -> None:
    assert allocated(wanted, cluster([node()], pods=[pod]))[1] == expected


def test_the_administrator_says_which_nodes_may_be_pooled() -> None:
    policy = Policy(poolable=selector("poolable", "Exists"))
    inventory = cluster([node("node-a"), node("node-b", labels={"poolable": ""})])
    assert names(allocate(pool(size=1), inventory, policy)) == ["0:node-b"]


def test_a_pool_of_a_job_in_another_namespace_is_a_stranger_too() -> None:
    wanted = pool(size=1, mode="Exclusive", namespace="other")
    assert allocated(wanted, cluster([node()], pods=[bound_pod(namespace=NAMESPACE, pools=["MyPool"])]))[1] == 0
