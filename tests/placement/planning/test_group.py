"""Groups of real pods: what members demand of each other, plans, and conflicts that need special care."""

from typing import Any

import numpy as np
import pytest

from tests.builders import NAMESPACE, bound_pod, cluster, node, nodes, pod, pool, typed
from tests.placement.planning.at_once import AtOnce, all_of, element, job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, member_of
from webhook.placement.planning.plan import cheapest
from webhook.placement.planning.refusal.conflict import smallest
from webhook.placement.planning.refusal.group_refusal import refuse_group
from webhook.placement.planning.search import bounds, integer_program
from webhook.placement.planning.search.assignment import AssignmentProblem, Block
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text import keys

TWO = cluster(nodes(2))
APART = 'hostExlocation("a")'
SEPARATE = {keys.UNIFORM: "all-separate-nodes"}
SAME = {keys.UNIFORM: "all-same-node"}


def group(inventory: Inventory, *pods: tuple[int, dict[str, Any]]) -> Group:
    """So many equal pods of each kind."""
    world = World(inventory, Policy())
    members = []
    for at, (count, found) in enumerate(pods):
        member = member_of([f"w{at}"], count, typed(found), NAMESPACE, world, ())
        assert isinstance(member, Member), member
        members.append(member)
    return Group(members, world, (), AtOnce())


def spread(key: str, labels: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
    ]


PORT = {"name": "c", "image": "i", "ports": [{"hostPort": 80, "containerPort": 80}]}

FACTS = {
    "pods of one element share its own host": (((2, pod("hostIsolation")),), True),
    "but not with another element": (
        ((1, pod("hostIsolation")), (2, pod(pe="x")), (1, pod("hostIsolation", pe="y"))), False),
    "pods that must be apart": (((3, pod(APART)),), False),
    "pods that must be together and apart": (((2, pod(f'{APART}, hostColocation("c")')),), False),
    "elements that must be together and apart": (
        ((1, pod(f'{APART}, hostColocation("c")', pe="x")), (1, pod(f'{APART}, hostColocation("c")', pe="y"))), False),
    "preferences keep others away": (
        ((1, pod(APART)), (2, pod(APART, annotations={keys.PREFERRED: "hostExlocation"}))), True),
    "with no node left to prefer": (
        ((2, pod(APART)), (1, pod(APART, annotations={keys.PREFERRED: "hostExlocation"}))), False),
    "separate workers": (((3, pod(annotations=SEPARATE)),), False),
    "workers on one node": (((2, pod(annotations=SAME, requests={"cpu": "5"})),), False),
    "workers on one node, and others": (((2, pod(annotations=SAME)), (2, pod(annotations=SEPARATE))), False),
    "workers who would rather be on one node": (
        ((2, pod(annotations=SEPARATE)), (1, pod(annotations=SAME | {keys.PREFERRED: "uniform"}))), False),
    "host ports": (((3, pod(containers=[PORT])),), False),
    "a spread that keeps pods apart": (
        ((2, pod(labels={"app": "x"}, topologySpreadConstraints=spread(keys.HOSTNAME, {"app": "x"}))),), True),
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS)
def test_whether_a_group_can_be_placed(fact: str) -> None:
    pods, expected = FACTS[fact]
    answer = finished(group(TWO, *pods).place())
    assert (answer.placed is not None, answer.decided) == (expected, True)


def test_a_pod_with_mistakes_is_not_a_member() -> None:
    found = member_of(["w"], 1, typed(pod("host(")), NAMESPACE, World(TWO, Policy()), ())
    assert isinstance(found, tuple)


def test_a_question_is_answered_once() -> None:
    asked = group(TWO, (3, pod(APART)))
    assert finished(asked.place()) is finished(asked.place([3]))
    assert finished(smallest(asked)).counts == (3,)


def test_without_time_the_first_set_is_kept() -> None:
    asked = group(TWO, (3, pod(f'host("node-a"), {APART}', requests={"cpu": "3"})))
    asked.solving.seconds = 1.0  # type: ignore[attr-defined]
    finished(asked.place())
    left = [1.0] * 6
    asked.solving.left = lambda: left.pop() if left else 0.0  # type: ignore[method-assign]
    assert finished(smallest(asked)).clauses


def test_a_full_node_has_no_place() -> None:
    full = cluster([node("node-a", pods=1)])
    refusal = finished(refuse_group(group(full, (2, pod(requests={"cpu": "1"}))), (), "pod"))
    assert refusal.headline == "The pods cannot all run: 1 of 2 pods fits (w0)."


def test_several_nodes_can_be_labelled() -> None:
    inventory = cluster([node("node-a", labels={"disk": "ssd"}), *nodes(5)[1:]])
    parts = [element(APART, disk="ssd") for _ in range(4)]
    refusal = judged(job_spec(*parts), inventory).refusal
    assert refusal
    assert refusal.fix.startswith("label 3 more nodes disk=ssd (at least 3 of 4 nodes help), or drop ")
    other = element("", name="other")
    other["template"] = {"spec": {"nodeSelector": {"disk": "hdd"}, "containers": [{"name": "c", "image": "i"}]}}
    two = cluster([node("node-a", labels={"disk": "ssd"}), node("node-b", labels={"disk": "hdd"})])
    refusal = judged(job_spec(*parts[:2], other), two).refusal
    assert refusal
    assert refusal.fix.startswith("add a node with the label disk=ssd, or drop ")


def test_spread_pods_depend_on_labels() -> None:
    inventory = cluster([node("node-a", labels={"disk": "ssd"}), node("node-b")])
    spreading = pod(labels={"app": "x"}, topologySpreadConstraints=spread(keys.HOSTNAME, {"app": "x"}))
    pods = pod(APART, nodeSelector={"disk": "ssd"})
    refusal = finished(refuse_group(group(inventory, (2, pods), (1, spreading)), (), "pod"))
    assert refusal.fix.startswith("add a node with the label disk=ssd, or drop ")


def test_the_cheapest_plan_spreads_load() -> None:
    asked = group(TWO, (4, pod(requests={"cpu": "1"})), (2, pod('hostColocation("c")')))
    answer = finished(asked.place())
    assert answer.placed
    plan = finished(cheapest(asked, answer.placed))
    counts = np.bincount(np.concatenate(plan.placed.slots))
    assert (plan.proved, counts.tolist(), plan.hosts) == (True, [3, 3], {})


def test_a_plan_that_need_not_be_the_cheapest_takes_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = group(TWO, (4, pod(requests={"cpu": "1"})))
    answer = finished(asked.place())
    assert answer.placed
    monkeypatch.setattr(integer_program, "solve", None)
    plan = finished(cheapest(asked, answer.placed, exact=False))
    assert (plan.proved, plan.placed.slots) == (False, ((0, 0, 1, 1),))


def test_the_plan_of_nothing_is_empty() -> None:
    asked = group(TWO)
    answer = finished(asked.place())
    assert answer.placed
    plan = finished(cheapest(asked, answer.placed))
    assert (plan.proved, plan.placed.slots, plan.total) == (True, (), 0)


def test_sets_that_overlap_need_a_node_each() -> None:
    key = frozenset("k")
    sets = ([1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0])
    blocks = tuple(Block(1, np.array(mask, np.bool_), (), key, key) for mask in sets)
    problem = AssignmentProblem(np.arange(3), np.zeros((0, 3), np.int64), blocks)
    assert all_of(bounds.impossible(problem)) == frozenset(range(4))


def test_without_time_a_plan_is_not_proved_to_be_the_cheapest() -> None:
    asked = group(TWO, (2, pod()))
    answer = finished(asked.place())
    assert answer.placed is not None
    asked.solving = AtOnce(0.0)
    plan = finished(cheapest(asked, answer.placed))
    assert (plan.proved, sorted(plan.placed.slots[0])) == (False, [0, 1])


def away_from_itself(key: str) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "a"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_replicas_that_keep_out_of_each_others_zone_need_a_zone_each() -> None:
    zones = cluster([node(f"node-{at}", labels={"zone": at}) for at in "ab"])
    apart = pod(labels={"app": "a"}, affinity=away_from_itself("zone"))
    assert finished(group(zones, (2, apart)).place()).placed is not None
    assert finished(group(zones, (3, apart)).place()).placed is None


def test_replicas_on_one_node_cannot_keep_out_of_each_others_zone() -> None:
    zones = cluster([node(f"node-{at}", labels={"zone": at}) for at in "ab"])
    both = pod(labels={"app": "a"}, affinity=away_from_itself("zone"), annotations=SAME)
    assert finished(group(zones, (2, both)).place()).placed is None


def test_several_nodes_are_to_be_labelled() -> None:
    inventory = cluster([node("node-a", labels={keys.TAG: "x"}), node("node-b"), node("node-c")])
    spec = job_spec(*[element(f"{APART}, host(P)")] * 3, pools=({"name": "P", "tags": ["x"]},))
    assert "Nearest fix: label 2 more nodes streams.ibm.com/hostpool=x, or drop" in judged(spec, inventory).text


def test_nodes_without_a_place_for_a_pod_are_counted() -> None:
    inventory = cluster([node("node-a", pods=1), node("node-b", pods=1)], pods=[bound_pod("node-a", job="other")])
    text = judged(job_spec(element(), element()), inventory).text
    assert text.splitlines()[:2] == [
        "The processing elements cannot all run: 1 of 2 processing elements fits (app-0, app-1).",
        "  1 node has no place for one more pod",
    ]


def test_a_preferred_pool_marks_nothing() -> None:
    preferred = pod("host(P)", annotations={keys.PREFERRED: "host"})
    asked = group(cluster(nodes(1), pools=[pool("P", tags=("x",))]), (2, preferred))
    assert finished(asked.place()).placed is not None


def test_a_pod_that_says_too_much_is_refused_before_it_is_judged() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    found = typed(pod(topologySpreadConstraints=[constraint] * 11))
    refused = member_of(["a"], 1, found, NAMESPACE, World(TWO, Policy()), ())
    assert isinstance(refused, tuple)
    assert [problem.field for problem in refused] == ["spec.topologySpreadConstraints"]


def test_of_two_conflicts_the_smaller_one_is_named() -> None:
    inventory = cluster([node("node-a", labels={keys.TAG: "x"}), node("node-b", hostname=None, cpu=32000)])
    spec = job_spec(*[element(f"{APART}, host(P)", "5")] * 2, pools=({"name": "P", "tags": ["x"]},))
    text = judged(spec, inventory).text
    assert text.startswith('hostExlocation("a") cannot hold: 1 of 2 processing elements fits (app-0, app-1).')
