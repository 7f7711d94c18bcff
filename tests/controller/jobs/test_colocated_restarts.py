"""Elements that share a node, when their node is drained or lost, or cannot take all of them any more."""

from typing import Any

import pytest

from tests.apiserver.paths import node_path, pod_path
from tests.controller.jobs.colocation_scheduler import DEVICE, ColocationScheduler, required
from tests.controller.jobs.job_cluster import JobCluster

Json = dict[str, Any]

NODES = {"node-0": 4, "node-1": 1, "node-2": 4}


def element(number: int, **more: Any) -> Json:
    template = {"spec": {"containers": [{"name": "main", "image": "i", "resources": {"limits": {DEVICE: 1}}}]}}
    operator = {"name": f"Op{number}", "placement": 'hostColocation("a")'}
    return {"name": f"grp-{number}", "operators": [operator], "template": template, **more}


def where(cluster: JobCluster) -> dict[str, str]:
    """The nodes of pods that run, by name of the pod."""
    return {
        name: cluster.pod(name)["spec"]["nodeName"]
        for name in cluster.pods
        if (cluster.pod(name).get("status") or {}).get("phase") == "Running"
    }


async def started(cluster: JobCluster, **options: Any) -> str:
    """A group of three that runs; returns its node."""
    ColocationScheduler(cluster, NODES)
    more = {"restartDeletedPod": True, **options}
    cluster.job("grp", processingElement=more, processingElements=[element(at) for at in range(3)])
    await cluster.lead()
    nodes = set(where(cluster).values())
    assert len(where(cluster)) == 3
    assert len(nodes) == 1
    return nodes.pop()


def cordon(cluster: JobCluster, node: str) -> None:
    spec = cluster.kube.objects[node_path(node)]["spec"]
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    cluster.kube.change(node_path(node), {"spec": {**spec, "unschedulable": True, "taints": [taint]}})


def other(node: str) -> str:
    return "node-2" if node == "node-0" else "node-0"


@pytest.mark.untraced
@pytest.mark.parametrize("pause", [0.0, 0.1, 0.3, 0.6, 2.0])
async def test_a_drained_group_goes_to_another_node_together(cluster: JobCluster, pause: float) -> None:
    node = await started(cluster)
    cordon(cluster, node)
    for name in list(cluster.pods):
        cluster.delete(pod_path(name))
        await cluster.wait(pause)
    await cluster.wait(60)
    assert len(where(cluster)) == 3
    assert set(where(cluster).values()) == {other(node)}


async def test_a_group_of_which_one_pod_was_evicted_moves_as_a_whole(cluster: JobCluster) -> None:
    node = await started(cluster)
    cordon(cluster, node)
    cluster.delete(pod_path("grp-1-1"))
    await cluster.wait(5)
    assert cluster.pods == ["grp-0-1", "grp-2-1"]
    assert cluster.condition(cluster.element("grp-1"), "PodCreated")[:2] == ("False", "Stranded")
    await cluster.wait(40)
    assert where(cluster) == dict.fromkeys(["grp-0-2", "grp-1-2", "grp-2-2"], other(node))
    assert ("Moved", "grp-0, grp-2 are restarted: the node has no room for all elements that share it") in cluster.said
    assert cluster.element_status("grp-0")["restarts"] == 0
    assert cluster.condition(cluster.found("grp"), "Satisfiable")[0] == "True"


async def test_a_group_with_an_element_that_must_not_be_restarted_says_that_it_is_stranded(cluster: JobCluster) -> None:
    node = await started(cluster, restartFailedPod=False)
    cordon(cluster, node)
    cluster.delete(pod_path("grp-1-1"))
    await cluster.wait(40)
    assert sorted(where(cluster)) == ["grp-0-1", "grp-2-1"]
    said = (
        f"grp-1 finds no node: grp-0, grp-2 of its colocation run on {node}, where it cannot run, and grp-0, grp-2 "
        "must not be restarted"
    )
    assert cluster.condition(cluster.found("grp"), "Satisfiable") == ("False", "Stranded", said)
    assert ("Stranded", said) in cluster.said
    cluster.kube.change(node_path(node), {"spec": {"unschedulable": False, "taints": []}})
    await cluster.wait(10)
    assert where(cluster) == dict.fromkeys(["grp-0-1", "grp-1-2", "grp-2-1"], node)
    assert cluster.condition(cluster.found("grp"), "Satisfiable")[0] == "True"
    assert ("Satisfiable", "3 processing elements can run at the same time") in cluster.said


async def test_a_group_whose_node_is_lost_waits_for_one_that_holds_all_of_it(cluster: JobCluster) -> None:
    node = await started(cluster)
    cordon(cluster, other(node))
    cluster.kube.delete(node_path(node))
    for name in list(cluster.pods):
        cluster.kube.remove(pod_path(name))
    await cluster.wait(40)
    assert cluster.pods == []
    assert cluster.condition(cluster.found("grp"), "Satisfiable")[0] == "False"
    cluster.kube.change(node_path(other(node)), {"spec": {"unschedulable": False, "taints": []}})
    await cluster.wait(10)
    assert set(where(cluster).values()) == {other(node)}


@pytest.mark.untraced
@pytest.mark.parametrize("after", [0.2, 0.6, 1.0, 1.6, 12.0])
async def test_a_group_whose_controller_dies_meanwhile(cluster: JobCluster, after: float) -> None:
    node = await started(cluster)
    cordon(cluster, node)
    for name in list(cluster.pods)[: 1 if after > 10 else None]:
        cluster.delete(pod_path(name))
    await cluster.wait(after)
    await cluster.lead()
    await cluster.wait(60)
    assert len(where(cluster)) == 3
    assert set(where(cluster).values()) == {other(node)}


async def test_pods_whose_planned_node_is_lost_are_sent_elsewhere(cluster: JobCluster) -> None:
    scheduler = ColocationScheduler(cluster, NODES)
    cluster.binds = lambda _: ""
    cluster.job("grp", processingElements=[element(at) for at in range(3)])
    await cluster.lead()
    (node,) = {found["name"] for found in cluster.status("grp")["plan"]["nodes"]}
    cordon(cluster, node)
    cluster.binds = scheduler
    await cluster.wait(40)
    assert where(cluster) == dict.fromkeys(["grp-0-2", "grp-1-2", "grp-2-2"], other(node))


async def test_a_node_that_the_scheduler_refuses_a_group_is_not_planned_again(cluster: JobCluster) -> None:
    scheduler = ColocationScheduler(cluster, {**NODES, "node-1": 4})
    options = {"restartDeletedPod": True}
    cluster.job("grp", processingElement=options, processingElements=[element(at) for at in range(3)])
    await cluster.lead()
    (node,) = set(where(cluster).values())
    cordon(cluster, node)
    left = {f"node-{at}" for at in range(3)} - {node}
    first: set[str] = set()

    def binds(pod: Json) -> str:
        first.update(required(pod) if len(first) < 1 else ())
        scheduler.shut = first
        return scheduler(pod)

    cluster.binds = binds
    for name in list(cluster.pods):
        cluster.delete(pod_path(name))
    await cluster.wait(100)
    assert first < left
    assert set(where(cluster).values()) == left - first
    assert len(where(cluster)) == 3


@pytest.mark.untraced
async def test_a_group_waits_where_no_other_node_is_left(cluster: JobCluster) -> None:
    node = await started(cluster)
    scheduler = ColocationScheduler(cluster, NODES)
    scheduler.shut = {other(node)}
    cordon(cluster, node)
    for name in list(cluster.pods):
        cluster.delete(pod_path(name))
    await cluster.wait(200)
    assert cluster.pods == ["grp-0-2", "grp-1-2", "grp-2-2"]
    assert not where(cluster)
    assert cluster.condition(cluster.found("grp"), "Satisfiable")[:2] == ("False", "Stranded")
    scheduler.shut = set()
    await cluster.wait(10)
    assert set(where(cluster).values()) == {other(node)}
