"""A reader of SPL tokens: where a grammar stands, what it wanted, and where to go on after a mistake."""

import re

from webhook.placement.spl.tokens import Token, TokenKind, tokenize
from webhook.placement.text.problem import Problem, quote

PROBLEM_LIMIT = 10
"""Problems reported of one text: more than anyone reads at once, few enough for one refusal."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_STOPS = frozenset("]),;}")


class GrammarError(Exception):
    """The text breaks the grammar at an offset; stays inside the parsers, which turn it into a problem."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def unreadable(text: str, field: str, *, limit: int) -> Problem | None:
    """Why the text is not even read, if so: over ``limit`` bytes of UTF-8, or no Unicode text at all."""
    if len(text) <= limit and text.isascii():
        return None
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        return Problem(field, f"the text has {size} bytes, at most {limit} are allowed")
    if match := _SURROGATE.search(text):
        message = f"U+{ord(match.group()):04X} is half a surrogate pair, so this is no Unicode text"
        return Problem(field, message, text, match.start())
    return None


class Reader:
    """The tokens of one text, the place in them, and the problems found so far (at most ``PROBLEM_LIMIT``)."""

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
        """The token after the current one as it is written, empty at the end."""
        return self._tokens[self.place + 1].text if self.token.kind is not TokenKind.END else ""

    def read(self) -> Token:
        """The current token; the place moves on to the next (never beyond the end)."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.place += 1
            self.token = self._tokens[self.place]
        return token

    def take(self, symbol: str) -> bool:
        """Read the current token if it is written like ``symbol``."""
        if self.token.text != symbol:
            return False
        self.read()
        return True

    def expect(self, wanted: TokenKind | str, *, expected: str) -> Token:
        """Read a token of a kind, or one that is written so; ``expected`` tells the user what was wanted."""
        if self.token.kind is wanted or self.token.text == wanted:
            return self.read()
        raise self.unexpected(expected)

    def number(self, *, maximum: int) -> int | None:
        """Read a whole number up to a maximum, with or without SPL's ``u``; else read nothing and return ``None``."""
        digits = self.token.text.removesuffix("u")
        if self.token.kind is not TokenKind.NUMBER or not digits.isdigit() or self.following == ".":
            return None
        significant = digits.lstrip("0") or "0"
        # Only as many digits as the maximum has are made a number: longer ones would take quadratic time.
        if len(significant) > len(str(maximum)) or int(significant) > maximum:
            return None
        self.read()
        return int(significant)

    def unexpected(self, expected: str) -> GrammarError:
        """The error that the current token is not what was expected, or is broken in itself."""
        token = self.token
        if token.kind is TokenKind.BROKEN:
            return GrammarError(token.offset, token.value)
        return GrammarError(token.offset, f"expected {expected}, found {_found(token)}")

    def fragment(self) -> str:
        """What is written from here to the next closing bracket, comma, semicolon or the end, quoted."""
        place = self.place
        while self._tokens[place].kind is not TokenKind.END and self._tokens[place].text not in _STOPS:
            place += 1
        written = self.text[self.token.offset : self._tokens[place].offset].rstrip()
        return quote(written) if written else "nothing"

    def report(self, offset: int, message: str) -> None:
        """Note a problem; after the last one that is reported, the rest of the text is not read."""
        if len(self.problems) < PROBLEM_LIMIT:
            self.problems.append(Problem(self.field, message, self.text, offset))
        if len(self.problems) >= PROBLEM_LIMIT:
            self.finish()

    def finish(self) -> None:
        """Skip the rest of the text."""
        self.place = len(self._tokens) - 1
        self.token = self._tokens[-1]

    def recover(self, error: GrammarError, start: int) -> None:
        """Note a mistake in what began at the token ``start``; go on at the next ``,`` or ``;`` outside brackets."""
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


def _found(token: Token) -> str:
    if token.kind is TokenKind.END:
        return "the end of the text"
    if token.kind is TokenKind.STRING:
        return f"the string {quote(token.value)}"
    return quote(token.text)
