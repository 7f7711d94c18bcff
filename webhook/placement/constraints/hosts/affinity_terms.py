"""Validation of the terms of a pod's own node affinity, as the API server and the scheduler do it.

The API server does not read the numbers of ``Gt`` and ``Lt``, nor the values of preferences. The scheduler does: a
required term that it cannot read matches no node, while the other terms still count; a preference that it cannot read
fails the whole pod. Sources: ``ValidateNodeSelectorTerm`` of Kubernetes' core validation; ``NewLazyErrorNodeSelector``
and ``NewPreferredSchedulingTerms`` of ``component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go``.

The family ``node_selector`` uses it for the pod's own terms.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from webhook.placement.annotations.expressions import problems_of_key, problems_of_values, sound
from webhook.placement.kube.names import is_object_name
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.kube.selection.selector import COMPARING, NAME_FIELD, problems_of, unreadable
from webhook.placement.text.problem import Problem, enumerated, quote

_FIELD_OPERATORS: Final = ("In", "NotIn")
_FAILS: Final = "the scheduler fails on a preference that it cannot read, so the pod might never be placed"
_NAMED: Final = 4
"""Terms that one message names at most, each by its first unreadable requirement."""


def problems_of_required(terms: Sequence[NodeTerm], path: str) -> Iterator[Problem]:
    """A problem for everything in required terms that the API server refuses."""
    for term_index, term in enumerate(terms):
        for need_index, need in enumerate(term.match_expressions or ()):
            if sound(need):
                continue
            where = f"{path}[{term_index}].matchExpressions[{need_index}]"
            yield from _form(need, where)
            yield from problems_of_values(need.values or (), f"{where}.values")
        yield from _fields(term, f"{path}[{term_index}]")


def problems_of_preferred(terms: Sequence[PreferredNodeTerm], path: str) -> Iterator[Problem]:
    """A problem for everything in preferred terms that the API server refuses, or that makes the scheduler fail."""
    for term_index, preferred in enumerate(terms):
        where = f"{path}[{term_index}].preference"
        for need_index, need in enumerate(preferred.preference.match_expressions or ()):
            if not sound(need):
                yield from _preferred(need, f"{where}.matchExpressions[{need_index}]")
        yield from _fields(preferred.preference, where)


def never_matching(term: NodeTerm) -> str:
    """The first ``Gt`` or ``Lt`` in the required term that the scheduler cannot read, in words; empty if there is none.

    It is empty for a term without requirements, too, which matches no node either.
    """
    for need in term.match_expressions or ():
        if need.operator in COMPARING and (fault := unreadable(need)):
            return f"{need.key} {need.operator} {fault}"
    return ""


def why_none_matches(terms: Sequence[NodeTerm]) -> str:
    """Why no node can meet these required terms, in words; each must be empty, or be one that never matches."""
    never = [fault for term in terms if (fault := never_matching(term))]
    empty = "an empty term matches no node"
    if not never:
        return f"every term is empty, and {empty}: the pod could never run"
    needs = f"{enumerated(never, _NAMED)} {'needs' if len(never) == 1 else 'need'}"
    also = f", and {empty}" if len(never) < len(terms) else ""
    return f"{needs} a 64-bit integer{also}: no term ever matches, and the pod could never run"


def _preferred(need: Requirement, path: str) -> Iterator[Problem]:
    """Problems of one requirement in a preferred term."""
    yield from _form(need, path)
    for problem in problems_of_values(need.values or (), f"{path}.values"):
        yield Problem(problem.field, f"{problem.message}; {_FAILS}")
    if fault := unreadable(need):
        message = f"{fault} is not a 64-bit integer, which {need.operator} requires; {_FAILS}"
        yield Problem(f"{path}.values", message)


def _form(need: Requirement, path: str) -> Iterator[Problem]:
    """Problems of key and operator, and of the number of values."""
    yield from problems_of_key(need.key, f"{path}.key")
    yield from problems_of(need, path)


def _fields(term: NodeTerm, path: str) -> Iterator[Problem]:
    """Problems of requirements on fields: only the node's name can be matched, and only with one value."""
    for need_index, need in enumerate(term.match_fields or ()):
        where, values = f"{path}.matchFields[{need_index}]", need.values or ()
        if need.key != NAME_FIELD:
            yield Problem(f"{where}.key", f"{quote(need.key)} is not {NAME_FIELD}, the only field that can be matched")
        if need.operator not in _FIELD_OPERATORS:
            operators = ", ".join(_FIELD_OPERATORS)
            yield Problem(
                f"{where}.operator", f"{quote(need.operator)} is not one of {operators}, the operators for fields"
            )
        elif len(values) != 1:
            yield Problem(f"{where}.values", "must be exactly one value for a field")
        for value in values:
            if not is_object_name(value):
                yield Problem(f"{where}.values", f"{quote(value)} is not a node name")
