"""What the pod says about nodes by itself."""

from typing import Any

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod
from webhook.placement.inventory import Inventory

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
FIELD = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def affinity(*terms: Json) -> dict[str, Any]:
    """A required node affinity, as a field of the spec."""
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def expression(operator: str, *values: str) -> Json:
    """A term of one expression."""
    return {"matchExpressions": [{"key": "disk", "operator": operator, "values": list(values)}]}


SSD = expression("In", "ssd")
ONE_SSD = cluster([node("node-a", labels={"disk": "ssd"}), node("node-b")])

REFUSALS: dict[str, tuple[dict[str, Any], Inventory, str]] = {
    "nodeName, several nodes": (
        {"nodeName": "gone"},
        cluster(nodes(2)),
        (
            "spec.nodeName gone cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes are not the pod's own spec.nodeName gone\n"
            "Nearest fix: drop spec.nodeName gone (2 nodes would fit)."
        ),
    ),
    "nodeName, one node": (
        {"nodeName": "gone"},
        cluster(nodes(1)),
        (
            "spec.nodeName gone cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node is not the pod's own spec.nodeName gone\n"
            "Nearest fix: drop spec.nodeName gone (1 node would fit)."
        ),
    ),
    "nodeSelector, several nodes": (
        {"nodeSelector": {"disk": "nvme"}},
        ONE_SSD,
        (
            "nodeSelector disk=nvme cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not have the label disk=nvme\n"
            "Nearest fix: label one more node disk=nvme, or drop nodeSelector disk=nvme (2 nodes would fit)."
        ),
    ),
    "nodeSelector, one node": (
        {"nodeSelector": {"disk": "nvme"}},
        cluster(nodes(1)),
        (
            "nodeSelector disk=nvme cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not have the label disk=nvme\n"
            "Nearest fix: label one more node disk=nvme, or drop nodeSelector disk=nvme (1 node would fit)."
        ),
    ),
    "node affinity, several nodes": (
        affinity(expression("In", "nvme")),
        ONE_SSD,
        (
            "the pod's node affinity cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match the pod's own node affinity\n"
            "Nearest fix: drop the pod's node affinity (2 nodes would fit)."
        ),
    ),
    "node affinity, one node": (
        affinity(expression("In", "nvme")),
        cluster(nodes(1)),
        (
            "the pod's node affinity cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not match the pod's own node affinity\n"
            "Nearest fix: drop the pod's node affinity (1 node would fit)."
        ),
    ),
    "a selector of many labels": (
        {"nodeSelector": {f"k{at:02}": "v" for at in range(17)}},
        cluster(nodes(1)),
        (
            "the pod's nodeSelector cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not match the pod's nodeSelector\n"
            "Nearest fix: drop the pod's nodeSelector (1 node would fit)."
        ),
    ),
    "a selector of many labels, several nodes": (
        {"nodeSelector": {f"k{at:02}": "v" for at in range(17)}},
        ONE_SSD,
        (
            "the pod's nodeSelector cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match the pod's nodeSelector\n"
            "Nearest fix: drop the pod's nodeSelector (2 nodes would fit)."
        ),
    ),
    "against each other": (
        {**affinity(SSD), "nodeSelector": {"zone": "b"}},
        cluster([node("node-a", labels={"disk": "ssd"}), node("node-b", labels={"zone": "b"})]),
        (
            "nodeSelector zone=b and the pod's node affinity cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node does not have the label zone=b\n"
            "  1 node does not match the pod's own node affinity\n"
            "Nearest fix: label one more node zone=b, or drop nodeSelector zone=b (1 node would fit)."
        ),
    ),
    "a terminal escape in the selector": (
        {"nodeSelector": {"disk": "\x1b[31m"}},
        cluster(nodes(1)),
        (
            "nodeSelector disk=\\x1b[31m cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not have the label disk=\\x1b[31m\n"
            "Nearest fix: label one more node disk=\\x1b[31m, or drop nodeSelector disk=\\x1b[31m (1 node would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("spec", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_whose_own_words_leave_no_node_is_refused(
    spec: dict[str, Any], inventory: Inventory, expected: str
) -> None:
    assert decided(pod(**spec), inventory).message == expected


@pytest.mark.parametrize(
    ("spec", "candidates"),
    [
        pytest.param({}, 0b11, id="nothing said"),
        pytest.param({"nodeName": "node-b"}, 0b10, id="nodeName"),
        pytest.param({"nodeName": ""}, 0b11, id="empty nodeName"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, 0b01, id="nodeSelector"),
        pytest.param(affinity(SSD), 0b01, id="node affinity"),
        pytest.param(affinity({}, SSD), 0b01, id="an empty term matches nothing"),
        pytest.param(affinity(SSD, expression("DoesNotExist")), 0b11, id="terms are alternatives"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, 0b11, id="nothing required"),
        pytest.param({"affinity": {"podAffinity": {}}}, 0b11, id="no node affinity"),
    ],
)
def test_the_nodes_left_are_those_that_kubernetes_would_leave(spec: dict[str, Any], candidates: int) -> None:
    verdict = decided(pod(**spec), ONE_SSD).verdict
    assert verdict
    assert verdict.candidates == candidates


NEVER = "no term says anything, and an empty term matches no node: the pod could never run"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(affinity(), f"{FIELD}: {NEVER}", id="no term"),
        pytest.param(affinity({}, {}), f"{FIELD}: {NEVER}", id="only empty terms"),
        pytest.param({"affinity": {"nodeAffinity": {REQUIRED: {}}}}, f"{FIELD}: {NEVER}", id="no list of terms"),
        pytest.param(
            affinity(SSD, expression("in", "ssd")),
            f'{FIELD}[1].matchExpressions[0].operator: "in" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt',
            id="misspelt operator",
        ),
        pytest.param(
            affinity(expression("In"), expression("Gt", "x")),
            f"{FIELD}[0].matchExpressions[0].values: must have at least one value when the operator is In\n"
            f"{FIELD}[1].matchExpressions[0].values: must be one whole number when the operator is Gt",
            id="all problems at once",
        ),
    ],
)
def test_an_affinity_that_makes_no_sense_is_a_problem(spec: dict[str, Any], expected: str) -> None:
    assert decided(pod(**spec), ONE_SSD).message == expected


def test_terms_are_limited() -> None:
    assert decided(pod(**affinity(*[SSD] * 1001)), ONE_SSD).message == (
        f"{FIELD}: has 1001 terms, at most 1000 are allowed"
    )


def test_as_many_terms_as_allowed_are_judged() -> None:
    assert not decided(pod(**affinity(*[SSD] * 1000)), ONE_SSD).refused


def test_at_most_ten_problems_of_an_affinity_are_reported() -> None:
    assert len(decided(pod(**affinity(*[expression("in")] * 50)), ONE_SSD).problems) == 10
