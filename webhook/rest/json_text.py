"""Strict reader of JSON bodies: what JSON parsers understand differently is refused (RFC 8259, interoperability).

Refused are duplicate names in an object, NaN and infinities, numbers beyond the range of a double, lone surrogates,
text that is not UTF-8, and values that are nested too deeply.
"""

import json
import math
from typing import Final, NoReturn

from webhook.placement.text.problem import quote
from webhook.rest.request_error import RequestError, refused

DEPTH: Final = 16
"""Levels of nested lists and objects; a requirement has four."""

UNPROCESSABLE: Final = 422
"""Status of a body that is not JSON (as EMCO answers)."""


class _DuplicateNameError(ValueError):
    """A name occurs twice in an object."""


class _OddNumberError(ValueError):
    """A number that JSON does not have, or that no double can hold."""


def read_json(text: bytes) -> object:
    """The value of the text; raises :class:`RequestError` with status 422 if it is not strictly JSON."""
    try:
        value = json.loads(
            text.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except UnicodeDecodeError:
        raise malformed("is not UTF-8 text") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise malformed(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:  # the errors of this module, and Python's about integers of more than 4,300 digits
        own = isinstance(error, _DuplicateNameError | _OddNumberError)
        raise malformed(str(error) if own else "has a number of too many digits") from None
    _check(value)
    return value


def malformed(rule: str) -> RequestError:
    """The error of a body that is not strictly JSON."""
    return refused(UNPROCESSABLE, "body", rule)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in document if names.count(name) > 1)
        raise _DuplicateNameError(f"has the name {quote(twice)} twice in one object")
    return document


def _no_constant(text: str) -> NoReturn:
    raise _OddNumberError(f"has the number {text}, which is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _OddNumberError(f"has the number {quote(text)}, which is too large")
    return number


def _check(value: object) -> None:
    """Raise :class:`RequestError` if the value is nested too deeply, or a text in it has half a character."""
    level, depth = [value], 0
    while level:
        if any(isinstance(each, str) and not _encodable(each) for each in level):
            raise malformed("has half of a surrogate pair, which is not a character")
        if depth == DEPTH and any(isinstance(each, dict | list) for each in level):
            raise _too_deep()
        depth += 1
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += [*each, *each.values()]
            elif isinstance(each, list):
                inner += each
        level = inner


def _too_deep() -> RequestError:
    return malformed(f"is nested more than {DEPTH} levels deep")


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
