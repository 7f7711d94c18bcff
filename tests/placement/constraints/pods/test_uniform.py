"""Uniform worker mapping: all workers of a job on one node, or each on its own."""

import pytest

from tests.builders import JOB, Json, bound_pod, cluster, decided, nodes, pod
from tests.placement.mapping_annotations import SAME, SEPARATE, WORKER
from webhook.placement.decision.merge import Additions
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import LabelSelector, PodTerm, Requirement, WeightedPodTerm
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys

TERM = PodTerm(
    LabelSelector(
        match_expressions=(Requirement("streams.ibm.com/worker", "In", ("true",)), Requirement(keys.JOB, "In", (JOB,)))
    ),
    "kubernetes.io/hostname",
)
PREFERRED = {keys.PREFERRED: "uniform"}


def uniform(annotations: dict[str, str], **tweaks: str) -> Json:
    """A pod of such a worker."""
    return pod(annotations=annotations, requests=tweaks)


def worker(on: str = "node-a", *, cpu: int = 0, job: str = JOB, namespace: str = "default") -> PodInfo:
    """A live worker."""
    return bound_pod(on, labels=WORKER, requests={"cpu": cpu}, job=job, namespace=namespace)


def added(annotations: dict[str, str]) -> Additions:
    additions = decided(uniform(annotations), cluster(nodes(1))).additions
    assert additions
    return additions


def test_all_on_one_node_is_a_label_and_a_term_near_others() -> None:
    found = added(SAME)
    assert (found.labels, found.near.required, found.away.required) == (WORKER, (TERM,), ())


def test_each_on_its_own_is_a_label_and_a_term_away_from_others() -> None:
    found = added(SEPARATE)
    assert (found.labels, found.near.required, found.away.required) == (WORKER, (), (TERM,))


def test_none_is_nothing() -> None:
    assert added({keys.UNIFORM: "none"}).injected == "{}"


def test_preferences_are_weighted_terms() -> None:
    together, apart = added(SAME | PREFERRED), added(SEPARATE | PREFERRED)
    weighted = (WeightedPodTerm(100, TERM),)
    assert (together.labels, together.near.required, together.near.preferred) == (WORKER, (), weighted)
    assert (apart.labels, apart.away.required, apart.away.preferred) == (WORKER, (), weighted)


def test_a_preference_never_refuses() -> None:
    held = cluster(nodes(1), pods=[worker()])
    found = decided(uniform(SEPARATE | PREFERRED), held)
    assert (found.refused, found.warnings) == (
        False,
        ("uniform all-separate-nodes is preferred, but no node that can run this pod meets it",),
    )


OTHERS = {
    "nobody yet": ([], 0b111, 0b111),
    "a worker of the job": ([worker("node-b")], 0b010, 0b101),
    "a pod of the job that is no worker": ([bound_pod("node-b")], 0b111, 0b111),
    "a worker of another job": ([worker("node-b", job="other")], 0b111, 0b111),
    "a worker of another namespace": ([worker("node-b", namespace="other")], 0b111, 0b111),
    "one that is leaving": ([bound_pod("node-b", labels=WORKER, terminating=True)], 0b111, 0b111),
    "one that waits": ([bound_pod("", labels=WORKER)], 0b111, 0b111),
    "workers on two nodes": ([worker("node-a"), worker("node-b")], 0b011, 0b100),
    "one on a node that is gone": ([worker("node-z")], 0b111, 0b111),
}


@pytest.mark.parametrize(("pods", "together", "apart"), OTHERS.values(), ids=OTHERS.keys())
def test_candidates_are_where_the_workers_are_or_where_they_are_not(
    pods: list[PodInfo], together: int, apart: int
) -> None:
    inventory = cluster(nodes(3), pods=pods)
    found = [decided(uniform(annotations), inventory).verdict for annotations in (SAME, SEPARATE)]
    assert [verdict.candidates for verdict in found if verdict] == [together, apart]


SAME_NODE = "uniform all-same-node"
SEPARATE_NODES = "uniform all-separate-nodes"
REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "no room beside the others": (
        uniform(SAME, cpu="3"),
        cluster(nodes(2), pods=[worker(cpu=6000)]),
        (
            f"requests cpu 3 and {SAME_NODE} cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node does not run the job's other workers\n"
            "  1 node runs the job's other workers and cannot hold this one beside them\n"
            f"Nearest fix: drop {SAME_NODE} (2 nodes would fit)."
        ),
    ),
    "workers everywhere": (
        uniform(SEPARATE),
        cluster(nodes(2), pods=[worker("node-a"), worker("node-b")]),
        (
            f"{SEPARATE_NODES} cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes already run another worker of the job\n"
            f"Nearest fix: drop {SEPARATE_NODES} (2 nodes would fit)."
        ),
    ),
    "together, without a host name": (
        uniform(SAME),
        cluster(nodes(1, hostname=None)),
        (
            f"{SAME_NODE} cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node has no kubernetes.io/hostname label of its own\n"
            f"Nearest fix: drop {SAME_NODE} (1 node would fit)."
        ),
    ),
    "apart, with the host name of another": (
        uniform(SEPARATE),
        cluster(nodes(2, hostname="x")),
        (
            f"{SEPARATE_NODES} cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes have no kubernetes.io/hostname label of their own\n"
            f"Nearest fix: drop {SEPARATE_NODES} (2 nodes would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_worker_without_a_node_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    message = decided(found, inventory).message
    assert message == expected


@pytest.mark.parametrize("annotations", [SAME, SEPARATE], ids=["together", "apart"])
def test_workers_belong_to_a_job(annotations: dict[str, str]) -> None:
    found = decided(pod(job=None, annotations=annotations), cluster(nodes(1)))
    assert found.message == (
        f"metadata.labels[streams.ibm.com/job]: uniform {annotations[keys.UNIFORM]} counts within one job: "
        "label the pod streams.ibm.com/job with the job's name"
    )


def test_the_label_of_a_worker_is_not_written_by_hand() -> None:
    found = decided(pod(labels=WORKER), cluster(nodes(1)))
    assert found.message == (
        "metadata.labels[streams.ibm.com/worker]: only the webhook writes this label; map the workers by the "
        "annotation streams.ibm.com/kubernetes.worker.mapping.uniform instead"
    )


def test_a_worker_may_carry_its_label_already() -> None:
    found = decided(pod(labels=WORKER, annotations=SAME), cluster(nodes(1)))
    assert found.additions
    assert found.additions.labels == {}


def test_another_value_of_the_label_is_in_the_way() -> None:
    found = decided(pod(labels={keys.WORKER: "false"}, annotations=SAME), cluster(nodes(1)))
    assert found.message == (
        'metadata.labels[streams.ibm.com/worker]: is "false", but uniform all-same-node needs "true"; '
        "leave this label to the webhook"
    )
