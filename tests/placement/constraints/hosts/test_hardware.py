"""Hardware requirements of node labels."""

from typing import Any

import pytest

from tests.builders import Json, cluster, decided, node, pod
from tests.placement.hardware_containers import FIELD, label, required
from webhook.placement.constraints.hosts.node_label import NodeLabel
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault
from webhook.placement.text.rule import Rule

TWO = cluster([node("node-a", labels={"disk": "ssd"}), node("node-b", labels={"disk": "hdd", "cpu-type": "x"})])


def term(key: str, value: str) -> NodeTerm:
    return NodeTerm(match_expressions=(Requirement(key, "In", (value,)),))


def asking(*requirements: Json, **spec: Any) -> Json:
    return pod(annotations=required(*requirements), **spec)


def test_a_mandatory_label_is_a_required_node_term() -> None:
    additions = decided(asking(label("disk", "ssd")), TWO).additions
    assert additions
    assert (additions.terms, additions.preferred) == ((term("disk", "ssd"),), ())
    assert additions.injected == '{"nodeAffinity":["hardware disk=ssd"]}'


def test_only_nodes_with_the_label_can_run_the_pod() -> None:
    verdict = decided(asking(label("disk", "ssd")), TWO).verdict
    assert verdict
    assert verdict.candidates == 0b01


@pytest.mark.parametrize(("weight", "expected"), [(1, 10), (7, 70), (10, 100)])
def test_a_label_that_is_only_wanted_is_worth_ten_times_its_weight(weight: int, expected: int) -> None:
    found = decided(asking(label("disk", "ssd", mandatory=False, weight=weight)), TWO)
    assert found.additions
    assert (found.additions.terms, found.additions.preferred) == (
        (),
        (PreferredNodeTerm(expected, term("disk", "ssd")),),
    )
    assert found.additions.injected == '{"preferredNodeAffinity":["hardware disk=ssd"]}'
    assert found.verdict
    assert (found.verdict.candidates, found.warnings) == (0b11, ())


def test_a_wish_that_no_candidate_meets_is_warned_of() -> None:
    found = decided(asking(label("disk", "ssd"), label("cpu-type", "x", mandatory=False)), TWO)
    assert not found.refused
    assert found.warnings == ("hardware cpu-type=x is preferred, but no node that can run this pod meets it",)


def test_the_empty_value_is_a_value() -> None:
    inventory = cluster([node("node-a", labels={"fast": ""}), node("node-b", labels={"fast": "no"}), node("node-c")])
    verdict = decided(asking(label("fast", "")), inventory).verdict
    assert verdict
    assert verdict.candidates == 0b001


REFUSALS: dict[str, tuple[Json, Inventory, str]] = {
    "a value that no node has": (
        asking(label("disk", "nvme")),
        TWO,
        (
            "hardware disk=nvme cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not match hardware disk=nvme\n"
            "Nearest fix: label one more node disk=nvme, or drop hardware disk=nvme (2 nodes would fit)."
        ),
    ),
    "a label that kubelets write": (
        asking(label("feature.node.kubernetes.io/cpu-pstate.turbo", "true")),
        cluster([node()]),
        (
            "hardware feature.node.kubernetes.io/cpu-pstate.turbo=true cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not match hardware feature.node.kubernetes.io/cpu-pstate.turbo=true\n"
            "Nearest fix: add a node that matches hardware feature.node.kubernetes.io/cpu-pstate.turbo=true, "
            "or drop hardware feature.node.kubernetes.io/cpu-pstate.turbo=true (1 node would fit)."
        ),
    ),
    "two labels that no node has both of": (
        asking(label("disk", "ssd"), label("cpu-type", "x")),
        TWO,
        (
            "hardware disk=ssd and hardware cpu-type=x cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node does not match hardware disk=ssd\n"
            "  1 node does not match hardware cpu-type=x\n"
            "Nearest fix: label one more node disk=ssd, or drop hardware disk=ssd (1 node would fit)."
        ),
    ),
    "a label and the pod's own selector": (
        asking(label("disk", "ssd"), nodeSelector={"cpu-type": "x"}),
        TWO,
        (
            "nodeSelector cpu-type=x and hardware disk=ssd cannot both hold: 0 of 2 nodes can run this pod.\n"
            "  1 node does not have the label cpu-type=x\n"
            "  1 node does not match hardware disk=ssd\n"
            "Nearest fix: label one more node cpu-type=x, or drop nodeSelector cpu-type=x (1 node would fit)."
        ),
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_a_pod_whose_label_no_node_has_is_refused(found: Json, inventory: Inventory, expected: str) -> None:
    decision = decided(found, inventory)
    assert (decision.message, decision.fault) == (expected, Fault.FORBIDDEN)


def test_a_selector_for_another_value_is_the_pods_own_contradiction() -> None:
    decision = decided(asking(label("disk", "ssd"), nodeSelector={"disk": "hdd"}), TWO)
    message = f'spec.nodeSelector[disk]: is "hdd", but hardware disk=ssd ({FIELD}[0]) needs another value'
    assert (decision.message, decision.fault) == (message, Fault.INVALID)


@pytest.mark.parametrize(
    ("need", "expected"),
    [
        pytest.param(Requirement("disk", "In", ("ssd",)), "label one more node disk=ssd", id="people's label"),
        pytest.param(
            Requirement("example.com/gpu", "In", ("a",)), "label one more node example.com/gpu=a", id="domain"
        ),
        pytest.param(
            Requirement("mykubernetes.io/a", "In", ("b",)), "label one more node mykubernetes.io/a=b", id="like"
        ),
        pytest.param(Requirement("kubernetes.io/arch", "In", ("a",)), "add a node that matches it", id="Kubernetes'"),
        pytest.param(Requirement("a.kubernetes.io/b", "In", ("c",)), "add a node that matches it", id="below that"),
        pytest.param(Requirement("disk", "DoesNotExist"), "add a node that matches it", id="no label to be given"),
    ],
)
def test_a_node_is_labelled_if_people_give_such_labels(need: Requirement, expected: str) -> None:
    found = NodeLabel("it", soft=False, need=need, rule=Rule.HARDWARE)
    assert str(found.fix(World(TWO, Policy()), 0b11)) == expected
