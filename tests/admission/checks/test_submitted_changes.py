"""``/validate`` of workloads that are changed: their live pods leave, or are among those they want."""

import copy
from typing import Any

import pytest

from tests.admission.submitted_workloads import submitted
from tests.answers import refused, response
from tests.builders import Json, cluster, nodes
from tests.workload_templates import replica, workload
from webhook.placement.inventory.inventory import Inventory

APART = 'hostExlocation("a")'


def changed(found: Json, **spec: Any) -> Json:
    """The workload with another spec."""
    return found | {"spec": copy.deepcopy(found["spec"]) | spec}


FULL = cluster(nodes(2), pods=[replica("node-a", apart="a"), replica("node-b", apart="a")])
OLD = workload(placement=APART, count=2)
RESTARTED = workload(placement=APART, count=2, annotations={"restarted": "yes"})
MISSING = {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}

UPDATES: dict[str, tuple[Json, Inventory, bool]] = {
    "more than fit": (changed(OLD, replicas=3), FULL, False),
    "as many": (changed(OLD, minReadySeconds=5), FULL, True),
    "fewer": (changed(OLD, replicas=1), FULL, True),
    "fewer, but still too many": (changed(OLD, replicas=1), cluster(), True),
    "another template, all pods at a time": (changed(RESTARTED, strategy={"type": "Recreate"}), FULL, True),
    "another template, one pod too few at a time": (RESTARTED | {"spec": RESTARTED["spec"] | MISSING}, FULL, True),
    "another template, one pod too many at a time": (RESTARTED, FULL, False),
    "another template, with room for one pod more": (RESTARTED, cluster(nodes(3)), True),
    "being deleted": (
        changed(OLD, replicas=9) | {"metadata": {"name": "w", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, FULL, True,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("new", "inventory", "allowed"), UPDATES.values(), ids=UPDATES)
def test_a_change_is_decided_as_if_its_own_pods_were_gone(new: Json, inventory: Inventory, *, allowed: bool) -> None:
    assert response(submitted(new, inventory, old=OLD))["allowed"] is allowed


def test_a_rollout_without_room_to_spare_is_told_how_to_do_without() -> None:
    assert refused(submitted(RESTARTED, FULL, old=OLD)) == (
        403,
        (
            'hostExlocation("a") and replicas 2 with one more in a rollout cannot both hold: '
            "2 of 3 pods fit, one on each of 2 of 2 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or "
            "set maxUnavailable to 1, so that a rollout needs no room to spare, or "
            'drop hostExlocation("a") (3 of 3 would fit).'
        ),
    )


def test_the_pods_of_other_workloads_stay() -> None:
    assert refused(submitted(workload(placement=APART, count=1, name="v"), FULL))[0] == 403


def test_the_runs_of_a_cron_job_are_over_before_the_next() -> None:
    inventory = cluster(nodes(1), pods=[replica("node-a", "Job/w-29391840", apart="a")])
    old, new = workload("CronJob", APART), workload("CronJob", APART, annotations={"restarted": "yes"})
    assert (response(submitted(new, inventory, old=old))["allowed"], refused(submitted(new, inventory))[0]) == (
        True,
        403,
    )
