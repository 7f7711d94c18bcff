"""A leader whose cache of nodes is late gives no host away that stands: the API server is asked first."""

import asyncio
from typing import Any, Final

import pytest

from tests.apiserver.paths import NODES, node_path
from tests.controller.controlled_cluster import LABEL, ControlledCluster
from tests.controller.controller_process import ControllerProcess

Json = dict[str, Any]

SPECS: Final[dict[str, Json]] = {
    "sized": {"size": 1},
    "literal, by name": {"hosts": ["node-a"]},
    "literal, by address": {"hosts": ["10.0.0.1"]},
}


async def taken_over(controlled: ControlledCluster, **spec: Any) -> ControllerProcess:
    """A pool has node-a, then an exclusive pool as well; who leads from now on has seen neither mark of the node."""
    controlled.node("node-a", address="10.0.0.1")
    standby = ControllerProcess(controlled.kube, rules=controlled.rules, delays={NODES: 60.0})
    controlled.pool(**spec)
    await controlled.lead()
    controlled.pool("exclusive", size=1, mode="Exclusive")
    await asyncio.sleep(3)
    assert (controlled.hosts(), controlled.hosts("exclusive")) == (["0:node-a"], ["0:node-a"])
    await controlled.end()
    return standby


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
async def test_a_host_that_another_pool_took_stays_at_its_index(spec: Json) -> None:
    controlled = ControlledCluster()
    standby = await taken_over(controlled, **spec)
    before = controlled.status()
    standby.begin()
    await asyncio.sleep(3)
    assert (controlled.status(), controlled.label("node-a"), controlled.condition()[1]) == (before, "0", "HostsTaken")
    await standby.end()


async def test_a_host_is_let_go_if_the_api_server_says_the_same() -> None:
    """Without its label the node is one that the pool never had, as far as can be known: a status may be forged."""
    controlled = ControlledCluster()
    standby = await taken_over(controlled, size=1)
    controlled.kube.change(node_path("node-a"), {"metadata": {"labels": {LABEL: None}}})
    standby.begin()
    await asyncio.sleep(3)
    assert (controlled.hosts(), controlled.hosts("exclusive"), controlled.label("node-a")) == ([], ["0:node-a"], None)
    await standby.end()
