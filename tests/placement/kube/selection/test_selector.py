"""Selectors over nodes, as Kubernetes evaluates them."""

import pytest

from tests.builders import cluster, node, selector
from webhook.placement.kube.pod import LabelSelector, NodeTerm, Requirement
from webhook.placement.kube.selection.selector import (
    matching,
    matching_all,
    matching_any,
    matching_term,
    problems_of,
    requirements_of,
    unreadable,
)
from webhook.placement.text.problem import render

NODES = cluster(
    [node("a", labels={"size": "2", "zone": "x"}), node("b", labels={"size": "10", "zone": "y"}), node("c")]
).nodes
IN_X, IN_Y = Requirement("zone", "In", ("x",)), Requirement("zone", "In", ("y",))


def name(operator: str, *values: str, key: str = "metadata.name") -> NodeTerm:
    """A term on a field."""
    return NodeTerm(match_fields=(Requirement(key, operator, values),))


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        pytest.param(IN_X, 0b001, id="In"),
        pytest.param(Requirement("zone", "In", ("x", "y")), 0b011, id="In, two values"),
        pytest.param(Requirement("zone", "In"), 0b000, id="In, no value"),
        pytest.param(Requirement("zone", "NotIn", ("x",)), 0b110, id="NotIn holds without the label"),
        pytest.param(Requirement("zone", "Exists"), 0b011, id="Exists"),
        pytest.param(Requirement("zone", "DoesNotExist"), 0b100, id="DoesNotExist"),
        pytest.param(Requirement("size", "Gt", ("2",)), 0b010, id="Gt compares numbers"),
        pytest.param(Requirement("size", "Lt", ("10",)), 0b001, id="Lt compares numbers"),
        pytest.param(Requirement("zone", "Gt", ("1",)), 0b000, id="Gt of a word"),
        pytest.param(Requirement("size", "Gt", ("x",)), 0b000, id="Gt than a word"),
        pytest.param(Requirement("size", "Lt"), 0b000, id="Lt than nothing"),
        pytest.param(Requirement("size", "Like", ("2",)), 0b000, id="no such operator"),
    ],
)
def test_a_requirement_selects_nodes_by_their_labels(requirement: Requirement, expected: int) -> None:
    assert matching(NODES, requirement) == expected


def test_requirements_must_all_hold() -> None:
    assert matching_all(NODES, [Requirement("size", "Gt", ("1",)), IN_Y]) == 0b010


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param(NodeTerm(), 0b000, id="an empty term matches nothing"),
        pytest.param(NodeTerm((), ()), 0b000, id="nor does one of empty lists"),
        pytest.param(NodeTerm((IN_X,)), 0b001, id="expressions"),
        pytest.param(name("In", "b"), 0b010, id="name In"),
        pytest.param(name("NotIn", "b"), 0b101, id="name NotIn"),
        pytest.param(name("Exists"), 0b000, id="fields know no Exists"),
        pytest.param(name("Gt", "b"), 0b000, id="nor Gt"),
        pytest.param(name("In", "a", "b"), 0b000, id="nor several values"),
        pytest.param(name("In", "b", key="metadata.uid"), 0b000, id="nor another field"),
        pytest.param(NodeTerm((IN_X,), name("In", "b").match_fields), 0b000, id="expressions and fields both hold"),
    ],
)
def test_a_term_selects_nodes_that_meet_all_of_it(term: NodeTerm, expected: int) -> None:
    assert matching_term(NODES, term) == expected


def test_terms_are_alternatives() -> None:
    assert matching_any(NODES, [NodeTerm((IN_X,)), NodeTerm(), NodeTerm((IN_Y,))]) == 0b011


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(LabelSelector(), (), id="empty"),
        pytest.param(
            LabelSelector({"b": "2", "a": "1"}, (IN_X,)),
            (Requirement("a", "In", ("1",)), Requirement("b", "In", ("2",)), IN_X),
            id="labels by key, then expressions",
        ),
    ],
)
def test_a_label_selector_is_a_list_of_requirements(found: LabelSelector, expected: tuple[Requirement, ...]) -> None:
    assert requirements_of(found) == expected


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        pytest.param("In", [], "p.values: must have at least one value when the operator is In", id="In"),
        pytest.param("NotIn", [], "p.values: must have at least one value when the operator is NotIn", id="NotIn"),
        pytest.param("Exists", ["x"], "p.values: must be absent when the operator is Exists", id="Exists"),
        pytest.param(
            "DoesNotExist", ["x"], "p.values: must be absent when the operator is DoesNotExist", id="DoesNotExist"
        ),
        pytest.param("Gt", [], "p.values: must be exactly one value when the operator is Gt", id="Gt, none"),
        pytest.param("Lt", ["1", "2"], "p.values: must be exactly one value when the operator is Lt", id="Lt, two"),
        pytest.param(
            "in", ["x"], 'p.operator: "in" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt', id="misspelt"
        ),
    ],
)
def test_a_requirement_that_makes_no_sense_is_a_problem(operator: str, values: list[str], expected: str) -> None:
    (requirement,) = selector("k", operator, *values).match_expressions or ()
    assert [render([problem]) for problem in problems_of(requirement, "p")] == [expected]


@pytest.mark.parametrize(
    ("operator", "values"),
    [("In", ["x"]), ("NotIn", ["x", "y"]), ("Exists", []), ("DoesNotExist", []), ("Gt", ["-1"]), ("Lt", ["x"])],
)
def test_every_operator_can_be_used_rightly(operator: str, values: list[str]) -> None:
    (requirement,) = selector("k", operator, *values).match_expressions or ()
    assert list(problems_of(requirement, "p")) == []


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        pytest.param("Gt", ("x",), '"x"', id="a word"),
        pytest.param("Lt", ("1.5",), '"1.5"', id="a fraction"),
        pytest.param("Gt", ("9223372036854775808",), '"9223372036854775808"', id="beyond 64 bits"),
        pytest.param("Gt", ("9223372036854775807",), "", id="the largest of 64 bits"),
        pytest.param("Gt", ("1", "x"), "", id="two values are another matter"),
        pytest.param("Lt", None, "", id="so are none"),
        pytest.param("In", ("x",), "", id="nothing is compared"),
    ],
)
def test_what_the_scheduler_cannot_compare_with_is_named(
    operator: str, values: tuple[str, ...] | None, expected: str
) -> None:
    assert unreadable(Requirement("k", operator, values)) == expected
