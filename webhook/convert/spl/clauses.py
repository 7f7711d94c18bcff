"""Placement clauses and host pools of an SPL program, from the values of its configs.

The parsers of placement texts and host pools read what is literal. Expressions are replaced by their values where these
are known: parameters, defaults of submission, and strings that are joined by ``+``, which have a value for each channel
of a parallel region. What is only known when a job is submitted becomes a remark.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from webhook.convert.findings import InputLine, Remark
from webhook.convert.spl.program import SplConfig
from webhook.convert.spl.scanner import Span, SplScanner
from webhook.convert.spl.values import ChannelText, Value, Values, value_of
from webhook.convert.streams_application import DeclaredPool
from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.host_pools import parse_pools
from webhook.placement.spl.literals import encode
from webhook.placement.spl.placement import CLAUSE_LIMIT, INDEX_LIMIT, parse_placement
from webhook.placement.text.problem import Problem, quote

_NAMES: Final = frozenset(ClauseName)
_ISOLATIONS: Final = frozenset({ClauseName.ISOLATION, ClauseName.PARTITION_ISOLATION})
_COMPUTED: Final = re.compile(r"[+$*/<>]|\w\s*+\(|[A-Za-z_]\.[A-Za-z_]")
"""Signs that a text is an expression: an operator, a call, or a member."""
_LITERAL: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


class SplClause(Struct, frozen=True, gc=False):
    """A clause as a program has it; ``parts`` of a token are texts, and ``None`` for the channel of a parallel region.

    ``depth`` is the number of parallel regions around the config that has the clause, ``place`` that of the clause's
    first token, and ``text`` the number of the text that has it.
    """

    clause: PlacementClause
    text: int
    place: int
    parts: tuple[str | None, ...] = ()
    depth: int = 0

    def on(self, channels: Sequence[int]) -> PlacementClause:
        """The clause for an operator on these channels, the outermost first."""
        if not self.parts:
            return self.clause
        channel = str(channels[min(self.depth, len(channels)) - 1]) if channels and self.depth else "0"
        token = "".join(channel if part is None else part for part in self.parts)
        return PlacementClause(self.clause.name, token, self.clause.operator, self.clause.offset)


class SplFindings:
    """What is wrong with the configs of a text, and what of them is left out; both grow while configs are read.

    ``number`` is that of the text. ``answered`` has the places of clauses that operators have, or remarks are about.
    """

    def __init__(self, scanner: SplScanner, number: int) -> None:
        self.scanner = scanner
        self.number = number
        self.answered: set[int] = set()
        self._problems: dict[Problem, None] = {}
        self._remarks: dict[Remark, None] = {}
        self._named: set[str] = set()

    @property
    def problems(self) -> list[Problem]:
        """What is wrong, each thing once."""
        return list(self._problems)

    @property
    def remarks(self) -> list[Remark]:
        """What should be looked at, and what is lost, each thing once."""
        return list(self._remarks)

    def report(self, *problems: Problem) -> None:
        """Add problems."""
        self._problems.update(dict.fromkeys(problems))

    def remark(self, remark: Remark) -> None:
        """Add a remark, unless it was made before: composites are expanded once for each invocation."""
        self._remarks.setdefault(remark)

    def remark_of(self, name: str, remark: Remark) -> None:
        """Add a remark, unless one about that name was added before, at another line."""
        if name not in self._named:
            self._named.add(name)
            self.remark(remark)

    def value(self, span: Span, values: Values) -> Value:
        """The value of an expression; a remark about each default of a value of submission that is in it."""

        def assume(name: str, default: Value) -> None:
            shown = ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)
            why = "that is its default at submission or compilation"
            instead = "replace it if you submit another value"
            remark = Remark(self.line(span.start), f"the value {name} is taken as {quote(shown)}", why, instead)
            self.remark_of(f"value {name}", remark)

        return value_of(self.scanner.text(span), values, assume)

    def clauses(self, config: SplConfig, depth: int, values: Values) -> Iterator[SplClause]:
        """The clauses of ``placement : clause , { "," , clause } ;`` within so many parallel regions."""
        parts = self.scanner.split(config.value, ",")
        if not 1 <= len(parts) <= CLAUSE_LIMIT:
            message = f"placement has {len(parts)} clauses, 1 to {CLAUSE_LIMIT} are allowed"
            self.report(self.scanner.problem(config.place, message))
            return
        for part in parts:
            text = self.scanner.text(part)
            parsed, problems = parse_placement(text, "")
            if not problems and len(parsed) == 1 and not parsed[0].operator:
                yield SplClause(parsed[0], self.number, part.start)
            elif (computed := self._computed_clause(part, values)) is not None:
                clause, token = computed
                yield SplClause(clause, self.number, part.start, token, depth)
            elif self._computed(part):
                self.leave_out(part, text, "write it with a literal")
            elif problems:
                self._report(part, problems)
            else:
                message = f"{quote(text)} is not a placement clause of SPL, which has no operator in front"
                self.report(self.scanner.problem(part.start, message))

    def pools(self, config: SplConfig, values: Values) -> Iterator[DeclaredPool]:
        """The pools of ``hostPool : name = pool , { "," , name = pool } ;``."""
        for part in self.scanner.split(config.value, ","):
            text = self.scanner.text(part)
            parsed, problems = parse_pools(text, "")
            known = True
            if problems and self._pool_is_computed(part):
                computed = self._computed_pool(part, values)
                known = bool(computed)
                parsed, wrong = parse_pools(computed, "")
                problems = tuple(replace(one, offset=0) for one in wrong)
            if known and not problems:
                yield from (DeclaredPool(self.line(part.start), pool) for pool in parsed)
            elif not known:
                self.leave_out(part, text, "write its size, tags and hosts as literals")
            else:
                self._report(part, problems)

    def line(self, place: int) -> InputLine:
        """The line of a token."""
        return self.scanner.source.line(self.scanner.tokens[place].offset)

    def leave_out(self, part: Span, text: str, instead: str) -> None:
        """A remark about a demand that is only known when the program is compiled or the job is submitted."""
        why = "it is computed when the program is compiled or the job is submitted"
        self.answered.add(part.start)
        self.remark(Remark(self.line(part.start), f"{_one_line(text)} is left out", why, instead, demand=True))

    def _report(self, part: Span, problems: Sequence[Problem]) -> None:
        """The problems of a part at their places in the program."""
        self.report(*(self.scanner.problem(part.start, one.message, one.offset or 0) for one in problems))

    def _computed_clause(self, part: Span, values: Values) -> tuple[PlacementClause, tuple[str | None, ...]] | None:
        """The clause whose argument is an expression with a known value, and the parts of a token with channels."""
        if not self._is_call(part):
            return None
        name, inside = ClauseName(self.scanner.word(part.start)), self.scanner.inside(part.start + 1)
        value = self.value(inside, values)
        if isinstance(value, ChannelText) and name is not ClauseName.HOST:
            return PlacementClause(name, ""), value.parts
        if isinstance(value, str):
            return PlacementClause(name, value), ()
        if name is ClauseName.HOST and self.scanner.word(inside.start + 1) == "[":
            index = self.value(self.scanner.inside(inside.start + 1), values)
            if isinstance(index, int) and 0 <= index <= INDEX_LIMIT:
                return PlacementClause(name, PoolName(self.scanner.word(inside.start), index)), ()
        return None

    def _computed_pool(self, part: Span, values: Values) -> str:
        """The declaration with the values of its expressions; empty if one of them is not known."""
        name, value = self.scanner.word(part.start), Span(part.start + 2, part.end)
        if self.scanner.word(value.start) != "createPool":
            hosts = self.value(value, values)
            return f"{name} = {_listed(hosts)}" if _is_texts(hosts) else ""
        arguments = self.scanner.split(self.scanner.inside(value.start + 1), ",")
        if not arguments or self.scanner.word(arguments[0].start) != "{":
            return ""
        fields = [
            self._field(field, values) for field in self.scanner.split(self.scanner.inside(arguments[0].start), ",")
        ]
        others = "".join(f", {self.scanner.text(one)}" for one in arguments[1:])
        return f"{name} = createPool({{{', '.join(fields)}}}{others})" if all(fields) else ""

    def _field(self, field: Span, values: Values) -> str:
        """A field of a pool with its value, ``size = 3``; empty if the value is not known."""
        name, value = self.scanner.word(field.start), self.value(Span(field.start + 2, field.end), values)
        if isinstance(value, int):
            return f"{name} = {value}"
        return f"{name} = {_listed(value)}" if _is_texts(value) else ""

    def _is_call(self, part: Span) -> bool:
        """Whether the part is a clause with an argument in parentheses, whatever that is."""
        word = self.scanner.word(part.start)
        if word not in _NAMES - _ISOLATIONS or self.scanner.word(part.start + 1) != "(":
            return False
        return self.scanner.after(part.start + 1) == part.end

    def _computed(self, part: Span) -> bool:
        """Whether the argument of a clause is an expression, or a name that is not a host pool."""
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


def _is_texts(value: Value) -> TypeGuard[tuple[str, ...]]:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _listed(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(encode, texts))}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())
