"""Applications of too many pods to be judged together, or without the time for it: each component by itself counts."""

from tests.placement.jobs.scaled_cases import Maker
from tests.placement.kinds.random_applications import Part
from tests.placement.kinds.test_stages import verdict
from tests.placement.planning.at_once import Ending
from webhook.placement.jobs.refused_elements import LISTED
from webhook.placement.jobs.whole_application import UNDECIDED
from webhook.placement.text.problem import Fault

MANY = 15_000


def test_a_component_that_has_no_room_for_its_pods_refuses_the_object() -> None:
    found = verdict(Part(MANY, (), 3, ""), cores=40)
    assert found.text == (
        "component job j0: 15000 pods cannot hold: 13 of 15000 pods fit on 1 of 1 node.\n"
        "Nearest fix: add nodes with room for 14987 more of them, or lower the number of pods to 13, "
        "or drop requests cpu 3 (110 of 15000 would fit)."
    )
    assert found.fault is Fault.FORBIDDEN
    assert not found.undecided
    assert not verdict(Part(13, (), 3, ""), cores=40).refused
    assert verdict(Part(14, (), 3, ""), cores=40).refused


def test_a_component_of_which_not_one_pod_has_a_node_refuses_the_object() -> None:
    assert verdict(Part(MANY, (), 9, "")).headline == (
        "component job j0: requests cpu 9 cannot hold: 0 of 1 node can run this pod."
    )


def test_components_that_have_room_for_their_pods_by_themselves_are_admitted_undecided() -> None:
    """Node groups make as many nodes as are asked for."""
    found = verdict(Part(MANY, (), 3, ""), makers=(Maker("new", cpu=30_000, count=MANY),))
    assert (found.text, found.warnings, found.undecided) == ("", (UNDECIDED,), True)


def test_without_time_to_judge_all_together_a_component_by_itself_counts() -> None:
    """As soon as the component is read, it is known that it lacks room by itself."""
    found = [verdict(Part(1, (), 9, ""), solving=Ending(looks)) for looks in range(6)]
    assert [bool(one.text) for one in found] == [False, *[True] * 5]
    assert found[1].headline == "component job j0: requests cpu 9 cannot hold: 0 of 1 node can run this pod."


def test_of_components_that_are_not_all_read_in_time_those_that_are_read_count() -> None:
    """As of a Job: with the time of a single one nothing is known of the others."""
    large, small = Part(1, (), 9, ""), Part(1, (), 1, "")
    found = [verdict(large, small, small, in_turn=False, solving=Ending(looks)) for looks in range(4)]
    assert [one.headline for one in found] == [
        "", *["component job j0: requests cpu 9 cannot hold: 0 of 1 node can run this pod."] * 3,
    ]  # fmt: skip
    assert (found[0].warnings, found[0].undecided) == ((UNDECIDED,), True)
    found = [verdict(small, large, large, large, in_turn=False, solving=Ending(looks)) for looks in range(5)]
    assert [one.headline for one in found] == [
        "",
        "",
        "component job j1: requests cpu 9 cannot hold: 0 of 1 node can run this pod.",
        "At least 2 of 4 components cannot run even by themselves (job j1, job j2):",
        "3 of 4 components cannot run even by themselves (job j1, job j2, job j3):",
    ]


def test_what_is_wrong_with_a_component_that_is_read_in_time_refuses_the_object() -> None:
    wrong, small = Part(1, ("host(",), 1, ""), Part(1, (), 1, "")
    found = verdict(wrong, small, in_turn=False, solving=Ending(1))
    assert (found.fault, found.text.startswith("component job j0: ")) == (Fault.INVALID, True)


def test_components_of_which_there_may_be_none_do_not_count() -> None:
    none, small = Part(0, (), 9, ""), Part(1, (), 1, "")
    found = verdict(none, small, in_turn=False, solving=Ending(1))
    assert (found.text, found.undecided) == ("", True)


def test_of_many_components_only_the_first_are_looked_at_closely() -> None:
    parts = [Part(MANY, (), 3, "")] * (LISTED + 2)
    assert verdict(*parts, in_turn=False).headline == (
        "At least 10 of 12 components cannot run even by themselves (job j0, job j1, job j2 and 7 more):"
    )
