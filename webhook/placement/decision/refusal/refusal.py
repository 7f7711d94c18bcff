"""``Refusal``: what cannot hold together, why each node is out, and what would help (``docs/refusals.md``).

``written`` is the one writer of such texts: of pods, replicas, whole Jobs, HostPools and clusters. Tenants read them,
so they name no node, pod or namespace that the request itself does not name.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.text.fix import Fix
from webhook.placement.text.problem import CLAUSE_LIMIT, MESSAGE_LIMIT, REASON_LIMIT, Fault, shorten
from webhook.placement.text.rule import Rule

_LINES = 64
"""Maximum number of reasons listed: no more of the shortest ones fit into a message."""


class Refusal(Struct, frozen=True):
    """The whole ``text``, the ``clauses`` of its first line, and whose fault it is.

    ``rules`` are the rules of the clauses, ``fixes`` the changes that would help, ``names`` those of the processing
    elements in the conflict. ``reasons`` are why nodes cannot run the pod, or be hosts of HostPools. ``parts`` are the
    refusals that this one consists of, each with fixes of its own.
    """

    text: str
    clauses: tuple[str, ...]
    fault: Fault
    rules: tuple[str, ...]
    fixes: tuple[Fix, ...] = ()
    names: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    parts: tuple["Refusal", ...] = ()

    @classmethod
    def of(
        cls,
        first: str,
        clauses: tuple[str, ...],
        fault: Fault,
        rules: tuple[str, ...],
        fixes: tuple[Fix, ...],
        reasons: Sequence[object] = (),
    ) -> "Refusal":
        """The refusal whose text has ``first`` as its first line, a line for each reason, and the fixes at its end."""
        said = tuple(map(str, reasons))
        return cls(written(first, said, fixes), clauses, fault, rules, fixes, reasons=said)

    @classmethod
    def of_pools(
        cls, first: str, reasons: Sequence[object], fixes: tuple[Fix, ...], pools: tuple[str, ...] = ()
    ) -> "Refusal":
        """The refusal of HostPools that cannot have their hosts; ``pools`` is how the first line names several."""
        return cls.of(first, pools, Fault.FORBIDDEN, (Rule.POOL,), fixes, reasons)

    def with_reasons(self, reasons: Sequence[str], fixes: tuple[Fix, ...] | None = None) -> "Refusal":
        """The refusal with these reasons after its own, and these fixes if there are any.

        One of several parts, whose lines have their fixes, has them at its end, as far as a message has room.
        """
        said, fixes = (*self.reasons, *reasons), fixes or self.fixes
        if not fixes:
            lines = [f"  {shorten(reason, REASON_LIMIT)}" for reason in reasons]
            while lines and len("\n".join((self.text, *lines))) > MESSAGE_LIMIT:
                lines.pop()
            return replace(self, text="\n".join((self.text, *lines)), reasons=said)
        return replace(self, text=written(self.headline, said, fixes), fixes=fixes, reasons=said)

    @property
    def headline(self) -> str:
        """The first line of ``text``, which can be shown alone."""
        return self.text.partition("\n")[0]

    @property
    def fix(self) -> str:
        """The fixes as the last line of ``text`` has them."""
        return alternatives(self.fixes)

    def line(self, limit: int) -> str:
        """The refusal in one line of at most ``limit`` characters: the headline, the reasons that fit, and the fix."""
        fix, line = f" Nearest fix: {self.fix}.", ""
        for shown in range(len(self.reasons), -1, -1):
            why = f" ({'; '.join(self.reasons[:shown])})" if shown else ""
            line = f"{self.headline.removesuffix('.')}{why}.{fix}"
            if len(line) <= limit:
                break
        return shorten(line, limit)


def written(first: str, reasons: Sequence[object], fixes: Sequence[Fix]) -> str:
    """The text of a refusal: its first line, the reasons that fit into ``MESSAGE_LIMIT``, and the nearest fix.

    Reasons that do not fit are counted.
    """
    fix = f"Nearest fix: {alternatives(fixes)}."
    lines = [f"  {shorten(str(reason), REASON_LIMIT)}" for reason in reasons[:_LINES]]
    for shown in range(len(lines), 0, -1):
        omitted = len(reasons) - shown
        more = [f"  and {omitted} more reason{'s' * (omitted != 1)}"] if omitted else []
        text = "\n".join([first, *lines[:shown], *more, fix])
        if len(text) <= MESSAGE_LIMIT:
            return text
    return f"{first}\n{fix}"[:MESSAGE_LIMIT]


def alternatives(fixes: Sequence[Fix]) -> str:
    """The fixes in words, any of which would help."""
    return ", or ".join([shorten(str(fix), fix.limit) for fix in fixes])


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
