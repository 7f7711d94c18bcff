"""Marks that no pool stands for are taken off, and no others."""

import asyncio

import pytest

from kubeapi.client.errors import ApiError, Cause
from tests.apiserver.paths import node_path, pool_path
from tests.controller.controlled_cluster import ControlledCluster
from webhook.placement.text import keys

LABEL = keys.membership("team", "gone")
TAINT = {"key": keys.EXCLUSIVE, "value": "team.gone", "effect": "NoSchedule"}


def marked(controlled: ControlledCluster) -> bool:
    return LABEL in controlled.kube.node("node-a")["metadata"]["labels"] or TAINT in controlled.taints("node-a")


def mark(controlled: ControlledCluster) -> None:
    controlled.relabel("node-a", **{LABEL: "0"})
    controlled.retaint("node-a", TAINT, {"key": "dedicated", "effect": "NoSchedule"})


async def test_they_are_taken_off_after_a_while(controlled: ControlledCluster) -> None:
    mark(controlled)
    await controlled.lead(2.9)
    before = marked(controlled)
    await asyncio.sleep(0.5)
    assert (before, marked(controlled), controlled.taints("node-a")) == (
        True,
        False,
        [{"key": "dedicated", "effect": "NoSchedule"}],
    )


async def test_so_are_those_that_come_later(controlled: ControlledCluster) -> None:
    await controlled.lead()
    mark(controlled)
    await asyncio.sleep(4)
    assert not marked(controlled)


async def test_not_if_there_is_a_pool_by_then(controlled: ControlledCluster) -> None:
    controlled.relabel("node-a", **{LABEL: "0"})
    await controlled.lead(1)
    controlled.kube.create(pool_path("gone", "team"), spec={"size": 1})
    await asyncio.sleep(5)
    assert marked(controlled)


async def test_not_if_there_is_a_pool_that_no_cache_knows_yet(controlled: ControlledCluster) -> None:
    controlled.delays = {"/apis/streams.ibm.com/v1/streamshostpools": 8.0}
    controlled.relabel("node-a", **{LABEL: "0"})
    await controlled.lead(0.0)
    controlled.kube.create(pool_path("gone", "team"), spec={"size": 1})
    await asyncio.sleep(7.5)
    before = marked(controlled)
    await asyncio.sleep(5)
    assert (before, marked(controlled)) == (True, True)


async def test_a_node_that_is_gone_has_none(controlled: ControlledCluster) -> None:
    mark(controlled)
    await controlled.lead(1)
    controlled.kube.delete(node_path("node-a"))
    await asyncio.sleep(60)
    assert controlled.candidate.line.writes == []


async def test_of_many_nodes_the_pools_are_listed_once(controlled: ControlledCluster) -> None:
    for number in range(20):
        controlled.node(f"node-{number}", **{LABEL: str(number)})
    await controlled.lead(5)
    assert (controlled.candidate.line.requests, len(controlled.candidate.line.writes)) == (41, 20)


async def test_what_fails_is_tried_again(controlled: ControlledCluster) -> None:
    mark(controlled)
    await controlled.lead(2.9)
    controlled.candidate.line.failures += [ApiError(Cause.BROKEN, "etcd")] * 3
    await asyncio.sleep(1)
    assert not marked(controlled)


@pytest.mark.parametrize("namespace", ["team", "default"])
async def test_marks_of_unreadable_pools_stay(controlled: ControlledCluster, namespace: str) -> None:
    controlled.kube.create(pool_path("broken", namespace), spec={"size": -1})
    label = keys.membership(namespace, "broken")
    controlled.relabel("node-a", **{label: "0"})
    await controlled.lead(60)
    assert controlled.kube.node("node-a")["metadata"]["labels"][label] == "0"
