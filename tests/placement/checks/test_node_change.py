"""What a change of a node breaks."""

import pytest
from msgspec.structs import replace

from tests.builders import node, pool, selector
from tests.placement.checks.node_changes import BARE, HOST, IB, INFRA, SIZED, TAGGED, broken, tainted
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys

BREAKING: dict[str, tuple[Node | None, Pool, str]] = {
    "a host is deleted": (None, SIZED, "HostPool default/p: its host 1 would vanish"),
    "a host of a list is deleted": (
        None,
        pool("P", hosts=["node-a"], assigned=["node-a"]),
        "HostPool default/p: its host 0 would vanish",
    ),
    "a host loses the tag": (BARE, SIZED, "HostPool default/p: its host 1 would lose the tag ib"),
    "a host loses a label of the selector": (
        BARE,
        replace(SIZED, tags=(), selector=selector(keys.TAG, "Exists")),
        "HostPool default/p: its host 1 would lose labels that it was chosen by",
    ),
    "a host gets a label that the selector excludes": (
        node("node-a", labels=IB | {"old": ""}),
        replace(SIZED, selector=selector("old", "DoesNotExist")),
        "HostPool default/p: its host 1 would lose labels that it was chosen by",
    ),
    "a host is tainted": (
        tainted(INFRA),
        SIZED,
        "HostPool default/p: its host 1 would get the taint dedicated=infra:NoSchedule",
    ),
    "a host gets another pool's taint": (
        tainted(Taint(keys.EXCLUSIVE, "x.y", "NoSchedule")),
        SIZED,
        "HostPool default/p: its host 1 would get the taint streams.ibm.com/exclusive=x.y:NoSchedule",
    ),
}


@pytest.mark.parametrize(("after", "wanted", "expected"), BREAKING.values(), ids=BREAKING.keys())
def test_a_pool_is_broken_when(after: Node | None, wanted: Pool, expected: str) -> None:
    assert broken(after, wanted) == [expected]


HARMLESS: dict[str, tuple[Node | None, Pool]] = {
    "nothing changes": (HOST, SIZED),
    "other labels change": (node("node-a", labels=IB | {"a": "b"}), SIZED),
    "a node that is no host is deleted": (None, replace(SIZED, assigned=SIZED.assigned[:1])),
    "a host of another time is deleted": (None, pool("P", size=1, assigned=[])),
    "a taint only discourages": (tainted(Taint("a", "b", "PreferNoSchedule")), SIZED),
    "Kubernetes says that it is not ready": (tainted(Taint("node.kubernetes.io/not-ready", "", "NoExecute")), SIZED),
    "the cloud says that it is shut down": (
        tainted(Taint("node.cloudprovider.kubernetes.io/shutdown", "", "NoSchedule")),
        SIZED,
    ),
    "it gets the taint of its own pool": (tainted(Taint(keys.EXCLUSIVE, "default.p", "NoSchedule")), SIZED),
    "the pool has failed": (None, replace(SIZED, phase=Phase.FAILED)),
    "the pool is being released": (None, replace(SIZED, phase=Phase.RELEASING)),
    "an unsized pool has other nodes": (BARE, pool("P", tags=["ib"])),
    "any node will do": (None, pool("P")),
}


@pytest.mark.parametrize(("after", "wanted"), HARMLESS.values(), ids=HARMLESS.keys())
def test_no_pool_is_broken_when(after: Node | None, wanted: Pool) -> None:
    assert broken(after, wanted) == []


def test_a_node_of_the_same_name_and_another_identity_is_not_a_host() -> None:
    again = node("node-a", labels=IB, uid="another")
    assert broken(None, SIZED, before=again) == []


# Pools without a size


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(None, "HostPool default/t: its last node would vanish", id="is deleted"),
        pytest.param(BARE, "HostPool default/t: its last node would lose the tag ib", id="loses its label"),
        pytest.param(
            tainted(INFRA),
            "HostPool default/t: its last node would get the taint dedicated=infra:NoSchedule",
            id="is tainted",
        ),
    ],
)
def test_an_unsized_pool_is_broken_when_its_last_node(after: Node | None, expected: str) -> None:
    closed = node("node-b", labels=IB, taints=[INFRA])
    assert broken(after, TAGGED, others=[closed]) == [expected]


def test_of_an_elastic_pool_nodes_come_and_go() -> None:
    assert broken(None, replace(TAGGED, elastic=True), others=[]) == []


def test_a_node_that_was_never_of_the_pool_is_not_missed() -> None:
    assert broken(None, TAGGED, before=BARE, others=[]) == []
