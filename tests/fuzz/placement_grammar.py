r"""The grammar of placement texts (``docs/annotations.md``) once more, character by character, for comparison.

Nothing is shared with the product's parser: no token, no pattern, no recovery.
"""

import string
from typing import Final, NamedTuple

SIZE: Final = 8 * 1024
CLAUSES: Final = 64
TOKENS: Final = 32
INDEX: Final = 4294967295

_SPACE: Final = " \t\r\n\f\v"
_FIRST: Final = string.ascii_letters + "_"
_WORD: Final = _FIRST + string.digits
_ESCAPES: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_WITH_STRING: Final = ("hostColocation", "hostExlocation", "partitionColocation", "partitionExlocation")
_ALONE: Final = ("hostIsolation", "partitionIsolation")


class ForeignTextError(Exception):
    """The text is not of the language."""


class Clause(NamedTuple):
    """One clause: ``argument`` is a text, a pool as ``(name, index)``, or ``None``."""

    name: str
    argument: str | tuple[str, int | None] | None
    operator: str


def read(text: str) -> list[Clause] | None:
    """The clauses of the text; ``None`` if it is not of the language, or beyond a limit."""
    try:
        if len(text.encode()) > SIZE:
            return None
        clauses = _Recogniser(text).placement()
    except (ForeignTextError, UnicodeEncodeError):
        return None
    return clauses if _within_limits(clauses) else None


def _within_limits(clauses: list[Clause]) -> bool:
    """The rules about clauses together."""
    hosts = [clause.operator for clause in clauses if clause.name == "host"]
    tokens = {clause.argument for clause in clauses if clause.name in {"hostColocation", "hostExlocation"}}
    return len(clauses) <= CLAUSES and len(tokens) <= TOKENS and len(hosts) == len(set(hosts))


class _Recogniser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def placement(self) -> list[Clause]:
        clauses = self.operator_clauses()
        while self.took(";"):
            if self.ended():
                break
            clauses += self.operator_clauses()
        if not self.ended():
            raise ForeignTextError
        return clauses

    def operator_clauses(self) -> list[Clause]:
        begun, operator = self.at, ""
        try:
            operator = self.operator()
            self.need(":")
        except ForeignTextError:
            self.at, operator = begun, ""
        clauses = [self.clause(operator)]
        while self.took(","):
            clauses.append(self.clause(operator))
        return clauses

    def operator(self) -> str:
        name = self.identifier()
        while True:
            if self.took("::"):
                name += f"::{self.identifier()}"
            elif self.took("."):
                name += f".{self.identifier()}"
            else:
                break
        while self.took("["):
            name += f"[{self.digits()}]"
            self.need("]")
        return name

    def clause(self, operator: str) -> Clause:
        name = self.identifier()
        if name in _ALONE:
            return Clause(name, None, operator)
        if name != "host" and name not in _WITH_STRING:
            raise ForeignTextError
        self.need("(")
        self.space()
        argument: str | tuple[str, int | None]
        if self.text.startswith('"', self.at):
            argument = self.string()
        elif name == "host":
            argument = self.pool()
        else:
            raise ForeignTextError
        self.need(")")
        return Clause(name, argument, operator)

    def pool(self) -> tuple[str, int | None]:
        name = "$default" if self.took("$default") else self.identifier()
        if self.text[self.at : self.at + 1] in tuple(_WORD):
            raise ForeignTextError
        if not self.took("["):
            return name, None
        index = int(self.digits(suffix="u"))
        self.need("]")
        if index > INDEX:
            raise ForeignTextError
        return name, index

    def identifier(self) -> str:
        self.space()
        begun = self.at
        if self.text[self.at : self.at + 1] not in tuple(_FIRST):
            raise ForeignTextError
        while self.text[self.at : self.at + 1] in tuple(_WORD):
            self.at += 1
        return self.text[begun : self.at]

    def digits(self, suffix: str = "") -> str:
        """Digits, which no letter may follow but the suffix."""
        self.space()
        begun = self.at
        while self.text[self.at : self.at + 1] in tuple(string.digits):
            self.at += 1
        digits = self.text[begun : self.at]
        if suffix and self.text.startswith(suffix, self.at):
            self.at += len(suffix)
        if not digits or self.text[self.at : self.at + 1] in tuple(_WORD):
            raise ForeignTextError
        return digits

    def string(self) -> str:
        self.at += 1
        units: list[str] = []
        while not self.text.startswith('"', self.at):
            units.append(self.character())
        self.at += 1
        try:
            return "".join(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            raise ForeignTextError from None

    def character(self) -> str:
        """One character or escape inside a string; of a pair of escapes it is one half."""
        character = self.text[self.at : self.at + 1]
        self.at += 1
        if not character or ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0:
            raise ForeignTextError
        if character != "\\":
            return character
        letter = self.text[self.at : self.at + 1]
        self.at += 1
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        unit = self.text[self.at : self.at + 4]
        self.at += 4
        if letter != "u" or len(unit) < 4 or not set(unit) <= set(string.hexdigits):
            raise ForeignTextError
        return chr(int(unit, 16))

    def took(self, symbol: str) -> bool:
        self.space()
        if not self.text.startswith(symbol, self.at):
            return False
        if symbol == ":" and self.text.startswith("::", self.at):  # the longest symbol counts
            return False
        self.at += len(symbol)
        return True

    def need(self, symbol: str) -> None:
        if not self.took(symbol):
            raise ForeignTextError

    def ended(self) -> bool:
        self.space()
        return self.at == len(self.text)

    def space(self) -> None:
        """White space and comments."""
        while self.at < len(self.text):
            if self.text[self.at] in _SPACE:
                self.at += 1
            elif self.text.startswith("//", self.at):
                while self.at < len(self.text) and self.text[self.at] not in "\r\n":
                    self.at += 1
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at + 2)
                if end < 0:
                    raise ForeignTextError
                self.at = end + 2
            else:
                return
