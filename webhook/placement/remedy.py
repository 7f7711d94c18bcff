"""The nearest fix of a refusal: the single change that would open most nodes."""

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence

from webhook.placement.ask import NODE_NAME, Ask
from webhook.placement.bits import Bits
from webhook.placement.problem import counted, shorten
from webhook.placement.verdict import Judged, Verdict
from webhook.placement.world import World

CLAUSE_LIMIT = 60
"""Characters of a clause in a message; the user knows the rest."""

REASON_LIMIT = 200
"""Characters of one line of reasons."""

Without = Callable[..., Bits]
"""Given texts: the nodes that could run the pod if it lacked the clauses of these texts, or the node name they say."""

_REDONE = 8
"""Clauses without which a pod is decided anew: more than people write, and a few milliseconds."""

_PAIRS = 300
"""Pairs of clauses tried: all of 24 clauses, more than anyone writes by hand, and a few milliseconds."""


def nearest_fix(verdict: Verdict, ask: Ask, world: World, without: Without) -> str:
    """The single change of the cluster, and the single clause to drop, that open most nodes."""
    opened = without_each(verdict.everything, [judged.nodes for judged in verdict.hard])
    options = [*mends(verdict.hard, opened, world), *_drops(verdict.hard, opened, ask, without)]
    if options:
        return ", or ".join(options)
    return _dropping_two(verdict, ask, without) or "none by a single change; the pod needs a node that meets all of it"


def mends(hard: Sequence[Judged], opened: Sequence[Bits], world: World) -> Iterator[str]:
    """The change of the cluster for the constraint that alone keeps most nodes closed, if there is one."""
    ranked = sorted((at for at in range(len(hard)) if opened[at]), key=lambda at: -opened[at].bit_count())
    mends = (hard[at].constraint.mend(world, opened[at]) for at in ranked)
    yield from (shorten(mend, REASON_LIMIT) for mend in itertools.islice(filter(None, mends), 1))


def _drops(hard: Sequence[Judged], opened: Sequence[Bits], ask: Ask, without: Without) -> Iterator[str]:
    """The clause to drop that opens most nodes.

    What a clause of the placement brings along goes with it (a toleration, the way of binding), so the pod is decided
    anew without it; the pod's other words stand for themselves.
    """
    texts = placed(ask)
    found = [(without(text).bit_count(), "drop", text) for text in texts]
    for at, judged in enumerate(hard):
        clause, verb = judged.constraint.clause, judged.constraint.verb
        if clause and clause not in texts:
            nodes = without(clause) if clause.startswith(NODE_NAME) else opened[at]
            found.append((nodes.bit_count(), verb, clause))
    count, verb, text = max(found, key=lambda option: option[0], default=(0, "", ""))
    if count:
        yield f"{verb} {shorten(text, CLAUSE_LIMIT)} ({_would(count)})"


def placed(ask: Ask) -> list[str]:
    """The first clauses of the placement that are not only preferred, each text once."""
    hard = dict.fromkeys(clause.text for clause in ask.clauses if clause.name not in ask.soft)
    return list(itertools.islice(hard, _REDONE))


def _dropping_two(verdict: Verdict, ask: Ask, without: Without) -> str:
    """The two clauses to drop that open most nodes, where no single one does."""
    texts = placed(ask)
    verbs = {judged.constraint.clause: judged.constraint.verb for judged in verdict.hard if judged.constraint.clause}
    own = [clause for clause in verbs if clause not in texts]
    best = 0, ("", "")
    for pair in itertools.islice(itertools.combinations([*texts, *own], 2), _PAIRS):
        count = (without(*pair) if set(pair) <= set(texts) else _others(verdict, ask, pair)).bit_count()
        if count > best[0]:
            best = count, pair
    what = " and ".join(f"{verbs.get(text, 'drop')} {shorten(text, CLAUSE_LIMIT)}" for text in best[1])
    return f"{what} ({_would(best[0])})" if best[0] else ""


def _others(verdict: Verdict, ask: Ask, pair: Sequence[str]) -> Bits:
    """What all constraints but these have in common; nothing where one of them opens hosts that close without it."""
    if any(pool.exclusive and str(clause) in pair for clause, pool in ask.pools):
        return 0
    left = (judged.nodes for judged in verdict.hard if judged.constraint.clause not in pair)
    return functools.reduce(operator.and_, left, verdict.everything)


def _would(count: int) -> str:
    return f"{counted(count, 'node')} would fit"


def without_each(everything: Bits, sets: Sequence[Bits]) -> list[Bits]:
    """For each set, what all the *others* have in common: by products from the left and from the right."""
    before = list(itertools.accumulate(sets, operator.and_, initial=everything))
    after = list(itertools.accumulate(reversed(sets), operator.and_, initial=everything))
    return [before[at] & after[len(sets) - 1 - at] for at in range(len(sets))]
