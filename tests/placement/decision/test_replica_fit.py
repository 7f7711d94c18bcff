"""How many equal pods there is room for."""

from typing import Any

import pytest

from tests.builders import GIB, NAMESPACE, bound_pod, cluster, node, nodes, pod, pool, typed
from tests.placement.hardware_containers import amount, container, required
from tests.workload_templates import replica
from webhook.placement.constraints.constraint import Spread
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import constraints_of, judge
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text import keys

THREE = cluster(nodes(3))
MANY = 1000


def crowd(placement: str | None, inventory: Inventory = THREE, *, leaving: str = "", **tweaks: Any) -> ReplicaFit:
    """The hard constraints of such a pod of a workload."""
    world = World(inventory, Policy(), leaving=leaving)
    ask, problems = read(typed(pod(placement, owner="ReplicaSet", **tweaks)), NAMESPACE, world)
    constraints, more, _ = constraints_of(ask, world)
    assert (*problems, *more) == ()
    return ReplicaFit(ask, judge(constraints, world).hard, world)


UNEVEN = cluster([node("node-a", cpu=8000), node("node-b", cpu=5000), node("node-c", cpu=1000)])
TAGGED = {keys.TAG: "x"}
TAGS = cluster(
    [node("node-a", labels=TAGGED), node("node-b", labels=TAGGED), node("node-c")],
    [pool(tags=["x"]), pool("P", size=2, assigned=["node-a", "node-c"]), pool("Q", size=2, phase=Phase.PENDING)],
)
HELD = cluster(nodes(3), pods=[replica("node-a", apart="a", together="t", requests={"cpu": 5000})])
PREFERRED = {keys.PREFERRED: "hostExlocation"}
PLACED = {keys.HOST_BINDING: "nodeName"}
BUSY = cluster(nodes(3), pods=[bound_pod("node-a", requests={"cpu": 3500})])

ROOMS: dict[str, tuple[int, ReplicaFit]] = {
    "as many pods as the nodes may run": (330, crowd(None)),
    "one a node, apart": (3, crowd('hostExlocation("a")')),
    "one a node, apart by several tokens": (3, crowd('hostExlocation("a"), hostExlocation("b")')),
    "alone, if no label says that they are one element": (3, crowd("Sink: hostIsolation", pe=None)),
    "an isolated element shares with itself": (330, crowd("hostIsolation")),
    "on one node, together": (110, crowd('hostColocation("t")')),
    "one, both apart and together": (1, crowd('hostColocation("t"), hostExlocation("a")')),
    "a preference asks for nothing": (330, crowd('hostExlocation("a")', annotations=PREFERRED)),
    "requests, a node": (3, crowd('host("node-a")', UNEVEN, requests={"cpu": "2500m"})),
    "requests, every node by itself": (6, crowd(None, UNEVEN, requests={"cpu": "2"})),
    "the scarcer of two resources": (12, crowd(None, requests={"cpu": "1", "memory": f"{8 * GIB}"})),
    "requests, apart": (2, crowd('hostExlocation("a")', UNEVEN, requests={"cpu": "2"})),
    "requests, together on the largest node": (4, crowd('hostColocation("t")', UNEVEN, requests={"cpu": "2"})),
    "fewer than the nodes may run": (6, crowd(None, cluster(nodes(2, pods=3)))),
    "what others use may become free": (6, crowd(None, BUSY, requests={"cpu": "4"})),
    "but not for who is bound past the scheduler": (
        1, crowd('host("node-a")', BUSY, requests={"cpu": "4"}, annotations=PLACED),
    ),
    "nor is there less than nothing free": (
        0,
        crowd(
            'host("node-a")', cluster(nodes(1), pods=[bound_pod(requests={"cpu": 9000})]),
            requests={"cpu": "1"}, annotations=PLACED,
        ),
    ),
    "hosts of a pool with tags": (2, crowd('host(MyPool), hostExlocation("a")', TAGS)),
    "hosts of a sized pool": (2, crowd('host(P), hostExlocation("a")', TAGS)),
    "hosts that a sized pool is about to get": (2, crowd('host(Q), hostExlocation("a")', TAGS)),
    "one host of a pool": (4, crowd("host(P[1])", TAGS, requests={"cpu": "2"})),
    "nodes that another workload's pods hold": (2, crowd('hostExlocation("a")', HELD)),
    "nodes that the workload's own pods hold": (3, crowd('hostExlocation("a")', HELD, leaving="Deployment/w")),
    "on the node of the group, beside it": (1, crowd('hostColocation("t")', HELD, requests={"cpu": "2"})),
    "on any node, once the own group has left": (
        4, crowd('hostColocation("t")', HELD, requests={"cpu": "2"}, leaving="Deployment/w"),
    ),
    "none": (0, crowd('host("gone")')),
    "none together": (0, crowd('host("gone"), hostColocation("t")')),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "found"), ROOMS.values(), ids=ROOMS)
def test_room_is_as_many_pods_as_fit(expected: int, found: ReplicaFit) -> None:
    assert found.room(MANY) == expected


@pytest.mark.parametrize("most", [0, 1, 2])
@pytest.mark.parametrize("placement", [None, 'hostExlocation("a")', 'hostColocation("t")'])
def test_pods_are_counted_no_further_than_asked(placement: str | None, most: int) -> None:
    assert crowd(placement).room(most) == most


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param([], 330, id="nothing that anyone wrote"),
        pytest.param(["hostExlocation"], 3, id="only the exlocation"),
        pytest.param(["requests"], 6, id="only the requests"),
        pytest.param(["host("], 110, id="only the host"),
        pytest.param(["host(", "requests"], 2, id="host and requests"),
        pytest.param(["host(", "requests", "hostExlocation"], 1, id="all of it"),
    ],
)
def test_of_the_clauses_only_the_chosen_ones_count(chosen: list[str], expected: int) -> None:
    found = crowd('host("node-a"), hostExlocation("a")', requests={"cpu": "4"})
    positions = [
        at for at, judged in enumerate(found.hard) if str(judged.constraint.clause).startswith(tuple(chosen or "-"))
    ]
    assert len(positions) == len(chosen)
    assert found.room(MANY, positions) == expected


@pytest.mark.parametrize(("chosen", "expected"), [("requests", 12), ("hostColocation", 110)])
def test_chosen_words_count_together_as_well(chosen: str, expected: int) -> None:
    found = crowd('hostColocation("t")', requests={"cpu": "2"})
    positions = [at for at, judged in enumerate(found.hard) if str(judged.constraint.clause).startswith(chosen)]
    assert found.room(MANY, positions) == expected


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        pytest.param(None, {Spread.FREE}, id="anywhere"),
        pytest.param('hostExlocation("a")', {Spread.FREE, Spread.APART}, id="apart"),
        pytest.param('hostColocation("a")', {Spread.FREE, Spread.TOGETHER}, id="together"),
    ],
)
def test_the_pods_lie_as_their_clauses_say(placement: str | None, expected: set[Spread]) -> None:
    assert crowd(placement).spreads() == expected


def test_every_node_holds_so_many_copies_whether_or_not_it_can_run_them() -> None:
    found = crowd('host("node-a")', UNEVEN, requests={"cpu": "2"})
    assert found.copies()[:3].tolist() == [4, 2, 0]


def test_of_what_is_asked_for_twice_the_larger_amount_counts() -> None:
    """By a requirement, and by another container beside it."""
    containers = [container("a"), container("b", {"cpu": "1"})]
    found = crowd(None, UNEVEN, annotations=required(amount("cpu", 1, of="a")), containers=containers)
    assert found.copies()[:3].tolist() == [4, 2, 0]


def test_its_candidates_are_the_nodes_that_can_run_one_of_them() -> None:
    assert crowd(None, UNEVEN, requests={"cpu": "2"}).candidates == 0b011
