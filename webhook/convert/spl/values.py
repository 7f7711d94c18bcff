"""Values of SPL expressions that are known before a job is submitted: literals, parameters, defaults, and sums of them.

A parameter of a composite has its default, or what the invocation states. ``getSubmissionTimeValue`` and
``getCompileTimeValue`` have their default, which is assumed. Whatever else an expression has (functions, attributes,
comparisons) makes it unknown, which is ``None``.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from webhook.placement.spl.tokens import Token, TokenKind, tokenize

_TEXT_LIMIT: Final = 64 * 1024
"""Characters of a text: parameters that are doubled from composite to composite would grow without end."""
_NUMBER_LIMIT: Final = 2**64
_DEPTH: Final = 32
"""Brackets inside one another."""

_SPLIT: Final = re.compile(r"(?=[-+*/%$!])")
_INTEGER: Final = re.compile(r"(?P<digits>[0-9]{1,20})[sulbhwq]{0,2}")
_TYPES: Final = frozenset({"rstring", "ustring"})
_NUMBER_TYPES: Final = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_ASSUMED: Final = frozenset(
    {"getSubmissionTimeValue", "getSubmissionTimeListValue", "getCompileTimeValue", "getCompileTimeListValue"}
)

REPLICA: Final = "byReplica"
COMPOSITE: Final = "getThisCompositeInstanceName"
INSTANCES: Final = frozenset({REPLICA, COMPOSITE})
"""Functions whose value is the name of the operator with the config, and of the composite that the config is in."""


class ChannelText(Struct, frozen=True, gc=False):
    """A text with channels of the parallel region in it, which are ``None`` among its parts."""

    parts: tuple[str | None, ...]


class OperatorName(Struct, frozen=True, gc=False):
    """The operator that a parameter of the mode ``operator`` names; ``text`` is the number of the text that does."""

    text: int
    name: str


Value: TypeAlias = "str | int | bool | ChannelText | OperatorName | tuple[Value, ...] | None"
"""What an expression is: a text, a number, a list; ``None`` if it is only known later."""

Values: TypeAlias = Callable[[str], Value]
"""The parameters of a composite by name, without ``$``: the value of a name; ``None`` if it is not known.

Calls of ``INSTANCES`` are names as well, with their parentheses.
"""

Assume: TypeAlias = Callable[[str, Value], None]
"""Called for each value of submission or compilation that is assumed: with its name, and its default."""


def value_of(text: str, values: Values, assume: Assume) -> Value:
    """The value of an expression with these parameters."""
    return _Expression(text, values, assume).whole()


class _Expression:
    """Reads one expression; each rule of its grammar is in the docstring of the method that reads it."""

    def __init__(self, text: str, values: Values, assume: Assume) -> None:
        self._values = values
        self._assume = assume
        self._tokens = list(_pieces(text))
        self._place = 0
        self._depth = 0

    @property
    def _word(self) -> str:
        return self._tokens[self._place].text

    def _take(self, word: str) -> bool:
        if self._word != word or self._tokens[self._place].kind is TokenKind.STRING:
            return False
        self._place += 1
        return True

    def whole(self) -> Value:
        """The value of all of the text; ``None`` if something else follows an expression."""
        try:
            value = self._sum()
        except _UnknownError:
            return None
        return value if self._tokens[self._place].kind is TokenKind.END else None

    def _sum(self) -> Value:
        """``product , { ( "+" | "-" ) , product } ;``: numbers, or texts that are joined."""
        joined = [self._product()]
        while self._word in {"+", "-"}:
            plus = self._word == "+"
            self._place += 1
            following = self._product()
            if plus and _is_text(joined[0]) and _is_text(following):
                joined.append(following)
            elif len(joined) == 1:
                left, right = _number(joined[0]), _number(following)
                joined = [_bounded(left + right if plus else left - right)]
            else:
                raise _UnknownError
        return joined[0] if len(joined) == 1 else _joined(joined)

    def _product(self) -> Value:
        """``single , { ( "*" | "/" | "%" ) , single } ;``: of numbers, as in C."""
        value = self._single()
        while self._word in {"*", "/", "%"}:
            sign = self._word
            self._place += 1
            left, right = _number(value), _number(self._single())
            if sign == "*":
                value = _bounded(left * right)
                continue
            if right == 0:
                raise _UnknownError
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            value = quotient if sign == "/" else left - quotient * right
        return value

    def _single(self) -> Value:
        """``[ "-" ] , ( literal | "$" , name | call | list | "(" , type , ")" , single | "(" , sum , ")" ) ;``."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise _UnknownError
        value = -_number(self._single()) if self._take("-") else self._primary()
        self._depth -= 1
        return value

    def _primary(self) -> Value:
        token = self._tokens[self._place]
        self._place += 1
        if token.kind is TokenKind.STRING:
            return token.value
        if token.kind is TokenKind.NUMBER and (number := _INTEGER.fullmatch(token.text)):
            return int(number["digits"])
        if token.kind is TokenKind.NAME and token.text in {"true", "false"}:
            return token.text == "true"
        return self._composed(token)

    def _composed(self, token: Token) -> Value:
        """The value of what is not a literal."""
        if token.text == "$" or token.kind is TokenKind.DEFAULT:
            return self._parameter(token)
        if token.text == "(":
            return self._parenthesized()
        if token.text == "[":
            return tuple(self._listed("]"))
        if token.kind is TokenKind.NAME and self._take("("):
            return self._called(token.text)
        raise _UnknownError

    def _parameter(self, token: Token) -> Value:
        """The value of a parameter; ``$default`` is one token."""
        name = "default"
        if token.text == "$":
            name = self._word
            self._place += 1
        value = self._values(name)
        if value is None or isinstance(value, OperatorName):
            raise _UnknownError
        return value

    def _parenthesized(self) -> Value:
        """A cast, ``(rstring) 3``, or a sum in parentheses; the opening one is read."""
        kind = self._word
        if kind in _TYPES | _NUMBER_TYPES and self._tokens[self._place + 1].text == ")":
            self._place += 2
            return _cast(kind, self._single())
        value = self._sum()
        if not self._take(")"):
            raise _UnknownError
        return value

    def _listed(self, closing: str) -> Iterator[Value]:
        """Sums between commas, up to the closing bracket."""
        if self._take(closing):
            return
        yield self._sum()
        while self._take(","):
            yield self._sum()
        if not self._take(closing):
            raise _UnknownError

    def _called(self, name: str) -> Value:
        """The channel, the name of an instance, or a default of submission or compilation; other calls are unknown."""
        arguments = list(self._listed(")"))
        if name == "byChannel" and not arguments:
            return ChannelText((None,))
        if name in INSTANCES and not arguments and (instance := self._values(f"{name}()")) is not None:
            return instance
        if name in _ASSUMED and len(arguments) == 2 and isinstance(arguments[0], str):  # noqa: PLR2004 -- name, default
            self._assume(arguments[0], arguments[1])
            return arguments[1]
        raise _UnknownError


class _UnknownError(Exception):
    """The value is only known later, or the text is not an expression."""


def _pieces(text: str) -> Iterator[Token]:
    """The tokens of an expression: signs that stand together, as in ``"a"+$b``, are several."""
    for token in tokenize(text):
        if token.kind is not TokenKind.BROKEN or len(token.text) == 1:
            yield token
            continue
        offset = token.offset
        for part in _SPLIT.split(token.text):
            if part:
                yield Token(TokenKind.BROKEN, part, offset)
            offset += len(part)


def _is_text(value: Value) -> bool:
    return isinstance(value, str | ChannelText)


def _number(value: Value) -> int:
    """The number; raises if the value is not a number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _UnknownError
    return value


def _bounded(number: int) -> int:
    if abs(number) >= _NUMBER_LIMIT:
        raise _UnknownError
    return number


def _joined(values: list[Value]) -> Value:
    """Texts one after the other; with the channel of a region among them as :class:`ChannelText`."""
    parts: list[str | None] = []
    for value in values:
        parts += value.parts if isinstance(value, ChannelText) else [str(value)]
    if sum(len(part or "") for part in parts) > _TEXT_LIMIT:
        raise _UnknownError
    return ChannelText(tuple(parts)) if None in parts else "".join(part or "" for part in parts)


def _cast(kind: str, value: Value) -> Value:
    """The value as a text, or as a number."""
    if kind in _TYPES:
        return value if _is_text(value) else str(_number(value))
    if isinstance(value, str):
        digits = value.strip()
        if not digits.isascii() or not digits.isdigit() or len(digits) > len(str(_NUMBER_LIMIT)):
            raise _UnknownError
        return int(digits)
    return _number(value)
