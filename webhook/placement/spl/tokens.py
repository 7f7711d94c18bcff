"""Tokenizer of SPL text, for the grammars of placement clauses and of host pools (``docs/annotations.md``).

White space, line ends and comments (``//`` to the end of the line, ``/*`` to ``*/``) separate tokens. Letters and
digits are those of ASCII. Text that is not a token becomes a *broken* token with a message, so the tokenizer never
raises. It takes linear time: repetitions in its pattern are possessive and never backtrack.
"""

import enum
import re

from msgspec import Struct

from webhook.placement.spl.literals import CONTROL, Flaw, decode
from webhook.placement.text.problem import quote


class TokenKind(enum.Enum):
    """The kinds of tokens; all values but ``broken`` and ``end`` are names of groups in the pattern."""

    NAME = "name"
    """An identifier."""
    NUMBER = "number"
    """Digits with the letters and digits that follow: ``10``, ``10u``, ``0x7f``."""
    STRING = "string"
    SYMBOL = "symbol"
    DEFAULT = "default"
    """``$default``, the name of SPL's pool of all hosts."""
    BROKEN = "broken"
    """Text that is not a token."""
    END = "end"
    """The end of the text."""


class Token(Struct, frozen=True, gc=False):
    """One token: its kind, its text as written, and the offset of its first character.

    ``value`` is the decoded text of a string, or the message about a broken token; empty for all other kinds.
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
"""Characters that word processors and other languages use as quotes."""


def tokenize(text: str) -> list[Token]:
    """The tokens of the text in order; the last token, and no other, is of kind ``END``."""
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
    """A string with escapes, or a broken token; the offset of a broken string is that of the mistake in it."""
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
