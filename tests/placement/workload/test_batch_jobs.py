"""Batch Jobs whose pods run one after the other, and Jobs that are suspended."""

import pytest

from tests.builders import Json, bound_pod, cluster, node, nodes
from tests.placement.workload.replica_clusters import OPEN, THREE
from tests.workload_templates import crowded, replica
from webhook.placement.decision.merge import NOTHING
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.problem import Fault

ONE = cluster(nodes(1))
TWO = cluster(nodes(2))
UNEVEN = cluster([node("node-a", cpu=4000), node("node-b", cpu=2000)])
APART = 'hostExlocation("a")'
TOGETHER = 'hostColocation("t")'

WAITING: dict[str, tuple[Inventory, str, int, Json, str]] = {
    "apart, on one node": (ONE, APART, 2, {}, f"1 of 2 pods runs at a time ({APART} on 1 of 1 node)"),
    "apart, on several": (
        THREE, APART, 5, {}, f"3 of 5 pods run at a time ({APART}, one on each of 3 of 3 nodes)"),
    "apart, on one host": (
        TWO, f'{APART}, host("node-a")', 2, {},
        f'1 of 2 pods runs at a time ({APART}, host("node-a") on 1 of 2 nodes)'),
    "together, on one node that holds only some": (
        UNEVEN, TOGETHER, 5, {"requests": {"cpu": "1"}},
        f"4 of 5 pods run at a time ({TOGETHER}, requests cpu 1, all on one of 2 of 2 nodes)"),
    "together, and yet apart": (
        TWO, f"{TOGETHER}, {APART}", 2, {}, f"1 of 2 pods runs at a time ({TOGETHER}, {APART})"),
    "of some size": (
        UNEVEN, "partitionIsolation", 4, {"requests": {"cpu": "2"}},
        "3 of 4 pods run at a time (requests cpu 2 on 2 of 2 nodes)"),
    "in a pool": (
        OPEN, f"host(MyPool), {APART}", 3, {},
        f"2 of 3 pods run at a time (host(MyPool), {APART}, one on each of 2 of 3 nodes)"),
    "as many as nodes may run": (
        cluster(nodes(2, pods=3)), "partitionIsolation", 8, {}, "6 of 8 pods run at a time (on 2 of 2 nodes)"),
    "beside others, who may finish": (
        cluster(nodes(1), pods=[bound_pod("node-a", requests={"cpu": 7000})]), "partitionIsolation", 5,
        {"requests": {"cpu": "2"}}, "4 of 5 pods run at a time (requests cpu 2 on 1 of 1 node)"),
}  # fmt: skip


@pytest.mark.parametrize(("inventory", "placement", "count", "tweaks", "text"), WAITING.values(), ids=WAITING)
def test_a_warning_says_how_many_run_at_a_time(
    inventory: Inventory, placement: str, count: int, tweaks: Json, text: str
) -> None:
    found = crowded(placement, count, inventory, in_turn=True, **tweaks)
    assert (found.refused, found.warnings[-1]) == (False, f"parallelism {count}: {text}")


@pytest.mark.parametrize("count", [0, 1, 3], ids=["none", "one", "as many as fit"])
def test_nothing_is_said_of_pods_that_all_run_at_a_time(count: int) -> None:
    found = crowded(APART, count, THREE, in_turn=True)
    assert (found.refused, found.warnings) == (False, ())


def test_they_are_given_what_one_pod_is_given() -> None:
    assert crowded(APART, 9, THREE, in_turn=True).additions == crowded(APART, 1, THREE).additions


@pytest.mark.parametrize(
    ("inventory", "placement"),
    [
        pytest.param(TWO, 'host("gone")', id="no such node"),
        pytest.param(cluster(nodes(1), pods=[replica("node-a", "Job/v", apart="a")]), APART, id="no node that is free"),
    ],
)
def test_not_even_one_that_fits_is_refused_in_its_words(inventory: Inventory, placement: str) -> None:
    many, one = (crowded(placement, count, inventory, in_turn=True) for count in (3, 1))
    assert many.refused
    assert many.message == one.message


def test_a_pod_that_is_too_large_is_refused() -> None:
    found = crowded("partitionIsolation", 2, ONE, in_turn=True, requests={"memory": "33Gi"})
    assert found.headline == "requests memory 33Gi cannot hold: 0 of 1 node can run this pod."


def test_where_nodes_may_come_they_run_one_after_the_other_even_so() -> None:
    found = crowded(APART, 2, ONE, Policy(elastic=True), in_turn=True)
    assert found.warnings == (f"parallelism 2: 1 of 2 pods runs at a time ({APART} on 1 of 1 node)",)


# Suspended


def test_what_is_suspended_is_only_warned_where_not_all_fit() -> None:
    found = crowded(APART, 2, ONE, suspended=True)
    assert (found.refused, found.additions, found.warnings) == (
        False,
        NOTHING,
        (f"not yet: {APART} and parallelism 2 cannot both hold: 1 of 2 pods fits on 1 of 1 node.",),
    )


def test_so_it_is_where_not_even_one_fits() -> None:
    found = crowded('host("gone")', 2, ONE, suspended=True, in_turn=True)
    assert (found.refused, found.warnings) == (
        False,
        ('not yet: host("gone") cannot hold: 0 of 1 node can run this pod.',),
    )


def test_what_is_suspended_and_fits_is_admitted_in_silence() -> None:
    found = crowded(APART, 2, TWO, suspended=True)
    assert (found.refused, found.warnings) == (False, ())


@pytest.mark.parametrize("placement", ["Host(x)", f'host("node-a"), {APART}'], ids=["unreadable", "contradictory"])
def test_what_is_wrong_in_itself_is_refused_even_so(placement: str) -> None:
    found = crowded(placement, 2, TWO, suspended=True)
    assert (found.refused, found.fault) == (True, Fault.INVALID)


def test_where_nodes_may_come_they_may_come_for_what_is_suspended() -> None:
    found = crowded(APART, 2, ONE, Policy(elastic=True), suspended=True)
    assert found.warnings == (
        f"no room yet: {APART} and parallelism 2 cannot both hold: 1 of 2 pods fits on 1 of 1 node.",
    )
