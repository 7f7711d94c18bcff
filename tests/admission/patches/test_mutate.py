"""``/mutate``: what becomes of a pod under review."""

import pytest

from tests.answers import patched, refused, response, steps, warnings
from tests.builders import UID, Json, cluster, job, nodes, pod, pool, review, typed
from tests.fake_clock import FakeClock
from webhook.admission.answer import Answer, Outcome
from webhook.admission.mutate import Known, mutate
from webhook.admission.opt_in import MIRROR
from webhook.admission.seal import seal
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

TWO = cluster(nodes(2), jobs=[job({})])

ON_A = 'host("node-a")'


def mutated(found: object, inventory: Inventory = TWO, policy: Policy | None = None, **fields: object) -> Answer:
    """The answer to a pod; ``fields`` are those of the request."""
    return mutate(review(found, **fields), inventory, policy or Policy())


def audited(answer: Answer) -> dict[str, str]:
    """The annotations for the audit log."""
    found: dict[str, str] = response(answer)["auditAnnotations"]
    return found


def test_a_pod_that_needs_something_is_patched() -> None:
    answer = mutated(pod(ON_A))
    assert response(answer) | {"patch": "", "auditAnnotations": {}} == {
        "uid": UID,
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": "",
        "auditAnnotations": {},
    }
    assert steps(answer) == [
        {
            "op": "add",
            "path": "/metadata/annotations/streams.ibm.com~1injected",
            "value": r'{"nodeName":["host(\"node-a\")"]}',
        },
        {
            "op": "add",
            "path": "/metadata/labels/streams.ibm.com~1seal",
            "value": seal(typed(pod(ON_A, nodeName="node-a")), {}, ()),
        },
        {"op": "add", "path": "/spec/nodeName", "value": "node-a"},
    ]


def test_a_pod_that_is_bound_takes_its_room_before_the_watch_brings_it() -> None:
    known = Known(assumed=AssumedPods(FakeClock()))
    asked = pod(ON_A, requests={"cpu": "1"})
    two = cluster(nodes(2), jobs=[job({"parallel-0": "", "parallel-1": ""})])
    answers = [mutate(review(asked, uid=uid), two, Policy(), known) for uid in ("first", "second", "third")]
    assert [patched(asked, answer)["spec"].get("nodeName") for answer in answers] == ["node-a", "node-a", None]


def test_an_answer_tells_logs_what_happened() -> None:
    answer = mutated(pod(ON_A), name="p")
    assert (answer.outcome, answer.kind, answer.operation, answer.uid, answer.namespace, answer.name) == (
        Outcome.PATCHED, "Pod", "CREATE", UID, "default", "p"
    )  # fmt: skip


def test_a_refusal_carries_its_code_and_no_details() -> None:
    answer = mutated(pod('host("gone")'))
    message = (
        'host("gone") cannot hold: 0 of 2 nodes can run this pod.\n'
        "  2 nodes are not named gone\n"
        'Nearest fix: add a node named gone, or drop host("gone") (2 nodes would fit).'
    )
    assert response(answer) | {"auditAnnotations": {}} == {
        "uid": UID,
        "allowed": False,
        "status": {"status": "Failure", "message": message, "reason": "Forbidden", "code": 403},
        "auditAnnotations": {},
    }
    assert (answer.outcome, answer.reason, answer.message) == (Outcome.DENIED, "Forbidden", message)


def test_malformed_words_are_invalid() -> None:
    answer = mutated(pod("host("))
    status = response(answer)["status"]
    assert (status["code"], status["reason"], answer.outcome) == (422, "Invalid", Outcome.DENIED)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(pod(ON_A), {"verdict": "admitted", "rule": ON_A, "candidates": "1"}, id="admitted"),
        pytest.param(pod(), {"verdict": "admitted", "rule": "", "candidates": "2"}, id="without a clause"),
        pytest.param(
            pod('A: host("node-a"); B: host("gone"), hostExlocation("t")'),
            {"verdict": "refused", "rule": 'host("node-a"); host("gone")', "candidates": "0"},
            id="refused",
        ),
        pytest.param(pod("host("), {"verdict": "refused", "rule": ""}, id="malformed"),
    ],
)
def test_the_audit_log_says_what_was_decided_and_why(found: Json, expected: dict[str, str]) -> None:
    assert audited(mutated(found)) == expected


def test_warnings_reach_the_user() -> None:
    expected = ["partitionIsolation controls fusion, which is complete: it has no effect on the pod"]
    assert warnings(mutated(pod("partitionIsolation"))) == expected


@pytest.mark.parametrize(
    ("found", "annotated"),
    [
        pytest.param(pod(), True, id="labels of a job"),
        pytest.param(pod(pe=None), True, id="the label of the job alone"),
        pytest.param(pod(job=None), True, id="the label of the element alone"),
        pytest.param(pod(ON_A, job=None, pe=None), True, id="an annotation of ours"),
        pytest.param(pod(job=None, pe=None, annotations={keys.PREFIX + "contentId": "1"}), True, id="any of them"),
        pytest.param(pod(job=None, pe=None, annotations={"example.com/a": "b"}), False, id="annotations of others"),
        pytest.param(pod(job=None, pe=None), False, id="nothing"),
        pytest.param({"spec": {}}, False, id="no metadata"),
    ],
)
def test_every_pod_that_opted_in_is_annotated(found: Json, *, annotated: bool) -> None:
    paths = [step["path"] for step in steps(mutated(found))]
    assert any(path.startswith("/metadata/annotations") for path in paths) is annotated


def test_a_pod_that_needs_nothing_is_allowed_without_a_patch() -> None:
    answer = mutated(pod(job=None, pe=None))
    assert (answer.outcome, "patch" in response(answer), "patchType" in response(answer)) == (
        Outcome.ALLOWED,
        False,
        False,
    )


FORGED = pod(job=None, pe=None, labels={keys.SEAL: "1"})
"""A pod that asks for nothing, with a seal that only a user can have written."""

NOT_YOURS = (
    f"metadata.labels[{keys.SEAL}]: only the webhook writes this label; leave it out, or copy the annotations of its "
    "pod as well"
)


def test_a_pod_that_asks_for_nothing_brings_no_seal() -> None:
    assert refused(mutated(FORGED)) == (422, NOT_YOURS)


def test_a_static_pod_may() -> None:
    shown = pod(job=None, pe=None, labels={keys.SEAL: "1"}, annotations={MIRROR: "x"})
    user = {"username": "system:node:node-a", "groups": ["system:nodes"]}
    assert mutated(shown, userInfo=user).outcome is Outcome.ALLOWED


def test_in_audit_mode_it_is_told_so() -> None:
    answer = mutated(FORGED, policy=Policy(audit=True))
    would = f"audit: this would be refused: {NOT_YOURS.partition(': ')[2]}"
    assert (answer.outcome, warnings(answer)) == (Outcome.ALLOWED, [would])


IGNORED = {
    "UPDATE": {"operation": "UPDATE"},
    "DELETE": {"operation": "DELETE"},
    "CONNECT": {"operation": "CONNECT"},
    "unknown operation": {"operation": "PATCHED"},
    "no operation": {"operation": ""},
    "status": {"subresource": "status"},
    "binding": {"subresource": "binding"},
    "ephemeralcontainers": {"subresource": "ephemeralcontainers"},
    "resize": {"subresource": "resize"},
    "another kind": {"kind": "Node"},
    "another group": {"group": "example.com"},
}


@pytest.mark.parametrize("fields", IGNORED.values(), ids=IGNORED.keys())
def test_nothing_but_pods_at_their_creation_is_touched(fields: dict[str, str]) -> None:
    answer = mutated(pod("host("), **fields)
    assert response(answer) == {"uid": UID, "allowed": True}


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
def test_an_object_that_is_not_there_is_none_of_our_business(operation: str) -> None:
    assert response(mutated(None, operation=operation)) == {"uid": UID, "allowed": True}


def test_a_creation_without_an_object_is_let_through_with_a_warning() -> None:
    warning = "the review has no object, so nothing was checked"
    assert response(mutated(None)) == {"uid": UID, "allowed": True, "warnings": [warning]}


def test_a_pod_that_is_being_deleted_is_left_alone() -> None:
    found = pod("host(")
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert response(mutated(found))["allowed"]


KUBELET = {"username": "system:node:node-a", "groups": ["system:nodes", "system:authenticated"]}


def test_a_static_pod_is_left_alone_if_its_kubelet_shows_it() -> None:
    found = pod("host(", annotations={MIRROR: "x"})
    assert response(mutated(found, userInfo=KUBELET))["allowed"]


def test_any_other_pod_that_says_it_is_a_static_one_is_a_pod() -> None:
    found = pod("host(", annotations={MIRROR: "x"})
    assert refused(mutated(found))[0] == 422


def test_dry_runs_are_answered_alike() -> None:
    assert mutated(pod(ON_A), dryRun=True).body == mutated(pod(ON_A)).body


def test_only_the_namespace_of_the_request_counts() -> None:
    inventory = cluster(nodes(1), pools=[pool(namespace="team")])
    found = pod("host(MyPool)")
    found["metadata"]["namespace"] = "team"
    assert refused(mutated(found, inventory))[0] == 403
    del found["metadata"]["namespace"]
    assert response(mutated(found, inventory, namespace="team"))["allowed"]


def test_a_pod_of_a_growing_cluster_is_admitted_with_a_warning() -> None:
    assert warnings(mutated(pod('host("gone")'), policy=Policy(elastic=True))) == [
        'no node yet: host("gone") cannot hold: 0 of 2 nodes can run this pod.'
    ]
