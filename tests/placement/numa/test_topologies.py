"""The nodes that turn a pod away, of all nodes whose zones are known."""

import pytest

from tests.work import Work, excess
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.needs import ContainerNeeds, Life, NumaNeeds
from webhook.placement.numa.topologies import Topologies
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope

GIB = 2**30 * NANO


def zones(gibibytes: int, more: int = 0, count: int = 2) -> NodeTopology:
    """So many zones with that much memory, and so many bytes more, as hardware differs from node to node."""
    amounts = (("memory", gibibytes * GIB + more * NANO),)
    return NodeTopology(TopologyPolicy.SINGLE, TopologyScope.CONTAINER, (NumaZone(amounts, amounts),) * count)


def wanting(*gibibytes: int) -> NumaNeeds:
    return tuple(ContainerNeeds(f"c{at}", Life.MAIN, (("memory", many * GIB),)) for at, many in enumerate(gibibytes))


def known(*topologies: NodeTopology) -> tuple[Topologies, dict[str, int]]:
    """The zones of nodes that are called ``n0`` and so on, and the slots of the nodes."""
    found = Topologies()
    for at, topology in enumerate(topologies):
        found.put(f"n{at}", topology)
    return found, {f"n{at}": at for at in range(len(topologies))}


def turned(found: Topologies, slots: dict[str, int], needs: NumaNeeds, version: int = 0) -> int:
    """The nodes that turn the pod away."""
    return sum(found.turned_away(needs, slots, version).values())


def test_an_answer_is_kept_until_zones_or_nodes_change() -> None:
    found, slots = known(zones(1), zones(2))
    assert turned(found, slots, wanting(2)) == 0b01
    assert found.turned_away(wanting(2), slots, 0) is found.turned_away(wanting(2), slots, 0)
    found.put("n0", zones(3))
    assert turned(found, slots, wanting(2)) == 0
    found.put("n1", zones(1))
    assert turned(found, slots, wanting(2)) == 0b10
    assert turned(found, {"n1": 0}, wanting(2), version=1) == 0b01


def test_the_oldest_of_many_answers_is_forgotten() -> None:
    found, slots = known(zones(1))
    first = found.turned_away(wanting(1), slots, 0)
    for many in range(2, 65):
        found.turned_away(wanting(many), slots, 0)
    assert found.turned_away(wanting(1), slots, 0) is first
    found.turned_away(wanting(65), slots, 0)
    assert found.turned_away(wanting(1), slots, 0) is not first


@pytest.mark.parametrize(
    "needs", [wanting(*[33] * 10), wanting(*range(1, 60)), wanting(*[1] * 60, *[2] * 60)], ids=["halves", "all", "many"]
)
def test_what_a_pod_wants_of_nodes_that_all_differ_takes_bounded_work(needs: NumaNeeds) -> None:
    found, slots = known(*[zones(64, at, count=4) for at in range(2000)])
    assert excess(lambda: found.turned_away(needs, slots, 0), Work(250_000, 0.1)) is None


def test_of_too_many_nodes_that_all_differ_the_first_turn_a_pod_away() -> None:
    found, slots = known(*[zones(64, at, count=4) for at in range(2000)])
    assert turned(found, slots, wanting(66)).bit_count() == 2000
    assert turned(found, slots, wanting(*[33] * 10)) in {(1 << count) - 1 for count in range(1, 2000)}


def test_answers_about_large_pods_are_not_kept_beside_one_another() -> None:
    found, slots = known(zones(1))
    small = found.turned_away(wanting(1), slots, 0)
    large = [(ContainerNeeds(f"c{at}" + "x" * 5000, Life.MAIN, (("memory", GIB),)),) for at in range(2)]
    first = found.turned_away(large[0], slots, 0)
    assert found.turned_away(large[0], slots, 0) is first
    assert found.turned_away(wanting(1), slots, 0) is not small
    found.turned_away(large[1], slots, 0)
    assert found.turned_away(large[0], slots, 0) is not first
