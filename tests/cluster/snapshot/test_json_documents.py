"""Texts of JSON that follow one another are taken apart where they end."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.example_count import examples
from webhook.cluster.snapshot.json_documents import JsonDocument, json_documents, json_of

VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(st.sampled_from('{}[]"\\ \n,-:a')),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('{}"\\a', max_size=3), inner, max_size=3),
)
OBJECTS = st.dictionaries(st.text("a}", max_size=2), VALUES, max_size=3)
BETWEEN = st.sampled_from(["", " ", "\n", "\r\n", "\n---\n", " \n\n--- "])


@examples(300)
@given(st.lists(st.tuples(OBJECTS, st.sampled_from([None, 4]), BETWEEN), min_size=1, max_size=4))
def test_what_is_written_one_after_another_is_read_as_it_was(values: list[tuple[object, int | None, str]]) -> None:
    content = "".join(json.dumps(value, indent=indent) + between for value, indent, between in values[:-1])
    content += json.dumps(values[-1][0])
    parts = [*json_documents(content.encode())]
    assert [msgspec.json.decode(part.text) for part in parts] == [value for value, _, _ in values]
    assert json_of(content.encode()) == parts
    for part in parts[1:]:
        start = int(part.place.rpartition(" ")[2])
        assert content.encode()[start : start + len(part.text)] == part.text


@examples(300)
@given(st.text(st.sampled_from('{}[]"\\ \n-:1'), max_size=20))
def test_nothing_but_blanks_and_dashes_is_lost(text: str) -> None:
    content = text.encode()
    kept = b"".join(part.text for part in json_documents(content))
    assert [byte for byte in kept if byte not in b" \n-"] == [byte for byte in content if byte not in b" \n-"]


@pytest.mark.parametrize("content", [b"", b"{", b"}", b"{}x", b"[1]", b"a: 1", b"{a: 1}"])
def test_what_is_not_json_objects_alone_may_be_yaml(content: bytes) -> None:
    assert json_of(content) is None


def test_one_text_is_the_whole_file() -> None:
    assert [*json_documents(b" {} ")] == [JsonDocument(b" {} ")]
