"""The first pod of those that share a node goes only where all of them fit."""

import pytest

from tests.builders import NAMESPACE, Json, bound_pod, cluster, node, nodes, pod, typed
from tests.placement.hardware_containers import GPU, equipped
from webhook.placement.decision.decision import Decision, decide
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.decision.whole_group import LISTED, WholeGroup
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.workload.workload import decide_replicas

HOSTNAME = "kubernetes.io/hostname"
EXISTS = Requirement(HOSTNAME, "Exists")
NEEDS = {"cpu": "1", GPU: "1"}
GROUP = pod('hostColocation("a")', requests=NEEDS, owner="ReplicaSet")
MIXED = cluster([equipped("big", 1, cpu=64000), equipped("small", 4, cpu=16000), equipped("other", 3, cpu=3000)])
"""Nodes of 64 cpus and 1 GPU, of 16 cpus and 4 GPUs, and one that just holds three."""


def first(found: Json, inventory: Inventory, count: int | None) -> Decision:
    """The decision about the first of so many pods."""
    return decide(typed(found), NAMESPACE, World(inventory, Policy()), count)


def steered(found: Decision) -> tuple[NodeTerm, ...]:
    assert found.additions, found.message
    return found.additions.terms


def to(*hosts: str, operator: str = "In") -> tuple[NodeTerm, ...]:
    """The node term that keeps to these hosts, which need a name anyway."""
    return (NodeTerm(match_expressions=(EXISTS, Requirement(HOSTNAME, operator, hosts))),)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(1, (NodeTerm(match_expressions=(EXISTS,)),), id="one fits anywhere"),
        pytest.param(3, to("other", "small"), id="three"),
        pytest.param(4, to("small"), id="four"),
        pytest.param(9, to("small"), id="nine, of which four run at a time"),
        pytest.param(None, (NodeTerm(match_expressions=(EXISTS,)),), id="nobody knows how many"),
    ],
)
def test_it_goes_where_all_of_them_fit(count: int | None, expected: tuple[NodeTerm, ...]) -> None:
    assert steered(first(GROUP, MIXED, count)) == tuple(
        NodeTerm(match_expressions=tuple(sorted(term.match_expressions or (), key=lambda need: need.operator)))
        for term in expected
    )


def test_workers_of_one_node_are_such_pods_too() -> None:
    found = pod(annotations={keys.UNIFORM: "all-same-node"}, requests=NEEDS)
    assert steered(first(found, MIXED, 4)) == to("small")


def test_the_others_are_out_with_that_reason() -> None:
    verdict = first(GROUP, MIXED, 4).verdict
    assert verdict
    assert [str(reason) for reason in verdict.reasons(World(MIXED, Policy()))] == [
        '2 nodes do not hold 4 pods of hostColocation("a")'
    ]


def test_no_change_of_the_others_is_advised() -> None:
    world = World(MIXED, Policy())
    verdict = first(GROUP, MIXED, 4).verdict
    assert verdict
    (group,) = [judged for judged in verdict.hard if isinstance(judged.constraint, WholeGroup)]
    assert group.constraint.filter(world) == group.nodes == verdict.candidates
    assert group.constraint.fix(world, world.everything & ~group.nodes) is None


def test_a_workload_is_shown_where_its_first_pod_goes() -> None:
    decision = decide_replicas(typed(GROUP), NAMESPACE, MIXED, Policy(), Replicas(3, "replicas 3"))
    assert steered(decision) == to("other", "small")


@pytest.mark.parametrize(
    ("found", "inventory"),
    [
        pytest.param(pod(requests=NEEDS), MIXED, id="pods that need not share a node"),
        pytest.param(
            pod('hostColocation("a")', annotations={keys.PREFERRED: "hostColocation"}, requests=NEEDS),
            MIXED,
            id="pods that only prefer it",
        ),
        pytest.param(GROUP, cluster([equipped("one", 4), equipped("two", 4)]), id="every node holds all of them"),
    ],
)
def test_it_is_left_alone_where_it_makes_no_difference(found: Json, inventory: Inventory) -> None:
    needs = {need for term in steered(first(found, inventory, 4)) for need in term.match_expressions or ()}
    assert needs <= {EXISTS}


def test_a_group_that_is_there_decides_by_itself() -> None:
    label = {keys.COLOCATION + keys.digest("a"): "a"}
    inventory = cluster([equipped("big", 1, cpu=64000), equipped("small", 4)], pods=[bound_pod("small", labels=label)])
    assert steered(first(GROUP, inventory, 3)) == (NodeTerm(match_expressions=(EXISTS,)),)


@pytest.mark.parametrize(
    ("large", "small", "expected"),
    [
        pytest.param(LISTED, 1, to(*sorted(f"l{at}" for at in range(LISTED))), id="as many as are listed"),
        pytest.param(LISTED + 1, 1, to("s0", operator="NotIn"), id="fewer that do not hold them"),
        pytest.param(
            LISTED + 1, LISTED + 1, to(*sorted(f"l{at}" for at in range(LISTED + 1))[:LISTED]), id="many of both"
        ),
    ],
)
def test_the_shorter_list_of_hosts_is_written(large: int, small: int, expected: tuple[NodeTerm, ...]) -> None:
    inventory = cluster([*(node(f"l{at}") for at in range(large)), *(node(f"s{at}", cpu=1000) for at in range(small))])
    terms = steered(first(pod('hostColocation("a")', requests={"cpu": "1"}), inventory, 2))
    assert {need for term in terms for need in term.match_expressions or ()} == {
        need for term in expected for need in term.match_expressions or ()
    }


@pytest.mark.parametrize(
    ("found", "depends"),
    [
        pytest.param(GROUP, True, id="of a ReplicaSet"),
        pytest.param(pod('hostColocation("a")', owner="Job"), True, id="of a Job"),
        pytest.param(pod('hostColocation("a")', owner="ProcessingElement"), False, id="of one that makes a single pod"),
        pytest.param(pod('hostColocation("a")'), False, id="of nobody"),
        pytest.param(pod('hostExlocation("a")', owner="ReplicaSet"), False, id="that lies apart"),
        pytest.param(pod('hostColocation("a")', owner="ReplicaSet", requests={"cpu": "99"}), False, id="refused"),
    ],
)
def test_what_becomes_of_a_first_pod_depends_on_their_number(found: Json, *, depends: bool) -> None:
    assert first(found, MIXED, None).depends is depends
    assert not first(found, MIXED, 3).depends


def test_a_second_pass_adds_nothing() -> None:
    once = first(GROUP, MIXED, 3)
    assert once.additions
    term: Json = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["other", "small"]}]}
    term["matchExpressions"].append({"key": HOSTNAME, "operator": "Exists"})
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    again = first(pod('hostColocation("a")', requests=NEEDS, affinity={"nodeAffinity": required}), MIXED, 3)
    assert again.additions
    assert (again.additions.terms, again.additions.edits) == ((), ())


def test_no_pod_is_steered_on_an_empty_cluster() -> None:
    assert first(GROUP, cluster(nodes(1)), 3).refused
