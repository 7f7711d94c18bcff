"""``hostExlocation("t")``."""

import pytest

from tests.builders import JOB, bound_pod, cluster, decided, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import LabelSelector, PodTerm, Requirement
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys

APART = "streams.ibm.com/hostexlocation.B76ADE163D874CC5BC0F408D70CFC165667EEC5F"
TERM = PodTerm(
    LabelSelector(match_expressions=(Requirement(APART, "In", ("apart",)), Requirement(keys.JOB, "In", (JOB,)))),
    "kubernetes.io/hostname",
)
LABELS = {APART: "apart"}
CLAUSE = 'hostExlocation("apart")'
FIELD = "metadata.annotations[streams.ibm.com/placement]"


def test_a_token_is_a_label_and_a_term() -> None:
    additions = decided(pod(CLAUSE), cluster(nodes(1))).additions
    assert additions
    assert (additions.labels, additions.away.required) == (LABELS, (TERM,))


@pytest.mark.parametrize(
    ("placement", "count"),
    [('hostExlocation("a"), hostExlocation("b")', 2), ('A: hostExlocation("a"); B: hostExlocation("a")', 1)],
    ids=["two tokens", "one token twice"],
)
def test_each_token_has_a_term_of_its_own(placement: str, count: int) -> None:
    additions = decided(pod(placement), cluster(nodes(1))).additions
    assert additions
    assert (len(additions.labels), len(additions.away.required)) == (count, count)


def test_a_preference_is_a_weighted_term_and_never_refuses() -> None:
    held = cluster(nodes(1), pods=[bound_pod(labels=LABELS)])
    found = decided(pod(CLAUSE, annotations={keys.PREFERRED: "hostExlocation"}), held)
    assert found.additions
    assert [(term.weight, term.pod_affinity_term) for term in found.additions.away.preferred] == [(100, TERM)]
    assert (found.additions.away.required, found.warnings) == (
        (),
        (f"{CLAUSE} is preferred, but no node that can run this pod meets it",),
    )


@pytest.mark.parametrize(
    ("other", "candidates"),
    [
        pytest.param(bound_pod(labels=LABELS), 0b10, id="of the job and token"),
        pytest.param(bound_pod(labels=LABELS, pe="parallel-0"), 0b10, id="of the same element too"),
        pytest.param(bound_pod(labels={APART: "other"}), 0b11, id="of another value"),
        pytest.param(bound_pod(), 0b11, id="without the token"),
        pytest.param(bound_pod(labels=LABELS, job="other"), 0b11, id="of another job"),
        pytest.param(bound_pod(labels=LABELS, namespace="other"), 0b11, id="of another namespace"),
        pytest.param(bound_pod(labels=LABELS, terminating=True), 0b11, id="being deleted"),
        pytest.param(bound_pod("", labels=LABELS), 0b11, id="not placed yet"),
    ],
)
def test_nodes_with_such_a_pod_are_out(other: PodInfo, candidates: int) -> None:
    verdict = decided(pod(CLAUSE), cluster(nodes(2), pods=[other])).verdict
    assert verdict
    assert verdict.candidates == candidates


REFUSALS: dict[str, tuple[str, Inventory, str]] = {
    "one node taken": (
        CLAUSE,
        cluster(nodes(1), pods=[bound_pod(labels=LABELS)]),
        (
            f"{CLAUSE} cannot hold: 0 of 1 node can run this pod.\n"
            f"  1 node already runs a pod of {CLAUSE}\n"
            f"Nearest fix: drop {CLAUSE} (1 node would fit)."
        ),
    ),
    "several nodes taken": (
        CLAUSE,
        cluster(nodes(2), pods=[bound_pod("node-a", labels=LABELS), bound_pod("node-b", labels=LABELS)]),
        (
            f"{CLAUSE} cannot hold: 0 of 2 nodes can run this pod.\n"
            f"  2 nodes already run a pod of {CLAUSE}\n"
            f"Nearest fix: drop {CLAUSE} (2 nodes would fit)."
        ),
    ),
    "no host name": (
        CLAUSE,
        cluster(nodes(1, hostname=None)),
        (
            f"{CLAUSE} cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has no kubernetes.io/hostname label of its own\n"
            f"Nearest fix: drop {CLAUSE} (1 node would fit)."
        ),
    ),
    "the host name of another": (
        CLAUSE,
        cluster(nodes(2, hostname="x")),
        (
            f"{CLAUSE} cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have no kubernetes.io/hostname label of their own\n"
            f"Nearest fix: drop {CLAUSE} (2 nodes would fit)."
        ),
    ),
    "two tokens, each taken somewhere": (
        'hostExlocation("a"), hostExlocation("b")',
        cluster(
            nodes(2),
            pods=[
                bound_pod("node-a", labels={keys.EXLOCATION + keys.digest("a"): "a"}),
                bound_pod("node-b", labels={keys.EXLOCATION + keys.digest("b"): "b"}),
            ],
        ),
        (
            'hostExlocation("a") and hostExlocation("b") cannot both hold: 0 of 2 nodes can run this pod.\n'
            '  1 node already runs a pod of hostExlocation("a")\n'
            '  1 node already runs a pod of hostExlocation("b")\n'
            'Nearest fix: drop hostExlocation("a") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("placement", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_without_a_node_of_its_own_is_refused(placement: str, inventory: Inventory, expected: str) -> None:
    assert decided(pod(placement), inventory).message == expected


@pytest.mark.parametrize(
    ("placement", "name", "expected"),
    [
        pytest.param(
            CLAUSE,
            None,
            f"metadata.labels[streams.ibm.com/job]: {CLAUSE} counts within one job: "
            "label the pod streams.ibm.com/job with the job's name",
            id="no job",
        ),
        pytest.param(
            'hostExlocation("two words"), hostExlocation("-")',
            JOB,
            f'{FIELD}: hostExlocation("two words"): '
            "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends\n"
            f'{FIELD}: hostExlocation("-"): '
            "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends",
            id="no label values",
        ),
    ],
)
def test_a_clause_that_means_nothing_is_a_problem(placement: str, name: str | None, expected: str) -> None:
    assert decided(pod(placement, job=name), cluster(nodes(1))).message == expected
