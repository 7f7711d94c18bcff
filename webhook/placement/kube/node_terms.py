"""Required node terms, ANDed: a pod's own, which are alternatives, with those that constraints ask for."""

import itertools
from collections.abc import Sequence

from msgspec import Struct

from webhook.placement.kube.pod import NodeAffinity, NodeTerm, Requirement
from webhook.placement.kube.size_limits import WORDS_LIMIT, words
from webhook.placement.text.problem import Problem

TERM_LIMIT = 1000
"""Node terms of a merged pod; the scheduler evaluates every one of them against every node."""


class TermEdit(Struct, frozen=True, gc=False):
    """The pod's own node term at position ``at``, and what it lacks of ours; ``empty`` if it says nothing."""

    at: int
    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    empty: bool = False


def conjoin(
    nodes: NodeAffinity, asked: Sequence[tuple[NodeTerm, ...]]
) -> tuple[tuple[TermEdit, ...], tuple[NodeTerm, ...], list[Problem]]:
    """The product of the pod's own terms and ours: every pair of one of each, so that both must hold.

    A term of the pod that says nothing matches nothing, and must not be filled; one that holds all of a term of ours
    already is done.
    """
    own = (nodes.required.node_selector_terms if nodes.required else None) or ()
    saying = [at for at, term in enumerate(own) if not term.empty]
    count = len(saying) or 1
    for terms in asked:
        count *= len(terms)
    if count > TERM_LIMIT:
        message = f"with the pod's own terms this makes {count} node selector terms, at most {TERM_LIMIT} are allowed"
        return (), (), [Problem("spec.affinity.nodeAffinity", message)]
    ours = [_sorted(choice[0] if len(choice) == 1 else _and(choice)) for choice in itertools.product(*asked)]
    if not saying:
        return (), tuple(ours), []
    said = len(ours) * words(own[at] for at in saying) + len(saying) * words(ours)
    if said > WORDS_LIMIT:
        message = (
            f"with the pod's own terms this makes {said} expressions and values, at most {WORDS_LIMIT} are allowed"
        )
        return (), (), [Problem("spec.affinity.nodeAffinity", message)]
    edits = [TermEdit(at, empty=True) for at in range(len(own)) if at not in saying]
    more: list[NodeTerm] = []
    for at in saying:
        lacking = [_lacking(own[at], term, at) for term in ours]
        if all(edit.expressions or edit.fields for edit in lacking):
            edits.append(lacking[0])
            more += [_and((own[at], term)) for term in ours[1:]]
    return tuple(sorted(edits, key=lambda edit: edit.at)), tuple(more), []


def _and(terms: Sequence[NodeTerm]) -> NodeTerm:
    """One term that says all of them, each requirement once."""
    expressions = dict.fromkeys(itertools.chain.from_iterable(term.match_expressions or () for term in terms))
    fields = dict.fromkeys(itertools.chain.from_iterable(term.match_fields or () for term in terms))
    return NodeTerm(tuple(expressions) or None, tuple(fields) or None)


def _sorted(term: NodeTerm) -> NodeTerm:
    """The term in one fixed order, so that replicas write the same."""
    return NodeTerm(_ordered(term.match_expressions), _ordered(term.match_fields))


def _ordered(requirements: Sequence[Requirement] | None) -> tuple[Requirement, ...] | None:
    if not requirements:
        return None
    return tuple(sorted(requirements, key=lambda need: (need.key, need.operator, need.values or ())))


def _lacking(own: NodeTerm, ours: NodeTerm, at: int) -> TermEdit:
    expressions = tuple(need for need in ours.match_expressions or () if need not in (own.match_expressions or ()))
    fields = tuple(need for need in ours.match_fields or () if need not in (own.match_fields or ()))
    return TermEdit(at, expressions, fields)
