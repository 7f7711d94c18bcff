"""A pod without some of its clauses: what is left is what another reading of the pod finds, mostly without one."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, event, given

from tests.builders import GIB, Json, bound_pod, cluster, node, nodes, pod, pool, typed
from tests.placement.pod_defaults.completing import having, limits
from tests.placement.properties import decision_core
from tests.placement.properties.clusters import TEAM, Cluster
from tests.placement.properties.generated_pods import equipped, requested
from tests.placement.properties.random_choices import examples
from tests.placement.properties.strategies import clusters
from tests.work import calls
from webhook.placement.decision.decision import decide
from webhook.placement.decision.refusal import partial_pod
from webhook.placement.decision.refusal.partial_pod import PartialPods, anew
from webhook.placement.decision.refusal.relaxation import REFUSED
from webhook.placement.decision.verdict import constraints_of, judge
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod, Resources
from webhook.placement.pod_defaults.runtime_class import RuntimeClass
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause

THREE = cluster(
    [node("node-a", labels={"disk": "ssd"}), node("node-b", labels={"zone": "z"}), node("node-c", memory=4 * GIB)],
    pools=[pool(tags=["blue"]), pool("Red", tags=["red"]), pool("Mine", mode="Exclusive", size=1, assigned=["node-a"])],
    pods=[bound_pod("node-b", pe="parallel-1", labels={keys.COLOCATION + keys.digest("held"): "held"})],
)


def partial(found: Pod, world: World, namespace: str = "default") -> tuple[PartialPods, list[Clause]]:
    """The pod that may lose clauses, and the clauses that it has; none if it is refused for something else."""
    ask, problems = read(found, namespace, world)
    parsed = constraints_of(ask, world)
    hard = judge(parsed.constraints, world).hard
    clauses = dict.fromkeys(judged.constraint.clause for judged in hard if judged.constraint.clause)
    return PartialPods(found, ask, hard, world), [] if problems or parsed.problems else [*clauses]


def choices(clauses: list[Clause]) -> Iterator[frozenset[Clause]]:
    """One clause, two clauses, all clauses."""
    for size in {1, 2, len(clauses)}:
        yield from map(frozenset, itertools.combinations(clauses, size))


def judged_anew(found: Pod, world: World, dropped: frozenset[Clause], namespace: str = "default") -> int:
    """How many nodes could run the pod, if it is read again."""
    stated = anew(found, namespace, world, dropped)
    return REFUSED if stated is None else judge([one.constraint for one in stated.hard], world).candidates.bit_count()


@given(clusters(), requested())
@examples(200)
def test_what_is_left_is_what_another_reading_finds(around: Cluster, source: Json) -> None:
    check(around, source)


@given(clusters(), equipped())
@examples(100)
def test_what_is_left_of_a_pod_with_hardware_is_what_another_reading_finds(around: Cluster, source: Json) -> None:
    check(around, source)


def check(around: Cluster, source: Json) -> None:
    found, world = decision_core.read(source), World(decision_core.inventory(around), decision_core.POLICY)
    left, clauses = partial(found, world, TEAM)
    assume(clauses)
    event(f"{len(clauses)} clauses")
    for dropped in itertools.islice(choices(clauses), 12):
        assert left.fit(dropped) == judged_anew(found, world, dropped, TEAM), dropped


SMALL = {"cpu": "1"}
MAPPED = {keys.MAPPED: "true", keys.MAPPING_KEY: "disk", keys.MAPPING_OPERATOR: "Exists"}
KNOWN: dict[str, tuple[Json, bool]] = {
    "labels, requests and other pods": (
        pod('hostExlocation("t"), hostIsolation', requests=SMALL, nodeSelector={"disk": "ssd"}), True,
    ),
    "a host": (pod('host("node-a"), hostExlocation("t")', requests=SMALL), True),
    "a shared pool": (pod("host(MyPool), hostIsolation", requests=SMALL), True),
    "a group without live pods": (pod('hostColocation("t")', requests=SMALL), True),
    "a mapping": (pod(annotations=MAPPED), True),
    "a host and a pool": (pod('A: host("node-a"); B: host(MyPool)'), False),
    "an exclusive pool": (pod("host(Mine)"), False),
    "pools of several tags": (pod("A: host(MyPool); B: host(Red)"), False),
    "a host that is bound outright": (pod('host("node-a")', annotations={keys.HOST_BINDING: "nodeName"}), False),
    "a node name": (pod(nodeName="node-a"), False),
    "requests beside live pods": (pod('hostColocation("held")', requests=SMALL), False),
    "a spread of its own": (
        pod(
            'hostExlocation("t")',
            topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        ),
        False,
    ),
    "a toleration of everything": (pod("host(MyPool)", tolerations=[{"operator": "Exists"}]), False),
    "hardware": (
        pod(annotations={keys.HARDWARE: '[{"allocatable": false, "name": "disk", "value": "ssd"}]'}), False,
    ),
}  # fmt: skip


def test_a_refusal_of_four_clauses_takes_few_calls() -> None:
    """An admitted pod takes some 300."""
    labelled = [node(f"node-{at}", labels={"disk": "hdd", "zone": "ab"[at % 2]}) for at in range(100)]
    wanted = typed(pod('hostExlocation("t")', requests=SMALL, nodeSelector={"disk": "ssd", "zone": "a"}))
    inventory = cluster(labelled)
    assert decide(wanted, "default", World(inventory, Policy())).refusal
    assert calls(lambda: decide(wanted, "default", World(inventory, Policy()))) < 700


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a pod was read again without."""
    found: list[Any] = []

    def counting(*asked: Any) -> Any:
        found.append(asked[-1])
        return anew(*asked)

    monkeypatch.setattr(partial_pod, "anew", counting)
    return found


@pytest.mark.parametrize(("source", "known"), KNOWN.values(), ids=KNOWN)
def test_a_pod_is_read_again_only_where_a_clause_changes_others(
    readings: list[Any],
    source: Json,
    known: bool,  # noqa: FBT001 -- drawn from a table
) -> None:
    check_readings(source, THREE, Policy(), readings, known=known)


def check_readings(source: Json, inventory: Inventory, policy: Policy, readings: list[Any], *, known: bool) -> None:
    world, found = World(inventory, policy), inventory.pod_defaults.completed(typed(source), "default")
    left, clauses = partial(found, world)
    assert clauses
    for dropped in choices(clauses):
        assert left.fit(dropped) == judged_anew(found, world, dropped)
    assert (not readings) is known


def test_an_element_that_gets_default_requests_is_read_again(readings: list[Any]) -> None:
    policy = Policy(element_requests=Resources({"cpu": "2"}))
    check_readings(pod(requests=SMALL), cluster(nodes(1, cpu=1500)), policy, readings, known=False)


def test_an_element_that_states_no_amounts_gets_the_same_default_without_another_reading(readings: list[Any]) -> None:
    policy = Policy(element_requests=Resources({"cpu": "2"}))
    check_readings(pod('hostExlocation("t")'), cluster(nodes(1, cpu=1500)), policy, readings, known=True)


def test_an_element_with_pod_level_resources_is_read_again(readings: list[Any]) -> None:
    policy = Policy(element_requests=Resources({"cpu": "2"}))
    source = pod('hostExlocation("t")', resources={"requests": {"cpu": "2"}})
    check_readings(source, cluster(nodes(1, cpu=1500)), policy, readings, known=False)


def test_a_pod_whose_requests_a_limit_range_bounds_is_read_again(readings: list[Any]) -> None:
    bounded = having(cluster(nodes(2)), limits(min={"cpu": "500m"}))
    check_readings(pod(requests=SMALL), bounded, Policy(), readings, known=False)


def test_a_pod_whose_runtime_class_selects_nodes_is_read_again(readings: list[Any]) -> None:
    classed = having(cluster(nodes(2)), RuntimeClass("kata", node_selector={"kata": "true"}))
    check_readings(pod("hostIsolation", runtimeClassName="kata"), classed, Policy(), readings, known=False)


def test_an_exclusive_node_that_is_named_leaves_no_node_like_any_other_clause() -> None:
    """Without its selector the pod would be refused with a conflict still, not for a way round exclusive hosts."""
    left, clauses = partial(typed(pod(nodeName="node-a", nodeSelector={"x": "1"})), World(THREE, Policy()))
    [selector] = [clause for clause in clauses if "nodeSelector" in clause.text]
    assert left.fit({selector}) == 0
