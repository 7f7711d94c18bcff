"""The text of a refusal: what cannot hold together, why each node is out, and what would help (``docs/refusals.md``).

It names no node, pod or namespace that the requester did not write: tenants read it.
"""

import functools
import itertools
import operator
from collections.abc import Iterator, Sequence

from msgspec import Struct

from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.conflict import smallest
from webhook.placement.constraint import Constraint
from webhook.placement.problem import MESSAGE_LIMIT, Fault, escape
from webhook.placement.verdict import Judged, Verdict
from webhook.placement.world import World

CLAUSE_LIMIT = 60
"""Characters of a clause in a message; the user knows the rest."""

REASON_LIMIT = 200
"""Characters of one line of reasons."""


class Refusal(Struct, frozen=True):
    """Why no node can run the pod: the whole ``text``, the ``clauses`` of its first line, and whose fault it is."""

    text: str
    clauses: tuple[str, ...]
    fault: Fault

    @property
    def headline(self) -> str:
        """The first line, which stands alone."""
        return self.text.partition("\n")[0]


def refuse(verdict: Verdict, ask: Ask, world: World) -> Refusal:
    """The refusal of a pod without candidates, at most :data:`MESSAGE_LIMIT` bytes of ASCII."""
    pinned = _pinned(verdict)
    written = _as_written([judged for judged in verdict.hard if judged.constraint.clause], ask)
    standing = [judged for judged in verdict.hard if not judged.constraint.clause]
    base = functools.reduce(operator.and_, (judged.nodes for judged in standing), verdict.everything)
    clauses = pinned or tuple(
        written[at].constraint.clause for at in smallest(base, [judged.nodes for judged in written])
    )
    total = verdict.everything.bit_count()
    first = f"{_together(clauses)}: 0 of {total} node{'s' * (total != 1)} can run this pod."
    fix = f"Nearest fix: {_nearest(verdict, world)}."
    lines = [f"  {_short(str(reason), REASON_LIMIT)}" for reason in verdict.reasons(world)]
    text = _within_limit(first, lines, fix)
    return Refusal(text, clauses, Fault.INVALID if pinned else Fault.FORBIDDEN)


def _as_written(judged: Sequence[Judged], ask: Ask) -> list[Judged]:
    """The clauses of the placement in the order in which they stand there, then what else the pod says."""
    order = {str(clause): at for at, clause in reversed(list(enumerate(ask.clauses)))}

    def place(found: Judged) -> int:
        first = found.constraint.clause.partition(" and ")[0]
        return order.get(found.constraint.clause, order.get(first, len(order)))

    return sorted(judged, key=place)


def _pinned(verdict: Verdict) -> tuple[str, ...]:
    """Two clauses that name different nodes: no change of the cluster could reconcile them."""
    by_node = {judged.constraint.node: judged.constraint.clause for judged in reversed(verdict.hard)}
    by_node.pop("", None)
    return tuple(by_node.values())[:-3:-1] if len(by_node) > 1 else ()


def _together(clauses: Sequence[str]) -> str:
    shown = [_short(clause, CLAUSE_LIMIT) for clause in clauses[:4]]
    if len(clauses) > len(shown):
        shown.append(f"{len(clauses) - len(shown)} more")
    if not shown:
        return "No node is open to this pod"
    if len(shown) == 1:
        return f"{shown[0]} cannot hold"
    both = "both" if len(shown) == 2 else "all"  # noqa: PLR2004 - two are both
    return f"{', '.join(shown[:-1])} and {shown[-1]} cannot {both} hold"


def _nearest(verdict: Verdict, world: World) -> str:
    """The single change of the cluster, and the single clause to drop, that open most nodes."""
    alone = [judged.nodes for judged in verdict.hard]
    options = list(_options(verdict.hard, _without_each(verdict.everything, alone), world))
    if options:
        return ", or ".join(options)
    return _dropping_two(verdict) or "none by a single change; the pod needs a node that meets all of it"


def _options(hard: Sequence[Judged], opened: Sequence[Bits], world: World) -> Iterator[str]:
    ranked = sorted(range(len(hard)), key=lambda at: -opened[at].bit_count())
    useful = [at for at in ranked if opened[at]]
    mends = ((hard[at].constraint.mend(world, opened[at])) for at in useful)
    yield from (_short(mend, REASON_LIMIT) for mend in itertools.islice(filter(None, mends), 1))
    drops = (at for at in useful if hard[at].constraint.clause)
    for at in itertools.islice(drops, 1):
        yield _dropping([hard[at].constraint], opened[at])


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
    return _dropping([verdict.hard[at].constraint for at in best[1]], best[0]) if best[1] else ""


_PAIRS = 300
"""Pairs of clauses tried: all of 24 clauses, more than anyone writes by hand, and a few milliseconds."""


def _dropping(constraints: Sequence[Constraint], opened: Bits) -> str:
    what = " and ".join(f"{found.verb} {_short(found.clause, CLAUSE_LIMIT)}" for found in constraints)
    count = opened.bit_count()
    return f"{what} ({count} node{'s' * (count != 1)} would fit)"


def _without_each(everything: Bits, sets: Sequence[Bits]) -> list[Bits]:
    """For each set, what all the *others* have in common: by products from the left and from the right."""
    before = list(itertools.accumulate(sets, operator.and_, initial=everything))
    after = list(itertools.accumulate(reversed(sets), operator.and_, initial=everything))
    return [before[at] & after[len(sets) - 1 - at] for at in range(len(sets))]


def _within_limit(first: str, lines: Sequence[str], fix: str) -> str:
    """The text with as many reasons as there is room for; those that are left out are counted."""
    for shown in range(len(lines), 0, -1):
        left = len(lines) - shown
        more = [f"  and {left} more reason{'s' * (left != 1)}"] if left else []
        text = "\n".join([first, *lines[:shown], *more, fix])
        if len(text) <= MESSAGE_LIMIT:
            return text
    return f"{first}\n{fix}"[:MESSAGE_LIMIT]


def _short(text: str, limit: int) -> str:
    shown = escape(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."
