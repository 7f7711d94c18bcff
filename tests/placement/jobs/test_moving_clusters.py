"""A Job that is judged in slices while nodes come and go: what is planned are nodes that were judged."""

import itertools
from collections.abc import Callable

import pytest

from tests.builders import NAMESPACE, cluster, node, nodes
from tests.placement.planning.at_once import AtOnce, element, job_spec
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.planned_nodes import planned_nodes
from webhook.placement.jobs.replanning import Standing, replan_job
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.planning.search.solver import finished

SPEC = job_spec(element(cpu="5", name="one"), element(cpu="5", name="two"))


class Replacing(AtOnce):
    """At the rest of that number ``node-a`` gives way to ``node-z``, which can run no element."""

    def __init__(self, inventory: Inventory, number: int) -> None:
        super().__init__()
        self._inventory = inventory
        self._number = number
        self.rests = 0

    async def rest(self) -> None:
        if self.rests == self._number:
            self._inventory.remove_node("node-a")
            self._inventory.set_node(node("node-z", cpu=1000))
        self.rests += 1


def planned(inventory: Inventory, solving: Replacing) -> set[str]:
    """The nodes of the plan of a Job that is submitted; none if it is refused."""
    verdict = finished(judge_job(NAMESPACE, "app", SPEC, inventory, Policy(), solving))
    if verdict.group is None or verdict.answer is None or verdict.answer.placed is None:
        return set()
    return {one.name for one in planned_nodes(verdict.group, verdict.answer.placed).nodes}


def replanned(inventory: Inventory, solving: Replacing) -> set[str]:
    """The nodes of the plan of a Job whose elements are launched again."""
    standing = Standing({}, frozenset(("one", "two")))
    plan = finished(replan_job((NAMESPACE, "app"), SPEC, inventory, Policy(), solving, standing)).plan
    return {one.name for one in plan.nodes}


@pytest.mark.parametrize("plan", [planned, replanned])
def test_a_node_that_comes_in_place_of_another_is_not_planned_for_it(
    plan: Callable[[Inventory, Replacing], set[str]],
) -> None:
    """A planned node that has gone is noticed when its pod is made; one that was never judged would not be."""
    plans = []
    for number in itertools.count():
        inventory = cluster(nodes(2))
        solving = Replacing(inventory, number)
        plans.append(plan(inventory, solving))
        if solving.rests <= number:
            break
    assert plans[-1] == {"node-a", "node-b"}
    assert plans.count({"node-a", "node-b"}) > len(plans) / 2
    assert not any("node-z" in one for one in plans)
