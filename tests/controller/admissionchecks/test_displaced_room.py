"""Room of Workloads that passed, where pods do not come on the nodes that it is kept on: it is kept elsewhere then."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.apiserver.paths import node_path, pool_path
from tests.controller.admissionchecks.checked_cluster import CheckedCluster, asked, pod_set
from webhook.placement.text import keys


@pytest.fixture
async def four() -> AsyncIterator[CheckedCluster]:
    """Four nodes of 8 CPUs."""
    checked = CheckedCluster("node-a", "node-b", "node-c", "node-d")
    await checked.lead()
    yield checked
    await checked.end()


async def asks(checked: CheckedCluster, name: str, seconds: float = 1.0, **spec: Any) -> str:
    """The state of the check of a Workload with one pod, which takes most of a node."""
    return await asked(checked, name, pod_set(**{"cpu": "6", "job": name, **spec}), seconds=seconds)


def bind(checked: CheckedCluster, name: str, node: str) -> None:
    """The scheduler binds the pod of a Workload."""
    checked.run(f"pod-{name}", node, cpu="6", labels={keys.JOB: name})


async def test_pods_that_are_bound_where_others_were_planned_leave_room_for_no_one_else(four: CheckedCluster) -> None:
    """Six ask for four nodes, and the scheduler binds each pod where another one was planned."""
    for number in range(4):
        assert await asks(four, f"job-{number}") == "Ready"
    planned = [four.planned(f"job-{number}")[0] for number in range(4)]
    bind(four, "job-0", planned[1])
    assert await asks(four, "job-4") == "Retry"
    bind(four, "job-1", planned[2])
    bind(four, "job-2", planned[3])
    assert await asks(four, "job-5") == "Retry"


async def test_pods_of_others_leave_no_room_free_that_was_promised(four: CheckedCluster) -> None:
    """As pods do that ask for no placement."""
    assert await asks(four, "first") == "Ready"
    (node,) = four.planned("first")
    four.occupy(node)
    assert await asks(four, "second") == "Ready"
    assert four.planned("first") != [node]
    assert await asks(four, "third") == "Ready"
    assert await asks(four, "fourth") == "Retry"


@pytest.mark.parametrize("end", ["deleted", "cordoned"])
async def test_a_node_that_no_pod_can_use_any_more_keeps_no_room(four: CheckedCluster, end: str) -> None:
    for number in range(3):
        assert await asks(four, f"job-{number}") == "Ready"
    (node,) = four.planned("job-0")
    if end == "deleted":
        four.kube.remove(node_path(node))
    else:
        four.retaint(node, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    await four.answered()
    assert await asks(four, "next") == "Retry"
    assert four.planned("job-0") != [node]


async def test_where_one_can_only_run_on_certain_nodes_the_room_of_others_makes_way(four: CheckedCluster) -> None:
    """One after the other there is no room for it, and together there is."""
    four.relabel("node-a", disk="fast")
    four.relabel("node-b", disk="fast")
    assert await asks(four, "picky", nodeSelector={"disk": "fast"}) == "Ready"
    assert await asks(four, "first") == "Ready"
    assert await asks(four, "second") == "Ready"
    (node,) = four.planned("picky")
    other = {"node-a": "node-b", "node-b": "node-a"}[node]
    assert [other] in (four.planned("first"), four.planned("second"))
    four.occupy(node)
    assert await asks(four, "next") == "Retry"
    assert four.planned("picky") == [other]
    assert four.planned("first") != [other] != four.planned("second")


async def test_what_lost_its_room_gets_what_comes_free(four: CheckedCluster) -> None:
    """Before anything else: its pods wait already."""
    four.occupy("node-b", "node-c", "node-d")
    assert await asks(four, "first") == "Ready"
    four.occupy("node-a")
    assert await asks(four, "second") == "Retry"
    four.kube.remove("/api/v1/namespaces/others/pods/other-node-c")
    assert await asks(four, "third") == "Retry"
    assert four.planned("first") == ["node-c"]


async def test_what_lost_its_room_gets_the_next_host_of_its_pool(four: CheckedCluster) -> None:
    four.kube.create(pool_path("p"), spec={"name": "P", "hosts": ["node-a"]})
    await four.answered(5)
    assert await asks(four, "first", placement="host(P)") == "Ready"
    assert four.planned("first") == ["node-a"]
    four.occupy("node-a", "node-c", "node-d")
    assert await asks(four, "second", placement="host(P)") == "Retry"
    assert four.planned("first") == ["node-a"]
    four.kube.change(pool_path("p"), {"spec": {"hosts": ["node-a", "node-b"]}})
    await four.answered(5)
    assert await asks(four, "third") == "Retry"
    assert four.planned("first") == ["node-b"]


async def test_a_pod_takes_the_room_on_its_own_node_if_several_workloads_are_alike(four: CheckedCluster) -> None:
    for name in ("one", "two", "three", "four"):
        assert await asks(four, name, job="alike") == "Ready"
    for name in ("four", "three"):
        (node,) = four.planned(name)
        four.run(f"pod-{name}", node, cpu="6", labels={keys.JOB: "alike"})
        await four.answered()
        assert four.planned(name) == []
    assert await asks(four, "five") == "Retry"


async def test_a_pod_that_comes_while_another_workload_is_judged_leaves_it_no_room() -> None:
    """The one that is judged is read from the API server in the meantime."""
    checked = CheckedCluster("node-a", "node-b")
    checked.latency = 0.5
    await checked.lead()
    for name in ("first", "second"):
        assert await asks(checked, name, seconds=5) == "Ready"
    (node,) = checked.planned("second")
    checked.workload("third", pod_set(cpu="6", job="third"))
    await checked.answered(0.7)
    bind(checked, "first", node)
    await checked.answered(5)
    assert checked.answer("third")[0] == "Retry"
    await checked.end()
