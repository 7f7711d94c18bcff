"""Why JSON text could not be decoded is said in words."""

import msgspec
import pytest

from kubeapi.client.api_types import Identified
from kubeapi.client.decoding import ERRORS, reason


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
