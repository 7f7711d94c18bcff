"""JSON text is decoded as far as it can be; why it could not be decoded is said in words."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeapi.client.api_types import Identified
from kubeapi.client.decoding import ERRORS, decoded, reason, shallow


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b"[]", "expected `object`, got `array`", id="the whole"),
        pytest.param(b'{"metadata": {"name": 1}}', "metadata.name: expected `str`, got `int`", id="a field"),
        pytest.param(b"<html>", "JSON is malformed: invalid character (byte 0)", id="no JSON"),
        pytest.param(b'{"metadata": {"name": "\xff"}}', "not UTF-8 text", id="no text"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "nested too deeply", id="too deep"),
    ],
)
def test_why_a_text_cannot_be_decoded(text: bytes, words: str) -> None:
    with pytest.raises(ERRORS) as failed:
        msgspec.json.decode(text, type=Identified)
    assert reason(failed.value) == words


# What is nested too deeply


def nested(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b"1" + b"]}" * (levels // 2)


def test_one_value_that_is_nested_too_deeply_leaves_the_others_readable() -> None:
    text = b'{"items":[{"name":"a"},{"name":"b","deep":%s,"after":"\\"}]"},{"name":"c"}]}' % nested(10_000)
    found = decoded(text, dict[str, Any])["items"]
    assert [one["name"] for one in found] == ["a", "b", "c"]
    assert found[1]["after"] == '"}]'


def test_a_text_that_is_not_json_either_is_an_error() -> None:
    with pytest.raises(ERRORS):
        decoded(b'{"a":' + b"[" * 100_000, dict[str, Any])


VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.text('a"\\[]{}', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"[}', max_size=3), inner, max_size=3),
)


def cut(value: Any, levels: int) -> Any:
    if not isinstance(value, list | dict):
        return value
    if levels == 0:
        return None
    if isinstance(value, list):
        return [cut(one, levels - 1) for one in value]
    return {key: cut(one, levels - 1) for key, one in value.items()}


@given(VALUES, st.integers(0, 5))
def test_a_shallow_text_has_null_for_what_is_deeper(value: Any, levels: int) -> None:
    assert json.loads(shallow(json.dumps(value).encode(), levels)) == cut(value, levels)
