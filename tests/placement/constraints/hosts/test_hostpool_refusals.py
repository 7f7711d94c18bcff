"""Refusals of pods whose pool has no host for them."""

import pytest

from tests.builders import cluster, decided, node, nodes, pod, pool, selector
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

NO_TAG = pool(tags=["ib"])

REFUSALS: dict[str, tuple[str, Inventory, str]] = {
    "unsized, one tag": (
        "host(MyPool)",
        cluster(nodes(2), pools=[NO_TAG]),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are not in HostPool MyPool (tag ib)\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=ib, or drop host(MyPool) (2 nodes would fit)."
        ),
    ),
    "unsized, one node": (
        "host(MyPool)",
        cluster(nodes(1), pools=[NO_TAG]),
        (
            "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool (tag ib)\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=ib, or drop host(MyPool) (1 node would fit)."
        ),
    ),
    "unsized, several tags": (
        "host(MyPool)",
        cluster(nodes(1), pools=[pool(tags=["ib", "blue"])]),
        (
            "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool (tags blue, ib)\n"
            "Nearest fix: label one more node hostpool.streams.ibm.com/blue=true and hostpool.streams.ibm.com/ib=true, "
            "or drop host(MyPool) (1 node would fit)."
        ),
    ),
    "by its selector": (
        "host(MyPool)",
        cluster(nodes(1), pools=[pool(selector=selector("disk", "In", "ssd", "nvme"))]),
        (
            "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool (by its selector)\n"
            "Nearest fix: label one more node disk=ssd, or drop host(MyPool) (1 node would fit)."
        ),
    ),
    "not among the hosts": (
        'A: host("node-b"); B: host(MyPool)',
        cluster(nodes(2), pools=[pool(size=1, assigned=["node-a"])]),
        (
            'host("node-b") and host(MyPool) cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-b\n"
            "  1 node is not among the hosts of HostPool MyPool\n"
            'Nearest fix: drop host("node-b") (1 node would fit).'
        ),
    ),
    "several nodes not among the hosts": (
        "A: host(MyPool); B: host(Other)",
        cluster(
            nodes(4),
            pools=[pool(size=1, assigned=["node-a"]), pool("Other", size=1, assigned=["node-b"])],
        ),
        (
            "host(MyPool) and host(Other) cannot both hold: 0 of 4 nodes can run this pod.\n"
            "  3 nodes are not among the hosts of HostPool MyPool\n"
            "  1 node is not among the hosts of HostPool Other\n"
            "Nearest fix: drop host(MyPool) (1 node would fit)."
        ),
    ),
    "not that host of the pool": (
        'A: host("node-b"); B: host(MyPool[0])',
        cluster(nodes(2), pools=[pool(size=2, assigned=["node-a", "node-b"])]),
        (
            'host("node-b") and host(MyPool[0]) cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-b\n"
            "  1 node is not host 0 of HostPool MyPool\n"
            'Nearest fix: drop host("node-b") (1 node would fit).'
        ),
    ),
    "several nodes not that host": (
        "A: host(MyPool[0]); B: host(MyPool[1])",
        cluster(nodes(3), pools=[pool(size=2, assigned=["node-a", "node-b"])]),
        (
            "host(MyPool[0]) and host(MyPool[1]) cannot both hold: 0 of 3 nodes can run this pod.\n"
            "  2 nodes are not host 0 of HostPool MyPool\n"
            "  1 node is not host 1 of HostPool MyPool\n"
            "Nearest fix: drop host(MyPool[0]) (1 node would fit)."
        ),
    ),
    "a pool that cannot be completed": (
        "host(MyPool)",
        cluster(nodes(2), pools=[pool(size=3, phase=Phase.PENDING)]),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are not in HostPool MyPool, which cannot be completed: "
            "it needs 3 hosts and 2 nodes are eligible\n"
            "Nearest fix: make more nodes eligible for HostPool MyPool, or use a smaller one, "
            "or drop host(MyPool) (2 nodes would fit)."
        ),
    ),
    "a pool that cannot be completed, beside one whose hosts are no other's": (
        "A: host(MyPool); B: host(Other)",
        cluster(
            nodes(2),
            pools=[pool(size=3, phase=Phase.PENDING), pool("Other", size=1, mode="Exclusive", assigned=["node-a"])],
        ),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are not in HostPool MyPool, which cannot be completed: "
            "it needs 3 hosts and 1 node is eligible\n"
            "Nearest fix: drop host(MyPool) (1 node would fit)."
        ),
    ),
    "a host of a pool that cannot be completed": (
        "host(MyPool[0])",
        cluster(nodes(1), pools=[pool(size=3, phase=Phase.PENDING)]),
        (
            "host(MyPool[0]) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool, which cannot be completed: it needs 3 hosts and 1 node is eligible\n"
            "Nearest fix: drop host(MyPool[0]) (1 node would fit)."
        ),
    ),
    "a list that cannot be resolved": (
        "host(MyPool)",
        cluster(nodes(1), pools=[pool(hosts=["node-a", "gone"], phase=Phase.PENDING)]),
        (
            "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool, which cannot be completed: it lists 2 hosts and finds 1 node\n"
            "Nearest fix: fix the list of HostPool MyPool, or drop host(MyPool) (1 node would fit)."
        ),
    ),
    "a host that lost its tag": (
        "host(MyPool)",
        cluster(nodes(2), pools=[pool(size=1, tags=["ib"], assigned=["node-a"])]),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node is not among the hosts of HostPool MyPool\n"
            "  1 node has lost the tag ib\n"
            "Nearest fix: label a host of HostPool MyPool streams.ibm.com/hostpool=ib, "
            "or drop host(MyPool) (2 nodes would fit)."
        ),
    ),
    "hosts that lost their tags": (
        "host(MyPool)",
        cluster(nodes(2), pools=[pool(size=2, tags=["ib", "blue"], assigned=["node-a", "node-b"])]),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have lost the tags blue, ib\n"
            "Nearest fix: label a host of HostPool MyPool "
            "hostpool.streams.ibm.com/blue=true and hostpool.streams.ibm.com/ib=true, "
            "or drop host(MyPool) (2 nodes would fit)."
        ),
    ),
    "hosts that no longer meet the selector": (
        "host(MyPool)",
        cluster(nodes(3), pools=[pool(size=2, selector=selector("disk", "In", "ssd"), assigned=["node-a", "node-b"])]),
        (
            "host(MyPool) cannot hold: 0 of 3 nodes can run this pod.\n"
            "  2 nodes no longer meet the selector of HostPool MyPool\n"
            "  1 node is not among the hosts of HostPool MyPool\n"
            "Nearest fix: label a host of HostPool MyPool disk=ssd, or drop host(MyPool) (3 nodes would fit)."
        ),
    ),
    "a host that lost its tag, and one that no longer meets the selector": (
        "host(MyPool)",
        cluster(
            [node("node-a", labels={"disk": "ssd"}), node("node-b", labels={keys.TAG: "ib"})],
            pools=[pool(size=2, tags=["ib"], selector=selector("disk", "In", "ssd"), assigned=["node-a", "node-b"])],
        ),
        (
            "host(MyPool) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has lost the tag ib\n"
            "  1 node no longer meets the selector of HostPool MyPool\n"
            "Nearest fix: label a host of HostPool MyPool streams.ibm.com/hostpool=ib and disk=ssd, "
            "or drop host(MyPool) (2 nodes would fit)."
        ),
    ),
    "by a tag and by its selector": (
        "host(MyPool)",
        cluster(nodes(1), pools=[pool(tags=["ib"], selector=selector("disk", "In", "ssd"))]),
        (
            "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not in HostPool MyPool (tag ib and its selector)\n"
            "Nearest fix: label one more node streams.ibm.com/hostpool=ib and disk=ssd, "
            "or drop host(MyPool) (1 node would fit)."
        ),
    ),
    "nodes of one tag, where several count": (
        "A: host(MyPool); B: host(Other)",
        cluster(nodes(2, labels={keys.TAG: "ib"}), pools=[NO_TAG, pool("Other", tags=["blue"])]),
        (
            "host(Other) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are in HostPool MyPool, but lack the label hostpool.streams.ibm.com/ib: "
            "several tags count, each is a label of its own\n"
            "Nearest fix: drop host(Other) (2 nodes would fit)."
        ),
    ),
    "a host of one tag, where several count": (
        "A: host(MyPool); B: host(Other)",
        cluster(
            [node("node-a", labels={keys.TAG: "ib"}), *nodes(3)[1:]],
            pools=[pool(size=2, tags=["ib"], assigned=["node-a", "node-b"]), pool("Other", tags=["blue"])],
        ),
        (
            "host(Other) cannot hold: 0 of 3 nodes can run this pod.\n"
            "  1 node is not among the hosts of HostPool MyPool\n"
            "  1 node is among the hosts of HostPool MyPool, but lacks the label hostpool.streams.ibm.com/ib: "
            "several tags count, each is a label of its own\n"
            "  1 node has lost the tag ib\n"
            "Nearest fix: drop host(Other) (1 node would fit)."
        ),
    ),
    "that host, of one tag, where several count": (
        "A: host(MyPool[0]); B: host(Other)",
        cluster(
            [node("node-a", labels={keys.TAG: "ib", f"{keys.TAGS}blue": ""})],
            pools=[pool(size=1, tags=["ib"], assigned=["node-a"]), pool("Other", tags=["blue"])],
        ),
        (
            "host(Other) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is host 0 of HostPool MyPool, but lacks the label hostpool.streams.ibm.com/ib: "
            "several tags count, each is a label of its own\n"
            "Nearest fix: label a host of HostPool MyPool hostpool.streams.ibm.com/ib=true, "
            "or drop host(Other) (1 node would fit)."
        ),
    ),
    "hosts that fit nothing else": (
        "host(MyPool)",
        cluster([node(taints=[Taint("x", "", "NoSchedule")])], pools=[pool(size=1, assigned=["node-a"])]),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node has the taint x:NoSchedule\n"
            "Nearest fix: tolerate x:NoSchedule."
        ),
    ),
}


@pytest.mark.parametrize(("placement", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pool_whose_hosts_cannot_be_had_is_refused(placement: str, inventory: Inventory, expected: str) -> None:
    assert decided(pod(placement), inventory).message == expected


def test_no_label_is_proposed_where_none_would_help() -> None:
    away = pool(selector=selector("disk", "DoesNotExist"))
    message = decided(pod("host(MyPool)"), cluster(nodes(1, labels={"disk": "ssd"}), pools=[away])).message
    assert message == (
        "host(MyPool) cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node is not in HostPool MyPool (by its selector)\n"
        "Nearest fix: drop host(MyPool) (1 node would fit)."
    )


def test_labels_are_not_proposed_where_they_are_not_enough() -> None:
    mixed = pool(tags=["ib"], selector=selector("disk", "DoesNotExist"))
    message = decided(pod("host(MyPool)"), cluster(nodes(1, labels={"disk": "ssd"}), pools=[mixed])).message
    assert "Nearest fix: label" not in message
