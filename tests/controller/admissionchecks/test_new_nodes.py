"""Workloads of Kueue that the nodes there are cannot run, where node groups may make nodes for them."""

from collections.abc import AsyncIterator

import pytest

from tests.builders import GIB
from tests.controller.admissionchecks.checked_cluster import APART, CheckedCluster, pod_set
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup

PAIR = NodeGroup("node shape", "big", offers={"cpu": 8000, "memory": 32 * GIB, "pods": 110}, count=2)
AUTO = Policy(scale_up="auto", node_shapes=(PAIR,))
MADE = "node groups can make {} of node shape big"


@pytest.fixture
async def growing() -> AsyncIterator[CheckedCluster]:
    """Three nodes, and two more that can be made."""
    growing = CheckedCluster(policy=AUTO)
    yield growing
    await growing.end()


async def test_one_that_new_nodes_help_is_ready_since_autoscalers_look_at_pods(growing: CheckedCluster) -> None:
    """Kueue makes its pods only then."""
    growing.workload("waits", pod_set(count=5, placement=APART))
    await growing.lead()
    assert growing.answer("waits") == ("Ready", f"no room yet for 2 of 5 pods (main): {MADE.format('2 nodes')}")


async def test_room_is_kept_on_the_nodes_there_are_and_not_on_new_ones(growing: CheckedCluster) -> None:
    """So two may count on the same new nodes."""
    growing.workload("one", pod_set(count=4, cpu="8"))
    await growing.lead()
    assert growing.answer("one") == ("Ready", f"no room yet for 1 of 4 pods (main): {MADE.format('1 node')}")
    growing.workload("two", pod_set(count=2, cpu="8"))
    await growing.answered()
    assert growing.answer("two") == ("Ready", f"no room yet for 2 of 2 pods (main): {MADE.format('2 nodes')}")
    growing.workload("three", pod_set(count=3, cpu="8"))
    await growing.answered()
    assert growing.answer("three")[0] == "Retry"


async def test_a_new_leader_keeps_that_room(growing: CheckedCluster) -> None:
    growing.workload("one", pod_set(count=4, cpu="8"))
    await growing.lead()
    await growing.lead()
    growing.workload("two", pod_set(count=1, cpu="8"))
    await growing.answered()
    assert growing.answer("two") == ("Ready", f"no room yet for 1 of 1 pod (main): {MADE.format('1 node')}")
    growing.kube.remove(growing.path("one"))
    growing.workload("three", pod_set(count=3, cpu="8"))
    await growing.answered()
    assert growing.answer("three") == ("Ready", "3 pods can run at the same time")


async def test_one_that_fits_beside_others_with_no_new_node_is_told_to_retry(growing: CheckedCluster) -> None:
    """It needs the nodes that others fill, as well as those that can be made; then it is ready."""
    growing.occupy("node-a", "node-b")
    growing.workload("waits", pod_set(count=4, placement=APART))
    await growing.lead()
    state, message = growing.answer("waits")
    assert (state, message) == ("Retry", f"{APART} cannot hold: 1 of 4 pods fits (main).")
    growing.kube.remove(growing.path("waits"))
    growing.workload("again", pod_set(count=3, placement=APART))
    await growing.answered()
    assert growing.answer("again")[0] == "Ready"


async def test_one_that_is_more_than_all_nodes_that_can_be_is_rejected(growing: CheckedCluster) -> None:
    growing.workload("large", pod_set(count=6, placement=APART))
    await growing.lead(15)
    assert growing.answer("large") == ("Rejected", f"{APART} cannot hold: 3 of 6 pods fit (main).")


async def test_pods_that_no_group_makes_a_node_for_are_rejected(growing: CheckedCluster) -> None:
    growing.workload("misspelt", pod_set(nodeSelector={"disktype": "sssd"}, placement=APART))
    growing.workload("large", pod_set(cpu="9", placement=APART))
    await growing.lead(15)
    assert growing.answer("misspelt")[0] == "Rejected"
    assert growing.answer("large")[0] == "Rejected"


async def test_a_node_group_that_comes_wakes_what_waits_for_it(growing: CheckedCluster) -> None:
    growing.occupy("node-a", "node-b")
    growing.workload("waits", pod_set(count=4, placement=APART))
    await growing.lead()
    growing.evict("waits")
    await growing.answered(5)
    assert growing.stored("waits")["status"]["requeueState"]["requeueAt"]
    growing.kube.create("/apis/karpenter.sh/v1/nodepools/more", spec={"template": {"spec": {"requirements": []}}})
    await growing.answered(5)
    assert "requeueAt" not in growing.stored("waits")["status"]["requeueState"]
    growing.reserve("waits")
    await growing.answered()
    assert growing.answer("waits")[0] == "Ready"
