"""The text of a refusal: what cannot hold together, why each node is out, and what would help (``docs/refusals.md``).

Tenants read the text, so it names no node, pod or namespace that the request itself does not name.
"""

from collections.abc import Sequence

from msgspec import Struct

from webhook.placement.decision.clause_nodes import ClauseNodes
from webhook.placement.decision.relaxation import Fitting, Relaxation
from webhook.placement.decision.remedy import CLAUSE_LIMIT, REASON_LIMIT, nearest_fix
from webhook.placement.decision.verdict import Verdict
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.problem import MESSAGE_LIMIT, Fault, counted, shorten

_LINES = 64
"""At most so many reasons are listed: no more of the shortest ones fit into a message."""


class Refusal(Struct, frozen=True):
    """Why no node can run the pod: the whole ``text``, the ``clauses`` of its first line, and whose fault it is.

    ``rules`` are the rules of the clauses.
    """

    text: str
    clauses: tuple[str, ...]
    fault: Fault
    rules: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The first line of ``text``, which can be shown alone."""
        return self.text.partition("\n")[0]


def refuse(verdict: Verdict, ask: Ask, world: World, fitting: Fitting[Clause]) -> Refusal:
    """The refusal of a pod without candidates; its text has at most :data:`MESSAGE_LIMIT` bytes of ASCII.

    ``fitting`` decides the pod anew without some of its clauses.
    """
    clause_nodes = ClauseNodes.of(verdict, ask)
    relaxation = Relaxation(clause_nodes.verbs, fitting, likely=clause_nodes.opening().__getitem__)
    pinned = _pinned(verdict)
    chosen = pinned or relaxation.conflict(clause_nodes.conflict())
    clauses = tuple(map(str, chosen))
    total = verdict.everything.bit_count()
    first = f"{cannot_hold(clauses)}: 0 of {counted(total, 'node')} can run this pod."
    fix = f"Nearest fix: {nearest_fix(verdict, ask, world, clause_nodes, relaxation)}."
    lines = [f"  {shorten(str(reason), REASON_LIMIT)}" for reason in verdict.reasons(world)]
    text = within_limit(first, lines, fix)
    return Refusal(text, clauses, Fault.INVALID if pinned else Fault.FORBIDDEN, verdict.rules(chosen))


def _pinned(verdict: Verdict) -> tuple[Clause, ...]:
    """Two clauses that name different nodes, which no change of the cluster could reconcile; empty without such."""
    named = (judged.constraint for judged in reversed(verdict.hard) if judged.constraint.node)
    by_node = {found.node: found.clause for found in named if found.clause}
    return tuple(by_node.values())[:-3:-1] if len(by_node) > 1 else ()


def cannot_hold(clauses: Sequence[str]) -> str:
    """The start of the first line: these clauses, at most four of them by name, cannot hold together."""
    shown = [shorten(clause, CLAUSE_LIMIT) for clause in clauses[:4]]
    if len(clauses) > len(shown):
        shown.append(f"{len(clauses) - len(shown)} more")
    if not shown:
        return "No node is open to this pod"
    if len(shown) == 1:
        return f"{shown[0]} cannot hold"
    both = "both" if len(shown) == 2 else "all"  # noqa: PLR2004 - two are both
    return f"{', '.join(shown[:-1])} and {shown[-1]} cannot {both} hold"


def within_limit(first: str, lines: Sequence[str], fix: str) -> str:
    """The text of ``first``, ``lines`` and ``fix`` within ``MESSAGE_LIMIT``; lines that do not fit are only counted."""
    for shown in range(min(len(lines), _LINES), 0, -1):
        left = len(lines) - shown
        more = [f"  and {left} more reason{'s' * (left != 1)}"] if left else []
        text = "\n".join([first, *lines[:shown], *more, fix])
        if len(text) <= MESSAGE_LIMIT:
            return text
    return f"{first}\n{fix}"[:MESSAGE_LIMIT]
