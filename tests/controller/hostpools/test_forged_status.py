"""Whatever the status of a HostPool says, its marks come to no node that it may not have (``docs/security.md``)."""

import asyncio
from typing import Any, Final

import pytest

from tests.apiserver.paths import pool_path
from tests.controller.controlled_cluster import TAINT, ControlledCluster
from webhook.placement.text import keys

Json = dict[str, Any]

PLANE: Final = {"node-role.kubernetes.io/control-plane": ""}

SPECS: Final[dict[str, Json]] = {
    "shared": {"size": 1},
    "exclusive": {"size": 1, "mode": "Exclusive"},
    "one that no node could complete": {"size": 9},
    "literal, by name": {"hosts": ["victim"]},
    "literal, by address": {"hosts": ["10.9.9.9"]},
}

PHASES: Final = ("Ready", "Failed", "Pending", "Releasing")


def forged(controlled: ControlledCluster, phase: str, *names: str) -> Json:
    """A status by which these nodes are hosts."""
    uids = [controlled.kube.node(name)["metadata"]["uid"] for name in names]
    hosts = [{"index": at, "name": name, "uid": uid} for at, (name, uid) in enumerate(zip(names, uids, strict=True))]
    return {"phase": phase, "hosts": hosts, "name": "p"}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
async def test_no_node_that_may_not_be_pooled_is_marked(controlled: ControlledCluster, spec: Json, phase: str) -> None:
    controlled.node("victim", **PLANE)
    controlled.kube.create(pool_path("p"), spec=spec, status=forged(controlled, phase, "victim"))
    await controlled.lead(20)
    assert (controlled.label("victim"), controlled.taints("victim")) == (None, [])


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
async def test_nor_when_it_is_forged_while_the_controller_runs(controlled: ControlledCluster, spec: Json) -> None:
    controlled.node("victim", **PLANE)
    controlled.pool(**spec)
    await controlled.lead()
    controlled.kube.change(pool_path("p"), {"status": forged(controlled, "Ready", "victim")})
    await asyncio.sleep(20)
    assert (controlled.label("victim"), controlled.taints("victim")) == (None, [])
    assert "victim" not in str(controlled.hosts())


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
async def test_no_host_of_another_pool_is_marked(controlled: ControlledCluster, spec: Json) -> None:
    controlled.node("victim", only="x")
    owner = {"size": 1, "mode": "Exclusive", "selector": {"matchLabels": {"only": "x"}}}
    controlled.kube.create(pool_path("owner"), spec=owner)
    await controlled.lead(10)
    assert controlled.hosts("owner") == ["0:victim"]
    controlled.kube.create(pool_path("p"), spec=spec, status=forged(controlled, "Ready", "victim"))
    await asyncio.sleep(20)
    assert (controlled.label("victim"), controlled.hosts("owner")) == (None, ["0:victim"])
    assert [taint["value"] for taint in controlled.taints("victim")] == [keys.exclusive("default", "owner")]


async def test_a_host_that_lost_its_marks_is_marked_again(controlled: ControlledCluster) -> None:
    """It is the pool's own, of which its status and nothing else tells."""
    controlled.pool(size=1, mode="Exclusive")
    await controlled.lead(10)
    (host,) = (each.partition(":")[2] for each in controlled.hosts())
    controlled.relabel(host, **{keys.membership("default", "p"): None})
    controlled.retaint(host)
    await asyncio.sleep(10)
    assert (controlled.label(host), controlled.taints(host)) == ("0", [TAINT])


async def test_a_host_stays_when_the_setting_of_poolable_nodes_changes(controlled: ControlledCluster) -> None:
    """Its label, which nobody but the controller writes, tells that it was given to the pool."""
    controlled.pool(size=1)
    await controlled.lead(10)
    (host,) = (each.partition(":")[2] for each in controlled.hosts())
    controlled.relabel(host, **PLANE)
    await asyncio.sleep(10)
    assert (controlled.label(host), controlled.hosts()) == ("0", [f"0:{host}"])
