"""The controller makes a Job that waits for new nodes, and watches the node groups by which it does."""

import json

import pytest
from msgspec import Raw

from tests.apiserver.storage import Storage
from tests.builders import NAMESPACE, cluster, node
from tests.controller.controller_process import FaultyApi, RecordedEvents
from webhook.cluster.objects.kinds import NODE_GROUPS
from webhook.controller.hostpools.observed_inventory import ObservedInventory
from webhook.controller.jobs.job_judge import JobJudge, Judgement
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobstore.records import read_job
from webhook.controller.jobstore.store import JobStore
from webhook.controller.reconciler_settings import ReconcilerSettings
from webhook.controller.work import Work
from webhook.placement.inventory.policy import Policy
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.condition import UNKNOWN, ConditionState

AUTO = Policy(scale_up="auto")


async def judgement(*groups: NodeGroup, policy: Policy = AUTO) -> Judgement:
    """That on a Job of two elements for nodes of their own, in a cluster of one node."""
    inventory = cluster([node("node-a")])
    for group in groups:
        inventory.node_groups.put(group)
    parts = [{"operators": [{"name": name, "placement": 'hostExlocation("a")'}]} for name in ("A", "B")]
    metadata = {"name": "app", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "1"}
    stated = {"bundle": {"name": "a.sab"}, "processingElements": parts}
    job = read_job(Raw(json.dumps({"metadata": metadata, "spec": stated}).encode()))
    spec = job.stated()
    assert spec is not None
    watched = ObservedInventory(inventory)
    kept = Reservations(watched, JobStore(), (lambda: 0.0, lambda: 0.0))
    return await JobJudge(watched.inventory, policy, kept).judge(job, spec)


async def test_a_job_that_waits_for_new_nodes_is_made_without_a_plan() -> None:
    """Its condition says so, whatever it has said before."""
    found = await judgement(NodeGroup("NodePool", "p"))
    assert (found.refused, found.made, found.plan) == (False, True, None)
    assert found.satisfiable == ConditionState(
        holds=True,
        reason="Satisfiable",
        message="no room yet for 1 of 2 processing elements (app-1): node groups can make 1 node of NodePool p",
    )


async def test_a_job_that_waits_for_any_nodes_is_not_said_to_be_satisfiable() -> None:
    found = await judgement(policy=Policy(elastic=True))
    assert (found.refused, found.made, found.plan, found.satisfiable) == (False, True, None, UNKNOWN)


async def test_a_job_that_no_group_can_help_is_unsatisfiable_for_the_reason_of_each() -> None:
    found = await judgement(NodeGroup("NodePool", "p", closed="is being deleted"))
    assert found.refused
    assert "NodePool p is being deleted" in found.satisfiable.message


@pytest.mark.parametrize(("policy", "watched"), [(Policy(), False), (AUTO, True)], ids=["off", "auto"])
def test_node_groups_are_watched_only_with_the_setting(policy: Policy, watched: bool) -> None:  # noqa: FBT001 -- of a table
    work = Work(FaultyApi(Storage()), RecordedEvents(), ReconcilerSettings(policy), of_pods=RecordedEvents())
    assert {*NODE_GROUPS}.issubset(work.kinds) is watched
    assert {*NODE_GROUPS}.isdisjoint(work.kinds) is not watched
