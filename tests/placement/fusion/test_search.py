"""Elements of a partition that are fused anew: it gets better, and keeps the rules."""

import random

import pytest

from tests.placement.fusion.test_cut_bound import grown
from tests.placement.fusion.test_partition import graph, refined_search, searched
from tests.placement.planning.at_once import all_of
from webhook.placement.fusion.elements import Elements
from webhook.placement.fusion.graph import Graph, PodContent
from webhook.placement.fusion.partition import bound, evaluated
from webhook.placement.fusion.search import refined


@pytest.mark.untraced
@pytest.mark.parametrize("seed", [3, 4])
def test_elements_that_are_fused_again_get_better_and_keep_the_rules(seed: int) -> None:
    """As many elements as before, none too heavy, with less traffic between them."""
    found = grown(90, seed, 'partitionExlocation("x")')
    before, after = searched(found, 6), refined_search(found, 6)
    assert len(after.blocks) == len(before.blocks) == 6
    assert after.goals[0] == before.goals[0] == 0
    assert after.cut < before.cut
    assert not any(found.clash(one, other) for block in after.blocks for one in block for other in block)


def test_what_no_stream_joins_is_not_fused_again() -> None:
    """Nor is what has one element, what all was tried of, and anything once time is over."""
    apart = graph({"operators": [{"name": f"Op{at}"} for at in range(20)]})
    streams = [{"from": f"Op{at}", "to": f"Op{at + 1}"} for at in range(19)]
    row = graph({"operators": [{"name": f"Op{at}"} for at in range(20)], "streams": streams})
    for found, count in ((apart, 3), (row, 1)):
        before = searched(found, count)
        assert all_of(refined(found, before, {})) is before
    uneven = evaluated(row, [at % 2 for at in range(20)], {})
    assert all_of(refined(row, uneven, {}, lambda: True)) is uneven
    assert all_of(refined(row, uneven, {})).cut == 1


@pytest.mark.untraced
def test_nothing_gets_worse_where_an_element_is_heavier_than_may_be() -> None:
    """Elements that are lighter than the heaviest one are not made lighter still at the cost of traffic."""
    chance = random.Random(46)  # noqa: S311 -- a seed gives the same graph in each run
    size = chance.randint(17, 30)
    clauses = ("", "", 'partitionExlocation("x")', 'host("a")', 'host("b")', 'host("c")')
    operators = [
        {"name": f"Op{at}", "cost": str(chance.choice((1, 2, 8))), "placement": chance.choice(clauses)}
        for at in range(size)
    ]
    streams = [
        {"from": f"Op{chance.randrange(at)}", "to": f"Op{at}", "rate": chance.randint(1, 9)} for at in range(1, size)
    ]
    found = graph({"operators": operators, "streams": streams})
    before, after = searched(found, 7), refined_search(found, 7)
    assert before.goals[0] > bound(found, 7)
    assert after.goals <= before.goals


def test_others_work_while_elements_without_streams_are_passed_over() -> None:
    """One stream is between elements, and each of the others is looked at nevertheless: a step for each of them."""
    model = {"operators": [{"name": f"Op{at}"} for at in range(300)], "streams": [{"from": "Op0", "to": "Op150"}]}
    found = graph(model)
    steps = refined(found, evaluated(found, [at // 2 for at in range(300)], {}), {})
    assert sum(1 for _ in steps) >= 150


def test_few_pairs_are_looked_at_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two of these fit into a pod, so that every pair is tried as long as there is time."""
    tokens = ", ".join(f'hostColocation("{{0}}-{at}")' for at in range(17))
    found = graph({"operators": [(f"Op{at}", tokens.format(at)) for at in range(60)]})
    tried: list[PodContent] = []
    exceeded = Graph.exceeded

    def counting(self: Graph, content: PodContent) -> str:
        tried.append(content)
        return exceeded(self, content)

    monkeypatch.setattr(Graph, "exceeded", counting)
    all_of(Elements(found, 2, 0).merge())
    assert len(tried) == 60 * 59
    tried.clear()
    hasty = Elements(found, 2, 0)
    all_of(hasty.merge(lambda: True))
    assert len(tried) == 60 * 8
    assert len(set(hasty.places())) == 60


def test_streams_are_not_all_looked_at_once_time_is_over() -> None:
    """Merging goes on with the lightest elements, and reaches the number that is asked for all the same."""
    found = grown(90)
    elements = Elements(found, 6, 0)
    steps = sum(1 for _ in elements.merge(lambda: True))
    assert len(set(elements.places())) == 6
    assert steps < 4 * 90
