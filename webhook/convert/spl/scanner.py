"""Tokens of a whole SPL program with their matching brackets, and statements as ranges of tokens.

The tokens are those of placement texts; what these do not have (``<``, ``+``, ``@``) stays a broken token and is passed
over. Strings in single quotes, which programs may have, are read as strings in double quotes, and the suffixes ``r``
and ``u`` of strings, which give their types, are left out.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from webhook.convert.findings import RefusedInputError
from webhook.convert.source_text import SourceText
from webhook.placement.spl.tokens import Token, TokenKind, tokenize
from webhook.placement.text.problem import Problem, quote

_CLOSES: Final = {")": "(", "]": "[", "}": "{"}
_LITERALS: Final = re.compile(
    r"""//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/
    |(?:"(?:[^"\\]++|\\.)*+"|(?P<single>'(?:[^'\\]++|\\.)*+'))(?P<suffix>(?:[ru](?![A-Za-z0-9_]))?+)""",
    re.DOTALL | re.VERBOSE,
)

_PERL: Final = re.compile(_LITERALS.pattern + "|(?P<perl><%)", _LITERALS.flags)
"""Literals and comments, which may hold anything, and the beginning of Perl outside of them: SPL has no such token."""

MIXED_MODE: Final = ".splmm"
"""How the names of mixed-mode programs end; in these Perl is expanded in literals and comments as well."""


class Span(NamedTuple):
    """A range of tokens: the places of its first token, and of the one after its last."""

    start: int
    end: int


class SplScanner:
    """The tokens of a program. Raises :class:`RefusedInputError` where brackets do not match."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._refuse_perl()
        self._text = _LITERALS.sub(_in_double_quotes, source.text)
        self.tokens = tokenize(self._text)
        self._closing = self._matched()

    def _refuse_perl(self) -> None:
        """Raise :class:`RefusedInputError` for a mixed-mode program: what it places is known once its Perl has run."""
        at = self.source.text.find("<%")
        if at >= 0 and not self.source.name.endswith(MIXED_MODE):
            at = next((match.start() for match in _PERL.finditer(self.source.text) if match["perl"]), -1)
        if at >= 0:
            message = (
                'this is a mixed-mode program, and its Perl, which "<%" begins, is not run: convert its compiled ADL or'
                " bundle, or SPL without Perl"
            )
            raise RefusedInputError(self.source.problem(at, message))

    def _matched(self) -> dict[int, int]:
        """The place of the closing bracket of each opening one."""
        closing: dict[int, int] = {}
        opened: list[int] = []
        for place, token in enumerate(self.tokens):
            if token.kind is TokenKind.BROKEN and token.value.endswith("never closed"):
                raise RefusedInputError(self.problem(place, token.value))
            if token.kind is not TokenKind.SYMBOL:
                continue
            if token.text in "([{":
                opened.append(place)
            elif token.text in _CLOSES:
                if not opened or self.tokens[opened[-1]].text != _CLOSES[token.text]:
                    raise RefusedInputError(self.problem(place, f"{quote(token.text)} closes nothing"))
                closing[opened.pop()] = place
        if opened:
            message = f"{quote(self.tokens[opened[-1]].text)} is never closed"
            raise RefusedInputError(self.problem(opened[-1], message))
        return closing

    def word(self, place: int) -> str:
        """The text of the token at that place; empty at the end of the program and beyond."""
        return self.tokens[min(place, len(self.tokens) - 1)].text

    def named(self, place: int) -> bool:
        """Whether the token at that place is an identifier."""
        return self.tokens[place].kind is TokenKind.NAME

    def after(self, place: int) -> int:
        """The place after the token; after the closing bracket if the token opens one."""
        return self._closing.get(place, place) + 1

    def inside(self, place: int) -> Span:
        """The tokens between an opening bracket and its closing one."""
        return Span(place + 1, self._closing[place])

    def whole(self) -> Span:
        """All tokens but the last, which is the end of the text."""
        return Span(0, len(self.tokens) - 1)

    def text(self, span: Span) -> str:
        """The text of a range of tokens, as written but for quotes and without what follows the last token."""
        if span.start >= span.end:
            return ""
        return self._text[self.tokens[span.start].offset : self._end(self.tokens[span.end - 1])]

    @staticmethod
    def _end(token: Token) -> int:
        return token.offset + len(token.text)

    def statement(self, start: int, end: int) -> Span:
        """The statement that begins at ``start``: up to a semicolon, or to the end of a block in braces."""
        place = start
        while place < end:
            token = self.tokens[place]
            following = self.after(place)
            if token.kind is TokenKind.SYMBOL and token.text in "{;":
                return Span(start, min(following, end))
            place = following
        return Span(start, end)

    def top(self, span: Span) -> Iterator[int]:
        """The places of the tokens that are inside no bracket of the range; only opening brackets stand for these."""
        place = span.start
        while place < span.end:
            yield place
            place = self.after(place)

    def split(self, span: Span, symbol: str) -> list[Span]:
        """The parts of a range between symbols that are inside no bracket; without empty parts."""
        cuts = [place for place in self.top(span) if self.word(place) == symbol]
        starts, ends = [span.start, *(cut + 1 for cut in cuts)], [*cuts, span.end]
        return [Span(start, end) for start, end in zip(starts, ends, strict=True) if start < end]

    def problem(self, place: int, message: str, within: int = 0) -> Problem:
        """A problem at a token, or so many characters after its beginning."""
        return self.source.problem(self.tokens[place].offset + within, message)


def _in_double_quotes(match: re.Match[str]) -> str:
    """A string as one of the same length in double quotes, with a blank for its suffix; comments as they are."""
    single = match["single"]
    if single is None:
        return match.group() if not match["suffix"] else f"{match.group()[:-1]} "
    # A string that has both kinds of quotes becomes blanks with quotes: no clause can be made of it.
    inside = single[1:-1] if '"' not in single else " " * (len(single) - 2)
    return f'"{inside}"{" " * len(match["suffix"])}'
