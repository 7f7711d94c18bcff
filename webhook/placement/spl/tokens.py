"""Tokens of SPL text: what both grammars, of placements and of host pools, are made of (``docs/annotations.md``).

White space, line ends and comments (``//`` to the end of the line, ``/*`` to ``*/``) separate tokens. Letters and
digits are ASCII's. Every text is a sequence of tokens: what cannot be one is a *broken* token that says why, so nothing
here raises. Linear time: repetitions are possessive, so the pattern never goes back.
"""

import enum
import re

from msgspec import Struct

from webhook.placement.spl.literals import CONTROL, Flaw, decode
from webhook.placement.text.problem import quote


class TokenKind(enum.Enum):
    """What a token is; the values are the groups of the pattern."""

    NAME = "name"
    """An identifier."""
    NUMBER = "number"
    """Digits, and whatever letters and digits follow them: ``10``, ``10u``, ``0x7f``."""
    STRING = "string"
    SYMBOL = "symbol"
    DEFAULT = "default"
    """``$default``, the name of SPL's pool of all hosts."""
    BROKEN = "broken"
    END = "end"


class Token(Struct, frozen=True, gc=False):
    """A piece of the text: its kind, how it is written, and where.

    ``value`` is what a string stands for, or why a broken token is broken; empty for all other kinds.
    """

    kind: TokenKind
    text: str
    offset: int
    value: str = ""


_TOKEN = re.compile(
    rf"""
      (?P<space>   (?: [ \t\r\n\f\v]++ | //[^\r\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/ )++ )
    | (?P<name>    [A-Za-z_][A-Za-z0-9_]*+ )
    | (?P<symbol>  :: | [](){{}}[,;:.=] )
    | (?P<string>  "[^"\\{CONTROL}]*+" )
    | (?P<literal> "(?:[^"\\]++|\\.)*+" )
    | (?P<number>  [0-9]++[A-Za-z0-9_]*+ )
    | (?P<default> \$default(?![A-Za-z0-9_]) )
    | (?P<open>    ".*+ )
    | (?P<comment> /\*.*+ )
    | (?P<other>   [^A-Za-z0-9_ \t\r\n\f\v\](){{}}[,;:.="/]++ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: dict[str | None, TokenKind] = {
    kind.value: kind for kind in (TokenKind.NAME, TokenKind.NUMBER, TokenKind.SYMBOL, TokenKind.DEFAULT)
}

_QUOTES = frozenset("'`\u2018\u2019\u201c\u201d\u00ab\u00bb\uff02")
"""What word processors and other languages write for a quote."""


def tokenize(text: str) -> list[Token]:
    """The tokens of the text in order; the last one, and only that, is of kind ``END``."""
    tokens = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "space":
            continue
        if kind := _KINDS.get(group):
            tokens.append(Token(kind, match.group(), match.start()))
        elif group == "string":
            written = match.group()
            tokens.append(Token(TokenKind.STRING, written, match.start(), written[1:-1]))
        else:
            tokens.append(_rare(match))
    tokens.append(Token(TokenKind.END, "", len(text)))
    return tokens


def _rare(match: re.Match[str]) -> Token:
    """A string with escapes, or a broken token; what is wrong inside a string is pointed at where it is."""
    written, offset = match.group(), match.start()
    if match.lastgroup == "literal":
        value = decode(written)
        if isinstance(value, Flaw):
            return Token(TokenKind.BROKEN, written, offset + value.offset, value.message)
        return Token(TokenKind.STRING, written, offset, value)
    if match.lastgroup == "open":
        return Token(TokenKind.BROKEN, written, offset, "the string that starts here is never closed")
    if match.lastgroup == "comment":
        return Token(TokenKind.BROKEN, written, offset, "the comment that starts here is never closed")
    hint = ": strings are written in double quotes" if written[0] in _QUOTES else ""
    return Token(TokenKind.BROKEN, written, offset, f"unexpected character {quote(written[0])}{hint}")
