"""Paths and formulas in the files of kinds: a small part of the language of jq, which Karta uses for the same fields.

A path is ``.spec.replicas``, ``.spec.conf["key.with.dots"]`` or ``.spec.groups[].template``. ``[]`` stands for the
instance of the component that is being expanded, so a file with ``.spec.groups[].template`` and
``.spec.groups[].replicas`` says one template and one number for each group. Operators are those of jq: ``//`` (the
first value that is neither null nor false), ``or``, ``and``, ``==``, ``<``, ``+``, ``-``, ``*``, ``/``, and
``if ... then ... else ... end``. Functions take their arguments in parentheses, separated by semicolons.

Evaluation is total: a part of an unexpected type is ``None``, and so is what is made of it, but ``+`` takes a ``None``
as absent. Numbers are exact. A parsed expression takes time in proportion to its own length, and to the lists that
``any`` and ``sum`` go through.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from webhook.placement.kinds.settings import setting, setting_map, setting_resources, setting_tolerations
from webhook.placement.kube.quantity import NANO, parse_quantity

Value: TypeAlias = Any
"""A decoded JSON value; numbers are ``Fraction``."""

Evaluate: TypeAlias = Callable[[Value, int], Value]
"""The value of an expression for a document and the number of an instance."""

LARGEST: Final = 2**63
"""Numbers beyond this one are cut to it: no count and no amount of Kubernetes is larger."""

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<number>[0-9]+(?:\.[0-9]+)?)
    |(?P<text>"[^"\\]*")
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<symbol>//|==|\[\]|[.\[\]();<+\-*/])
    )""",
    re.VERBOSE,
)


class FormulaError(ValueError):
    """A text is not a valid expression; the message says where and why."""


class Formula:
    """A parsed expression with its ``text``. It is no Struct, so that files of kinds state it as a text."""

    __slots__ = ("_evaluate", "text")

    def __init__(self, text: str, evaluate: Evaluate) -> None:
        self.text = text
        self._evaluate = evaluate

    def of(self, document: Value, at: int = 0) -> Value:
        """The value for the document; ``at`` is the number of the instance."""
        return self._evaluate(document, at)

    @property
    def path(self) -> str:
        """The first path in the expression, without the leading dot: where a user would look."""
        return self.paths[0] if self.paths else self.text

    @property
    def paths(self) -> Sequence[str]:
        """All paths in the expression, without their leading dots."""
        return [path.lstrip(".") for path in _PATH.findall(self.text) if path]

    @property
    def list(self) -> str:
        """The path before the first ``[]``: the list of the instances; empty if there is one instance."""
        first = next((path for path in self.paths if "[]" in path), "")
        return first.partition("[]")[0]


_PATH: Final = re.compile(r'"[^"]*"|((?:\.[A-Za-z_]\w*|\["[^"]*"\]|\[\])+)')
"""A path, or else a text, in which dots begin no path."""


def parse(text: str) -> Formula:
    """The expression in the text; raises :class:`FormulaError`."""
    parser = _FormulaParser(text)
    evaluate = parser.alternatives()
    if parser.token is not None:
        raise FormulaError(f"{text!r}: an operator is expected before {parser.token[1]!r}")
    return Formula(text, evaluate)


class _FormulaParser:
    """Reads an expression by recursive descent; each method's docstring is its rule."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.token: tuple[str, str] | None = None
        self._advance()

    @property
    def _here(self) -> tuple[str, str]:
        """What kind of token comes next, and its text."""
        return self.token or ("end", "the end")

    def alternatives(self) -> Evaluate:
        """``alternatives = either ["//" alternatives]``."""
        first = self._either()
        if not self._take("//"):
            return first
        other = self.alternatives()

        def alternative(document: Value, at: int) -> Value:
            value = first(document, at)
            return other(document, at) if value is None or value is False else value

        return alternative

    def _either(self) -> Evaluate:
        """``either = both {"or" both}``."""
        terms = [self._both()]
        while self._take("or"):
            terms.append(self._both())
        return terms[0] if len(terms) == 1 else lambda document, at: any(truth(term(document, at)) for term in terms)

    def _both(self) -> Evaluate:
        """``both = comparison {"and" comparison}``."""
        terms = [self._comparison()]
        while self._take("and"):
            terms.append(self._comparison())
        return terms[0] if len(terms) == 1 else lambda document, at: all(truth(term(document, at)) for term in terms)

    def _comparison(self) -> Evaluate:
        """``comparison = sum [("==" | "<") sum]``."""
        return self._binary(self._sum, _COMPARISONS, once=True)

    def _sum(self) -> Evaluate:
        """``sum = product {("+" | "-") product}``."""
        return self._binary(self._product, _SUMS)

    def _product(self) -> Evaluate:
        """``product = primary {("*" | "/") primary}``."""
        return self._binary(self._primary, _PRODUCTS)

    def _binary(
        self,
        operand: Callable[[], Evaluate],
        operators: Mapping[str, Callable[[Value, Value], Value]],
        *,
        once: bool = False,
    ) -> Evaluate:
        left = operand()
        while self.token and self.token[1] in operators:
            left = _applied(operators[self._advance()], left, operand())
            if once:
                break
        return left

    def _primary(self) -> Evaluate:
        """``primary = number | text | "null" | path | condition | call | "(" alternatives ")"``."""
        kind, value = self._here
        if kind in {"number", "text"}:
            self._advance()
            constant = number(Fraction(value)) if kind == "number" else value[1:-1]
            return lambda _document, _at: constant
        if value == "(":
            self._advance()
            inner = self.alternatives()
            self._expect(")")
            return inner
        if kind == "word":
            return self._named()
        if value == ".":
            return self._path()
        raise FormulaError(f"{self._text!r}: a value is expected, not {value!r}")

    def _named(self) -> Evaluate:
        """``condition = "if" a "then" a "else" a "end"; call = name "(" a {";" a} ")"`` with a for alternatives."""
        name = self._advance()
        if name == "null":
            return lambda _document, _at: None
        if name == "if":
            condition = self.alternatives()
            self._expect("then")
            yes = self.alternatives()
            self._expect("else")
            no = self.alternatives()
            self._expect("end")
            return lambda document, at: (yes if truth(condition(document, at)) else no)(document, at)
        self._expect("(")
        arguments = [self.alternatives()]
        while self._take(";"):
            arguments.append(self.alternatives())
        self._expect(")")
        return self._call(name, arguments)

    def _call(self, name: str, arguments: list[Evaluate]) -> Evaluate:
        if name in _OVER and len(arguments) == _PAIR:
            fold = _OVER[name]
            entries, each = arguments
            return lambda document, at: fold(each(entry, at) for entry in _entries(entries(document, at)))
        known = _FUNCTIONS.get(name)
        if known is None or known[0] != len(arguments):
            raise FormulaError(f"{self._text!r}: there is no function {name} of {len(arguments)} arguments")
        function = known[1]
        return lambda document, at: function(*(argument(document, at) for argument in arguments))

    def _path(self) -> Evaluate:
        """``path = "." [name] {"." name | "[" text "]" | "[]"}``."""
        steps: list[str | None] = []
        while self.token and self.token[1] in {".", "[", "[]"}:
            symbol = self._advance()
            if symbol == "[]":
                steps.append(None)
                continue
            kind, value = self._here
            if kind != ("word" if symbol == "." else "text"):
                raise FormulaError(f"{self._text!r}: a field is expected after {symbol!r}, not {value!r}")
            steps.append(self._advance().strip('"'))
            if symbol == "[":
                self._expect("]")
        if steps.count(None) > 1:
            raise FormulaError(f"{self._text!r}: a path may have [] once")
        return lambda document, at: _at_end(document, steps, at)

    def _advance(self) -> str:
        """Go on to the next token; returns the current one."""
        current = self.token[1] if self.token else ""
        match = _TOKEN.match(self._text, self._at)
        if match:
            self._at = match.end()
            self.token = str(match.lastgroup), match[str(match.lastgroup)]
        elif self._text[self._at :].strip():
            raise FormulaError(f"{self._text!r}: {self._text[self._at :].strip()[0]!r} is not expected")
        else:
            self.token = None
        return current

    def _take(self, value: str) -> bool:
        if self.token and self.token[1] == value:
            self._advance()
            return True
        return False

    def _expect(self, value: str) -> None:
        if not self._take(value):
            raise FormulaError(f"{self._text!r}: {value!r} is expected, not {self._here[1]!r}")


_PAIR: Final = 2


def truth(value: Value) -> bool:
    """Whether the value counts as true: anything but null and false, as in jq."""
    return value is not None and value is not False


def number(value: Value) -> Fraction | None:
    """The number, cut to ``LARGEST``; a text with a decimal number counts. ``None`` for anything else."""
    if isinstance(value, str):
        value = Fraction(value) if _DECIMAL.fullmatch(value) else None
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        return None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = repr(value)  # the shortest decimal text: what a user has written
    return max(min(Fraction(value), Fraction(LARGEST)), Fraction(-LARGEST))


_DECIMAL: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?", re.ASCII)


def _applied(operator: Callable[[Value, Value], Value], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda document, at: operator(left(document, at), right(document, at))


def _at_end(document: Value, steps: Sequence[str | None], at: int) -> Value:
    """The value at the end of a path; ``None`` as a step is the instance."""
    for step in steps:
        if step is None:
            document = document[at] if isinstance(document, list) and at < len(document) else None
        else:
            document = document.get(step) if isinstance(document, dict) else None
    return document


def _entries(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _plus(left: Value, right: Value) -> Value:
    """The sum of numbers, both lists, or both objects, of which the right one counts; of one value, that value."""
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, dict) and isinstance(right, dict):
        return left | right
    if isinstance(left, list) and isinstance(right, list):
        return left + right
    return _of_numbers(lambda a, b: a + b)(left, right)


def _of_numbers(operator: Callable[[Fraction, Fraction], Fraction | bool | None]) -> Callable[[Value, Value], Value]:
    def applied(left: Value, right: Value) -> Value:
        one, other = number(left), number(right)
        if one is None or other is None:
            return None
        result = operator(one, other)
        return result if isinstance(result, bool) else number(result)

    return applied


def _equal(left: Value, right: Value) -> bool:
    return bool(left == right)


def _rounded(function: Callable[[Fraction], int]) -> Callable[[Value], Value]:
    def rounded(value: Value) -> Value:
        given = number(value)
        return None if given is None else Fraction(function(given))

    return rounded


_UNITS: Final = "kmgtp"
_BYTES: Final = re.compile(
    r"([0-9]{1,18}(\.[0-9]{1,9})?)\s*([kmgtp]?)(i?b|i|bytes|[ei]bibytes)?", re.ASCII | re.IGNORECASE
)


def java_bytes(value: Value, scale: Value) -> Fraction | None:
    """Bytes of a size as Java programs write it: ``512m``, ``2g``, ``4096mb``, also ``2Gi``; powers of 1024.

    A number without a unit counts ``scale`` bytes each. A fraction, which Java programs do not read, is a quantity of
    Kubernetes: ``1.5g`` are 1.5 billion bytes. Source: Spark's ``JavaUtils.byteStringAs``, Flink's ``MemorySize``,
    ``parseResourceMemoryString`` of Flink's operator.
    """
    match = _BYTES.fullmatch(str(number(value)) if isinstance(value, int) else value.strip()) if _sized(value) else None
    if match is None:
        return None
    unit, suffix = match[3].lower(), (match[4] or "").lower()
    base = 1000 if match[2] and suffix not in {"i", "ib"} else 1024
    each = Fraction(base) ** (_UNITS.index(unit) + 1) if unit else number(scale)
    return None if each is None else number(Fraction(match[1]) * each)


_SIZE: Final = 64
"""Characters of a size: a number, and the longest unit with blanks around it."""


def _sized(value: Value) -> bool:
    return (isinstance(value, str) and len(value) <= _SIZE) or (isinstance(value, int) and not isinstance(value, bool))


def amount(value: Value) -> Fraction | None:
    """The amount of a Kubernetes quantity: ``500m``, ``2Gi``, a number."""
    if isinstance(value, str):
        nano = parse_quantity(value)
        return None if nano is None else number(Fraction(nano, NANO))
    return number(value)


def _least(value: Value, other: Value) -> Value:
    return _of_numbers(min)(value, other)


def _largest(value: Value, other: Value) -> Value:
    return _of_numbers(max)(value, other)


_COMPARISONS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "==": _equal, "<": _of_numbers(lambda left, right: left < right),
}  # fmt: skip
_SUMS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "+": _plus, "-": _of_numbers(lambda left, right: left - right),
}  # fmt: skip
_PRODUCTS: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "*": _of_numbers(lambda left, right: left * right),
    "/": _of_numbers(lambda left, right: left / right if right else None),
}
_FUNCTIONS: Final[Mapping[str, tuple[int, Callable[..., Value]]]] = {
    "ceil": (1, _rounded(math.ceil)),
    "floor": (1, _rounded(math.floor)),
    "not": (1, lambda value: not truth(value)),
    "quantity": (1, amount),
    "javaBytes": (2, java_bytes),
    "max": (2, _largest),
    "min": (2, _least),
    "setting": (2, setting),
    "settingMap": (2, setting_map),
    "settingResources": (2, setting_resources),
    "settingTolerations": (2, setting_tolerations),
}
"""Functions by name, with the number of their arguments."""


def _total(values: Iterable[Value]) -> Value:
    return number(sum(given for value in values if (given := number(value)) is not None))


_OVER: Final[Mapping[str, Callable[..., Value]]] = {"any": lambda values: any(map(truth, values)), "sum": _total}
"""Functions of a list and of an expression, which is evaluated for each entry of the list."""
