"""Label selectors and node selector terms, evaluated to sets of nodes exactly as the scheduler evaluates them.

Source: ``component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go``. Terms are ORed, the requirements of a
term are ANDed, and an empty term matches no node. NotIn and DoesNotExist hold where the key is absent; Gt and Lt hold
only where label and value are 64-bit integers.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from webhook.placement.kube.bits import Bits
from webhook.placement.kube.numbers import integer
from webhook.placement.kube.pod import LabelSelector, NodeTerm, Requirement
from webhook.placement.text.problem import Problem, quote

NAME_FIELD = "metadata.name"
"""The only field that ``matchFields`` of a node selector term may name."""


class Nodes(Protocol):
    """The nodes of a cluster by label and name: what the evaluation of a selector needs."""

    @property
    def everything(self) -> Bits:
        """All nodes."""
        ...

    def with_label(self, key: str, values: Iterable[str]) -> Bits:
        """Nodes whose label ``key`` has one of the values."""
        ...

    def with_key(self, key: str) -> Bits:
        """Nodes that have the label ``key``."""
        ...

    def beyond(self, key: str, bound: int, *, above: bool) -> Bits:
        """Nodes whose label ``key`` is a whole number above (or below) ``bound``."""
        ...

    def named(self, name: str) -> Bits:
        """The node of that name, as a set."""
        ...


def _beyond(nodes: Nodes, requirement: Requirement, *, above: bool) -> Bits:
    bound = integer(requirement.values[0]) if requirement.values else None
    return 0 if bound is None else nodes.beyond(requirement.key, bound, above=above)


_OPERATORS: dict[str, Callable[[Nodes, Requirement], Bits]] = {
    "In": lambda nodes, asked: nodes.with_label(asked.key, asked.values or ()),
    "NotIn": lambda nodes, asked: nodes.everything & ~nodes.with_label(asked.key, asked.values or ()),
    "Exists": lambda nodes, asked: nodes.with_key(asked.key),
    "DoesNotExist": lambda nodes, asked: nodes.everything & ~nodes.with_key(asked.key),
    "Gt": lambda nodes, asked: _beyond(nodes, asked, above=True),
    "Lt": lambda nodes, asked: _beyond(nodes, asked, above=False),
}

OPERATORS = tuple(_OPERATORS)
"""Operators of node selectors."""

COMPARING = frozenset({"Gt", "Lt"})
"""Operators that compare whole numbers."""


def matching(nodes: Nodes, requirement: Requirement) -> Bits:
    """Nodes whose labels meet the requirement; an unknown operator matches no node."""
    evaluate = _OPERATORS.get(requirement.operator)
    return evaluate(nodes, requirement) if evaluate else 0


def holds(requirement: Requirement, value: str | None) -> bool:
    """Whether a label with that value meets the requirement; ``None`` stands for an absent label."""
    values = requirement.values or ()
    match requirement.operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            number, bound = (integer(text) if text is not None else None for text in (value, *values[:1]))
            if number is None or bound is None:
                return False
            return number > bound if operator == "Gt" else number < bound


def matching_all(nodes: Nodes, requirements: Iterable[Requirement]) -> Bits:
    """Nodes that meet every requirement."""
    nodes_left = nodes.everything
    for requirement in requirements:
        nodes_left &= matching(nodes, requirement)
        if not nodes_left:
            break
    return nodes_left


def matching_term(nodes: Nodes, term: NodeTerm) -> Bits:
    """Nodes that the term matches; an empty term matches no node."""
    if term.empty:
        return 0
    matching = matching_all(nodes, term.match_expressions or ())
    for requirement in term.match_fields or ():
        matching &= _matching_field(nodes, requirement)
    return matching


def matching_any(nodes: Nodes, terms: Iterable[NodeTerm]) -> Bits:
    """Nodes that at least one of the terms matches."""
    matching, everything = 0, nodes.everything
    for term in terms:
        matching |= matching_term(nodes, term)
        if matching == everything:
            break
    return matching


def requirements_of(selector: LabelSelector) -> tuple[Requirement, ...]:
    """A label selector as a list of requirements that must all hold."""
    labels = selector.match_labels or {}
    equalities = (Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))
    return (*equalities, *(selector.match_expressions or ()))


def problems_of(requirement: Requirement, path: str) -> Iterator[Problem]:
    """Problems with the form of the requirement: an unknown operator, too many values or too few.

    Whether Gt and Lt have a number to compare with is the question of :func:`unreadable`.
    """
    count = len(requirement.values or ())
    match requirement.operator:
        case "In" | "NotIn" if not count:
            yield Problem(f"{path}.values", f"must have at least one value when the operator is {requirement.operator}")
        case "Exists" | "DoesNotExist" if count:
            yield Problem(f"{path}.values", f"must be absent when the operator is {requirement.operator}")
        case "Gt" | "Lt" if count != 1:
            yield Problem(f"{path}.values", f"must be exactly one value when the operator is {requirement.operator}")
        case operator if operator not in _OPERATORS:
            yield Problem(f"{path}.operator", f"{quote(operator)} is not one of {', '.join(OPERATORS)}")
        case _:
            pass


def unreadable(requirement: Requirement) -> str:
    """The value of Gt or Lt in quotes if it is not a 64-bit integer; an empty text if it is one.

    The API server accepts such a value, and the scheduler cannot read it (``labels.NewRequirement`` of
    ``apimachinery``).
    """
    values = requirement.values or ()
    if requirement.operator not in COMPARING or len(values) != 1 or integer(values[0]) is not None:
        return ""
    return quote(values[0])


def _matching_field(nodes: Nodes, requirement: Requirement) -> Bits:
    if requirement.key != NAME_FIELD or len(requirement.values or ()) != 1:
        return 0
    named = nodes.named((requirement.values or ("",))[0])
    match requirement.operator:
        case "In":
            return named
        case "NotIn":
            return nodes.everything & ~named
        case _:
            return 0
