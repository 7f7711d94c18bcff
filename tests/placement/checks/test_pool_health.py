"""What is wrong with the hosts of a pool."""

from typing import Any

import pytest

from tests.builders import bound_pod, cluster, node, pool, selector
from tests.placement.devices.clusters import GPU, equipped, large
from webhook.placement.annotations.described_devices import DescribedDevices
from webhook.placement.checks.pool_health import guests, troubles
from webhook.placement.inventory.guests import Guests
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import Guest, PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.text import keys

CORDONED = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
UNREADY = Taint("node.kubernetes.io/not-ready", effect="NoSchedule")
DEDICATED = Taint("dedicated", "infra", "NoExecute")
SOFT = Taint("soft", effect="PreferNoSchedule")
OWN = Taint(keys.EXCLUSIVE, "default.p", "NoSchedule")
OTHERS = Taint(keys.EXCLUSIVE, "default.q", "NoSchedule")


def asked(**tweaks: Any) -> Pool:
    return pool("P", name="p", **{"size": 1, "assigned": ["node-a"], **tweaks})


def found(wanted: Pool, *nodes: Node, pods: tuple[PodInfo, ...] = ()) -> list[tuple[str, str]]:
    """Kind and sentence of every trouble."""
    return [(trouble.kind, str(trouble)) for trouble in troubles(wanted, cluster(nodes, [wanted], pods))]


@pytest.mark.parametrize(
    ("wanted", "there", "expected"),
    [
        pytest.param(asked(), [node(taints=[SOFT])], [], id="nothing"),
        pytest.param(asked(), [], [("gone", "host 0 (node-a) is gone")], id="gone"),
        pytest.param(asked(), [node(uid="another")], [("gone", "host 0 (node-a) is gone")], id="another node"),
        pytest.param(asked(), [node(taints=[CORDONED])], [("unusable", "host 0 (node-a) is cordoned")], id="cordoned"),
        pytest.param(asked(), [node(taints=[UNREADY])], [("unusable", "host 0 (node-a) is not ready")], id="not ready"),
        pytest.param(
            asked(),
            [node(taints=[UNREADY, DEDICATED])],
            [("unusable", "host 0 (node-a) has the taint dedicated=infra:NoExecute")],
            id="the first of several taints",
        ),
        pytest.param(asked(mode="Exclusive"), [node(taints=[OWN])], [], id="closed for itself"),
        pytest.param(
            asked(),
            [node(taints=[OTHERS])],
            [("taken", "host 0 (node-a) belongs to an exclusive HostPool")],
            id="closed for another pool",
        ),
        pytest.param(
            asked(),
            [node(taints=[CORDONED, OTHERS])],
            [("taken", "host 0 (node-a) belongs to an exclusive HostPool")],
            id="closed for another pool and cordoned",
        ),
        pytest.param(
            asked(tags=["ib"]),
            [node()],
            [("unlabelled", "host 0 (node-a) has lost a tag or label that the pool asks for")],
            id="a tag lost",
        ),
        pytest.param(
            asked(selector=selector("zone", "Exists")),
            [node(taints=[CORDONED])],
            [
                ("unusable", "host 0 (node-a) is cordoned"),
                ("unlabelled", "host 0 (node-a) has lost a tag or label that the pool asks for"),
            ],
            id="both",
        ),
        pytest.param(asked(tags=["ib"]), [node(labels={keys.TAG: "ib"})], [], id="its tag there"),
        pytest.param(asked(size=None, hosts=["node-a"]), [node()], [], id="listed"),
    ],
)
def test_hosts_may_be_in_trouble(wanted: Pool, there: list[Node], expected: list[tuple[str, str]]) -> None:
    assert found(wanted, *there) == expected


def test_strangers_are_trouble_for_an_exclusive_pool() -> None:
    stranger = bound_pod("node-a")
    assert found(asked(mode="Exclusive"), node(), pods=(stranger,)) == [
        ("shared", "host 0 (node-a) runs a processing element of another pool or job")
    ]
    assert found(asked(), node(), pods=(stranger,)) == []


def test_its_own_pods_are_none() -> None:
    assert found(asked(mode="Exclusive"), node(), pods=(bound_pod("node-a", pools=["P"]),)) == []


def test_troubles_come_in_the_order_of_their_hosts() -> None:
    wanted = asked(size=2, assigned=["node-b", "node-a"])
    assert [text for _, text in found(wanted)] == ["host 0 (node-b) is gone", "host 1 (node-a) is gone"]


FORGED = bound_pod(job="", pe="", uid="f", namespace="team-x", guest=Guest("Pod/x", forged=True))
AGENT = bound_pod(job="", pe="", uid="a", namespace="logging", guest=Guest("DaemonSet/agent", ("NoSchedule",)))


def test_a_pod_with_a_forged_owner_is_trouble_for_an_exclusive_pool() -> None:
    wanted = asked(mode="Exclusive", size=2, assigned=["node-a", "node-b"])
    inventory = cluster([node(), node("node-b")], [wanted], [FORGED, AGENT], guests=Guests(["kube-system"]))
    said = "host 0 (node-a) runs Pod team-x/x, whose owner reference names a DaemonSet that is not of apps/v1"
    assert [(trouble.kind, str(trouble)) for trouble in troubles(wanted, inventory)] == [("forged", said)]
    assert list(troubles(asked(), inventory)) == []


def test_pods_that_tolerate_the_taint_are_named_but_do_no_harm() -> None:
    wanted = asked(mode="Exclusive")
    inventory = cluster([node(), node("node-b")], [wanted], [FORGED, AGENT], guests=Guests(["kube-system"]))
    assert guests(wanted, inventory) == ("DaemonSet logging/agent",)
    assert guests(asked(mode="Exclusive", assigned=["node-b"]), inventory) == ()


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        ([DescribedDevices(GPU)], []),
        (
            [DescribedDevices(GPU), DescribedDevices(GPU, count=3)],
            ["host 0 (node-a) has only 2 of 3 devices of DeviceClass gpu.example.com"],
        ),
        (
            [DescribedDevices(GPU, large(80)), DescribedDevices(GPU, count=3)],
            ["host 0 (node-a) has no device of DeviceClass gpu.example.com with memory >= 80Gi"],
        ),
        ([DescribedDevices("sriov")], ["host 0 (node-a) has no device of DeviceClass sriov"]),
        ([DescribedDevices(GPU, "device.nothing(")], []),
    ],
    ids=["all there", "too few", "none, and too few", "no class", "not known"],
)
def test_a_host_that_has_lost_devices_is_in_trouble(wishes: list[DescribedDevices], expected: list[str]) -> None:
    inventory = equipped()
    wanted = asked(devices=wishes)
    assert [(one.kind, str(one)) for one in troubles(wanted, inventory)] == [("unequipped", text) for text in expected]
    inventory.devices.read = False
    assert list(troubles(wanted, inventory)) == []
