"""What a pod says once everything is added that its clauses ask for: what the scheduler will read of it."""

import functools
import operator
from collections.abc import Iterable, Sequence

from webhook.placement.constraints.constraint import Constraint, Finished
from webhook.placement.constraints.exclusive import NobodyElses
from webhook.placement.constraints.taints import Tolerated
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import NodeTerm, Requirement
from webhook.placement.kube.selector import matching_all, matching_any
from webhook.placement.provision.effects import AddLabel, BindTo, RequireNodes
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World

_ANY_OTHER = frozenset({"Exists", "NotIn"})
"""Operators that a value which no node has yet always meets."""


def finish(ask: Ask, constraints: Sequence[Constraint], world: World) -> Finished:
    """The finished pod, given all that it asks of the families that change it."""
    effects = [effect for constraint in constraints for effect in constraint.inject(world)]
    labels = {effect.key: effect.value for effect in effects if isinstance(effect, AddLabel)}
    added = [effect.terms for effect in effects if isinstance(effect, RequireNodes)]
    own = ask.spec.affinity.node_affinity.required if ask.spec.affinity and ask.spec.affinity.node_affinity else None
    terms = [*added, own.node_selector_terms or ()] if own else added
    selector = ask.spec.node_selector or {}
    return Finished(
        labels={**labels, **ask.labels},
        required=_required([Requirement(key, "In", (value,)) for key, value in selector.items()], terms, world),
        tolerated=_tolerated(constraints, world),
        keys=frozenset((*selector, *(key for alternatives in terms for key in _keys(alternatives)))),
        past=bool(ask.spec.node_name) or any(isinstance(effect, BindTo) for effect in effects),
    )


def _required(selector: Sequence[Requirement], terms: Iterable[Sequence[NodeTerm]], world: World) -> Bits:
    """The nodes that meet the selector and, of all alternatives, one each."""
    met = (matching_any(world, alternatives) for alternatives in terms)
    return functools.reduce(operator.and_, met, matching_all(world, selector))


def _tolerated(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes without a taint that the pod does not tolerate; those of exclusive pools are about to be tainted."""
    kept = (found.filter(world) for found in constraints if isinstance(found, Tolerated | NobodyElses))
    return functools.reduce(operator.and_, kept, world.everything)


def _keys(terms: Iterable[NodeTerm]) -> Iterable[str]:
    """The keys of which the terms ask for certain values."""
    for term in terms:
        needs = (*(term.match_expressions or ()), *(term.match_fields or ()))
        yield from (need.key for need in needs if need.operator not in _ANY_OTHER)
