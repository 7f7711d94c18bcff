"""Refusals of pods that would disturb, or be disturbed."""

import pytest

from tests.builders import Json, bound_pod, cluster, decided, nodes, pod
from webhook.placement.inventory.inventory import Inventory

ISOLATED = bound_pod("node-a", pe="parallel-2", isolated=["Sink"])

REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "another element on the only node": (
        pod("Sink: hostIsolation", pe="parallel-2"),
        cluster(nodes(1), pods=[bound_pod()]),
        (
            "hostIsolation cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node already runs another processing element of the job\n"
            "Nearest fix: drop hostIsolation (1 node would fit)."
        ),
    ),
    "other elements on all nodes": (
        pod("hostIsolation", pe="parallel-2"),
        cluster(nodes(2), pods=[bound_pod("node-a"), bound_pod("node-b")]),
        (
            "hostIsolation cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes already run another processing element of the job\n"
            "Nearest fix: drop hostIsolation (2 nodes would fit)."
        ),
    ),
    "no host name": (
        pod("hostIsolation"),
        cluster(nodes(1, hostname=None)),
        (
            "hostIsolation cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has no kubernetes.io/hostname label of its own\n"
            "Nearest fix: drop hostIsolation (1 node would fit)."
        ),
    ),
    "the host name of another": (
        pod("hostIsolation"),
        cluster(nodes(2, hostname="x")),
        (
            "hostIsolation cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have no kubernetes.io/hostname label of their own\n"
            "Nearest fix: drop hostIsolation (2 nodes would fit)."
        ),
    ),
    "an isolated element on the only node": (
        pod(),
        cluster(nodes(1), pods=[ISOLATED]),
        (
            "No node is open to this pod: 0 of 1 node can run this pod.\n"
            "  1 node runs a processing element of the job with hostIsolation\n"
            "Nearest fix: no single change helps; the pod needs a node that meets all of it."
        ),
    ),
    "isolated elements on all nodes": (
        pod(),
        cluster(nodes(2), pods=[ISOLATED, bound_pod("node-b", pe="parallel-3", isolated=["Other"])]),
        (
            "No node is open to this pod: 0 of 2 nodes can run this pod.\n"
            "  2 nodes run a processing element of the job with hostIsolation\n"
            "Nearest fix: no single change helps; the pod needs a node that meets all of it."
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_that_would_disturb_or_be_disturbed_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            pod("hostIsolation", job=None),
            "metadata.labels[streams.ibm.com/job]: "
            "hostIsolation counts within one job: label the pod streams.ibm.com/job with the job's name",
            id="no job",
        ),
        pytest.param(
            pod("hostIsolation", pe=None),
            "metadata.labels[streams.ibm.com/pe]: hostIsolation must say which operator it is for: "
            "label the pod streams.ibm.com/pe, or write operator: hostIsolation",
            id="neither an element nor an operator",
        ),
        pytest.param(
            pod("Sink: hostIsolation; hostIsolation", pe=None),
            "metadata.labels[streams.ibm.com/pe]: hostIsolation must say which operator it is for: "
            "label the pod streams.ibm.com/pe, or write operator: hostIsolation",
            id="one clause of two",
        ),
    ],
)
def test_isolation_without_an_owner_is_a_problem(found: Json, expected: str) -> None:
    assert decided(found, cluster(nodes(1))).message == expected
