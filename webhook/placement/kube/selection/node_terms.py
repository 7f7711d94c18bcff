"""The conjunction of node terms of constraints with the terms of a pod's own required node affinity.

The terms of one affinity are alternatives, so ANDing two lists of terms makes their product.
"""

import itertools
from collections.abc import Sequence

from msgspec import Struct

from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.size_limits import WORDS_LIMIT, words
from webhook.placement.text.problem import Problem

TERM_LIMIT = 1000
"""Node terms of a merged pod; the scheduler evaluates each of the terms against each node."""


class TermEdit(Struct, frozen=True, gc=False):
    """A change of the pod's own node term at index ``at`` of its ``nodeSelectorTerms``.

    ``expressions`` and ``fields`` are the requirements to add. ``empty`` means that the term has no requirements and
    matches no node, so it is to be removed.
    """

    at: int
    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    empty: bool = False


def conjoin(
    own: Sequence[NodeTerm], asked: Sequence[tuple[NodeTerm, ...]]
) -> tuple[tuple[TermEdit, ...], tuple[NodeTerm, ...], list[Problem]]:
    """The product of the pod's ``own`` terms and the alternatives that each constraint asks for.

    Returns edits of the pod's terms, terms to append, and problems where the product is too large. An empty term of the
    pod matches no node; adding requirements would make it match some, so it is removed. A term of the pod that includes
    one of the alternatives stays as it is.
    """
    nonempty = [at for at, term in enumerate(own) if not term.empty]
    count = len(nonempty) or 1
    for terms in asked:
        count *= len(terms)
    if count > TERM_LIMIT:
        message = f"with the pod's own terms this makes {count} node selector terms, at most {TERM_LIMIT} are allowed"
        return (), (), [Problem("spec.affinity.nodeAffinity", message)]
    ours = [_sorted(choice[0] if len(choice) == 1 else _and(choice)) for choice in itertools.product(*asked)]
    if not nonempty:
        return (), tuple(ours), []
    size = len(ours) * words(own[at] for at in nonempty) + len(nonempty) * words(ours)
    if size > WORDS_LIMIT:
        message = (
            f"with the pod's own terms this makes {size} expressions and values, at most {WORDS_LIMIT} are allowed"
        )
        return (), (), [Problem("spec.affinity.nodeAffinity", message)]
    edits = [TermEdit(at, empty=True) for at in range(len(own)) if at not in nonempty]
    more: list[NodeTerm] = []
    for at in nonempty:
        lacking = [_lacking(own[at], term, at) for term in ours]
        if all(edit.expressions or edit.fields for edit in lacking):
            edits.append(lacking[0])
            more += [_and((own[at], term)) for term in ours[1:]]
    return tuple(sorted(edits, key=lambda edit: edit.at)), tuple(more), []


def _and(terms: Sequence[NodeTerm]) -> NodeTerm:
    """One term with the requirements of all terms, each requirement once."""
    expressions = dict.fromkeys(itertools.chain.from_iterable(term.match_expressions or () for term in terms))
    fields = dict.fromkeys(itertools.chain.from_iterable(term.match_fields or () for term in terms))
    return NodeTerm(tuple(expressions) or None, tuple(fields) or None)


def _sorted(term: NodeTerm) -> NodeTerm:
    """The term with sorted requirements, so that all replicas of the webhook write the same patch."""
    return NodeTerm(_ordered(term.match_expressions), _ordered(term.match_fields))


def _ordered(requirements: Sequence[Requirement] | None) -> tuple[Requirement, ...] | None:
    if not requirements:
        return None
    if len(requirements) == 1:
        return tuple(requirements)
    return tuple(sorted(requirements, key=lambda need: (need.key, need.operator, need.values or ())))


def _lacking(own: NodeTerm, ours: NodeTerm, at: int) -> TermEdit:
    expressions = tuple(need for need in ours.match_expressions or () if need not in (own.match_expressions or ()))
    fields = tuple(need for need in ours.match_fields or () if need not in (own.match_fields or ()))
    return TermEdit(at, expressions, fields)
