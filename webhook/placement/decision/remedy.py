"""The nearest fix of a refusal: the single change of the cluster, or clause to drop, that would open most nodes."""

import itertools
from collections.abc import Iterator, Sequence

from webhook.placement.decision.clause_nodes import ClauseNodes, without_each
from webhook.placement.decision.cluster_change import opening_change
from webhook.placement.decision.relaxation import Relaxation
from webhook.placement.decision.verdict import Judged, Verdict
from webhook.placement.kube.bits import Bits
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import counted, shorten

CLAUSE_LIMIT = 60
"""At most so many characters of a clause are in a message; the user knows the rest."""

REASON_LIMIT = 200
"""At most so many characters are in one line of reasons."""


def nearest_fix(
    verdict: Verdict, ask: Ask, world: World, clause_nodes: ClauseNodes, relaxation: Relaxation[Clause]
) -> str:
    """The single change of the cluster, and the single clause to drop, that open most nodes.

    A pair of clauses to drop if no single change helps.
    """
    opened = without_each(verdict.everything, [judged.nodes for judged in verdict.hard])
    count, best = relaxation.best()
    drop = [f"{dropping(relaxation, best)} ({_would(count)})"] if count else []
    if options := [*mends(verdict.hard, opened, ask, world), *drop]:
        return ", or ".join(options)
    count, pair = relaxation.best_of(clause_nodes.pairs())
    if count:
        return f"{dropping(relaxation, pair)} ({_would(count)})"
    return "none by a single change; the pod needs a node that meets all of it"


def mends(hard: Sequence[Judged], opened: Sequence[Bits], ask: Ask, world: World) -> Iterator[str]:
    """The change of the cluster for the constraint that alone keeps most nodes closed; at most one.

    ``opened`` are, for each of ``hard``, the nodes that fail it alone. Constraints without a change are skipped.
    """
    ranked = sorted((at for at in range(len(hard)) if opened[at]), key=lambda at: -opened[at].bit_count())
    constraints = [judged.constraint for judged in hard]
    found = (opening_change(constraints, at, opened[at], ask, world) for at in ranked)
    yield from (shorten(mend, REASON_LIMIT) for mend in itertools.islice(filter(None, found), 1))


def dropping(relaxation: Relaxation[Clause], clauses: Sequence[Clause]) -> str:
    """What to do with these clauses: ``drop a and b``, ``drop a and lower b``."""
    parts: list[str] = []
    verb = ""
    for clause in clauses:
        short = shorten(clause.text, CLAUSE_LIMIT)
        parts.append(short if relaxation.verbs[clause] == verb else f"{relaxation.verbs[clause]} {short}")
        verb = relaxation.verbs[clause]
    return " and ".join(parts)


def _would(count: int) -> str:
    return f"{counted(count, 'node')} would fit"
