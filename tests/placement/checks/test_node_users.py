"""Who runs on a node that changes, and how it is said."""

from typing import Final

import pytest

from tests.builders import JOB, bound_pod, cluster, nodes, pool
from tests.placement.checks.node_changes import BARE, EVICTING, HOST, INFRA, OTHERS, SIZED, TAGGED, broken, tainted
from webhook.placement.checks.node_change import breakages, cordoned, objection
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node
from webhook.placement.objects.pool import Pool

USING: Final = [
    bound_pod("node-a", pools=["P", "T"]),
    bound_pod("node-a", pe="parallel-2", pools=["P"]),
    bound_pod("node-a", pe="parallel-3"),
    bound_pod("node-b", pe="parallel-4", pools=["P"]),
    bound_pod("node-a", pe="parallel-5", pools=["P"], terminating=True),
    bound_pod("node-a", job="", uid="stranger"),
    bound_pod("node-c", job="elsewhere"),
]


def test_live_pods_of_the_pool_on_the_node_are_counted() -> None:
    assert broken(BARE, SIZED, pods=USING) == [
        "HostPool default/p: its host 1 would lose the tag ib; 2 of its pods run there"
    ]


def test_one_pod_of_several_nodes_counts_too() -> None:
    assert broken(BARE, TAGGED, pods=USING) == [
        "HostPool default/t: a node of it would lose the tag ib; 1 of its pods runs there"
    ]


def test_with_a_node_all_processing_elements_go() -> None:
    assert broken(None, SIZED, TAGGED, pods=USING) == [
        "HostPool default/p: its host 1 would vanish; 2 of its pods run there",
        "HostPool default/t: a node of it would vanish; 1 of its pods runs there",
        "3 processing elements run there",
    ]


def test_a_single_one_goes_too() -> None:
    assert broken(None, pods=[bound_pod("node-a")]) == ["1 processing element runs there"]


@pytest.mark.parametrize(
    ("taint", "expected"),
    [
        pytest.param(INFRA, [], id="keeps away new pods only"),
        pytest.param(
            EVICTING,
            [
                (
                    "HostPool default/t: a node of it would get the taint dedicated=infra:NoExecute; "
                    "1 of its pods runs there"
                ),
            ],
            id="evicts",
        ),
    ],
)
def test_where_there_are_other_nodes_a_taint_matters_if_it(taint: Taint, expected: list[str]) -> None:
    assert broken(tainted(taint), TAGGED, pods=USING) == expected


def test_pods_of_another_pool_of_that_name_do_not_count() -> None:
    own = pool("P", name="own", job=JOB, size=1, assigned=["node-c"])
    said = "HostPool default/own: a node of it would vanish; 2 of its pods run there"
    assert broken(None, SIZED, own, pods=USING[:2])[0] == said


# The refusal


def test_a_refusal_names_the_first_on_its_first_line_and_then_the_others() -> None:
    found = list(breakages(HOST, None, cluster([HOST], [SIZED, TAGGED])))
    assert objection("node-a", found, deleted=True) == (
        "node node-a cannot be deleted: HostPool default/p: its host 1 would vanish\n"
        "  HostPool default/t: its last node would vanish\n"
        "Nearest fix: delete these HostPools first, or let the setting guard_nodes be warn."
    )


@pytest.mark.parametrize(
    ("pools", "after", "first"),
    [
        ([], None, "end the processing elements that run there"),
        ([SIZED], None, "delete the HostPool and end the processing elements that run there"),
        ([pool("P", size=1, assigned=["node-c"])], tainted(EVICTING), "end the processing elements that run there"),
        ([SIZED], tainted(EVICTING), "delete the HostPool"),
    ],
    ids=["no HostPool", "a host of a HostPool with pods", "pods of a HostPool elsewhere", "a host"],
)
def test_a_refusal_advises_what_has_to_end_first(pools: list[Pool], after: Node | None, first: str) -> None:
    found = list(breakages(HOST, after, cluster([HOST], pools, USING)))
    text = objection("node-a", found, deleted=after is None)
    assert text.splitlines()[-1] == f"Nearest fix: {first} first, or let the setting guard_nodes be warn."


def test_a_long_refusal_counts_what_it_leaves_out() -> None:
    pools = [pool(f"P{at}", size=1, assigned=["node-a"]) for at in range(200)]
    text = objection("node-a", list(breakages(HOST, None, cluster([HOST], pools))), deleted=False)
    assert text.startswith("node node-a cannot be changed so: HostPool default/p0: its host 0 would vanish\n")
    assert (len(text) <= 1024, " more reasons\nNearest fix: " in text) == (True, True)


# Cordons


def test_a_cordon_of_a_host_is_one_line() -> None:
    pools = [SIZED, TAGGED, pool("Z", size=1, assigned=["node-c"])]
    assert list(cordoned(HOST, cluster([HOST], pools))) == [
        (
            "node node-a is a host of HostPools default/p, default/t: no new pods are scheduled to it until it is "
            "uncordoned"
        )
    ]


def test_of_many_pools_three_are_named() -> None:
    pools = [pool(f"P{at}", size=1, assigned=["node-a"]) for at in range(5)]
    [said] = cordoned(HOST, cluster([HOST], pools))
    assert said == (
        "node node-a is a host of HostPools default/p0, default/p1, default/p2 and 2 more: "
        "no new pods are scheduled to it until it is uncordoned"
    )


def test_a_cordon_of_one_of_many_is_not_a_warning() -> None:
    assert list(cordoned(HOST, cluster([HOST, *OTHERS, *nodes(1)], [TAGGED]))) == []
