"""Refusals of pods that cannot join the others of their token."""

from collections.abc import Mapping

import pytest

from tests.builders import JOB, NAMESPACE, bound_pod, cluster, decided, job, node, nodes, pod
from webhook.placement.constraints.pods.colocation import token_label
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.pod import PodInfo

FIELD = "metadata.annotations[streams.ibm.com/placement]"

TWO = 'hostColocation("a"), hostColocation("b")'

BOTH = 'hostColocation("a") and hostColocation("b")'


def member(on: str, token: str = "t", *, requests: Mapping[str, int] = {}) -> PodInfo:  # noqa: S107 - a token of SPL
    """A live pod with the token."""
    return bound_pod(on, labels=dict([token_label(token)]), requests=requests)


REFUSALS: dict[str, tuple[str, Inventory, str]] = {
    "elsewhere": (
        'host("node-a"), hostColocation("t")',
        cluster(nodes(2), pods=[member("node-b")]),
        (
            'host("node-a") and hostColocation("t") cannot both hold: 0 of 2 nodes can run this pod.\n'
            "  1 node is not named node-a\n"
            '  1 node does not run the pods of hostColocation("t")\n'
            'Nearest fix: drop host("node-a") (1 node would fit).'
        ),
    ),
    "several nodes elsewhere, and the one is full": (
        'hostColocation("t")',
        cluster([*nodes(2), node("node-c", cpu=3000)], pods=[member("node-c", requests={"cpu": 2000})]),
        (
            'hostColocation("t") and requests cpu 2 cannot both hold: 0 of 3 nodes can run this pod.\n'
            '  2 nodes do not run the pods of hostColocation("t")\n'
            '  1 node runs the pods of hostColocation("t") and cannot hold this one beside them\n'
            'Nearest fix: drop hostColocation("t") (3 nodes would fit).'
        ),
    ),
    "several full nodes": (
        'hostColocation("t")',
        cluster(
            nodes(2, cpu=3000),
            pods=[member("node-a", requests={"cpu": 2000}), member("node-b", requests={"cpu": 2000})],
        ),
        (
            'hostColocation("t") and requests cpu 2 cannot both hold: 0 of 2 nodes can run this pod.\n'
            '  2 nodes run the pods of hostColocation("t") and cannot hold this one beside them\n'
            'Nearest fix: drop hostColocation("t") (2 nodes would fit).'
        ),
    ),
    "no host name": (
        'hostColocation("t")',
        cluster(nodes(1, hostname=None)),
        (
            'hostColocation("t") cannot hold: 0 of 1 node can run this pod.\n'
            "  1 node has no kubernetes.io/hostname label of its own\n"
            'Nearest fix: drop hostColocation("t") (1 node would fit).'
        ),
    ),
    "the host name of another": (
        'hostColocation("t")',
        cluster(nodes(2, hostname="x")),
        (
            'hostColocation("t") cannot hold: 0 of 2 nodes can run this pod.\n'
            "  2 nodes have no kubernetes.io/hostname label of their own\n"
            'Nearest fix: drop hostColocation("t") (2 nodes would fit).'
        ),
    ),
    "two tokens": (
        TWO,
        cluster(nodes(1, hostname=None), jobs=[job({"parallel-0": TWO})]),
        (
            f"{BOTH} cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has no kubernetes.io/hostname label of its own\n"
            f"Nearest fix: drop {BOTH} (1 node would fit)."
        ),
    ),
    "the group's node is closed": (
        'hostColocation("t")',
        cluster([node("node-a", taints=[Taint("x", "", "NoSchedule")]), node("node-b")], pods=[member("node-a")]),
        (
            'hostColocation("t") cannot hold: 0 of 2 nodes can run this pod.\n'
            "  1 node has the taint x:NoSchedule\n"
            '  1 node does not run the pods of hostColocation("t")\n'
            'Nearest fix: tolerate x:NoSchedule, or drop hostColocation("t") (1 node would fit).'
        ),
    ),
}


@pytest.mark.parametrize(("placement", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_that_cannot_join_the_others_is_refused(placement: str, inventory: Inventory, expected: str) -> None:
    assert decided(pod(placement, requests={"cpu": "2"}), inventory).message == expected


def test_only_requests_of_the_group_count_against_what_the_node_offers() -> None:
    pods = [member("node-a", requests={"cpu": 6000}), bound_pod("node-a", job="", requests={"cpu": 8000})]
    assert not decided(pod('hostColocation("t")', requests={"cpu": "2"}), cluster(nodes(1), pods=pods)).refused


@pytest.mark.parametrize("token", ["", "two words", "_x", "x.", "x" * 64, "t\u00e9"], ids=ascii)
def test_a_token_that_is_not_a_label_value_is_a_problem(token: str) -> None:
    shown = token.replace("\u00e9", r"\u00e9")
    assert decided(pod(f'hostColocation("{token}")'), cluster(nodes(1))).message == (
        f'{FIELD}: hostColocation("{shown}"): '
        "a token is 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
    )


def test_the_longest_token_is_one() -> None:
    assert not decided(pod(f'hostColocation("{"x" * 63}")'), cluster(nodes(1))).refused


@pytest.mark.parametrize(
    ("name", "jobs", "expected"),
    [
        pytest.param(
            None,
            [],
            "metadata.labels[streams.ibm.com/job]: "
            'hostColocation("a") counts within one job: label the pod streams.ibm.com/job with the job\'s name',
            id="no job",
        ),
        pytest.param(
            JOB,
            [],
            f"metadata.labels[streams.ibm.com/job]: {BOTH} form one group, which the job's other pods know "
            "only from a Job object of that name, which does not exist",
            id="several tokens, no Job object",
        ),
        pytest.param(
            JOB,
            [job({"parallel-0": TWO}, namespace="other")],
            f"metadata.labels[streams.ibm.com/job]: {BOTH} form one group, which the job's other pods know "
            "only from a Job object of that name, which does not exist",
            id="several tokens, a Job object elsewhere",
        ),
        pytest.param(
            JOB,
            [job({"parallel-0": 'hostColocation("a")'})],
            f"{FIELD}: {BOTH} are together in no processing element of the Job object, "
            "so the job's other pods do not know their group",
            id="tokens that the Job object does not join",
        ),
    ],
)
def test_an_unknown_group_is_a_problem(name: str | None, jobs: list[StreamsJob], expected: str) -> None:
    assert decided(pod(TWO, job=name), cluster(nodes(1), jobs=jobs)).message == expected


def test_the_group_of_another_namespaces_job_is_not_ours() -> None:
    assert cluster(jobs=[job({}, namespace="other")]).jobs.get((NAMESPACE, JOB)) is None
