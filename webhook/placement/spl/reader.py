"""Token reader of the SPL parsers: the current token, errors about unexpected tokens, and recovery after an error.

:func:`unreadable` tells texts that are too long, or not Unicode, and are not parsed at all.
"""

import re

from webhook.placement.spl.tokens import Token, TokenKind, tokenize
from webhook.placement.text.problem import Problem, quote

PROBLEM_LIMIT = 10
"""Problems reported of one text: more than a person reads at once, and few enough for one refusal."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_STOPS = frozenset("]),;}")


class GrammarError(Exception):
    """A syntax error at an offset of the text. Parsers catch the error and report it as a problem."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def unreadable(text: str, field: str, *, limit: int) -> Problem | None:
    """The problem of a text that is not parsed: it is over ``limit`` bytes of UTF-8, or has half a surrogate pair.

    ``None`` if the text can be parsed. ``field`` is the path of the text.
    """
    if len(text) <= limit and text.isascii():
        return None
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        return Problem(field, f"the text has {size} bytes, at most {limit} are allowed")
    if match := _SURROGATE.search(text):
        message = f"U+{ord(match.group()):04X} is half of a surrogate pair, so this is not Unicode text"
        return Problem(field, message, text, match.start())
    return None


class Reader:
    """The tokens of one text, the current position, and the problems found so far (at most ``PROBLEM_LIMIT``).

    ``place`` is the index of the current ``token``; ``field`` is the path of the text, for the problems.
    """

    __slots__ = ("_tokens", "field", "place", "problems", "text", "token")

    def __init__(self, text: str, field: str) -> None:
        self.text = text
        self.field = field
        self.problems: list[Problem] = []
        self._tokens = tokenize(text)
        self.place = 0
        self.token = self._tokens[0]

    @property
    def following(self) -> str:
        """The text of the token after the current one; empty at the end."""
        return self._tokens[self.place + 1].text if self.token.kind is not TokenKind.END else ""

    def read(self) -> Token:
        """Return the current token and move on to the next; the END token stays current."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.place += 1
            self.token = self._tokens[self.place]
        return token

    def take(self, symbol: str) -> bool:
        """Read the current token if its text is ``symbol``; returns whether it was."""
        if self.token.text != symbol:
            return False
        self.read()
        return True

    def expect(self, wanted: TokenKind | str, *, expected: str) -> Token:
        """Read a token that is of the wanted kind or has the wanted text; else raise a ``GrammarError``.

        ``expected`` is what the error says should be there.
        """
        if self.token.kind is wanted or self.token.text == wanted:
            return self.read()
        raise self.unexpected(expected)

    def number(self, *, maximum: int) -> int | None:
        """Read a whole number up to a maximum, with or without SPL's ``u``; else read nothing and return ``None``."""
        digits = self.token.text.removesuffix("u")
        if self.token.kind is not TokenKind.NUMBER or not digits.isdigit() or self.following == ".":
            return None
        significant = digits.lstrip("0") or "0"
        # Texts with more digits than the maximum are not converted: that would take quadratic time.
        if len(significant) > len(str(maximum)) or int(significant) > maximum:
            return None
        self.read()
        return int(significant)

    def unexpected(self, expected: str) -> GrammarError:
        """The error that the current token is not the expected one; for a broken token, what is wrong with it."""
        token = self.token
        if token.kind is TokenKind.BROKEN:
            return GrammarError(token.offset, token.value)
        return GrammarError(token.offset, f"expected {expected}, found {_shown(token)}")

    def fragment(self) -> str:
        """The text from the current token to the next closing bracket, comma, semicolon or the end, quoted."""
        place = self.place
        while self._tokens[place].kind is not TokenKind.END and self._tokens[place].text not in _STOPS:
            place += 1
        written = self.text[self.token.offset : self._tokens[place].offset].rstrip()
        return quote(written) if written else "nothing"

    def report(self, offset: int, message: str) -> None:
        """Add a problem; with ``PROBLEM_LIMIT`` problems the rest of the text is skipped."""
        if len(self.problems) < PROBLEM_LIMIT:
            self.problems.append(Problem(self.field, message, self.text, offset))
        if len(self.problems) >= PROBLEM_LIMIT:
            self.finish()

    def finish(self) -> None:
        """Skip the rest of the text."""
        self.place = len(self._tokens) - 1
        self.token = self._tokens[-1]

    def recover(self, error: GrammarError, start: int) -> None:
        """Report the error and continue at the next ``,`` or ``;`` outside brackets.

        ``start`` is the index of the token at which the broken clause or declaration began.
        """
        depth, self.place = 0, start
        self.token = self._tokens[start]
        while self.token.kind is not TokenKind.END:
            if self.token.text in _OPENING:
                depth += 1
            elif self.token.text in _CLOSING:
                depth = max(0, depth - 1)
            elif depth == 0 and self.token.text in {",", ";"}:
                break
            self.read()
        self.report(error.offset, error.message)


def _shown(token: Token) -> str:
    if token.kind is TokenKind.END:
        return "the end of the text"
    if token.kind is TokenKind.STRING:
        return f"the string {quote(token.value)}"
    return quote(token.text)
