"""Placement clauses and host pools of an SPL program, from the values of its configs.

The parsers of placement texts and host pools read what is literal. A program may also compute tokens: strings that are
joined by ``+``, with the channel of a parallel region in them, have a value for each operator instance; what is only
known when a job is submitted becomes a remark.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from webhook.convert.findings import InputLine, Remark
from webhook.convert.spl_program import SplConfig
from webhook.convert.spl_scanner import Span, SplScanner
from webhook.convert.streams_application import DeclaredPool
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.spl.host_pools import parse_pools
from webhook.placement.spl.placement import CLAUSE_LIMIT, parse_placement
from webhook.placement.spl.tokens import TokenKind
from webhook.placement.text.problem import Problem, quote

_NAMES: Final = frozenset(ClauseName)
_CHANNEL: Final = ("byChannel", "(", ")")
_COMPUTED: Final = re.compile(r"[+$*/<>]|\w\s*+\(|[A-Za-z_]\.[A-Za-z_]")
"""Signs that a text is an expression: an operator, a call, or a member."""
_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class SplClause(Struct, frozen=True, gc=False):
    """A clause as a program has it; ``parts`` of a token are texts, and ``None`` for the channel of a parallel region.

    ``depth`` is the number of parallel regions around the config that has the clause.
    """

    clause: Clause
    parts: tuple[str | None, ...] = ()
    depth: int = 0

    def on(self, channels: Sequence[int]) -> Clause:
        """The clause for an operator on these channels, the outermost first."""
        if not self.parts:
            return self.clause
        channel = str(channels[min(self.depth, len(channels)) - 1]) if channels and self.depth else "0"
        token = "".join(channel if part is None else part for part in self.parts)
        return Clause(self.clause.name, token, self.clause.operator, self.clause.offset)


class SplFindings:
    """What is wrong with the configs of a program, and what of them is left out; both grow while configs are read."""

    def __init__(self, scanner: SplScanner) -> None:
        self.scanner = scanner
        self.problems: list[Problem] = []
        self.remarks: list[Remark] = []

    def clauses(self, config: SplConfig, depth: int) -> Iterator[SplClause]:
        """The clauses of ``placement : clause , { "," , clause } ;`` within so many parallel regions."""
        parts = self.scanner.split(config.value, ",")
        if not 1 <= len(parts) <= CLAUSE_LIMIT:
            message = f"placement has {len(parts)} clauses, 1 to {CLAUSE_LIMIT} are allowed"
            self.problems.append(self.scanner.problem(config.place, message))
            return
        for part in parts:
            text = self.scanner.text(part)
            found, problems = parse_placement(text, "")
            if not problems and len(found) == 1 and not found[0].operator:
                yield SplClause(found[0])
            elif (joined := self._joined(part)) is not None:
                yield SplClause(Clause(ClauseName(self.scanner.word(part.start)), ""), joined, depth)
            elif self._computed(part):
                self.leave_out(part, text, "write it with a literal")
            elif problems:
                self._report(part, problems)
            else:
                message = f"{quote(text)} is no placement clause of SPL, which has no operator in front"
                self.problems.append(self.scanner.problem(part.start, message))

    def pools(self, config: SplConfig) -> Iterator[DeclaredPool]:
        """The pools of ``hostPool : name = pool , { "," , name = pool } ;``."""
        for part in self.scanner.split(config.value, ","):
            text = self.scanner.text(part)
            found, problems = parse_pools(text, "")
            if not problems:
                yield from (DeclaredPool(self.line(part.start), pool) for pool in found)
            elif self._pool_is_computed(part):
                self.leave_out(part, text, "write its size, tags and hosts as literals")
            else:
                self._report(part, problems)

    def line(self, place: int) -> InputLine:
        """The line of a token."""
        return self.scanner.source.line(self.scanner.tokens[place].offset)

    def leave_out(self, part: Span, text: str, instead: str) -> None:
        """A remark about a demand that is only known when the program is compiled or the job is submitted."""
        why = "it is computed when the program is compiled or the job is submitted"
        self.remarks.append(Remark(self.line(part.start), f"{_one_line(text)} is left out", why, instead, demand=True))

    def _report(self, part: Span, problems: Sequence[Problem]) -> None:
        """The problems of a part at their places in the program."""
        self.problems += [self.scanner.problem(part.start, one.message, one.offset or 0) for one in problems]

    def _joined(self, part: Span) -> tuple[str | None, ...] | None:
        """The parts of a token of the form ``"text" + byChannel() + ...``; ``None`` if it has another form."""
        if not self._is_call(part):
            return None
        found: list[str | None] = []
        for piece in self.scanner.split(self.scanner.inside(part.start + 1), "+"):
            token = self.scanner.tokens[piece.start]
            words = tuple(map(self.scanner.word, range(piece.start, piece.end)))
            if token.kind is TokenKind.STRING and len(words) == 1:
                found.append(token.value)
            elif words == _CHANNEL:
                found.append(None)
            else:
                return None
        return tuple(found) if len(found) > 1 or found == [None] else None

    def _is_call(self, part: Span) -> bool:
        """Whether the part is a clause with an argument in parentheses, whatever that is."""
        if self.scanner.word(part.start) not in _NAMES or self.scanner.word(part.start + 1) != "(":
            return False
        return self.scanner.after(part.start + 1) == part.end

    def _computed(self, part: Span) -> bool:
        """Whether the argument of a clause is an expression, or a name that is no host pool."""
        if not self._is_call(part):
            return False
        inside = self.scanner.inside(part.start + 1)
        text = _LITERAL.sub('""', self.scanner.text(inside))
        pooled = self.scanner.word(part.start) == ClauseName.HOST and self.scanner.word(inside.start + 1) == "["
        index_named = pooled and self.scanner.named(inside.start + 2)
        return bool(_COMPUTED.search(text)) or index_named

    def _pool_is_computed(self, part: Span) -> bool:
        """Whether a declaration has a value that is an expression."""
        if self.scanner.word(part.start + 1) != "=":
            return False
        value = Span(part.start + 2, part.end)
        if self.scanner.word(value.start) == "createPool":
            if self.scanner.after(value.start + 1) != value.end or self.scanner.word(value.start + 1) != "(":
                return False
            value = self.scanner.inside(value.start + 1)
        text = _LITERAL.sub('""', self.scanner.text(value)).replace("Sys.", "")
        return bool(_COMPUTED.search(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())
