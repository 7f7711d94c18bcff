"""``mode: audit``: nothing is patched or refused, and everything that would be is said."""

import pytest

from tests.answers import response, warnings
from tests.builders import UID, Json, cluster, job, nodes, pod, review
from webhook.admission.mutate import mutate
from webhook.admission.validate import validate
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys

TWO = cluster(nodes(2), jobs=[job({})])
AUDIT = Policy(audit=True)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            pod('host("node-a")'), "audit: this pod would get: annotations, labels, nodeName", id="a node name"
        ),
        pytest.param(
            pod('hostExlocation("t")'),
            "audit: this pod would get: affinity, annotations, labels",
            id="labels and a term",
        ),
        pytest.param(
            pod('host("gone")'),
            'audit: this pod would be refused: host("gone") cannot hold: 0 of 2 nodes can run this pod.',
            id="no node",
        ),
        pytest.param(
            pod("Host(x)"),
            "audit: this pod would be refused: metadata.annotations[streams.ibm.com/placement]: "
            'unknown clause "Host" (did you mean host?)',
            id="malformed",
        ),
        pytest.param(
            pod(annotations={keys.INJECTED: "{}"}),
            "audit: this pod would get: labels",
            id="nothing that is not there",
        ),
    ],
)
def test_a_pod_is_left_alone_with_a_warning(found: Json, expected: str) -> None:
    answer = mutate(review(found), TWO, AUDIT)
    assert (response(answer)["allowed"], "patch" in response(answer), warnings(answer)) == (True, False, [expected])


def test_a_pod_that_did_not_opt_in_is_not_spoken_of() -> None:
    assert response(mutate(review(pod(job=None, pe=None)), TWO, AUDIT)) == {"uid": UID, "allowed": True}


def test_the_audit_log_says_what_was_decided() -> None:
    answer = mutate(review(pod('host("gone")')), TWO, AUDIT)
    assert response(answer)["auditAnnotations"] == {"verdict": "refused", "rule": 'host("gone")', "candidates": "0"}


def test_other_warnings_come_after_it() -> None:
    answer = mutate(review(pod("partitionIsolation")), TWO, AUDIT)
    assert warnings(answer) == [
        "audit: this pod would get: annotations, labels",
        "partitionIsolation controls fusion, which is complete: it has no effect on the pod",
    ]


def test_a_pod_that_is_never_patched_lacks_nothing_afterwards() -> None:
    assert warnings(validate(review(pod('host("node-a")')), TWO, AUDIT)) == []


def test_a_change_that_is_protected_is_let_through_with_a_warning() -> None:
    answer = validate(review(pod('host("node-a")'), "UPDATE", old=pod()), TWO, AUDIT)
    assert response(answer) == {
        "uid": UID,
        "allowed": True,
        "warnings": [
            (
                "audit: this would be refused: "
                "cannot be changed after the pod is created, which fixes its placement; create a new pod"
            )
        ],
    }


def test_a_way_round_an_exclusive_host_is_let_through_with_a_warning() -> None:
    found = pod(tolerations=[{"key": "streams.ibm.com/exclusive", "operator": "Exists"}])
    answer = validate(review(found), TWO, AUDIT)
    assert warnings(answer) == [
        (
            "audit: this would be refused: "
            "only the webhook tolerates streams.ibm.com/exclusive: name the exclusive HostPool with host(...) instead"
        )
    ]
