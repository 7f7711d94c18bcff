"""Bodies are read strictly: what two parsers could understand differently is refused."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from webhook.rest.json_text import DEPTH, read_json
from webhook.rest.request_error import RequestError

REFUSED = {
    "duplicate": (b'{"a": {"b": 1, "b": 2}}', 'has the name "b" twice in one object'),
    "duplicate, written in two ways": (b'{"a": 1, "\\u0061": 2}', 'has the name "a" twice in one object'),
    "NaN": (b"[NaN]", "has the number NaN, which is not JSON"),
    "infinity": (b"[-Infinity]", "has the number -Infinity, which is not JSON"),
    "overflow": (b"[1e999]", 'has the number "1e999", which is too large'),
    "digits": (b"[" + b"9" * 5000 + b"]", "has a number of too many digits"),
    "surrogate": (b'{"a": "\\ud800"}', "has half of a surrogate pair, which is not a character"),
    "surrogate as a name": (b'{"\\udfff": 1}', "has half of a surrogate pair, which is not a character"),
    "no UTF-8": (b'"\xff"', "is not UTF-8 text"),
    "byte order mark": (
        b"\xef\xbb\xbf{}",
        "is not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig) at line 1, column 1",
    ),
    "cut off": (b'{"a":', "is not JSON: Expecting value at line 1, column 6"),
    "two values": (b"{} {}", "is not JSON: Extra data at line 1, column 4"),
    "deep": (b"[" * (DEPTH + 1) + b"]" * (DEPTH + 1), "is nested more than 16 levels deep"),
    "very deep": (b"[" * 30_000, "is nested more than 16 levels deep"),
}


@pytest.mark.parametrize(("text", "rule"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(text: bytes, rule: str) -> None:
    with pytest.raises(RequestError) as refused:
        read_json(text)
    (error,) = refused.value.errors
    assert (refused.value.status, error.field, error.rule) == (422, "body", rule)


def test_as_deep_as_allowed() -> None:
    value = read_json(b"[" * DEPTH + b"]" * DEPTH)
    assert json.dumps(value) == "[" * DEPTH + "]" * DEPTH


def test_numbers_are_numbers() -> None:
    assert read_json(b"[1, -2.5, 1e3]") == [1, -2.5, 1000.0]


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert read_json(b'"\\ud83d\\ude00"') == "\U0001f600"


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_every_value_is_read_as_it_was_written(value: Any) -> None:
    assert read_json(json.dumps(value).encode()) == value


@given(some.binary(max_size=60) | some.text(alphabet='[]{}",:0123456789.eE-+ntfuNaI\\d8 ').map(str.encode))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    with contextlib.suppress(RequestError):
        assert json.dumps(read_json(text), allow_nan=False)
