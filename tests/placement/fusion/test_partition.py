"""Partitions: the search against all partitions, and laws that every fusion keeps."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fusion_jobs import job_of
from tests.placement.planning.at_once import all_of
from tests.suite.example_count import examples
from webhook.placement.fusion.application import application_of
from webhook.placement.fusion.elements import Elements
from webhook.placement.fusion.graph import Graph, PodContent, graph_of
from webhook.placement.fusion.partition import Partition, all_partitions, evaluated
from webhook.placement.fusion.rules.mark import Setting
from webhook.placement.fusion.search import good_partition, refined

Model = dict[str, Any]
CLAUSES = ("", "", "", 'partitionExlocation("x")', 'host("a")', 'host("b")', 'partitionColocation("c")')


def graph(model: Model, type_: str = "") -> Graph:
    found = graph_of(application_of(job_of(model)), Setting(type_))
    assert isinstance(found, Graph)
    return found


@st.composite
def models(draw: st.DrawFn, most: int = 7) -> Model:
    """An application that does not contradict itself."""
    count = draw(st.integers(1, most))
    operators = [
        {"name": f"Op{at}", "cost": draw(st.sampled_from(("1", "2", "4"))), "placement": draw(st.sampled_from(CLAUSES))}
        for at in range(count)
    ]
    pairs = draw(
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.integers(0, 9)), max_size=12)
    )
    streams = [{"from": f"Op{one}", "to": f"Op{to}", "rate": rate} for one, to, rate in pairs]
    return {"operators": operators, "streams": streams}


def exact(found: Graph, count: int) -> Partition | None:
    """The best partition into so many elements, of all."""
    return min((one for one in all_partitions(found, {}) if len(one.blocks) == count), key=_goals, default=None)


def _goals(one: Partition) -> tuple[object, ...]:
    return one.goals


def searched(found: Graph, count: int) -> Partition:
    return all_of(good_partition(found, count, {}))


def refined_search(found: Graph, count: int) -> Partition:
    """What is found, with elements fused anew."""
    return all_of(refined(found, searched(found, count), {}))


@examples(150)
@given(models(), st.integers(1, 4))
def test_the_search_keeps_the_rules_and_is_never_better_than_the_best(model: Model, count: int) -> None:
    found = graph(model)
    partition = searched(found, count)
    for block in partition.blocks:
        assert not any(found.clash(one, other) for one in block for other in block)
    best = exact(found, len(partition.blocks))
    assert best is not None
    assert best.goals[:2] <= partition.goals[:2]


@examples(90)
@given(models(5), st.integers(1, 3), st.data())
def test_more_traffic_on_a_stream_never_separates_its_ends(model: Model, count: int, data: st.DataObject) -> None:
    before = exact(graph(model), count)
    if before is None or not model["streams"]:
        return
    at = data.draw(st.integers(0, len(model["streams"]) - 1))
    stream = model["streams"][at]
    heavier = [*model["streams"], {**stream, "rate": 5}]
    after = exact(graph({**model, "streams": heavier}), count)
    assert after is not None
    assert not (_together(model, before, stream) and not _together(model, after, stream))


def _together(model: Model, partition: Partition, stream: Model) -> bool:
    found = graph(model)
    place = {
        found.application.operators[member].name: number
        for number, block in enumerate(partition.blocks)
        for unit in block
        for member in found.units[unit].members
    }
    return place[stream["from"]] == place[stream["to"]]


@examples(90)
@given(models(), st.integers(1, 4))
def test_other_names_change_nothing(model: Model, count: int) -> None:
    def renamed(name: str) -> str:
        return f"Z{9 - int(name[2:])}"

    operators = [{**one, "name": renamed(one["name"])} for one in model["operators"]]
    streams = [{**one, "from": renamed(one["from"]), "to": renamed(one["to"])} for one in model["streams"]]
    other = searched(graph({"operators": operators, "streams": streams}), count)
    assert other.goals == searched(graph(model), count).goals


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_stricter_type_never_fuses_more(width: int) -> None:
    """What channelIsolation fuses channelExlocation fuses as well, and that is fused without a type."""
    model = {
        "operators": [{"name": "A", "region": "r"}, {"name": "B", "region": "r"}, "C"],
        "streams": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
        "parallelRegions": [{"name": "r", "width": width}],
    }
    fused = [
        {one.blocks for one in all_partitions(graph(model, type_), {})}
        for type_ in ("channelIsolation", "channelExlocation", "noChannelInfluence")
    ]
    assert fused[0] <= fused[1] <= fused[2]


def test_nested_regions_have_both_indices_and_streams_their_shares() -> None:
    """Two channels of two: the rate of a stream is that of all of its copies."""
    model = {
        "operators": [{"name": "A"}, {"name": "B", "region": "outer"}, {"name": "C", "region": "inner"}],
        "streams": [{"from": "A", "to": "B", "rate": 8}, {"from": "B", "to": "C", "rate": 4}, {"from": "C", "to": "A"}],
        "parallelRegions": [{"name": "outer", "width": 2}, {"name": "inner", "width": 2, "within": "outer"}],
    }
    found = application_of(job_of(model))
    names = [one.name for one in found.operators]
    assert names == ["A", "B[0]", "B[1]", "C[0][0]", "C[0][1]", "C[1][0]", "C[1][1]"]
    traffic = {(names[one], names[to]): weight for (one, to), weight in found.traffic.items()}
    assert {pair: weight // 4 for pair, weight in traffic.items()} == {
        ("A", "B[0]"): 4, ("A", "B[1]"): 4, ("B[0]", "C[0][0]"): 1, ("B[0]", "C[0][1]"): 1, ("B[1]", "C[1][0]"): 1,
        ("B[1]", "C[1][1]"): 1, ("A", "C[0][0]"): 0, ("A", "C[0][1]"): 0, ("A", "C[1][0]"): 0, ("A", "C[1][1]"): 0,
    }  # fmt: skip
    assert sum(traffic.values()) == 4 * (8 + 4 + 1)


def test_what_a_stored_model_lacks_is_left_out() -> None:
    """A model with problems is read as far as it goes: a region in itself, a stream without an end."""
    model = {
        "operators": [{"name": "A", "region": "r"}, "B"],
        "streams": [{"from": "A", "to": "gone"}],
        "parallelRegions": [{"name": "r", "width": 2, "within": "r"}],
    }
    found = application_of(job_of(model))
    assert [one.name for one in found.operators] == ["A[0]", "A[1]", "B"]
    assert found.links == ()


def test_a_large_graph_is_fused_evenly_and_reaches_its_number() -> None:
    """Thousands of operators: no element is heavier than 1.3 times the mean, and a heavy operator has its own."""
    names = [f"Op{at}" for at in range(1000)]
    operators = [{"name": name, "cost": "100" if at == 5 else "1"} for at, name in enumerate(names)]
    streams = [{"from": one, "to": to, "rate": at % 7 + 1} for at, (one, to) in enumerate(itertools.pairwise(names))]
    found = graph({"operators": operators, "streams": streams})
    partition = searched(found, 50)
    assert len(partition.blocks) == 50
    assert partition.goals[0] == 0


@examples(90)
@given(models(5), st.lists(st.sampled_from("ab"), max_size=5))
def test_a_partition_among_all_has_the_goals_that_it_has_alone(model: Model, before: list[str]) -> None:
    found = graph(model)
    previous = {f"Op{at}": element for at, element in enumerate(before[: len(model["operators"])])}
    listed = [*all_partitions(found, previous)]
    assert listed == [evaluated(found, one.goals[-1], previous) for one in listed]
    assert len({one.blocks for one in listed}) == len(listed)


def test_operators_have_moved_that_are_not_with_most_of_those_that_were_together() -> None:
    """Of an element with three operators the part with more of them stays; a new operator has not moved."""
    found = graph({"operators": ["A", "B", "C", "D"]})
    moved = {one.blocks: one.goals[3] for one in all_partitions(found, {"A": "a", "B": "a", "C": "a"})}
    assert moved[(0, 1, 2), (3,)] == moved[(0, 1, 2, 3),] == 0
    assert moved[(0, 1), (2, 3)] == 1
    assert moved[(0,), (1,), (2,), (3,)] == 2


def test_a_partition_with_too_many_clauses_in_a_pod_is_none() -> None:
    """Two operators with twenty tokens each: a pod may have 32."""
    placements = [", ".join(f'hostColocation("{name}{at}")' for at in range(20)) for name in "AB"]
    found = graph({"operators": [("A", placements[0]), ("B", placements[1])]})
    assert [one.blocks for one in all_partitions(found, {})] == [((0,), (1,))]


def test_operators_that_are_apart_stay_apart_however_much_flows_between_them() -> None:
    apart = 'partitionExlocation("x")'
    streams = [("A", "B", 9), ("A", "C", 1), ("B", "D", 1), ("C", "D", 1)]
    model = {
        "operators": [("A", apart), ("B", apart), "C", "D"],
        "streams": [{"from": one, "to": to, "rate": rate} for one, to, rate in streams],
    }
    found = graph(model)
    partition = searched(found, 2)
    assert partition.blocks == ((0, 2), (1, 3))
    assert partition.cut == 10


@examples(100)
@given(models())
def test_every_fusion_has_the_least_number_of_elements(model: Model) -> None:
    found = graph(model)
    assert found.least_elements() <= min(len(one.blocks) for one in all_partitions(found, {}))


@pytest.mark.parametrize(
    ("operators", "count"),
    [
        (["A", "B"], 1),
        ([("A", "partitionIsolation"), ("B", "partitionIsolation"), "C"], 3),
        ([(f"Op{at}", ", ".join(f'hostColocation("{at}-{to}")' for to in range(20))) for at in range(4)], 3),
        ([(f"Op{at}", "hostIsolation") for at in range(129)], 3),
        ([(f"Op{at}" + "x" * 240, "hostIsolation") for at in range(33)], 2),
        ([f"Op{at}" for at in range(1001)], 2),
    ],
    ids=["one", "marks", "tokens", "clauses", "bytes", "operators"],
)
def test_the_least_number_of_elements(operators: list[Any], count: int) -> None:
    assert graph({"operators": operators}).least_elements() == count


def test_operators_that_a_limit_keeps_apart_are_not_merged() -> None:
    """Each is tried with all others: two pods' worth of tokens have no room in one."""
    tokens = ", ".join(f'hostColocation("{{0}}-{at}")' for at in range(17))
    partition = searched(graph({"operators": [(f"Op{at}", tokens.format(at)) for at in range(70)]}), 2)
    assert len(partition.blocks) == 70


def test_the_search_of_a_long_row_ends() -> None:
    """Each pass could move one more operator along a row whose streams get heavier: the passes are limited."""
    operators = [{"name": f"Op{at}"} for at in range(40)]
    streams = [{"from": f"Op{at}", "to": f"Op{at + 1}", "rate": at + 1} for at in range(39)]
    found = graph({"operators": operators, "streams": streams})
    partition = searched(found, 5)
    assert len(partition.blocks) == 5
    assert partition.cut <= 61


def test_what_cannot_be_fused_with_a_hub_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub meets all its neighbours again with each that it is fused with, and refuses most of them: 32 tokens fit."""
    leaves = [f"Op{at}" for at in range(200)]
    operators: list[Any] = ["Hub", *((name, f'hostColocation("{name}")') for name in leaves)]
    found = graph({"operators": operators, "streams": [{"from": "Hub", "to": name} for name in leaves]})
    tried: list[PodContent] = []
    exceeded = Graph.exceeded

    def counting(self: Graph, content: PodContent) -> str:
        tried.append(content)
        return exceeded(self, content)

    monkeypatch.setattr(Graph, "exceeded", counting)
    elements = Elements(found, 2, 0)
    all_of(elements.merge())
    assert len(tried) < 3 * len(leaves)
    assert len(elements.places()) == 201
