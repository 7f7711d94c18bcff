"""A node that is a host of pools, and what is said when it changes."""

from collections.abc import Iterable
from typing import Final

from tests.builders import cluster, node, pool
from webhook.placement.checks.node_change import breakages
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys

IB: Final = {keys.TAG: "ib"}
HOST: Final = node("node-a", labels=IB)
BARE: Final = node("node-a")
OTHERS: Final = [node("node-b", labels=IB), node("node-c")]
SIZED: Final = pool("P", size=2, tags=["ib"], assigned=["node-b", "node-a"])
TAGGED: Final = pool("T", tags=["ib"])
INFRA: Final = Taint("dedicated", "infra", "NoSchedule")
EVICTING: Final = Taint("dedicated", "infra", "NoExecute")


def broken(
    after: Node | None,
    *pools: Pool,
    before: Node = HOST,
    others: Iterable[Node] = OTHERS,
    pods: Iterable[PodInfo] = (),
) -> list[str]:
    """What is said of the change; the cluster knows the node as it was."""
    return list(map(str, breakages(before, after, cluster([before, *others], pools, pods))))


def tainted(taint: Taint) -> Node:
    return node("node-a", labels=IB, taints=[taint])
