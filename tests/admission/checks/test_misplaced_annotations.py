"""Annotations of ours on a workload itself, which its pods do not get."""

from typing import Any

import pytest

from tests.admission.submitted_workloads import submitted
from tests.answers import refused, response, warnings
from tests.builders import NAMESPACE, UID, Json, cluster, node, nodes
from tests.workload_templates import workload
from webhook.admission.checks.templates import pods_of
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placementreview.explanations.explanation import explain

KINDS = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"]
APART = 'hostExlocation("a")'
SAID = {keys.PLACEMENT: APART}
ONE = cluster(nodes(1))
NOTHING: Json = {"uid": UID, "allowed": True}
WARN = Policy(unknown_annotations="warn")
LOST = (
    "metadata.annotations[streams.ibm.com/placement]: a Deployment's own annotations do not reach its pods: "
    "write it in spec.template.metadata.annotations"
)


def says(kind: str = "Deployment", said: Json = SAID, **tweaks: Any) -> Json:
    """A workload of pods that ask for nothing, with annotations of its own."""
    plain = {} if "placement" in tweaks else {"job": None, "pe": None}
    return workload(kind, metadata={"annotations": said}, **plain | tweaks)


def cron_job(said: Json | None = None, runs: Json | None = None) -> Json:
    """A CronJob with annotations of its own, and of its Jobs."""
    found = says("CronJob", said or {})
    found["spec"]["jobTemplate"]["metadata"] = {"annotations": runs}
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_annotations_of_a_workload_itself_are_refused(kind: str) -> None:
    assert refused(submitted(says(kind), ONE)) == (422, LOST.replace("Deployment", kind))


def test_a_pod_template_has_no_spec() -> None:
    text = LOST.replace("Deployment", "PodTemplate").replace("spec.template.", "template.")
    assert refused(submitted(says("PodTemplate"), ONE)) == (422, text)


def test_a_cron_job_has_two_places_that_are_not_the_pods() -> None:
    assert refused(submitted(cron_job(SAID, SAID), ONE)) == (
        422,
        (
            "metadata.annotations[streams.ibm.com/placement]: a CronJob's own annotations do not reach its pods: "
            "write it in spec.jobTemplate.spec.template.metadata.annotations\n"
            "spec.jobTemplate.metadata.annotations[streams.ibm.com/placement]: the annotations of a CronJob's Jobs "
            "do not reach their pods: write it in spec.jobTemplate.spec.template.metadata.annotations"
        ),
    )


@pytest.mark.parametrize("said", [{}, SAID], ids=["nothing beside it", "both"])
def test_so_it_is_where_the_jobs_of_a_cron_job_are_described(said: Json) -> None:
    assert refused(submitted(cron_job(said, SAID), ONE))[0] == 422


def made(kind: str, by: str) -> Json:
    """What the controller of another kind makes, with the annotations of its maker."""
    owner = {"apiVersion": "v1", "kind": by, "name": "o", "uid": "u", "controller": True}
    return workload(kind, job=None, pe=None, metadata={"annotations": SAID, "ownerReferences": [owner]})


SILENT: dict[str, Json] = {
    "nothing": says(said={}),
    "annotations of others": says(said={"example.com/placement": APART}),
    "those of the instance operator": says(said=dict.fromkeys(keys.FOREIGN, "x")),
    "what the template says, too": says(placement=APART, said=SAID),
    "what the template of a CronJob says, too": workload("CronJob", APART, metadata={"annotations": SAID}),
    "nothing readable": says() | {"metadata": {"annotations": [keys.PLACEMENT]}},
    "what is being deleted": says() | {"metadata": {"annotations": SAID, "deletionTimestamp": "2026-01-01T00:00:00Z"}},
}  # fmt: skip


@pytest.mark.parametrize("found", SILENT.values(), ids=SILENT)
def test_nothing_is_lost_of(found: Json) -> None:
    assert response(submitted(found, ONE))["allowed"]


COPIED: dict[str, tuple[Json, str]] = {
    "by that of Deployments": (
        made("ReplicaSet", "Deployment"),
        "system:serviceaccount:kube-system:deployment-controller",
    ),
    "by that of CronJobs": (made("Job", "CronJob"), "system:serviceaccount:kube-system:cronjob-controller"),
    "where all controllers share one account": (made("Job", "CronJob"), "system:kube-controller-manager"),
}


@pytest.mark.parametrize(("found", "account"), COPIED.values(), ids=COPIED)
def test_annotations_that_a_controller_copied_count_only_for_pods_of_controllers(found: Json, account: str) -> None:
    assert response(submitted(found, ONE, by=account))["allowed"]
    assert refused(submitted(found, ONE))[0] == 422


def test_what_the_template_says_otherwise_is_lost() -> None:
    assert refused(submitted(says(placement="hostIsolation", said=SAID), ONE)) == (422, LOST)


@pytest.mark.parametrize("key", [keys.INJECTED, f"{keys.PREFIX}placements"], ids=["written by us", "unknown"])
def test_any_annotation_of_ours_is_lost(key: str) -> None:
    assert refused(submitted(says(said={key: "x"}), ONE))[1] == LOST.replace(keys.PLACEMENT, key)


def test_all_that_is_lost_is_named() -> None:
    found = says(said={keys.PREFERRED: "host", keys.PLACEMENT: APART})
    assert refused(submitted(found, ONE))[1] == f"{LOST}\n{LOST.replace(keys.PLACEMENT, keys.PREFERRED)}"


def test_what_else_is_wrong_is_said_as_well() -> None:
    message = refused(submitted(says(said=SAID, placement="Host(x)"), ONE))[1]
    assert message == (
        f"{LOST}\nmetadata.annotations[streams.ibm.com/placement]: unknown clause "
        '"Host" (did you mean host?)\n  Host(x)\n  ^'
    )


@pytest.mark.parametrize("tweaks", [{}, {"placement": APART}], ids=["pods that ask for nothing", "pods that ask"])
def test_it_is_a_warning_where_unknown_annotations_are(tweaks: Json) -> None:
    found = says(said={keys.PREFERRED: "host"}, **tweaks)
    answer = submitted(found, ONE, WARN)
    assert (response(answer)["allowed"], warnings(answer)) == (True, [LOST.replace(keys.PLACEMENT, keys.PREFERRED)])


def test_a_warning_goes_with_a_refusal() -> None:
    answer = submitted(says(said={keys.PREFERRED: "host"}, placement=APART, count=2), ONE, WARN)
    assert (refused(answer)[0], warnings(answer)) == (403, [LOST.replace(keys.PLACEMENT, keys.PREFERRED)])


def test_in_audit_mode_it_is_only_said() -> None:
    answer = submitted(says(), ONE, Policy(audit=True))
    assert (response(answer)["allowed"], warnings(answer)) == (True, [f"audit: this would be refused: {LOST}"])


@pytest.mark.parametrize(
    ("new", "old", "allowed"),
    [
        pytest.param(says(), says(said={}), False, id="said anew"),
        pytest.param(says(), says(said={keys.PLACEMENT: "hostIsolation"}), False, id="said otherwise"),
        pytest.param(says(said={}), says(), True, id="said no longer"),
        pytest.param(says(spec={"paused": True}), says(), True, id="said before, and no other pods"),
        pytest.param(says(count=1), says(count=2), True, id="said before, and fewer pods"),
        pytest.param(says(count=2), says(count=1), False, id="said before, and more pods"),
        pytest.param(says(labels={"a": "b"}), says(), False, id="said before, and other pods"),
        pytest.param(cron_job(runs=SAID), cron_job(), False, id="said anew of the Jobs of a CronJob"),
        pytest.param(cron_job(runs=SAID), cron_job(runs=SAID), True, id="said before of them"),
        pytest.param(cron_job(SAID, SAID), cron_job(runs=SAID), False, id="said anew of it besides"),
    ],
)
def test_of_a_change_what_is_new_counts_or_all_where_pods_are(new: Json, old: Json, *, allowed: bool) -> None:
    assert response(submitted(new, ONE, old=old))["allowed"] is allowed


def test_a_change_that_leaves_the_pods_as_they_were_says_nothing_of_them() -> None:
    full = workload(placement=APART, count=9, metadata={"annotations": SAID | {keys.PREFERRED: "host"}})
    answer = submitted(full, cluster([node()]), old=workload(placement=APART, count=9))
    assert refused(answer) == (422, LOST.replace(keys.PLACEMENT, keys.PREFERRED))


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(Policy(), (True, 422, LOST, [])), (WARN, (False, 200, "", [LOST]))],
    ids=["refused", "warned"],
)
def test_explain_says_the_same(policy: Policy, expected: tuple[bool, int, str, list[str]]) -> None:
    document = says()
    [found] = pods_of(document)
    told = explain("w.yaml", document, found, World(ONE, policy))
    assert told.namespace == NAMESPACE
    assert (told.refused, told.code, told.message, told.warnings) == expected
