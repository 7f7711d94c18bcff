"""A family that overrides nothing of the base of constraints demands nothing beyond its nodes."""

from typing import ClassVar

from tests.builders import asked, cluster, nodes, pod
from webhook.placement.constraints.company import ANY_COMPANY
from webhook.placement.constraints.constraint import EveryNode, NodeSet, Spread, Tie
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text.rule import Rule

WORLD = World(cluster(nodes(2)), Policy())


class Anywhere(EveryNode, frozen=True, gc=False):
    """A family of one clause that every node meets."""

    spread: ClassVar[Spread] = Spread.FREE
    clause: str = "anywhere"


def test_a_new_node_can_meet_it_and_it_needs_nothing_of_it() -> None:
    found = Anywhere()
    assert (found.rule, found.needs, found.tie) == (Rule.OTHER, (), Tie.NONE)
    assert (found.pool, found.index, found.requests, found.pinned) == (None, None, {}, 0)
    assert (found.topology, found.about_taints) == ("", False)
    assert (found.by_itself(), found.separable) == (found, False)


def test_it_demands_nothing_of_other_pods() -> None:
    found = Anywhere()
    assert found.company("default/parallel") == ANY_COMPANY
    assert tuple(found.at_once(asked(pod(), WORLD.inventory), WORLD)) == ()


def test_it_adds_nothing_to_the_pod_and_has_no_fix() -> None:
    found = Anywhere()
    assert (tuple(found.inject(WORLD)), found.fix(WORLD, 0b11), list(found.explain(WORLD, 0))) == ((), None, [])
    assert found.filter(WORLD) == WORLD.everything


def test_a_set_of_nodes_that_names_one_ties_the_pod_to_it() -> None:
    named, several = NodeSet("a", 0b1, "is b", "are b", "node-a"), NodeSet("a", 0b1, "is b", "are b")
    assert (named.tie, several.tie) == (Tie.HOST, Tie.NONE)
