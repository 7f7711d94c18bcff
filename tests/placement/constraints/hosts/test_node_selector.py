"""What the pod says about nodes by itself."""

from typing import Any

import pytest

from tests.builders import Json, cluster, decided, node, nodes, pod
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
PREFERENCES = f"spec.affinity.nodeAffinity.{PREFERRED}"
FIELD = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def affinity(*terms: Json) -> dict[str, Any]:
    """A required node affinity, as a field of the spec."""
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def expression(operator: str, *values: str) -> Json:
    """A term of one expression."""
    return {"matchExpressions": [{"key": "disk", "operator": operator, "values": list(values)}]}


def name(operator: str, *values: str, key: str = "metadata.name") -> Json:
    """A term on a field."""
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


def preferring(*terms: Json) -> dict[str, Any]:
    """A preferred node affinity, as a field of the spec."""
    weighted = [{"weight": 1, "preference": term} for term in terms]
    return {"affinity": {"nodeAffinity": {PREFERRED: weighted}}}


SSD = expression("In", "ssd")
VALUE_RULE = "is not a label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
NUMBERLESS = "a 64-bit integer: no term ever matches, and the pod could never run"
FAILS = "the scheduler fails on a preference that it cannot read, so the pod might never be placed"
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
        pytest.param(affinity(expression("Gt", "x"), SSD), 0b01, id="a term that cannot be read matches nothing"),
        pytest.param(
            affinity(expression("Gt", "9223372036854775808"), expression("DoesNotExist")),
            0b10,
            id="nor does one beyond 64 bits",
        ),
        pytest.param(affinity(name("NotIn", "node-a")), 0b10, id="a field"),
        pytest.param(preferring(SSD), 0b11, id="a preference"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, 0b11, id="nothing required"),
        pytest.param({"affinity": {"podAffinity": {}}}, 0b11, id="no node affinity"),
    ],
)
def test_the_nodes_left_are_those_that_kubernetes_would_leave(spec: dict[str, Any], candidates: int) -> None:
    verdict = decided(pod(**spec), ONE_SSD).verdict
    assert verdict
    assert verdict.candidates == candidates


NEVER = "every term is empty, and an empty term matches no node: the pod could never run"


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
            affinity(expression("In"), expression("Gt", "1", "2")),
            f"{FIELD}[0].matchExpressions[0].values: must have at least one value when the operator is In\n"
            f"{FIELD}[1].matchExpressions[0].values: must be exactly one value when the operator is Gt",
            id="all problems at once",
        ),
        pytest.param(
            affinity(SSD, expression("Gt", "-1")),
            f'{FIELD}[1].matchExpressions[0].values: "-1" {VALUE_RULE}',
            id="a number that is not a label value",
        ),
        pytest.param(
            affinity({"matchExpressions": [{"key": "a b", "operator": "Exists"}]}),
            f'{FIELD}[0].matchExpressions[0].key: "a b" is not a label key such as kubernetes.io/hostname or disktype',
            id="no label key",
        ),
        pytest.param(
            affinity(SSD, name("In", "node-a", key="metadata.uid")),
            f'{FIELD}[1].matchFields[0].key: "metadata.uid" is not metadata.name, the only field that can be matched',
            id="another field",
        ),
        pytest.param(
            affinity(name("Exists", "node-a")),
            f'{FIELD}[0].matchFields[0].operator: "Exists" is not one of In, NotIn, the operators for fields',
            id="an operator that fields do not have",
        ),
        pytest.param(
            affinity(name("In", "node-a", "node-b")),
            f"{FIELD}[0].matchFields[0].values: must be exactly one value for a field",
            id="two names",
        ),
        pytest.param(
            affinity(name("NotIn", "Node_A")),
            f'{FIELD}[0].matchFields[0].values: "Node_A" is not a node name',
            id="no name",
        ),
        pytest.param(
            affinity(expression("Gt", "x")),
            f'{FIELD}: disk Gt "x" needs {NUMBERLESS}',
            id="only a term that cannot be read",
        ),
        pytest.param(
            affinity(expression("Gt", "1.5"), expression("Lt", "9223372036854775808")),
            f'{FIELD}: disk Gt "1.5", disk Lt "9223372036854775808" need {NUMBERLESS}',
            id="several of them",
        ),
        pytest.param(
            affinity({}, expression("Lt", "")),
            f'{FIELD}: disk Lt "" needs a 64-bit integer, and an empty term matches no node: '
            "no term ever matches, and the pod could never run",
            id="one beside an empty one",
        ),
        pytest.param(
            affinity(*(expression("Gt", f"x{at}") for at in range(6))),
            f'{FIELD}: disk Gt "x0", disk Gt "x1", disk Gt "x2", disk Gt "x3" and 2 more need {NUMBERLESS}',
            id="many of them",
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


WARNED = "needs a 64-bit integer, so this term never matches"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(affinity(SSD, expression("Gt", "5")), (), id="all can be read"),
        pytest.param(
            affinity(expression("Gt", "x"), SSD), (f'{FIELD}[0]: disk Gt "x" {WARNED}',), id="the first cannot"
        ),
        pytest.param(
            affinity(
                SSD, {}, {"matchExpressions": [*SSD["matchExpressions"], *expression("Lt", "1.5")["matchExpressions"]]}
            ),
            (f'{FIELD}[2]: disk Lt "1.5" {WARNED}',),
            id="a part of a term cannot",
        ),
        pytest.param(
            affinity(SSD, expression("Gt", "9223372036854775808")),
            (f'{FIELD}[1]: disk Gt "9223372036854775808" {WARNED}',),
            id="a number beyond 64 bits",
        ),
        pytest.param(affinity(SSD, expression("Gt", "\x1b[31m")), None, id="what is not a label value is refused"),
    ],
)
def test_the_user_is_warned_of_terms_that_never_match(spec: dict[str, Any], expected: tuple[str, ...] | None) -> None:
    found = decided(pod(**spec), ONE_SSD)
    assert found.refused if expected is None else found.warnings == expected


def test_at_most_ten_such_terms_are_named() -> None:
    assert len(decided(pod(**affinity(SSD, *[expression("Gt", "x")] * 50)), ONE_SSD).warnings) == 10


def test_a_term_that_never_matches_is_given_what_clauses_ask_for_and_matches_as_little() -> None:
    said = affinity(expression("Gt", "x"), SSD)
    additions = decided(
        pod('host("node-a")', annotations={keys.HOST_BINDING: "nodeAffinity"}, **said), ONE_SSD
    ).additions
    assert additions
    assert [(edit.at, edit.empty) for edit in additions.edits] == [(0, False), (1, False)]
    assert additions.terms == ()


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param(
            expression("Gt", "1.5"),
            f'matchExpressions[0].values: "1.5" is not a 64-bit integer, which Gt requires; {FAILS}',
            id="a fraction",
        ),
        pytest.param(
            expression("Lt", "9223372036854775808"),
            f'matchExpressions[0].values: "9223372036854775808" is not a 64-bit integer, which Lt requires; {FAILS}',
            id="a number beyond 64 bits",
        ),
        pytest.param(
            expression("NotIn", "ssd", "a b"),
            f'matchExpressions[0].values: "a b" {VALUE_RULE}; {FAILS}',
            id="no label value",
        ),
        pytest.param(
            expression("Exists", "x"),
            "matchExpressions[0].values: must be absent when the operator is Exists",
            id="what the API server refuses",
        ),
        pytest.param(
            name("In"), "matchFields[0].values: must be exactly one value for a field", id="a field without a value"
        ),
    ],
)
def test_a_preference_that_makes_the_scheduler_fail_is_refused(term: Json, expected: str) -> None:
    found = decided(pod(**preferring(SSD, term)), ONE_SSD)
    assert (found.message, found.fault) == (f"{PREFERENCES}[1].preference.{expected}", Fault.INVALID)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(preferring({}), id="an empty preference"),
        pytest.param(preferring(expression("Gt", "5")), id="a whole number"),
        pytest.param({**preferring(expression("Gt", "x")), "nodeName": "node-a"}, id="nobody schedules the pod"),
    ],
)
def test_a_harmless_preference_passes(spec: dict[str, Any]) -> None:
    assert not decided(pod(**spec), ONE_SSD).refused


def test_at_most_ten_problems_of_preferences_are_reported() -> None:
    assert len(decided(pod(**preferring(*[expression("Gt", "x")] * 50)), ONE_SSD).problems) == 10
