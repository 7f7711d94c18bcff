"""The text of a CEL selector: which parts of a device it reads, and whether its cost has a bound.

Devices that agree in what an expression reads give the same answer, so that thousands of equal devices are evaluated
once. The API server has checked the types of each expression that a claim or class has, and its cost. Of a text that
does not have the plain form that selectors are written in, nothing is said: it is not evaluated here.
"""

import itertools
import re
from typing import Final

from msgspec import Struct

_LENGTH: Final = 1024
"""Characters of an expression that is compiled: 2 ms at most. Selectors of drivers have a few hundred."""

_TOKEN: Final = re.compile(
    r"""\s+ | (?P<text>"[^"\\\n]*"|'[^'\\\n]*') | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?u?) | (?P<sign>\[\?|\.\?|&&|\|\||[=!<>]=|[][().,?:!<>-])""",
    re.VERBOSE | re.ASCII,
)
"""Tokens of the plain form. It has no ``+``, by which texts grow, no escapes, no braces and no comments."""

_FUNCTIONS: Final = frozenset(
    {
        "has", "bind", "quantity", "semver", "isQuantity", "isSemver", "compareTo", "isGreaterThan", "isLessThan",
        "startsWith", "endsWith", "contains", "matches", "lowerAscii", "upperAscii", "orValue", "hasValue", "value",
        "major", "minor", "patch", "size", "exists", "all", "exists_one",
    }
)  # fmt: skip
"""Functions and macros that are called in the plain form. None of them makes a longer text of a short one."""

_PATTERNS: Final = 4
"""Maximum number of regular expressions in a selector. Counted repetitions are excluded: their programs are long."""

_LEAST: Final = 2
"""Units that every evaluation costs."""

_PLAIN: Final = 100
"""Characters of an expression that cost one unit more."""

_HEAVY: Final = 12
"""Units that a loop or a regular expression costs."""

_LOOPS: Final = frozenset({"exists", "all", "exists_one"})
_WHOLE: Final = frozenset({*_LOOPS, "size"})
"""Calls whose answer may depend on every entry of a map."""

_MAPS: Final = ("attributes", "capacity")
_COMPARED: Final = frozenset({"==", "!="})


class Reads(Struct, frozen=True, gc=False):
    """What an expression reads of a device.

    ``domains`` are those that it looks up, of attributes and of capacities. ``names`` are the ids that it may look up
    in them; ``None`` stands for all. ``cost`` is that of one evaluation, about 3 microseconds for each unit.
    """

    attributes: tuple[str, ...] = ()
    capacity: tuple[str, ...] = ()
    names: frozenset[str] | None = frozenset()
    cost: int = 1

    def has(self, domains: tuple[str, ...], domain: str, name: str) -> bool:
        """Whether the expression may read that name of one of the domains."""
        return domain in domains and (self.names is None or name in self.names)


def reads(expression: str) -> Reads | None:
    """What the expression reads; ``None`` if it has not the plain form."""
    tokens = _tokens(expression) if len(expression) <= _LENGTH else None
    if tokens is None or not _bounded(tokens):
        return None
    domains: dict[str, set[str]] = {kind: set() for kind in _MAPS}
    maps = []  # where a map of entries starts, and the index of the token after it
    for i in _places(tokens, {"device"}):
        match tokens[i + 1 : i + 6]:
            case [".", "driver" | "allowMultipleAllocations", *_]:
                pass
            case [".", "attributes" | "capacity" as kind, "[" | "[?", text, "]"] if text[0] in "\"'":
                domains[kind].add(text[1:-1])
                maps.append((i, i + 6))
            case [".", "attributes" | "capacity" as kind, ".", name, after] if name.isidentifier() and after != "(":
                domains[kind].add(name)
                maps.append((i, i + 5))
            case _:
                return None
    whole = not _WHOLE.isdisjoint(tokens) or any(_compared(tokens, *place) for place in (*maps, *_bound(tokens)))
    names = None if whole else frozenset(token.strip("\"'") for token in tokens)
    heavy = sum(token in _LOOPS or token == "matches" for token in tokens)  # noqa: S105 -- a token of a text
    cost = _LEAST + len(expression) // _PLAIN + heavy * _HEAVY
    return Reads(tuple(sorted(domains["attributes"])), tuple(sorted(domains["capacity"])), names, cost)


def _tokens(expression: str) -> list[str] | None:
    """The tokens, after an empty one and before six empty ones; ``None`` for a text that has others."""
    tokens, at = [""], 0
    while at < len(expression):
        match = _TOKEN.match(expression, at)
        if match is None:
            return None
        at = match.end()
        if match.lastgroup:
            tokens.append(match.group())
    return [*tokens, *[""] * 6]


def _bounded(tokens: list[str]) -> bool:
    """Whether only known functions are called, no loop is in another one, and patterns are few and simple."""
    calls = {name for name, sign in itertools.pairwise(tokens) if sign == "(" and name.isidentifier()}
    loops, patterns = sum(token in _LOOPS for token in tokens), tokens.count("matches")
    if loops > 1 or patterns > _PATTERNS or (loops and patterns):
        return False
    return calls <= _FUNCTIONS and not (patterns and any("{" in token for token in tokens))


def _bound(tokens: list[str]) -> list[tuple[int, int]]:
    """Where names stand that ``cel.bind`` introduces: the index of the name and of the token after it."""
    names = {name for call, _, name in zip(tokens, tokens[1:], tokens[2:], strict=False) if call == "bind"}
    return [(i, i + 1) for i in _places(tokens, names - {""})]


def _places(tokens: list[str], names: set[str]) -> list[int]:
    """Where one of the names stands that is not the name of a field."""
    return [i for i, token in enumerate(tokens) if token in names and tokens[i - 1] not in (".", ".?")]


def _compared(tokens: list[str], start: int, end: int) -> bool:
    """Whether the value may be compared as a whole, or looked for in a list."""
    return tokens[start - 1] in _COMPARED or tokens[end] in _COMPARED or tokens[end] == "in"
