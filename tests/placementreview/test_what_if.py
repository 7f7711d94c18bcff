"""What-ifs: nodes that are drained, cordoned and added, and pods that are gone."""

from typing import Any

import msgspec
import pytest

from tests.builders import GIB, node
from tests.placementreview.asked import asked
from webhook.cluster.objects import wire
from webhook.cluster.objects.nodes import UNSCHEDULABLE
from webhook.cluster.objects.pods import bound_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placementreview import what_if as module
from webhook.placementreview.answer import UnanswerableReviewError
from webhook.placementreview.review import (
    AddedNodes,
    AddedShape,
    AddedTaint,
    PodName,
    ReviewStatus,
    WhatIf,
)
from webhook.placementreview.what_if import NeededPods, needed_pods

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}


def asking(cpu: str = "1", placement: str = "partitionIsolation") -> dict[str, Any]:
    """A pod that asks for placement."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "asks", "annotations": {keys.PLACEMENT: placement}},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
    }


def running(name: str, on: str, *, cpu: str = "1", **metadata: Any) -> dict[str, Any]:
    """A pod of a ReplicaSet that runs on the node."""
    own = {"name": name, "namespace": "default", "uid": name, "ownerReferences": [OWNER]}
    spec = {"nodeName": on, "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}
    return {"metadata": {**own, **metadata}, "spec": spec, "status": {"phase": "Running"}}


def cluster(*nodes: Any) -> Inventory:
    inventory = Inventory()
    for one in nodes:
        inventory.set_node(one)
    return inventory


def candidates(status: ReviewStatus) -> list[str]:
    [result] = status.results
    assert result.candidates
    return list(result.candidates.nodes or ())


def test_a_cordoned_node_takes_no_pod() -> None:
    inventory = cluster(node("node-a"), node("node-b", taints=[UNSCHEDULABLE]))
    status = asked(inventory, asking(), what_if=WhatIf(cordon=("node-a", "node-b")))
    assert status.results[0].verdict == "Refused"
    assert [(one.rule, one.count) for one in status.results[0].closed] == [("is cordoned", 2)]


def test_nodes_are_added_like_one_that_is_there() -> None:
    labels = {"disktype": "ssd", f"{keys.MEMBERSHIP}x": "0"}
    taints = [UNSCHEDULABLE, Taint(keys.EXCLUSIVE, "p", "NoSchedule"), Taint("soft", "", "PreferNoSchedule")]
    inventory = cluster(node("node-a", labels=labels, taints=taints, addresses=["10.0.0.1"]), node("added-1"))
    asked(inventory, what_if=WhatIf(add_nodes=(AddedNodes(2, "node-a"),)))
    added = inventory.nodes.get("added-3")
    assert added
    assert added.labels == {"disktype": "ssd", keys.HOSTNAME: "added-3"}
    assert added.taints == (taints[2],)
    assert (added.addresses, added.allocatable["cpu"]) == ((), 8000)
    assert inventory.nodes.get("added-2")
    assert not inventory.nodes.get("added-4")


def test_nodes_are_added_of_a_shape() -> None:
    shape = AddedShape({"cpu": 64, "memory": "256Gi"}, {"gpu": "yes"}, (AddedTaint("dedicated", "NoSchedule", "gpu"),))
    inventory = cluster(node("node-a"))
    what_if = WhatIf(add_nodes=(AddedNodes(2, shape=shape), AddedNodes(1, shape=AddedShape({"cpu": "90", "pods": 5}))))
    status = asked(inventory, asking("70"), what_if=what_if)
    assert candidates(status) == ["added-3"]
    assert [(one.reason, one.count) for one in status.results[0].closed] == [
        ("has the taint dedicated=gpu:NoSchedule", 2),
        ("has less than cpu 70", 1),
    ]
    first, last = inventory.nodes.get("added-1"), inventory.nodes.get("added-3")
    assert first
    assert last
    assert first.allocatable == {"cpu": 64000, "memory": 256 * GIB, "pods": 110}
    assert last.allocatable == {"cpu": 90000, "pods": 5}


def test_removed_pods_use_nothing() -> None:
    pod = running("big", "node-a", cpu="6")
    inventory = cluster(node("node-a"))
    run(inventory, pod)
    outright = asking("4", 'host("node-a")')
    outright["metadata"]["annotations"][keys.HOST_BINDING] = "nodeName"
    assert asked(inventory, outright).results[0].verdict == "Refused"
    status = asked(inventory, outright, pods=[pod], what_if=WhatIf(remove_pods=(PodName("big"),)))
    assert status.results[0].verdict == "Admitted"


def test_a_removed_pod_is_not_evicted() -> None:
    pods = [running("one", "node-a"), running("two", "node-a")]
    inventory = cluster(node("node-a"), node("node-b"))
    run(inventory, *pods)
    what_if = WhatIf(drain=("node-a",), remove_pods=(PodName("one", "default"),))
    status = asked(inventory, pods=pods, what_if=what_if)
    assert [(one.name, one.node) for one in status.evicted] == [("two", "node-b")]


def test_pods_of_nodes_stay_and_finished_ones_are_no_matter() -> None:
    daemon = {**OWNER, "kind": "DaemonSet"}
    pods = [
        running("daemon", "node-a", ownerReferences=[daemon]),
        running("mirror", "node-a", annotations={"kubernetes.io/config.mirror": "x"}),
        {**running("done", "node-a"), "status": {"phase": "Succeeded"}},
        running("going", "node-a", deletionTimestamp="2026-01-01T00:00:00Z"),
        running("leaves", "node-a"),
        running("elsewhere", "node-b"),
    ]
    inventory = cluster(node("node-a"), node("node-b"))
    run(inventory, *pods)
    status = asked(inventory, pods=pods, what_if=WhatIf(drain=("node-a",)))
    assert [one.name for one in status.evicted] == ["leaves"]
    assert inventory.nodes.capacity.used("pods", inventory.nodes.slot_of["node-a"]) == 2


@pytest.mark.parametrize(
    ("what_if", "text"),
    [
        (WhatIf(drain=("gone",)), 'drain[0]: there is no node "gone"'),
        (WhatIf(cordon=("node-a", "gone")), 'cordon[1]: there is no node "gone"'),
        (WhatIf(add_nodes=(AddedNodes(like="gone"),)), 'addNodes[0].like: there is no node "gone"'),
        (WhatIf(remove_pods=(PodName("gone"),)), 'removePods[0]: there is no pod "gone" in namespace default'),
    ],
)
def test_what_is_not_there_is_told(what_if: WhatIf, text: str) -> None:
    with pytest.raises(UnanswerableReviewError) as raised:
        asked(cluster(node("node-a")), what_if=what_if)
    assert str(raised.value) == f"spec.whatIf.{text}"


def test_a_drain_of_too_many_pods_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVICTED", 1)
    pods = [running("one", "node-a"), running("two", "node-a")]
    with pytest.raises(UnanswerableReviewError) as raised:
        asked(cluster(node("node-a")), pods=pods, what_if=WhatIf(drain=("node-a",)))
    assert str(raised.value) == (
        "spec.whatIf.drain: would evict 2 pods, at most 1 are judged: drain fewer nodes at a time"
    )


def test_the_pods_that_have_to_be_read() -> None:
    assert needed_pods(None, "team") == NeededPods()
    what_if = WhatIf(drain=("node-a",), remove_pods=(PodName("p"), PodName("q", "other")))
    needed = NeededPods(("node-a",), (("team", "p"), ("other", "q")))
    assert needed_pods(what_if, "team") == needed
    twice = WhatIf(drain=("node-a", "node-a"), remove_pods=(*what_if.remove_pods, PodName("p", "team")))
    assert needed_pods(twice, "team") == needed


def run(inventory: Inventory, *pods: dict[str, Any]) -> None:
    """Put the pods into the inventory, as a watch does."""
    for pod in pods:
        info, _ = bound_pod(msgspec.convert(pod, wire.PodObject))
        if info:
            inventory.set_pod(info)
