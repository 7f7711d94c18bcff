"""The nearest fix of a refusal: the single change that would open most nodes."""

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence

from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.problem import shorten
from webhook.placement.verdict import Judged, Verdict
from webhook.placement.world import World

CLAUSE_LIMIT = 60
"""Characters of a clause in a message; the user knows the rest."""

REASON_LIMIT = 200
"""Characters of one line of reasons."""

Without = Callable[[str], Bits]
"""The nodes that could run the pod if its placement lacked the clauses of this text."""

_REDONE = 8
"""Clauses without which a pod is decided anew: more than people write, and a few milliseconds."""

_PAIRS = 300
"""Pairs of clauses tried: all of 24 clauses, more than anyone writes by hand, and a few milliseconds."""


def nearest_fix(verdict: Verdict, ask: Ask, world: World, without: Without) -> str:
    """The single change of the cluster, and the single clause to drop, that open most nodes."""
    opened = _without_each(verdict.everything, [judged.nodes for judged in verdict.hard])
    options = [*_mends(verdict.hard, opened, world), *_drops(verdict.hard, opened, ask, without)]
    if options:
        return ", or ".join(options)
    return _dropping_two(verdict) or "none by a single change; the pod needs a node that meets all of it"


def _mends(hard: Sequence[Judged], opened: Sequence[Bits], world: World) -> Iterator[str]:
    ranked = sorted((at for at in range(len(hard)) if opened[at]), key=lambda at: -opened[at].bit_count())
    mends = (hard[at].constraint.mend(world, opened[at]) for at in ranked)
    yield from (shorten(mend, REASON_LIMIT) for mend in itertools.islice(filter(None, mends), 1))


def _drops(hard: Sequence[Judged], opened: Sequence[Bits], ask: Ask, without: Without) -> Iterator[str]:
    """The clause to drop that opens most nodes.

    What a clause of the placement brings along goes with it (a toleration, the way of binding), so the pod is decided
    anew without it; the pod's other words stand for themselves.
    """
    placed = dict.fromkeys(str(clause) for clause in ask.clauses if clause.name not in ask.soft)
    found = [(without(text).bit_count(), "drop", text) for text in itertools.islice(placed, _REDONE)]
    found += [
        (opened[at].bit_count(), judged.constraint.verb, judged.constraint.clause)
        for at, judged in enumerate(hard)
        if judged.constraint.clause and judged.constraint.clause not in placed
    ]
    count, verb, text = max(found, key=lambda option: option[0], default=(0, "", ""))
    if count:
        yield f"{verb} {shorten(text, CLAUSE_LIMIT)} ({_would(count)})"


def _dropping_two(verdict: Verdict) -> str:
    """The two clauses to drop that open most nodes, where no single one does."""
    written = [at for at, judged in enumerate(verdict.hard) if judged.constraint.clause]
    best: tuple[Bits, tuple[int, ...]] = 0, ()
    for pair in itertools.islice(itertools.combinations(written, 2), _PAIRS):
        left = verdict.everything
        for at, judged in enumerate(verdict.hard):
            left = left if at in pair else left & judged.nodes
        if left.bit_count() > best[0].bit_count():
            best = left, pair
    both = [verdict.hard[at].constraint for at in best[1]]
    what = " and ".join(f"{found.verb} {shorten(found.clause, CLAUSE_LIMIT)}" for found in both)
    return f"{what} ({_would(best[0].bit_count())})" if both else ""


def _would(count: int) -> str:
    return f"{count} node{'s' * (count != 1)} would fit"


def _without_each(everything: Bits, sets: Sequence[Bits]) -> list[Bits]:
    """For each set, what all the *others* have in common: by products from the left and from the right."""
    before = list(itertools.accumulate(sets, operator.and_, initial=everything))
    after = list(itertools.accumulate(reversed(sets), operator.and_, initial=everything))
    return [before[at] & after[len(sets) - 1 - at] for at in range(len(sets))]
