"""``/validate`` of workloads: their pods are judged before there are any."""

import pytest

from tests.admission.submitted_workloads import submitted
from tests.answers import refused, response, warnings
from tests.builders import UID, Json, cluster, nodes, pool, review
from tests.workload_templates import replica, workload
from webhook.admission.answer import Outcome
from webhook.admission.checks.workloads import submitted as submitted_workload
from webhook.admission.validate import CHECKS, validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

KINDS = [
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "ReplicationController",
    "PodTemplate",
]
COUNTED = [kind for kind in KINDS if kind not in {"DaemonSet", "PodTemplate"}]
APART = 'hostExlocation("a")'
TWO = cluster(nodes(2))
NOTHING: Json = {"uid": UID, "allowed": True}


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_whose_pods_have_no_node_is_refused_as_they_would_be(kind: str) -> None:
    code, message = refused(submitted(workload(kind, "hostExlocation('a')"), TWO))
    field = "metadata.annotations[streams.ibm.com/placement]: "
    assert (code, message[: len(field)]) == (422, field)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_workload_whose_pods_cannot_all_run_is_refused(kind: str) -> None:
    said = "parallelism 3" if "Job" in kind else "replicas 3"
    number = said.partition(" ")[0]
    at_a_time = {"completionMode": "Indexed"} if "Job" in kind else {}
    assert refused(submitted(workload(kind, APART, count=3, spec=at_a_time), TWO)) == (
        403,
        (
            f'hostExlocation("a") and {said} cannot both hold: 2 of 3 pods fit, one on each of 2 of 2 nodes.\n'
            "Nearest fix: add a node with room for one more of them, or "
            f'lower {number} to 2, or drop hostExlocation("a") (3 of 3 would fit).'
        ),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_whose_pods_can_all_run_is_allowed(kind: str) -> None:
    answer = submitted(workload(kind, APART, count=2), TWO)
    noted = {"verdict": "admitted", "rule": APART, "candidates": "2"}
    assert (response(answer), answer.outcome) == (NOTHING | {"auditAnnotations": noted}, Outcome.ALLOWED)


def test_one_pod_of_a_pod_template_is_decided_about() -> None:
    code, message = refused(submitted(workload("PodTemplate", 'host("node-z")'), TWO))
    assert (code, message.partition("\n")[0]) == (403, 'host("node-z") cannot hold: 0 of 2 nodes can run this pod.')


def test_a_pod_template_is_decided_about_again_if_its_pods_would_be_others() -> None:
    gone = workload("PodTemplate", 'host("gone")')
    before = workload("PodTemplate", APART)
    assert refused(submitted(gone, TWO, old=before)) == refused(submitted(gone, TWO))
    labelled = workload("PodTemplate", 'host("gone")', metadata={"labels": {"a": "b"}})
    assert response(submitted(labelled, TWO, old=gone)) == NOTHING


def test_the_audit_log_says_why_it_was_refused() -> None:
    noted = response(submitted(workload(placement=APART, count=3), TWO))["auditAnnotations"]
    assert noted == {"verdict": "refused", "rule": 'hostExlocation("a"); replicas 3', "candidates": "2"}


def test_a_daemon_set_that_chooses_hosts_is_invalid() -> None:
    assert refused(submitted(workload("DaemonSet", 'host("node-a")'), TWO)) == (
        422,
        (
            'metadata.annotations[streams.ibm.com/placement]: host("node-a"): '
            "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment"
        ),
    )


def test_warnings_reach_whoever_submits_it() -> None:
    assert warnings(submitted(workload(placement="partitionIsolation"), TWO)) == [
        "partitionIsolation controls fusion, which is complete: it has no effect on the pod"
    ]


def test_what_runs_no_pod_yet_is_allowed_with_a_warning() -> None:
    assert warnings(submitted(workload(placement='host("gone")', count=0), TWO)) == [
        'not yet: host("gone") cannot hold: 0 of 2 nodes can run this pod.'
    ]


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_a_job_whose_pods_run_one_after_the_other_is_allowed_with_a_warning(kind: str) -> None:
    assert warnings(submitted(workload(kind, APART, count=3), TWO)) == [
        'parallelism 3: 2 of 3 pods run at a time (hostExlocation("a"), one on each of 2 of 2 nodes)'
    ]


def test_a_job_of_which_not_even_one_pod_fits_is_refused() -> None:
    code, message = refused(submitted(workload("Job", f'{APART}, host("gone")', count=3), TWO))
    assert (code, message.partition("\n")[0]) == (403, 'host("gone") cannot hold: 0 of 2 nodes can run this pod.')


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_a_job_that_is_suspended_is_allowed_with_a_warning(kind: str) -> None:
    found = workload(kind, APART, count=3, spec={"suspend": True, "completionMode": "Indexed"})
    assert warnings(submitted(found, TWO)) == [
        (
            'not yet: hostExlocation("a") and parallelism 3 cannot both hold: '
            "2 of 3 pods fit, one on each of 2 of 2 nodes."
        )
    ]


def test_a_job_that_is_no_longer_suspended_is_decided_about() -> None:
    before, after = (
        workload("Job", APART, count=3, spec={"suspend": suspend, "completionMode": "Indexed"})
        for suspend in (True, False)
    )
    assert refused(submitted(after, TWO, old=before)) == refused(submitted(after, TWO))


def test_an_elastic_pool_lets_it_wait() -> None:
    inventory = cluster(nodes(1, labels={keys.TAG: "x"}), pools=[pool(tags=["x"], elastic=True)])
    assert warnings(submitted(workload(placement=f"host(MyPool), {APART}", count=2), inventory)) == [
        'no room yet: hostExlocation("a") and replicas 2 cannot both hold: 1 of 2 pods fits on 1 of 1 node.'
    ]


def test_in_audit_mode_it_is_only_said() -> None:
    answer = submitted(workload(placement=f"{APART}, partitionIsolation", count=3), TWO, Policy(audit=True))
    assert response(answer)["auditAnnotations"]["verdict"] == "refused"
    assert (response(answer)["allowed"], warnings(answer)) == (
        True,
        [
            (
                'audit: this would be refused: hostExlocation("a") and replicas 3 cannot both hold: '
                "2 of 3 pods fit, one on each of 2 of 2 nodes."
            ),
            "partitionIsolation controls fusion, which is complete: it has no effect on the pod",
        ],
    )


def owned(kind: str, *, controller: bool = True) -> Json:
    return {"ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": "o", "uid": "u", "controller": controller}]}


ALLOWED: dict[str, Json] = {
    "being deleted": workload(placement=APART, count=3, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
    "not opted in": workload(job=None, pe=None, nodeSelector={"a": "b"}),
}


@pytest.mark.parametrize("found", ALLOWED.values(), ids=ALLOWED)
def test_some_workloads_are_none_of_our_business(found: Json) -> None:
    assert response(submitted(found, TWO)) == NOTHING


MADE: dict[str, tuple[Json, str]] = {
    "a Deployment": (workload("ReplicaSet", APART, count=3, metadata=owned("Deployment")), "deployment-controller"),
    "a CronJob": (workload("Job", APART, count=3, metadata=owned("CronJob")), "cronjob-controller"),
}


@pytest.mark.parametrize(("found", "account"), MADE.values(), ids=MADE)
def test_what_was_made_by_another_workload_was_decided_about_if_its_controller_says_so(
    found: Json, account: str
) -> None:
    by = f"system:serviceaccount:kube-system:{account}"
    assert response(submitted(found, TWO, by=by)) == NOTHING
    assert response(submitted(found, TWO)) != NOTHING


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param(owned("Deployment", controller=False), id="an owner that does not control"),
        pytest.param(owned("Application"), id="a maker that nobody reviews"),
        pytest.param({"ownerReferences": [{"kind": ["Deployment"], "controller": True}, None, 5]}, id="odd owners"),
    ],
)
def test_a_replica_set_of_another_owner_is_reviewed_itself(metadata: Json) -> None:
    assert refused(submitted(workload("ReplicaSet", APART, count=3, metadata=metadata), TWO))[0] == 403


def test_the_namespace_is_that_of_the_request() -> None:
    inventory = cluster(nodes(1), pods=[replica("node-a", apart="a", namespace="team")])
    body = review(workload(placement=APART), kind="Deployment", group="apps", namespace="team")
    answer = validate(body, inventory, Policy())
    assert (refused(answer)[0], response(submitted(workload(placement=APART), inventory))["allowed"]) == (403, True)


@pytest.mark.parametrize(
    "what",
    [
        {"subresource": "scale"},
        {"subresource": "status"},
        {"operation": "DELETE"},
        {"group": "example.com"},
    ],
    ids=["its scale", "its status", "its end", "another group"],
)
def test_nothing_else_of_a_workload_is_reviewed(what: dict[str, str]) -> None:
    fields = {"kind": "Deployment", "group": "apps"} | what
    assert response(validate(review(workload(placement=APART, count=3), **fields), TWO, Policy())) == NOTHING


def test_every_kind_is_reviewed_when_it_is_created_and_when_it_is_changed() -> None:
    reviewed = (subject for subject, check in CHECKS.items() if check is submitted_workload)
    assert {(kind, operation) for _, kind, _, operation in reviewed} == {
        (kind, operation) for kind in KINDS for operation in ("CREATE", "UPDATE")
    }


# Workloads of pods that say too much, which are told so before all of them is read


TERMS = [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b" * 40]}] * 100}] * 201
NEEDS = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS}}}
MUCH = "has 40200 expressions and values of node terms, at most 20000 are allowed"


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_whose_pods_say_too_much_is_told_what(kind: str) -> None:
    code, message = refused(submitted(workload(kind, "hostIsolation", affinity=NEEDS), TWO))
    assert (code, message.partition("\n")[0]) == (
        422, f"spec.affinity.nodeAffinity: {MUCH} in a pod that asks for placement"
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_one_whose_pods_do_not_ask_may_say_as_much(kind: str) -> None:
    assert response(submitted(workload(kind, job=None, pe=None, affinity=NEEDS), TWO)) == NOTHING


@pytest.mark.parametrize("kind", ["Deployment", "CronJob", "PodTemplate"])
def test_one_that_describes_no_pods_is_left_to_the_api_server(kind: str) -> None:
    found = workload(kind, "hostIsolation")
    empty = {key: value for key, value in found.items() if key in {"apiVersion", "kind", "metadata"}}
    assert response(submitted({**empty, "padding": "x" * 300_000}, TWO)) == NOTHING
