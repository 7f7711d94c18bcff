"""Worker mapping by the labels of nodes."""

import pytest

from tests.builders import Json, cluster, decided, node, pod
from tests.placement.mapping_annotations import mapping
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

GPU = {"extra-hardware": "gpu"}
TWO = cluster([node("node-a", labels=GPU), node("node-b", labels={"cores": "16"})])


def mapped(*expression: str, **more: str) -> Json:
    """A pod with one expression: key, operator, values."""
    return pod(annotations=mapping(*expression) | more)


def test_an_expression_is_a_required_node_term() -> None:
    additions = decided(mapped("extra-hardware", "In", "['gpu']"), TWO).additions
    assert additions
    assert additions.terms == (NodeTerm(match_expressions=(Requirement("extra-hardware", "In", ("gpu",)),)),)


def test_several_expressions_are_one_term() -> None:
    listed = "[{key: extra-hardware, operator: Exists}, {key: cores, operator: DoesNotExist}]"
    additions = decided(pod(annotations=mapping(listed=listed)), TWO).additions
    assert additions
    assert additions.terms == (
        NodeTerm(match_expressions=(Requirement("cores", "DoesNotExist"), Requirement("extra-hardware", "Exists"))),
    )


def test_an_expression_is_named_by_what_was_added() -> None:
    additions = decided(mapped("extra-hardware", "In", "gpu, tpu"), TWO).additions
    assert additions
    assert additions.injected == '{"nodeAffinity":["mapping extra-hardware In [gpu, tpu]"]}'


CANDIDATES = {
    "In": (("extra-hardware", "In", "gpu, tpu"), 0b01),
    "NotIn": (("extra-hardware", "NotIn", "gpu"), 0b10),
    "Exists": (("cores", "Exists"), 0b10),
    "DoesNotExist": (("cores", "DoesNotExist"), 0b01),
    "Gt": (("cores", "Gt", "15"), 0b10),
    "Lt": (("cores", "Lt", "17"), 0b10),
    "by name": (("kubernetes.io/hostname", "In", "['node-a', 'node-c']"), 0b01),
}


@pytest.mark.parametrize(("expression", "candidates"), CANDIDATES.values(), ids=CANDIDATES.keys())
def test_nodes_that_match_can_run_the_pod(expression: tuple[str, ...], candidates: int) -> None:
    verdict = decided(mapped(*expression), TWO).verdict
    assert verdict
    assert verdict.candidates == candidates


def test_a_preference_is_a_weighted_term_and_never_refuses() -> None:
    found = decided(mapped("extra-hardware", "In", "fpga", **{keys.PREFERRED: "mapping"}), TWO)
    assert found.additions
    term = NodeTerm(match_expressions=(Requirement("extra-hardware", "In", ("fpga",)),))
    assert (found.additions.terms, found.additions.preferred) == ((), (PreferredNodeTerm(100, term),))
    assert found.warnings == (
        "mapping extra-hardware In [fpga] is preferred, but no node that can run this pod meets it",
    )


REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "a value that no node has": (
        mapped("extra-hardware", "In", "fpga, tpu"),
        TWO,
        (
            "mapping extra-hardware In [fpga, tpu] cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match mapping extra-hardware In [fpga, tpu]\n"
            "Nearest fix: label one more node extra-hardware=fpga, "
            "or drop mapping extra-hardware In [fpga, tpu] (2 nodes would fit)."
        ),
    ),
    "a key that no node has": (
        mapped("disktype", "Exists"),
        TWO,
        (
            "mapping disktype Exists cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match mapping disktype Exists\n"
            "Nearest fix: label one more node disktype=true, or drop mapping disktype Exists (2 nodes would fit)."
        ),
    ),
    "a label that kubelets write": (
        mapped("beta.kubernetes.io/os", "In", "windows"),
        TWO,
        (
            "mapping beta.kubernetes.io/os In [windows] cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match mapping beta.kubernetes.io/os In [windows]\n"
            "Nearest fix: add a node that matches mapping beta.kubernetes.io/os In [windows], "
            "or drop mapping beta.kubernetes.io/os In [windows] (2 nodes would fit)."
        ),
    ),
    "a number that none is above": (
        mapped("cores", "Gt", "16"),
        TWO,
        (
            "mapping cores Gt 16 cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match mapping cores Gt 16\n"
            "Nearest fix: add a node that matches mapping cores Gt 16, "
            "or drop mapping cores Gt 16 (2 nodes would fit)."
        ),
    ),
    "one expression against another": (
        pod(annotations=mapping("extra-hardware", "Exists", listed="[{key: cores, operator: Exists}]")),
        TWO,
        (
            "mapping extra-hardware Exists and mapping cores Exists cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node does not match mapping extra-hardware Exists\n"
            "  1 node does not match mapping cores Exists\n"
            "Nearest fix: label one more node extra-hardware=true, "
            "or drop mapping extra-hardware Exists (1 node would fit)."
        ),
    ),
    "an expression against the pod's own selector": (
        pod(annotations=mapping("extra-hardware", "In", "gpu"), nodeSelector={"cores": "16"}),
        TWO,
        (
            "mapping extra-hardware In [gpu] and nodeSelector cores=16 cannot both hold: "
            "0 of 2 nodes can run this pod.\n"
            "  1 node does not match mapping extra-hardware In [gpu]\n"
            "  1 node does not have the label cores=16\n"
            "Nearest fix: label one more node extra-hardware=gpu, "
            "or drop mapping extra-hardware In [gpu] (1 node would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_pod_that_no_node_matches_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    decision = decided(found, inventory)
    assert (decision.message, decision.fault) == (expected, Fault.FORBIDDEN)
