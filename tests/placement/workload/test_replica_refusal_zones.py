"""To what the requests of a workload are lowered if kubelets cannot align enough of its pods with NUMA zones."""

from typing import Any

import pytest

from tests.builders import Json, cluster, node
from tests.placement.hardware_containers import amount, required
from tests.work import calls
from tests.workload_templates import crowded
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.lowered_needs import pods_in_zones
from webhook.placement.numa.needs import ContainerNeeds, Life
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope

APART = 'hostExlocation("x")'
NIC = "example.com/nic"
POD = TopologyScope.POD


def zones(*cores: int, scope: TopologyScope = TopologyScope.CONTAINER) -> NodeTopology:
    """Zones of so many cores, of a kubelet that uses one zone for a container."""
    amounts = [(("cpu", count * NANO),) for count in cores]
    return NodeTopology(TopologyPolicy.SINGLE, scope, tuple(NumaZone(each, each) for each in amounts))


def container(name: str, cpu: int, **others: str) -> Json:
    """A container with exclusive cores."""
    amounts = {"cpu": str(cpu), "memory": "1Gi", **others}
    return {"name": name, "image": "i", "resources": {"requests": amounts, "limits": amounts}}


def nodes_of(*topologies: NodeTopology) -> Inventory:
    """Nodes with as many cores as their zones have."""
    cores = [sum(dict(zone.allocatable)["cpu"] for zone in one.zones) // NANO for one in topologies]
    inventory = cluster(node(f"node-{at}", cpu=1000 * count) for at, count in enumerate(cores))
    for at, topology in enumerate(topologies):
        inventory.topologies.put(f"node-{at}", topology)
    return inventory


def fix(placement: str | None, count: int, inventory: Inventory, *containers: Json, **tweaks: Any) -> str:
    """The last alternative of what would help so many pods."""
    message = crowded(placement, count, inventory, containers=[*containers], **tweaks).message
    return message.splitlines()[-1].rpartition(", or ")[2].removesuffix(".")


BY_ZONE = "lower requests cpu {} by NUMA zone to cpu {}"
ALL = "lower requests cpu {}, memory {}Gi to cpu {}"


@pytest.mark.parametrize(
    ("placement", "topologies", "containers", "expected"),
    [
        pytest.param(
            APART,
            [zones(6, 6), zones(5, 5), zones(4, 4)],
            [6],
            f"{BY_ZONE.format(6, 4)} (3 of 3 would fit)",
            id="apart",
        ),
        pytest.param(
            None,
            [zones(6, 6), zones(5, 5), zones(4, 4)],
            [6],
            f"{ALL.format(6, 1, 5)} (3 of 3 would fit)",
            id="two on one node",
        ),
        pytest.param(
            None, [zones(4), zones(3)], [4], f"{ALL.format(4, 1, 2)} (3 of 3 would fit)", id="two in one zone"
        ),
        pytest.param(
            None,
            [zones(6), zones(4, 2, 2)],
            [6],
            f"{ALL.format(6, 1, 3)} (3 of 3 would fit)",
            id="no two of four cores in zones of four, two and two",
        ),
        pytest.param(
            APART,
            [zones(4, 3), zones(4, 3), zones(5, 2)],
            [4, 3],
            f"{BY_ZONE.format(7, 6)} (c1: cpu 2) (3 of 3 would fit)",
            id="one of two containers",
        ),
        pytest.param(
            APART,
            [zones(7, scope=POD), zones(6, 1, scope=POD), zones(8, scope=POD)],
            [4, 3],
            f"{BY_ZONE.format(7, 6)} (c1: cpu 2) (3 of 3 would fit)",
            id="zones for all containers",
        ),
        pytest.param(
            APART,
            [zones(7, 4), zones(5), zones(3, 1, scope=POD)],
            [7, 4],
            "lower requests cpu 11 by NUMA zone to cpu 3 (c0: cpu 2, c1: cpu 1) (3 of 3 would fit)",
            id="little of each",
        ),
    ],
)
def test_requests_are_lowered_to_what_zones_have_for_all_pods(
    placement: str | None, topologies: list[NodeTopology], containers: list[int], expected: str
) -> None:
    """Three pods, of which one could run."""
    each = [container(f"c{at}", cpu) for at, cpu in enumerate(containers)]
    assert fix(placement, 3, nodes_of(*topologies), *each) == expected


def test_amounts_with_which_some_zones_have_no_core_for_each_container_are_not_said() -> None:
    inventory = nodes_of(zones(3, 2), zones(1), zones(1))
    inventory.set_node(node("node-1", cpu=8000))
    inventory.set_node(node("node-2", cpu=8000))
    assert fix(APART, 3, inventory, container("a", 3), container("b", 2)) == (
        "lower requests cpu 5 by NUMA zone (3 of 3 would fit)"
    )


def test_a_clause_that_is_not_about_requests_is_dropped() -> None:
    text = fix(APART, 2, nodes_of(zones(4, 4), zones(3, 3)), container("a", 4))
    assert text == f"drop {APART} (2 of 2 would fit)"


def test_amounts_of_hardware_requirements_are_not_lowered_to_zones() -> None:
    inventory = cluster(node(f"node-{at}", cpu=8000, **{NIC: 2}) for at in range(2))
    for at, topology in enumerate((zones(5, 3), zones(4, 4))):
        inventory.topologies.put(f"node-{at}", topology)
    given = required({"resource": amount(NIC, 1, requests=1)})
    said = fix(APART, 2, inventory, container("runtime", 5), annotations=given)
    assert said == "lower requests cpu 5, memory 1Gi (2 of 2 would fit)"


def test_a_refusal_looks_at_kinds_of_zones_and_not_at_each_node_or_pod() -> None:
    def refused(count: int) -> int:
        inventory = nodes_of(*[zones(6, 5)] * count, zones(5, 5))
        assert fix(APART, count + 1, inventory, container("a", 6)).startswith(BY_ZONE.format(6, 5))
        return calls(lambda: fix(APART, count + 1, inventory, container("a", 6)))

    assert refused(500) <= refused(50) + 50


def test_a_refusal_of_many_containers_and_kinds_of_zones_is_cheap() -> None:
    """Seven containers have 128 choices of two zones for each kind of zones."""
    inventory = nodes_of(*[zones(6 + at % 7, 6 + at // 7) for at in range(49)])
    others = [container(f"c{at}", 1) for at in range(6)]

    def refused() -> str:
        return fix(APART, 49, inventory, container("a", 11), *others)

    assert refused() == "lower requests cpu 17 by NUMA zone to cpu 12 (a: cpu 6) (49 of 49 would fit)"
    assert calls(refused) < 200_000


@pytest.mark.parametrize(
    ("topology", "needs", "count"),
    [
        (zones(6, 6), [("a", Life.MAIN, 4)], 2),
        (zones(6, 6), [("a", Life.MAIN, 3)], 4),
        (zones(6, 6), [("a", Life.MAIN, 3), ("init", Life.BEFORE, 6)], 4),
        (zones(6, 6), [("a", Life.MAIN, 3), ("b", Life.BESIDE, 2)], 2),
        (zones(6, 6, scope=POD), [("a", Life.MAIN, 2), ("b", Life.BESIDE, 1)], 4),
        (zones(64, 64), [("a", Life.MAIN, 1), ("b", Life.MAIN, 1)], 32),
        (zones(640), [("a", Life.MAIN, 1)], 100),
        (zones(6), [], 100),
    ],
)
def test_pods_have_zones_beside_each_other(
    topology: NodeTopology, needs: list[tuple[str, Life, int]], count: int
) -> None:
    wanted = tuple(ContainerNeeds(name, life, (("cpu", cores * NANO), (NIC, NANO))) for name, life, cores in needs)
    assert pods_in_zones(topology, wanted, 100) == count
