"""Parser of SPL placement texts: the clauses as values, and all problems of the text; and the way back to text.

Each rule of the grammar is in the docstring of the function that reads it (``docs/annotations.md`` has the whole
grammar). Two more rules::

    operator   = identifier , { ( "." | "::" ) , identifier } , { "[" , digits , "]" } ;
    identifier = ( letter | "_" ) , { letter | digit | "_" } ;
"""

import functools
import itertools
import re
from collections.abc import Iterable
from typing import Final

from webhook.placement.spl.clauses import ClauseName, PlacementClause, PoolName
from webhook.placement.spl.reader import GrammarError, Reader, unreadable
from webhook.placement.spl.tokens import TokenKind
from webhook.placement.text.nearest import unknown
from webhook.placement.text.problem import Problem, quote

__all__ = ["ClauseName", "PlacementClause", "PoolName", "format_placement", "parse_placement"]

TEXT_LIMIT: Final = 8 * 1024
"""Bytes of one placement text in UTF-8."""
CLAUSE_LIMIT: Final = 64
"""Clauses in one text."""
TOKEN_LIMIT: Final = 32
"""Different tokens of ``hostColocation`` and ``hostExlocation`` in one text: each makes a label and a pod term."""
INDEX_LIMIT: Final = 2**32 - 1
"""Largest index into a host pool: SPL's index is a uint32."""

_CACHED_LENGTH = 1024
"""Characters of a text whose result is cached: texts of pod templates are shorter, and 1,024 results stay small."""

_SHOWN = 80
"""Characters of a clause in a message: as many as of other quoted text."""
_WHOLE = "an index is a whole number from 0"

_NAMES = {name.value: name for name in ClauseName}
_ALONE = frozenset({ClauseName.ISOLATION, ClauseName.PARTITION_ISOLATION})
_TOKENS = frozenset({ClauseName.COLOCATION, ClauseName.EXLOCATION})

_OPERATOR = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*+(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]*+)*+(?:\[[0-9]++\])*+",
    re.ASCII,
)
"""An operator without white space, as ``operator`` of the grammar."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_BARE_TOKEN = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*+)\s*+(?=[),;]|\Z)", re.ASCII)
_BARE_HOST = re.compile(r"([A-Za-z0-9_:][A-Za-z0-9_.:%-]*+(?:/[0-9]{1,3})?+)\s*+(?=[),;]|\Z)", re.ASCII)
"""Arguments without quotes, a common mistake: tokens such as ``apart``, nodes such as ``worker-1``, addresses."""


def parse_placement(text: str, field: str) -> tuple[tuple[PlacementClause, ...], tuple[Problem, ...]]:
    """The clauses of the text in order, and the problems of the text, ten at most; never raises.

    ``field`` is the path of the text, for the problems. If there are problems, clauses may be missing.
    """
    if problem := unreadable(text, field, limit=TEXT_LIMIT):
        return (), (problem,)
    if len(text) <= _CACHED_LENGTH:
        # Elements of a Job have the same texts at a thousand paths; only problems say the path.
        parsed = _remembered(text, "")
        if not parsed[1]:
            return parsed
    return _parse(text, field)


def is_operator(name: str) -> bool:
    """Whether a placement text can begin with the name and a colon."""
    return len(name) <= TEXT_LIMIT and _OPERATOR.fullmatch(name) is not None


def problems_together(clauses: Iterable[PlacementClause], field: str) -> tuple[Problem, ...]:
    """The problems of these clauses together, where each of them alone is correct."""
    parser = _Parser(Reader("", field))
    for clause in clauses:
        kept = len(parser.clauses)
        parser.add(clause)
        if len(parser.clauses) == kept:  # no more are taken
            break
    return tuple(parser.reader.problems)


def format_placement(clauses: Iterable[PlacementClause]) -> str:
    """The clauses as one SPL text: ``A: host("foo"), hostIsolation; B: ...``.

    Consecutive clauses of one operator follow its name; clauses are not reordered.
    """
    groups = itertools.groupby(clauses, key=lambda clause: clause.operator)
    return "; ".join(
        (f"{operator}: " if operator else "") + ", ".join(clause.text for clause in group) for operator, group in groups
    )


def _parse(text: str, field: str) -> tuple[tuple[PlacementClause, ...], tuple[Problem, ...]]:
    parser = _Parser(Reader(text, field))
    parser.placement()
    return tuple(parser.clauses), tuple(parser.reader.problems)


_remembered = functools.lru_cache(maxsize=1024)(_parse)


class _Parser:
    """A parse of one placement text; each method reads one rule of the grammar, and ``clauses`` grows.

    ``hosts`` has the first ``host`` clause of each operator, ``tokens`` the different tokens.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.clauses: list[PlacementClause] = []
        self.hosts: dict[str, PlacementClause] = {}
        self.tokens: set[str | PoolName | None] = set()

    def placement(self) -> None:
        """``placement = operator_clauses , { ";" , operator_clauses } , [ ";" ] ;``."""
        self.operator_clauses()
        while self.reader.take(";") and self.reader.token.kind is not TokenKind.END:
            self.operator_clauses()

    def operator_clauses(self) -> None:
        """``operator_clauses = [ operator , ":" ] , clause , { "," , clause } ;``."""
        start, operator = self.reader.place, ""
        try:
            if self.reader.following in {":", ".", "::", "["} and self.reader.token.kind is TokenKind.NAME:
                operator = _operator(self.reader)
                if not self.reader.take(":"):
                    raise self.reader.unexpected(f'":" after the operator {quote(operator)}')
        except GrammarError as error:
            self.reader.recover(error, start)
        else:
            self.next_clause(operator)
        while self.reader.take(","):
            self.next_clause(operator)

    def next_clause(self, operator: str) -> None:
        """Read a clause and the ``,`` or ``;`` after it; after a syntax error the rest of the clause is skipped."""
        start = self.reader.place
        try:
            clause = _clause(self.reader, operator)
            if self.reader.token.text not in {",", ";", ""}:
                raise self.reader.unexpected(f'"," or ";" after {_short(clause)}')
        except GrammarError as error:
            self.reader.recover(error, start)
        else:
            self.add(clause)

    def add(self, clause: PlacementClause) -> None:
        """Append the clause, up to ``CLAUSE_LIMIT``; report an exceeded limit, and a second ``host`` of an operator."""
        if len(self.clauses) == CLAUSE_LIMIT:
            self.reader.report(clause.offset, f"too many placement clauses: at most {CLAUSE_LIMIT} are allowed")
            self.reader.finish()
            return
        if clause.name is ClauseName.HOST and (first := self.hosts.setdefault(clause.operator, clause)) is not clause:
            owner = f"operator {quote(clause.operator)}" if clause.operator else "the processing element"
            both = f"{_short(first)} and {_short(clause)}"
            self.reader.report(clause.offset, f"{owner} has {both}: SPL allows one host per operator")
        if clause.name in _TOKENS and clause.argument not in self.tokens:
            self.tokens.add(clause.argument)
            if len(self.tokens) == TOKEN_LIMIT + 1:
                self.reader.report(clause.offset, f"too many different tokens: at most {TOKEN_LIMIT} are allowed")
        self.clauses.append(clause)


def _operator(reader: Reader) -> str:
    """``operator = identifier , { ( "." | "::" ) , identifier } , { "[" , digits , "]" } ;``."""
    pieces = [reader.read().text]
    while reader.token.text in {".", "::"}:
        separator = reader.read().text
        name = reader.expect(TokenKind.NAME, expected=f'a name after "{separator}"')
        pieces += [separator, name.text]
    while reader.take("["):
        if reader.token.kind is not TokenKind.NUMBER or not reader.token.text.isdigit():
            raise GrammarError(reader.token.offset, f"{_WHOLE}, found {reader.fragment()}")
        digits = reader.read().text
        reader.expect("]", expected='"]" after the index of an operator')
        pieces += ["[", digits, "]"]
    return "".join(pieces)


def _clause(reader: Reader, operator: str) -> PlacementClause:
    """Read one clause: ``hostIsolation`` and ``partitionIsolation`` stand alone, all others take one argument.

    ``clause = "host" , "(" , ( string | pool ) , ")" | ( "hostColocation" | "hostExlocation" | "partitionColocation" |
    "partitionExlocation" ) , "(" , string , ")" | "hostIsolation" | "partitionIsolation" ;``.
    """
    following = reader.following
    word = reader.expect(TokenKind.NAME, expected='a placement clause such as host("node-a")')
    name = _NAMES.get(word.text)
    if following == ":":
        raise GrammarError(word.offset, f'an operator starts after ";", not after ",": found {quote(word.text + ":")}')
    if name is None:
        raise GrammarError(word.offset, unknown("clause", word.text, _NAMES))
    if name not in _ALONE:
        return PlacementClause(name, _argument(reader, name), operator, word.offset)
    if following == "(":
        raise GrammarError(reader.token.offset, f"{name} takes no parentheses")
    return PlacementClause(name, None, operator, word.offset)


def _argument(reader: Reader, name: ClauseName) -> str | PoolName:
    """Read the argument in parentheses: a string or, for ``host``, the name of a host pool."""
    if not reader.take("("):
        raise reader.unexpected(f'"(" after "{name}"')
    argument: str | PoolName
    if reader.token.kind is TokenKind.STRING:
        argument = reader.read().value
    elif bare := _unquoted(reader, name):
        shown = quote(bare)
        raise GrammarError(
            reader.token.offset, f"expected {_wanted(name)}, found {shown}: write it in quotes: {name}({shown})"
        )
    elif name is ClauseName.HOST and reader.token.kind in {TokenKind.NAME, TokenKind.DEFAULT}:
        argument = _pool(reader)
    else:
        raise reader.unexpected(_wanted(name))
    if not reader.take(")"):
        raise reader.unexpected(f'")" to close "{name}("')
    return argument


def _wanted(name: ClauseName) -> str:
    """What has to follow the opening parenthesis of a clause, in words."""
    return f'a string{" or a host pool name" if name is ClauseName.HOST else ""} after "{name}("'


def _unquoted(reader: Reader, name: ClauseName) -> str:
    """The text at the current token if it looks like a string without its quotes; else an empty text.

    After ``host`` an identifier is the name of a host pool, and no such text.
    """
    pattern = _BARE_HOST if name is ClauseName.HOST else _BARE_TOKEN
    match = pattern.match(reader.text, reader.token.offset)
    return "" if match is None or (name is ClauseName.HOST and _IDENTIFIER.fullmatch(match[1])) else match[1]


def _pool(reader: Reader) -> PoolName:
    """``pool = ( identifier | "$default" ) , [ "[" , digits , [ "u" ] , "]" ] ;``."""
    name = reader.read().text
    if not reader.take("["):
        return PoolName(name)
    offset, written = reader.token.offset, reader.fragment()
    index = reader.number(maximum=INDEX_LIMIT)
    if index is None:
        raise GrammarError(offset, f"{_WHOLE} to {INDEX_LIMIT}, found {written}")
    reader.expect("]", expected='"]" after the index of a host pool')
    return PoolName(name, index)


def _short(clause: PlacementClause) -> str:
    text = clause.text
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
