"""A Job of operators, fused and placed as one problem, and refused in the words of its operators."""

import itertools
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.builders import NAMESPACE, cluster, node, nodes, pool
from tests.fusion_jobs import elements, fused_job, job_of
from tests.placement.planning.at_once import AtOnce
from tests.suite.example_count import EVERY_DAY
from tests.work import own_calls
from webhook.placement.fusion import elements as in_the_making
from webhook.placement.fusion.graph import Graph
from webhook.placement.fusion.partition import Partition, evaluated
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs import element_pods
from webhook.placement.jobs.job_verdict import UNDECIDED
from webhook.placement.jobs.operators import fusion_search
from webhook.placement.jobs.operators.fused_job import as_fused, judge_model
from webhook.placement.jobs.operators.scaling import EarlierFusion, Scaling
from webhook.placement.objects.jobs.job_fusion import FusedElement, JobFusion
from webhook.placement.objects.node import Taint
from webhook.placement.planning.search.solver import finished
from webhook.placement.planning.search.steps import Steps
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault


def chain(count: int, **fusion: Any) -> dict[str, Any]:
    """A Job of so many operators in a row."""
    names = [f"Op{at}" for at in range(count)]
    streams = [{"from": one, "to": other} for one, other in itertools.pairwise(names)]
    return {"operators": list(names), "streams": streams, "fusion": fusion}


TOLERANT = {
    "spec": {"containers": [{"name": "own", "image": "own:1"}], "tolerations": [{"key": "a", "operator": "Exists"}]}
}
"""A template by which a pod may run where others may not."""


def costly(count: int, cost: str = "400m", **fusion: Any) -> dict[str, Any]:
    """The same with a cost of each operator."""
    spec = chain(count, **fusion)
    return spec | {"operators": [{"name": name, "cost": cost} for name in spec["operators"]]}


def test_how_much_traffic_could_stay_inside_is_looked_for_where_that_is_asked() -> None:
    """Twelve operators in a ring into three elements: three streams are cut, and the bound of a forest knows of two."""
    spec = costly(12, manual=3)
    spec["streams"].append({"from": "Op11", "to": "Op0"})
    asked = ((NAMESPACE, "apps"), job_of(spec), World(cluster(nodes(3)), Policy()), AtOnce())
    plain, measured = finished(judge_model(*asked)), finished(judge_model(*asked, measured=True))
    assert plain.fusion is not None
    assert measured.fusion is not None
    assert (plain.fusion.inside, plain.fusion.inside_at_most) == (75, 83)
    assert (measured.fusion.inside, measured.fusion.inside_at_most) == (75, 75)


def test_another_fusion_is_chosen_where_the_best_one_does_not_fit() -> None:
    """One processing element is asked for, and no node holds it: two are made, and it is said."""
    model = fused_job(costly(4, manual=1), cluster(nodes(2, cpu=1000)))
    assert not model.verdict.refused
    assert elements(model) == [["Op0", "Op1"], ["Op2", "Op3"]]
    assert model.verdict.warnings == (
        "fusion.manual asks for 1 processing element, and 2 are made: with so many it does not fit on the cluster",
    )
    assert model.spec.operators is None
    requests = [one.resources.requests for one in model.spec.processing_elements or () if one.resources]
    assert requests == [{"cpu": "800m"}, {"cpu": "800m"}]


def test_fewer_elements_than_asked_for_are_said() -> None:
    assert fused_job(chain(2, manual=5), cluster(nodes(2))).verdict.warnings == (
        "fusion.manual asks for 5 processing elements, and 2 are made: 2 operators cannot be fused into more",
    )
    apart = {"operators": [("A", 'host("node-a")'), ("B", 'host("node-b")')], "fusion": {"manual": 1}}
    assert fused_job(apart, cluster(nodes(2))).verdict.warnings == (
        (
            'fusion.manual asks for 1 processing element, and 2 are made: A: host("node-a") and B: host("node-b") keep '
            "operators apart"
        ),
    )


def test_elements_cannot_be_more_than_hosts_for_isolated_ones() -> None:
    """Two isolated operators on one node: they share a processing element, since apart they would not fit."""
    spec = {"operators": [("A", "hostIsolation"), ("B", "hostIsolation")], "fusion": {"manual": 2}}
    model = fused_job(spec, cluster(nodes(1)))
    assert elements(model) == [["A", "B"]]
    assert model.verdict.warnings == (
        "fusion.manual asks for 2 processing elements, and 1 is made: with so many it does not fit on the cluster",
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        pytest.param(
            costly(2, "2"),
            "Op0: cost 2 cannot hold: no fusion of 2 operators fits on the cluster.\n"
            "Nearest fix: add a node with cpu 4 free.",
            id="cost",
        ),
        pytest.param(
            {"operators": [("A", "hostIsolation"), {"name": "B", "restartable": False}]},
            "A: hostIsolation and B: restartable: false cannot both hold: no fusion of 2 operators fits on the "
            "cluster.\nNearest fix: add a node, or drop A: hostIsolation.",
            id="restartable",
        ),
        pytest.param(
            {
                "operators": [{"name": "A", "region": "r", "placement": "hostIsolation"}],
                "parallelRegions": [{"name": "r", "width": 2}],
                "fusion": {"type": "channelIsolation"},
            },
            "type: channelIsolation and A: hostIsolation cannot both hold: no fusion of 2 operators fits on the "
            "cluster.\n"
            "Nearest fix: add a node, or set fusion.type to noChannelInfluence.",
            id="type",
        ),
        pytest.param(
            {
                "operators": [("A", "hostIsolation"), {"name": "B", "restartable": False}],
                "fusion": {"type": "channelIsolation"},
            },
            "A: hostIsolation and B: restartable: false cannot both hold: no fusion of 2 operators fits on the "
            "cluster.\nNearest fix: add a node, or drop A: hostIsolation.",
            id="type that is tried in vain",
        ),
        pytest.param(
            {
                "operators": [
                    {"name": "A", "placement": "hostIsolation", "memory": "1Gi"},
                    {"name": "B", "template": {"spec": {"containers": [{"name": "b", "image": "b"}]}}},
                    {"name": "C", "template": {"spec": {"containers": [{"name": "c", "image": "c"}]}}},
                ]
            },
            "A: hostIsolation, B: template and C: template cannot all hold: no fusion of 3 operators fits on the "
            "cluster.\nNearest fix: add a node with memory 1Gi free, or drop A: hostIsolation.",
            id="template",
        ),
    ],
)
def test_a_smallest_set_of_clauses_and_the_nearest_fix_are_named(spec: dict[str, Any], text: str) -> None:
    """One node of one core; each fix was tried."""
    model = fused_job(spec, cluster([node("node-a", cpu=1000)]))
    assert model.verdict.text == text
    assert model.verdict.fault is Fault.FORBIDDEN
    assert model.fusion is not None  # for a Job that runs already, or that is only audited


BY_CHANNEL: Final = 'partitionColocation("q" + byChannel())'


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        pytest.param(
            {"placement": f"{BY_CHANNEL}, partitionIsolation"},
            {"placement": BY_CHANNEL},
            f"A: {BY_CHANNEL}, B: {BY_CHANNEL} and A: partitionIsolation cannot all hold: operators of one partition "
            "colocation share a processing element.\n"
            f"Nearest fix: drop A: {BY_CHANNEL}, or drop B: {BY_CHANNEL}.",
            id="partition isolation",
        ),
        pytest.param(
            {"placement": BY_CHANNEL, "restartable": False},
            {"placement": BY_CHANNEL},
            f"A: {BY_CHANNEL}, B: {BY_CHANNEL}, A: restartable: false and B: restartable: true cannot all hold: "
            "operators of one partition colocation share a processing element.\n"
            f"Nearest fix: drop A: {BY_CHANNEL}, or drop B: {BY_CHANNEL}.",
            id="option",
        ),
        pytest.param(
            {"placement": 'hostColocation(byReplica() + "x"), host("node-a")'},
            {"placement": 'host("node-b"), hostColocation("r.Ax")'},
            'A: hostColocation(byReplica() + "x"), A: host("node-a"), B: host("node-b") and B: hostColocation("r.Ax") '
            "cannot all hold: no fusion of 4 operators fits on the cluster.\n"
            'Nearest fix: drop A: hostColocation(byReplica() + "x"), or drop A: host("node-a").',
            id="placement",
        ),
    ],
)
def test_what_an_operator_states_in_all_channels_is_one_clause(
    one: dict[str, Any], other: dict[str, Any], text: str
) -> None:
    """It is named as the Job states it, and dropped in all channels: it cannot be dropped in one of them."""
    operators = [{"name": name, "region": "r", **said} for name, said in (("A", one), ("B", other))]
    spec = {"operators": operators, "parallelRegions": [{"name": "r", "width": 2}]}
    assert fused_job(spec, cluster(nodes(2))).verdict.text == text


def test_a_group_on_two_hosts_is_refused() -> None:
    """Four clauses of two operators cannot hold together, and any three can."""
    operators = [(name, f'host("node-{name.lower()}"), hostColocation("x")') for name in "AB"]
    assert fused_job({"operators": operators}, cluster(nodes(2))).verdict.text == (
        'A: host("node-a"), A: hostColocation("x"), B: host("node-b") and B: hostColocation("x") cannot all hold: no '
        "fusion of 2 operators fits on the cluster.\n"
        'Nearest fix: drop A: host("node-a"), or drop A: hostColocation("x").'
    )


def test_what_no_node_runs_is_found_without_trying_all_fusions() -> None:
    spec = chain(60, manual=7)
    spec["operators"][7] = ("Op7", 'host("absent")')
    model = fused_job(spec, cluster(nodes(2)))
    assert model.verdict.text == (
        'operator Op7: host("absent") cannot hold: 0 of 2 nodes can run this pod.\n'
        "  2 nodes are not named absent\n"
        'Nearest fix: add a node named absent, or drop host("absent") (2 nodes would fit).'
    )
    assert model.fusion is not None


@pytest.mark.untraced
def test_many_operators_are_fused_as_near_to_the_number_as_they_fit() -> None:
    """Sixty operators of 400m: four elements would take 6 cores each, and nodes have five."""
    model = fused_job(costly(60, manual=4), cluster(nodes(6, cpu=5000)))
    assert not model.verdict.refused
    assert model.fusion is not None
    assert (model.fusion.asked, model.fusion.made) == (4, 5)
    assert model.fusion.inside_at_most >= model.fusion.inside


@pytest.mark.untraced
def test_a_large_job_that_fits_in_no_way_that_was_tried_is_not_decided() -> None:
    """There is no proof, so it is admitted with a warning, and the controller decides."""
    spec = costly(30, manual=2)
    spec["operators"] = [{**one, "template": TOLERANT} for one in spec["operators"]]
    model = fused_job(spec, cluster(nodes(2, cpu=1000)))
    assert model.verdict.undecided
    assert (
        model.verdict.warnings
        == (
            UNDECIDED,
            "fusion.manual asks for 2 processing elements, and 2 are made",
        )[:1]
    )


def test_without_time_nothing_is_decided() -> None:
    for spec in (chain(3), chain(30)):
        model = fused_job(spec, cluster(nodes(1)), solving=AtOnce(0))
        assert model.verdict.undecided
        assert model.fusion is not None


def test_a_job_that_fits_once_a_node_has_recovered_is_admitted() -> None:
    """The condition passes, and it is said."""
    away = node("node-a", taints=[Taint("node.kubernetes.io/not-ready", "", "NoSchedule")])
    model = fused_job(chain(2), cluster([away]))
    assert not model.verdict.refused
    assert model.verdict.warnings[-1:] == ("not all processing elements can run at the same time now",)


def test_a_partition_colocation_is_limited_like_an_element() -> None:
    operators = [(f"A{at}", 'partitionColocation("t")') for at in range(1001)]
    model = fused_job({"operators": operators}, cluster([node("a")]))
    assert model.verdict.text == (
        "One partition colocation is too large for a processing element, which has at most 1000 operators, 64 "
        "different clauses, 32 tokens and 8192 bytes of them."
    )


def test_resources_of_the_job_are_divided_among_the_elements() -> None:
    """Devices that do not divide among three elements are for two, and costs balance only."""
    spec = costly(6, manual=3) | {"resources": {"requests": {"cpu": "2"}, "limits": {"nvidia.com/gpu": 4}}}
    there = cluster([node(f"node-{name}", **{"nvidia.com/gpu": 4}) for name in "ab"])
    model = fused_job(spec, there)
    assert model.fusion is not None
    assert model.fusion.made == 2
    assert [one.resources for one in model.spec.processing_elements or ()] == [None, None]
    none = spec | {"resources": {"limits": {"nvidia.com/gpu": 4}}, "fusion": {"legacy": True}}
    assert fused_job(none, there).verdict.text == (
        "No number of processing elements divides spec.resources: 6 operators cannot be fused."
    )
    short = spec | {"resources": {"requests": {"cpu": "90"}}, "operators": ["A", "B"], "streams": []}
    assert fused_job(short, there).verdict.headline == (
        "cpu 45 (1/2 of the resources of Job apps) cannot hold: 0 of 2 processing elements fit (apps-0, apps-1)."
    )


def test_a_job_with_an_elastic_pool_waits_for_its_nodes() -> None:
    """Nodes are expected to come."""
    spec = chain(2) | {"hostPools": [{"name": "P", "elastic": True, "tags": ["gpu"]}]}
    spec["operators"] = [("Op0", "host(P)"), "Op1"]
    assert not fused_job(spec, cluster(nodes(1))).verdict.refused


def test_elements_keep_their_names_and_operators() -> None:
    """The same input gives the same elements; one operator more moves no other."""
    there = cluster(nodes(3))
    first = fused_job(chain(6, manual=3), there)
    assert first.fusion is not None
    before = first.fusion.processing_elements
    assert fused_job(chain(6, manual=3), there).fusion == first.fusion
    again = fused_job(chain(6, manual=3), there, previous=before[::-1])
    assert again.fusion is not None
    assert {one.name: one.operators for one in again.fusion.processing_elements} == {
        one.name: one.operators for one in before
    }
    more = chain(7, manual=3)
    grown = fused_job(more, there, previous=before)
    assert grown.fusion is not None
    kept = {one.name: set(one.operators) for one in grown.fusion.processing_elements}
    assert all(set(one.operators) <= kept[one.name] for one in before)


def test_a_job_that_is_not_fused_yet_has_no_elements() -> None:
    """Operators that are gone are left out of what was fused before."""
    spec = job_of({"operators": ["A", "B"], "streams": [{"from": "A", "to": "B"}]})
    assert as_fused(spec, None).processing_elements is None
    fusion = JobFusion(processing_elements=(FusedElement("apps-0", ("A", "gone")), FusedElement("apps-1", ("B",))))
    made = as_fused(spec, fusion).processing_elements or ()
    assert [[one.name for one in element.operators or ()] for element in made] == [["A"], ["B"]]
    assert made[0].connections == made[1].connections is not None
    plain = as_fused(spec, fusion)
    assert as_fused(plain, fusion) is plain


def test_a_pool_of_the_job_gets_its_hosts_with_the_fusion() -> None:
    spec = chain(2, manual=1) | {"hostPools": [{"name": "P", "size": 2}]}
    spec["operators"] = [("Op0", "host(P[0])"), ("Op1", "host(P[1])")]
    assert elements(fused_job(spec, cluster(nodes(2)))) == [["Op0"], ["Op1"]]
    assert "HostPool P" in fused_job(spec, cluster(nodes(1), [pool("Q")])).verdict.text


class Hurried(AtOnce):
    """Time for so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def left(self) -> float:
        self.looks -= 1
        return max(0.0, float(self.looks))


@pytest.mark.parametrize("count", [2, pytest.param(12, marks=pytest.mark.untraced)])
def test_whenever_time_ends_nothing_wrong_is_said(count: int) -> None:
    """Time ends at one look at the clock after the other: the Job is refused, with fewer words, or not decided."""
    spec = chain(count, manual=1)
    spec["operators"] = [(name, "hostIsolation, partitionIsolation") for name in spec["operators"]]
    endless = Hurried(100_000)
    fused_job(spec, cluster(nodes(1)), solving=endless)
    looks = 100_000 - endless.looks
    for end in range(0, looks, max(1, looks // (20 if count < 10 or not EVERY_DAY else 2))):
        verdict = fused_job(spec, cluster(nodes(1)), solving=Hurried(end)).verdict
        assert verdict.refused or verdict.undecided


class Clock(AtOnce):
    """A clock on which each rest takes a second."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.rests = 0

    def left(self) -> float:
        return self.seconds - self.rests

    async def rest(self) -> None:
        self.rests += 1


def test_a_search_ends_in_time_with_the_best_that_it_has_found() -> None:
    """Merging gives the number of elements, and may take a little longer; moves are made as long as there is time."""
    spec = chain(100, manual=10)
    spec["streams"] += [{"from": f"Op{at}", "to": f"Op{at * 7 % 100}", "rate": at % 5 + 1} for at in range(100)]
    there = cluster(nodes(3))
    whole = Clock(100_000)
    best = fused_job(spec, there, solving=whole)
    assert not best.verdict.refused
    assert not best.verdict.undecided
    hasty = Clock(5)
    first = fused_job(spec, there, solving=hasty)
    assert first.verdict.undecided
    assert first.fusion is not None
    assert best.fusion is not None
    assert (first.fusion.made, best.fusion.made) == (10, 10)
    assert first.fusion.inside < best.fusion.inside
    assert hasty.rests < whole.rests


def test_merging_is_finished_hastily_once_time_is_over() -> None:
    """There are as many elements as are asked for, in a few steps for each operator."""
    hasty, whole = Clock(2), Clock(100_000)
    model = fused_job(chain(100, manual=10), cluster(nodes(3)), solving=hasty)
    assert model.verdict.undecided
    assert hasty.rests < 5 * 100
    best = fused_job(chain(100, manual=10), cluster(nodes(3)), solving=whole)
    assert model.fusion is not None
    assert best.fusion is not None
    assert (model.fusion.made, best.fusion.made) == (10, 10)
    assert hasty.rests < whole.rests


def test_a_fusion_that_is_better_has_to_fit_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that were fused anew are judged again: two of ten operators find no room where four of five do."""
    spec = costly(20, "100m", manual=4)
    there = cluster([node(name, cpu=600) for name in ("node-a", "node-b", "node-c", "node-d")])

    def heavier(graph: Graph, partition: Partition, *_: object) -> Steps[Partition]:
        yield
        found = evaluated(graph, [at // 10 for at in range(20)], {})
        assert found.cut < partition.cut
        return found

    monkeypatch.setattr(fusion_search, "refined", heavier)
    model = fused_job(spec, there)
    assert not model.verdict.undecided
    assert sorted(map(len, elements(model))) == [5, 5, 5, 5]


def test_time_is_left_to_judge_what_was_fused_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long elements could be fused anew, the better fusion is not given up because time is over."""

    def lasting(graph: Graph, _partition: Partition, _previous: object, over: Callable[[], bool]) -> Steps[Partition]:
        while not over():
            yield
        return evaluated(graph, [at // 10 for at in range(20)], {})

    monkeypatch.setattr(fusion_search, "refined", lasting)
    clock = Clock(2000)
    model = fused_job(costly(20, "100m", manual=4), cluster(nodes(4)), solving=clock)
    assert sorted(map(len, elements(model))) == [10, 10]
    assert clock.left() > 0


def test_fusions_are_listed_as_long_as_there_is_time() -> None:
    """Seven operators have 877 fusions: those that were listed are a beginning."""
    hasty = fused_job(costly(7, "1", manual=3), cluster(nodes(3)), solving=Clock(3))
    assert hasty.verdict.undecided
    assert hasty.fusion is not None
    assert not fused_job(costly(7, "1", manual=3), cluster(nodes(3)), solving=Clock(1000)).verdict.undecided


@pytest.mark.untraced
def test_elements_that_the_search_does_not_get_fewer_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """No two operators with seventeen tokens share an element, but only tokens of all of them are counted."""
    monkeypatch.setattr(fusion_search, "_NUMBERS", 1)
    monkeypatch.setattr(in_the_making, "_MATES", 1)
    tokens = ", ".join(f'hostColocation("{{0}}-{at}")' for at in range(17))
    model = fused_job({"operators": [(f"Op{at}", tokens.format(at)) for at in range(1001)]}, cluster(nodes(1)))
    assert model.verdict.undecided
    assert model.fusion is None


def test_amounts_that_do_not_divide_among_all_operators_may_divide_among_fewer_elements() -> None:
    spec = chain(10, manual=2) | {"resources": {"limits": {"nvidia.com/gpu": 4}}}
    model = fused_job(spec, cluster([node("node-a", **{"nvidia.com/gpu": 4})]))
    assert not model.verdict.refused
    assert [len(one) for one in elements(model)] == [5, 5]


@pytest.mark.parametrize("field", ["cost", "memory"])
def test_an_operator_without_a_cost_may_be_fused_with_one_that_has_one(field: str) -> None:
    """By itself it requests what every element of the Job does; beside an operator with a cost it requests nothing."""
    spec = costly(12, "1", manual=3)
    spec["operators"] = [{**one, "memory": "1Mi"} for one in spec["operators"]]
    del spec["operators"][3][field]
    spec["processingElement"] = {"resources": {"requests": {"cpu": "99", "memory": "1Ti"}}}
    model = fused_job(spec, cluster(nodes(3, memory=2**30)))
    assert not model.verdict.refused
    assert [len(one) for one in elements(model)] == [4, 4, 4]
    spec["operators"] = [{"name": one["name"]} for one in spec["operators"]]
    assert fused_job(spec, cluster(nodes(3))).verdict.refused


def test_what_dropping_a_clause_is_good_for_may_not_be_found_out() -> None:
    """The contradiction is certain at once; of a fix it is said whether it was tried."""
    tied = 'partitionColocation("t")'
    spec = costly(10, "1", manual=2)
    spec["operators"][0] = {"name": "Op0", "placement": f"{tied}, partitionIsolation", "template": TOLERANT}
    spec["operators"][1] = {"name": "Op1", "placement": tied, "cost": "1"}
    said = "Nearest fix: {}."
    undecided = "(whether that is enough was not decided in time)"
    assert fused_job(spec, cluster(nodes(1, cpu=4000))).verdict.text.endswith(
        said.format(f"drop Op0: {tied} {undecided}, or drop Op1: {tied} {undecided}")
    )
    assert fused_job(spec, cluster(nodes(1, cpu=4000)), solving=AtOnce(0)).verdict.text.endswith(
        said.format("not found in time; explain and plan search longer")
    )


def test_a_fix_after_which_something_else_is_in_the_way_says_so() -> None:
    """Four operators of a core each do not fit on a node of three, whether two of them are tied or not."""
    tied = 'partitionColocation("t")'
    spec = costly(5, "1", manual=2)
    spec["operators"][0] = {"name": "Op0", "placement": f"{tied}, partitionIsolation", "template": TOLERANT}
    spec["operators"][1] = {"name": "Op1", "placement": tied, "cost": "1"}
    assert fused_job(spec, cluster(nodes(1, cpu=3000))).verdict.text.endswith(
        f"Nearest fix: drop Op0: {tied} (not enough by itself), or drop Op1: {tied} (not enough by itself)."
    )


def test_a_fusion_that_was_not_found_in_time_is_not_refused() -> None:
    """Two elements are asked for, the rules allow nine, and devices do not divide among these: others may be tried."""
    spec = {
        "operators": [(f"Op{at}", "partitionIsolation") for at in range(9)],
        "resources": {"limits": {"nvidia.com/gpu": 4}},
        "fusion": {"manual": 2},
    }
    model = fused_job(spec, cluster(nodes(1)), solving=AtOnce(0))
    assert model.verdict.undecided
    assert model.verdict.warnings == (UNDECIDED,)
    assert model.fusion is None
    assert fused_job(spec, cluster(nodes(1))).verdict.text == (
        "No number of processing elements divides spec.resources: 9 operators cannot be fused."
    )


def test_the_reasons_for_another_number_of_elements_are_all_said() -> None:
    """The rules allow two elements at least, no node holds a half, and resources do not divide among five."""
    asks = "fusion.manual asks for"
    apart = 'partitionExlocation("x")'
    operators = [{"name": f"Op{at}", "cost": "400m", "placement": apart if at < 2 else ""} for at in range(6)]
    spec = {"operators": [{k: v for k, v in one.items() if v} for one in operators], "fusion": {"manual": 1}}
    (warning,) = fused_job(spec, cluster(nodes(3, cpu=1000))).verdict.warnings
    assert warning == (
        f"{asks} 1 processing element, and 3 are made: Op0: {apart} and Op1: {apart} keep operators apart, and with 2 "
        "it does not fit on the cluster"
    )
    divided = chain(8, manual=5) | {"resources": {"limits": {"nvidia.com/gpu": 4}}}
    there = cluster([node("node-a", **{"nvidia.com/gpu": 4})])
    assert fused_job(divided, there).verdict.warnings == (
        f"{asks} 5 processing elements, and 4 are made: spec.resources cannot be divided among so many",
    )


def test_elements_that_keep_their_operators_are_more_than_asked_for() -> None:
    """While regions get other widths; no clause keeps these operators apart."""
    kept = {"Op0": "apps-0", "Op1": "apps-0", "Op2": "apps-1", "Op3": "apps-1"}
    asked = ((NAMESPACE, "apps"), job_of(chain(4, manual=1)), World(cluster(nodes(2)), Policy()), AtOnce())
    model = finished(judge_model(*asked, EarlierFusion(scaling=Scaling({}, {}, kept))))
    assert elements(model) == [["Op0", "Op1"], ["Op2", "Op3"]]
    (warning,) = model.verdict.warnings
    assert warning.endswith(", and 2 are made: processing elements that exist keep their operators")


def test_a_limit_that_keeps_operators_apart_is_said() -> None:
    """Tokens, clauses, bytes and operators of one element are limited."""

    def warned(operators: list[Any]) -> tuple[str, ...]:
        return fused_job({"operators": operators, "fusion": {"manual": 1}}, cluster(nodes(2))).verdict.warnings

    def two(text: str, count: int) -> list[Any]:
        return [(name, ", ".join(text.format(f"{name}{at}") for at in range(count))) for name in "AB"]

    made = "fusion.manual asks for 1 processing element, and 2 are made: a processing element has at most "
    assert warned(two('hostColocation("{}")', 17)) == (f"{made}32 tokens",)
    assert warned([(f"Op{at}", "hostIsolation") for at in range(65)]) == (f"{made}64 different clauses",)
    long = [(f"Op{at}" + "x" * 200, "hostIsolation") for at in range(40)]
    assert warned(long) == (f"{made}8192 bytes of clauses",)
    assert warned([f"Op{at}" for at in range(1001)]) == (f"{made}1000 operators",)


def test_the_reasons_of_a_refusal_that_is_not_the_fault_of_an_operator() -> None:
    assert fused_job(chain(2), cluster()).verdict.refused
    absent = {"operators": [("A", 'host("absent")'), "B"]}
    assert fused_job(absent, cluster(nodes(1))).verdict.headline == (
        'operator A: host("absent") cannot hold: 0 of 1 node can run this pod.'
    )
    away = node("node-a", taints=[Taint("node.kubernetes.io/not-ready", "", "NoSchedule")])
    assert fused_job(absent, cluster([away])).verdict.refused
    twice = 'partitionColocation("t"), partitionColocation("u")'
    both = {"operators": [("A", f'{twice}, host("node-a")'), ("B", f'{twice}, host("node-b")')]}
    assert fused_job(both, cluster(nodes(2))).verdict.text.endswith(
        'Nearest fix: drop A: host("node-a"), or drop B: host("node-b").'
    )


def test_of_very_many_clauses_no_smallest_set_is_looked_for() -> None:
    spec = costly(201, "8", legacy=True)
    assert fused_job(spec, cluster(nodes(2))).verdict.refused


def test_operators_that_meet_keep_the_name_of_most_of_them() -> None:
    """Two elements become one, and a stream within an operator or a partition colocation is no traffic."""
    tied = 'partitionColocation("t")'
    spec = {
        "operators": [("A", tied), ("B", tied), "C"],
        "streams": [{"from": "A", "to": "A"}, {"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
        "fusion": {"manual": 1},
    }
    previous = (FusedElement("apps-0", ("C",)), FusedElement("apps-1", ("A", "B")))
    model = fused_job(spec, cluster(nodes(1)), previous)
    assert model.fusion is not None
    assert [one.name for one in model.fusion.processing_elements] == ["apps-1"]


@pytest.mark.untraced
def test_fusions_that_are_the_same_are_tried_once() -> None:
    """Nine operators by themselves, whatever the number, and too little room."""
    spec = costly(9, "1", manual=2)
    spec["operators"] = [{**one, "placement": "partitionIsolation", "template": TOLERANT} for one in spec["operators"]]
    assert fused_job(spec, cluster(nodes(2, cpu=4000))).verdict.undecided


def test_operators_of_a_large_job_may_have_a_template() -> None:
    spec = chain(12, manual=2)
    template = {"spec": {"containers": [{"name": "own", "image": "own:1"}]}}
    spec["operators"] = [*spec["operators"][1:], {"name": "Op0", "template": template}]
    model = fused_job(spec, cluster(nodes(2)))
    assert not model.verdict.refused
    assert [one.template is not None for one in model.spec.processing_elements or ()].count(True) == 1


@pytest.mark.parametrize("count", [4, 12], ids=["all fusions are tried", "a good fusion is looked for"])
def test_all_operators_that_no_node_can_run_are_told_of(count: int) -> None:
    """A user who corrects the first mistake is not refused again for the next one."""
    spec = chain(count)
    spec["operators"] = [("Op0", 'host("absent")'), {"name": "Op1", "cost": "99"}, *spec["operators"][2:]]
    assert fused_job(spec, cluster(nodes(2))).verdict.text == (
        f"2 of {count} operators cannot run even by themselves (Op0, Op1):\n"
        '  Op0: host("absent") cannot hold: 0 of 2 nodes can run this pod. '
        'Nearest fix: add a node named absent, or drop host("absent") (2 nodes would fit).\n'
        "  Op1: cpu 99 cannot hold: 0 of 2 nodes can run this pod. "
        "Nearest fix: add a node with cpu 99 to offer, or lower cpu 99 to cpu 8 (2 nodes would fit)."
    )


@pytest.mark.untraced
def test_a_clause_of_one_of_two_conflicts_is_not_a_fix() -> None:
    """Two pairs of operators are together on different nodes: without a clause of one pair the other cannot run."""
    pairs = [(token, node) for token in ("c", "d") for node in ("node-a", "node-b")]
    operators = [(f"Op{at}", f'host("{node}"), hostColocation("{token}")') for at, (token, node) in enumerate(pairs)]
    verdict = fused_job({"operators": operators}, cluster(nodes(2))).verdict
    assert verdict.text == (
        'Op0: host("node-a"), Op0: hostColocation("c"), Op1: host("node-b") and Op1: hostColocation("c") cannot all '
        "hold: no fusion of 4 operators fits on the cluster.\n"
        "Nearest fix: no single change helps."
    )


def test_a_smallest_set_is_found_where_less_is_harder_to_keep() -> None:
    """Without ``restartable: false`` of C it is kept apart from A, and then the costs of others do not matter."""
    cannot = {"restartable": False}
    operators = [
        {"name": "A", "cost": "400m", **cannot},
        {"name": "B", "cost": "100m"},
        {"name": "C", "cost": "400m", "placement": "hostIsolation", **cannot},
        {"name": "D", "cost": "100m", "placement": 'host("node-b")'},
        {"name": "E", "cost": "200m", "placement": 'host("node-b"), partitionIsolation', **cannot},
    ]
    there = cluster([node("node-a", cpu=1000), node("node-b", cpu=300)])
    refusal = fused_job({"operators": operators, "fusion": {"manual": 1}}, there).verdict.refusal
    assert refusal is not None
    assert refusal.clauses == ("A: restartable: false", "A: cost 400m", "C: hostIsolation", "C: cost 400m")


@pytest.mark.parametrize(
    ("spec", "fix"),
    [
        ({"operators": [f"Op{at}" for at in range(1001)], "fusion": {"legacy": True}}, "fusion.legacy"),
        ({"operators": [(f"Op{at}", "partitionIsolation") for at in range(1001)]}, ""),
    ],
    ids=["legacy", "isolated"],
)
def test_operators_that_are_kept_apart_into_more_elements_than_a_job_may_have(spec: dict[str, Any], fix: str) -> None:
    nearest = "set fusion.automatic in place of fusion.legacy" if fix else "no single change helps"
    assert fused_job(spec, cluster(nodes(9))).verdict.text == (
        "1001 operators cannot be fused into 1000 processing elements, the most that a Job may have.\n"
        f"Nearest fix: {nearest}."
    )


def test_elements_that_their_marks_keep_apart_from_all_others_cost_no_search() -> None:
    """Steps are a part of a millisecond each; isolated units are found by counting, not by asking each other one."""
    operators = tuple(f"Op{at}" for at in range(900))
    model = fused_job(
        {"operators": [(name, "partitionIsolation") for name in operators]}, cluster(nodes(1)), solving=AtOnce(0)
    )
    assert len(elements(model)) == 900


def test_the_reason_for_more_elements_than_are_asked_for_is_found_without_comparing_all_operators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of thousands of operators all pairs would take seconds; nothing but room keeps these apart."""
    monkeypatch.setattr(Graph, "clash", pytest.fail)
    spec = {"operators": [{"name": f"Op{at}", "cost": "2"} for at in range(12)], "fusion": {"manual": 1}}
    model = fused_job(spec, cluster(nodes(6)))
    (warning,) = model.verdict.warnings
    assert warning.endswith("with so many it does not fit on the cluster")


@pytest.mark.parametrize(
    ("template", "limit"),
    [
        pytest.param(None, 55_000, id="less is never harder"),
        pytest.param({"spec": {"containers": [{"name": "pe", "image": "own:1"}]}}, 130_000, id="less may be harder"),
    ],
)
def test_a_refusal_of_a_fused_job_takes_few_calls(template: Any, limit: int) -> None:
    """Choices that are known to hold are not tried, and the pod of an element is made once for all fusions."""
    own = {"template": template} if template else {}
    operators = [
        {"name": f"Op{at}", "cost": "400m", "placement": 'hostExlocation("e")'} | (own if at == 0 else {})
        for at in range(3)
    ]
    spec, there = {"operators": operators, "fusion": {"manual": 2}}, cluster(nodes(2, cpu=1000))
    assert fused_job(spec, there).verdict.refused
    made = own_calls(lambda: fused_job(spec, there))
    assert made <= limit, made


def test_pods_of_elements_are_kept_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, there = costly(4, manual=1), cluster(nodes(2, cpu=1000))
    monkeypatch.setattr(element_pods, "_KNOWN", 1)
    assert elements(fused_job(spec, there)) == [["Op0", "Op1"], ["Op2", "Op3"]]
