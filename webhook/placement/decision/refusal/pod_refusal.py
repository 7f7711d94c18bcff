"""The refusal of a pod that no node can run: what cannot hold together, and what would open most nodes."""

from collections.abc import Iterator

from webhook.placement.decision.refusal.clause_nodes import ClauseNodes, without_each
from webhook.placement.decision.refusal.cluster_change import proposed_fixes
from webhook.placement.decision.refusal.lowered_requests import lowered_for_pod
from webhook.placement.decision.refusal.lowered_zones import lowered_to_zones
from webhook.placement.decision.refusal.partial_pod import PartialPods
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.decision.refusal.relaxation import Relaxation
from webhook.placement.decision.verdict import Verdict
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause, outermost
from webhook.placement.text.fix import Advice, Drop, Fix
from webhook.placement.text.problem import Fault, counted

_NONE = Advice("no single change helps; the pod needs a node that meets all of it")


def refuse(verdict: Verdict, ask: Ask, world: World, partial: PartialPods) -> Refusal:
    """The refusal of a pod without candidates; ``partial`` decides the pod anew without some of its clauses."""
    clause_nodes = ClauseNodes.of(verdict, ask)
    relaxation = Relaxation(clause_nodes.verbs, partial.fit, likely=clause_nodes.opening)
    pinned = _pinned(verdict)
    chosen = pinned or outermost(relaxation.conflict(clause_nodes.conflict()))
    clauses = tuple(map(str, chosen))
    first = f"{cannot_hold(clauses)}: 0 of {counted(verdict.everything.bit_count(), 'node')} can run this pod."
    fixes = tuple(_fixes(verdict, clause_nodes, ask, world, relaxation, partial)) or (_NONE,)
    fault = Fault.INVALID if pinned else Fault.FORBIDDEN
    return Refusal.of(first, clauses, fault, verdict.rules(chosen), fixes, verdict.reasons(world))


def _pinned(verdict: Verdict) -> tuple[Clause, ...]:
    """Two clauses that name different nodes, which no change of the cluster could reconcile; empty without such."""
    by_node = {
        constraint.node: constraint.clause
        for judged in reversed(verdict.hard)
        if (constraint := judged.constraint).node and constraint.clause
    }
    return tuple(by_node.values())[:-3:-1] if len(by_node) > 1 else ()


def _fixes(
    verdict: Verdict,
    clause_nodes: ClauseNodes,
    ask: Ask,
    world: World,
    relaxation: Relaxation[Clause],
    partial: PartialPods,
) -> Iterator[Fix]:
    """The single change of the cluster, and the single clause to drop, that open most nodes.

    A pair of clauses to drop if no single change helps.
    """
    opened = without_each(verdict.everything, [judged.nodes for judged in verdict.hard])
    fix = next(proposed_fixes(verdict.hard, opened, ask, world), None)
    count, best = relaxation.best()
    if not (fix or count):
        count, best = relaxation.best_of(clause_nodes.pairs())
    if fix:
        yield fix
    if count:
        remaining = partial.left(best)
        zones = lowered_to_zones(verdict.hard, best, remaining, ask, world)
        lowered = None if zones else lowered_for_pod(verdict, best, remaining, ask, world)
        if zones:
            yield Drop.of(best, relaxation.verbs, _gain(zones.fitting), zones.to)
        elif lowered:
            lowerable, amounts, fitting = lowered
            yield lowerable.fix(best, relaxation.verbs, _gain(fitting), amounts)
        else:
            yield Drop.of(best, relaxation.verbs, _gain(count))


def _gain(nodes: int) -> str:
    return f"{counted(nodes, 'node')} would fit"
