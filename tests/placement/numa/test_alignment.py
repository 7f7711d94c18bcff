"""What a kubelet's topology manager can align, in cases that are easy to check by hand."""

import random

import pytest

from tests.placement.numa.random_numa import admitted, random_question
from tests.suite.example_count import some_of
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.alignment import Effort, Misfit, misfit
from webhook.placement.numa.needs import ContainerNeeds, Life, together
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope

SINGLE, RESTRICTED = TopologyPolicy.SINGLE, TopologyPolicy.RESTRICTED
PAGES = "hugepages-2Mi"


def amounts(**stated: int) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount * NANO) for name, amount in stated.items()))


def of(policy: TopologyPolicy, *zones: NumaZone, scope: TopologyScope = TopologyScope.CONTAINER) -> NodeTopology:
    return NodeTopology(policy, scope, zones)


def zone(**stated: int) -> NumaZone:
    return NumaZone(amounts(**stated), amounts(**stated))


def needs(name: str = "c", life: Life = Life.MAIN, **stated: int) -> ContainerNeeds:
    return ContainerNeeds(name, life, amounts(**stated))


def test_restricted_takes_as_few_zones_as_suffice_for_each_resource() -> None:
    pair = of(RESTRICTED, zone(cpu=4, nic=2), zone(cpu=4, nic=2))
    assert misfit(pair, (needs(cpu=6, nic=3),)) is None
    assert misfit(pair, (needs(cpu=2, nic=3),), certain=False) == Misfit("c", amounts(cpu=2, nic=3))


def test_cores_may_be_aligned_by_socket_so_that_more_zones_are_preferred() -> None:
    assert misfit(of(RESTRICTED, zone(cpu=4, nic=2), zone(cpu=4, nic=2)), (needs(cpu=2, nic=3),)) is None


def test_devices_of_three_zones_may_belong_to_several() -> None:
    three = of(RESTRICTED, zone(memory=4, nic=1), zone(memory=4, nic=1), zone(memory=4, nic=1))
    wanted = (needs(memory=9, nic=2),)
    assert misfit(three, wanted) is None
    assert misfit(three, wanted, certain=False) is not None


def test_what_is_reserved_counts_for_the_number_of_zones_and_is_not_given() -> None:
    half = NumaZone(amounts(cpu=4), amounts(cpu=3))
    assert misfit(of(RESTRICTED, half, half), (needs(cpu=4),), certain=False) is not None
    assert misfit(of(RESTRICTED, half, half), (needs(cpu=5),), certain=False) is None


def test_memory_and_huge_pages_are_aligned_together() -> None:
    both = of(SINGLE, zone(memory=4, **{PAGES: 0}), zone(memory=1, **{PAGES: 4}))
    assert misfit(both, (needs(memory=1, **{PAGES: 2}),)) is None
    assert misfit(both, (needs(memory=2, **{PAGES: 2}),)) is not None


def test_huge_pages_that_no_zone_states_are_not_judged() -> None:
    assert misfit(of(SINGLE, zone(memory=1)), (needs(memory=2, **{PAGES: 2}),)) is None


def test_memory_beside_huge_pages_that_no_zone_states_is_not_judged_of_several_containers_either() -> None:
    one = of(SINGLE, zone(memory=3, nic=1))
    wanted = [needs(name, memory=2, **{PAGES: 2}) for name in "ab"]
    assert misfit(one, tuple(wanted)) is None
    assert misfit(one, (*wanted, needs("c", nic=2))) == Misfit("c", amounts(nic=2))


def test_more_than_all_zones_have_cannot_be_aligned() -> None:
    assert misfit(of(RESTRICTED, zone(cpu=1), zone(cpu=1)), (needs(cpu=3),)) is not None


def test_each_container_has_a_zone_but_not_all_of_them() -> None:
    pair = of(SINGLE, zone(cpu=4), zone(cpu=4))
    two, three = (needs("a", cpu=3), needs("b", cpu=3)), [needs(name, cpu=3) for name in "abc"]
    assert misfit(pair, two) is None
    assert misfit(of(RESTRICTED, *pair.zones), (*two, needs("c", cpu=5))) is None
    assert misfit(pair, tuple(three)) == Misfit("", amounts(cpu=9))


def test_a_container_moves_if_that_makes_room_for_another() -> None:
    pair = of(SINGLE, zone(cpu=4, nic=1), zone(cpu=4))
    assert misfit(pair, (needs("a", cpu=3), needs("b", cpu=3, nic=1))) is None


def test_init_containers_give_back_what_sidecars_keep() -> None:
    one = of(SINGLE, zone(cpu=4))
    assert misfit(one, (needs("a", Life.BEFORE, cpu=4), needs("b", cpu=4))) is None
    assert misfit(one, (needs("a", Life.BESIDE, cpu=4), needs("b", cpu=4))) == Misfit("", amounts(cpu=8))


def test_a_pod_whose_search_takes_long_is_not_turned_away() -> None:
    many = of(SINGLE, *[zone(cpu=3)] * 8)
    wanted = tuple(needs(f"c{at}", cpu=2) for at in range(9))
    assert misfit(many, wanted) is None


def test_a_pod_as_a_whole_needs_the_most_that_runs_at_a_time() -> None:
    pod = (
        needs("a", Life.BEFORE, cpu=5), needs("s", Life.BESIDE, cpu=1), needs("b", Life.BEFORE, cpu=5),
        needs("c", cpu=2), needs("d", cpu=2, nic=1),
    )  # fmt: skip
    assert together(pod) == {"cpu": 6 * NANO, "nic": NANO}
    whole = of(SINGLE, zone(cpu=5, nic=1), scope=TopologyScope.POD)
    assert misfit(whole, pod) == Misfit("", amounts(cpu=6, nic=1))


@pytest.mark.parametrize("policy", [SINGLE, RESTRICTED])
def test_what_there_is_no_effort_left_for_is_not_turned_away(policy: TopologyPolicy) -> None:
    pair, wanted = of(policy, zone(cpu=1), zone(cpu=1)), (needs(cpu=3),)
    assert misfit(pair, wanted, effort=Effort(2)) is None
    spent = Effort(4)
    assert (misfit(pair, wanted, effort=spent), spent.spent) == (None, True)
    assert misfit(pair, wanted, effort=Effort(5)) is not None


@pytest.mark.parametrize("policy", [TopologyPolicy.NONE, TopologyPolicy.BEST_EFFORT])
def test_other_policies_turn_no_pod_away(policy: TopologyPolicy) -> None:
    assert misfit(of(policy, zone(cpu=1)), (needs(cpu=2),)) is None


def test_nodes_with_more_zones_than_kubelets_support_are_not_judged() -> None:
    assert misfit(of(SINGLE, *[zone(cpu=1)] * 9), (needs(cpu=2),)) is None


def test_a_certain_refusal_is_always_one() -> None:
    """Property: whoever is refused for certain is refused by the default options, too."""
    source = random.Random(1)  # noqa: S311 -- of examples
    for _ in range(some_of(600, every_day=60)):
        question = random_question(source, source.randint(1, 3))
        assert admitted(question, certain=True) or not admitted(question, certain=False)
