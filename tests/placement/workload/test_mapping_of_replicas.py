"""Worker mapping and workloads: how many pods fit, and why no more."""

import pytest

from tests.builders import NAMESPACE, Json, cluster, node, nodes, pod, typed
from tests.placement.mapping_annotations import SAME, SEPARATE, WORKER, mapping
from tests.workload_templates import crowded, replica
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.workload.workload import decide_replicas

THREE = cluster(nodes(3))
CPU = {"cpu": "3"}
TAKEN = cluster(nodes(3), pods=[replica("node-a", "Deployment/other", labels=WORKER, requests={"cpu": 2000})])
OWN = cluster(nodes(3), pods=[replica("node-a", labels=WORKER)])
GPUS = cluster([node("node-a", labels={"gpu": "x"}), node("node-b", labels={"gpu": "y"}), node("node-c")])
ITSELF, OTHERS = {keys.RUN_APART_FROM: "app=web"}, {keys.RUN_APART_FROM: "app=db"}
WEB = {"app": "web"}

TEXTS: dict[str, tuple[Decision, str]] = {
    "each on its own": (
        crowded(None, 4, THREE, annotations=SEPARATE),
        (
            "uniform all-separate-nodes and replicas 4 cannot both hold: "
            "3 of 4 pods fit, one on each of 3 of 3 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or "
            "lower replicas to 3, or drop uniform all-separate-nodes (4 of 4 would fit)."
        ),
    ),
    "one on each node with a GPU": (
        crowded(None, 3, GPUS, annotations=mapping("gpu", "Exists") | SEPARATE),
        (
            "mapping gpu Exists, uniform all-separate-nodes and replicas 3 cannot all hold: "
            "2 of 3 pods fit, one on each of 2 of 3 nodes.\n"
            "  1 node does not match mapping gpu Exists\n"
            "Nearest fix: label one more node gpu=true, or "
            "lower replicas to 2, or drop mapping gpu Exists (3 of 3 would fit)."
        ),
    ),
    "all on one node": (
        crowded(None, 3, THREE, annotations=SAME, requests=CPU),
        (
            "requests cpu 3, uniform all-same-node and replicas 3 cannot all hold: "
            "2 of 3 pods fit, all on one of 3 of 3 nodes.\n"
            "Nearest fix: add a node with room for all of them, or "
            "lower replicas to 2, or lower requests cpu 3 to cpu 2 (3 of 3 would fit)."
        ),
    ),
    "all on the node of the others": (
        crowded(None, 3, TAKEN, annotations=SAME, requests=CPU),
        (
            "requests cpu 3, uniform all-same-node and replicas 3 cannot all hold: "
            "2 of 3 pods fit on 1 of 3 nodes.\n"
            "  2 nodes do not run the job's other workers\n"
            "Nearest fix: lower replicas to 2, or lower requests cpu 3 to cpu 2 (3 of 3 would fit)."
        ),
    ),
    "apart from pods like themselves": (
        crowded(None, 4, THREE, annotations=ITSELF, labels=WEB),
        (
            "run-apart-from app=web and replicas 4 cannot both hold: 3 of 4 pods fit, one on each of 3 of 3 nodes.\n"
            "Nearest fix: add a node with room for one more of them, or "
            "lower replicas to 3, or drop run-apart-from app=web (4 of 4 would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("decision", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_replicas_that_do_not_fit_are_refused(decision: Decision, expected: str) -> None:
    assert (decision.message, decision.fault) == (expected, Fault.FORBIDDEN)


def test_pods_that_keep_apart_from_themselves_cannot_be_together() -> None:
    found = crowded(None, 2, THREE, annotations=SAME | ITSELF, labels=WEB)
    assert found.fault is Fault.INVALID
    assert found.headline == (
        "uniform all-same-node, run-apart-from app=web and replicas 2 cannot all hold: 1 of 2 pods fits."
    )


FIT: dict[str, tuple[int, Inventory, dict[str, str]]] = {
    "as many as there are nodes": (3, THREE, SEPARATE),
    "in place of their own": (3, OWN, SEPARATE),
    "away from others, any number": (300, THREE, OTHERS),
    "with pods like themselves, any number": (300, THREE, {keys.RUN_WITH: "app=web"}),
    "all on one node": (110, THREE, SAME),
}


@pytest.mark.parametrize(("count", "inventory", "annotations"), FIT.values(), ids=FIT.keys())
def test_replicas_that_fit_are_admitted(count: int, inventory: Inventory, annotations: dict[str, str]) -> None:
    found = crowded(None, count, inventory, annotations=annotations, labels=WEB, leaving="Deployment/w")
    assert not found.refused, found.message


def daemons(annotations: dict[str, str]) -> Decision:
    """What becomes of a DaemonSet."""
    found: Json = pod(annotations=annotations, owner="DaemonSet")
    return decide_replicas(typed(found), NAMESPACE, THREE, Policy(), Replicas(everywhere=True))


NAMED = mapping("kubernetes.io/hostname", "Exists")


def test_a_daemon_set_cannot_be_mapped_by_labels() -> None:
    found = daemons(NAMED)
    assert (found.refused, found.message) == (
        True,
        (
            "metadata.annotations[streams.ibm.com/kubernetes.worker.to.node.mapping]: "
            "mapping kubernetes.io/hostname Exists: a DaemonSet runs one pod on every node that its template selects: "
            "use nodeSelector, or a Deployment"
        ),
    )


@pytest.mark.parametrize(
    "annotations", [NAMED | {keys.PREFERRED: "mapping"}, SEPARATE], ids=["only a preference", "uniform"]
)
def test_a_daemon_set_that_chooses_no_nodes_is_admitted(annotations: dict[str, str]) -> None:
    assert not daemons(annotations).refused
