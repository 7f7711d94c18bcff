"""Marks that no pool stands for are taken off, and no others."""

import asyncio

import pytest

from tests.controller.controlled_cluster import Stage
from tests.controller.kube import node_path, pool_path
from webhook.cluster.client.errors import ApiError, Cause
from webhook.placement.text import keys

LABEL = keys.membership("team", "gone")
TAINT = {"key": keys.EXCLUSIVE, "value": "team.gone", "effect": "NoSchedule"}


def marked(stage: Stage) -> bool:
    return LABEL in stage.kube.node("node-a")["metadata"]["labels"] or TAINT in stage.taints("node-a")


def mark(stage: Stage) -> None:
    stage.relabel("node-a", **{LABEL: "0"})
    stage.retaint("node-a", TAINT, {"key": "dedicated", "effect": "NoSchedule"})


async def test_they_are_taken_off_after_a_while(stage: Stage) -> None:
    mark(stage)
    await stage.lead(2.9)
    before = marked(stage)
    await asyncio.sleep(0.5)
    assert (before, marked(stage), stage.taints("node-a")) == (
        True,
        False,
        [{"key": "dedicated", "effect": "NoSchedule"}],
    )


async def test_so_are_those_that_come_later(stage: Stage) -> None:
    await stage.lead()
    mark(stage)
    await asyncio.sleep(4)
    assert not marked(stage)


async def test_not_if_there_is_a_pool_by_then(stage: Stage) -> None:
    stage.relabel("node-a", **{LABEL: "0"})
    await stage.lead(1)
    stage.kube.create(pool_path("gone", "team"), spec={"size": 1})
    await asyncio.sleep(5)
    assert marked(stage)


async def test_not_if_there_is_a_pool_that_no_cache_knows_yet(stage: Stage) -> None:
    stage.delays = {"/apis/streams.ibm.com/v1/streamshostpools": 8.0}
    stage.relabel("node-a", **{LABEL: "0"})
    await stage.lead(0.0)
    stage.kube.create(pool_path("gone", "team"), spec={"size": 1})
    await asyncio.sleep(7.5)
    before = marked(stage)
    await asyncio.sleep(5)
    assert (before, marked(stage)) == (True, True)


async def test_a_node_that_is_gone_has_none(stage: Stage) -> None:
    mark(stage)
    await stage.lead(1)
    stage.kube.delete(node_path("node-a"))
    await asyncio.sleep(60)
    assert stage.candidate.line.writes == []


async def test_of_many_nodes_the_pools_are_listed_once(stage: Stage) -> None:
    for number in range(20):
        stage.node(f"node-{number}", **{LABEL: str(number)})
    await stage.lead(5)
    assert (stage.candidate.line.requests, len(stage.candidate.line.writes)) == (41, 20)


async def test_what_fails_is_tried_again(stage: Stage) -> None:
    mark(stage)
    await stage.lead(2.9)
    stage.candidate.line.failures += [ApiError(Cause.BROKEN, "etcd")] * 3
    await asyncio.sleep(1)
    assert not marked(stage)


@pytest.mark.parametrize("namespace", ["team", "default"])
async def test_marks_of_pools_that_nobody_can_read_stay(stage: Stage, namespace: str) -> None:
    stage.kube.create(pool_path("broken", namespace), spec={"size": -1})
    label = keys.membership(namespace, "broken")
    stage.relabel("node-a", **{label: "0"})
    await stage.lead(60)
    assert stage.kube.node("node-a")["metadata"]["labels"][label] == "0"
