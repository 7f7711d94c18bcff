"""Whether a pod that waits may be bound to a node."""

from typing import Final

import pytest
from msgspec.structs import replace

from tests.builders import bound_pod, cluster, node, nodes, pool, sleeper
from webhook.placement.checks.unbound_pods import is_exclusive, obstacle, waiting_pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.objects.pod import NodeDemand, PodInfo
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.request.world import World
from webhook.placement.text import keys

ANY: Final = NodeDemand("pe-0")
RESERVED: Final = pool("R", size=1, mode="Exclusive", assigned=["node-a"])
SIZED: Final = pool("P", size=1, assigned=["node-a"])
MEMBER: Final = Requirement(keys.membership("default", "p"), "Exists")
OF_POOL: Final = NodeDemand("pe-0", terms=(NodeTerm(match_expressions=(MEMBER,)),))


def pod(demand: NodeDemand | None = ANY, **tweaks: object) -> PodInfo:
    """A processing element that waits."""
    return replace(bound_pod("", **tweaks), demand=demand)  # type: ignore[arg-type]  # of bound_pod()


def why(found: PodInfo, on: str, *pools: Pool) -> str:
    return obstacle(found, on, World(cluster([*nodes(2), node("node-m", labels={MEMBER.key: "0"})], pools), Policy()))


EXCLUSIVE: Final = "node node-a is exclusive to another HostPool"
ELSEWHERE: Final = "node node-b does not meet the pod's node selector or required node affinity"


@pytest.mark.parametrize(
    ("found", "on", "pools", "expected"),
    [
        pytest.param(pod(), "node-a", [RESERVED], EXCLUSIVE, id="a stranger on an exclusive host"),
        pytest.param(pod(pools=["R"], job="x", namespace="o"), "node-a", [RESERVED], EXCLUSIVE, id="of elsewhere"),
        pytest.param(pod(pools=["R"]), "node-a", [RESERVED], "", id="a pod of the pool on its host"),
        pytest.param(pod(), "node-b", [RESERVED], "", id="a stranger on any other host"),
        pytest.param(pod(OF_POOL, pools=["P"]), "node-b", [SIZED], ELSEWHERE, id="a host that is not the pool's"),
        pytest.param(pod(OF_POOL, pools=["P"]), "node-a", [SIZED], "", id="the pool's host, which has no label yet"),
        pytest.param(
            pod(OF_POOL, pools=["P"]), "node-m", [replace(SIZED, phase=Phase.PENDING)], "", id="a host labelled so far"
        ),
        pytest.param(
            pod(NodeDemand("p", (Requirement("disk", "In", ("ssd",)),))),
            "node-b",
            [],
            ELSEWHERE,
            id="its node selector",
        ),
        pytest.param(pod(NodeDemand("p", terms=())), "node-b", [], ELSEWHERE, id="no term at all"),
        pytest.param(pod(None), "node-b", [], "", id="nothing is known of its demands"),
        pytest.param(pod(OF_POOL, pools=["P"]), "gone", [SIZED], "", id="a node that is not known"),
        pytest.param(sleeper(), "node-a", [RESERVED], EXCLUSIVE, id="a sleeper on an exclusive host"),
        pytest.param(sleeper(terms=[]), "node-b", [RESERVED], "", id="a sleeper on a node that it does not select"),
    ],
)
def test_what_stands_in_the_way(found: PodInfo, on: str, pools: list[Pool], expected: str) -> None:
    assert why(found, on, *pools) == expected


def there(*pods: PodInfo) -> Inventory:
    return cluster(nodes(1), pods=pods)


FIRST: Final = pod(uid="one")
SECOND: Final = pod(NodeDemand("pe-1"), uid="two")


@pytest.mark.parametrize(
    ("uid", "namespace", "name", "expected"),
    [
        pytest.param("two", "default", "pe-1", SECOND, id="by its uid"),
        pytest.param("three", "default", "pe-1", None, id="not by its name, if the uid is another"),
        pytest.param("", "default", "pe-1", SECOND, id="by its name, without a uid"),
        pytest.param("", "other", "pe-1", None, id="not in another namespace"),
        pytest.param("", "default", "pe-2", None, id="not by another name"),
    ],
)
def test_a_pod_that_waits_is_found(uid: str, namespace: str, name: str, expected: PodInfo | None) -> None:
    assert waiting_pod(uid, namespace, name, there(FIRST, SECOND)) == expected


@pytest.mark.parametrize(("on", "expected"), [("node-a", True), ("node-b", False), ("gone", False)])
def test_a_node_is_closed_if_it_is_exclusive_to_a_pool(on: str, *, expected: bool) -> None:
    assert is_exclusive(on, World(cluster(nodes(2), [RESERVED]), Policy())) is expected


def test_only_pods_with_a_claim_are_kept_while_they_wait() -> None:
    """There may be 150,000 others."""
    assert list(there(FIRST, pod(None, uid="x"), bound_pod("node-a")).waiting) == ["one"]


def test_a_pod_that_is_bound_waits_no_more() -> None:
    inventory = there(FIRST)
    inventory.set_pod(replace(FIRST, node="node-a", demand=None))
    assert (inventory.waiting, inventory.has_pod("one")) == ({}, True)


def test_a_pod_that_is_gone_waits_no_more() -> None:
    inventory = there(FIRST)
    inventory.remove_pod("one")
    assert inventory.waiting == {}
