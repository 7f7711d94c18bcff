"""YAML documents: the values of PyYAML's safe loader, dates as text, one bad document at a time."""

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from webhook.cluster.snapshot.yaml_documents import UnreadableDocument, documents


def read(text: str) -> list[object]:
    return list(documents(text.encode()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: 2026-01-01", {"a": "2026-01-01"}, id="date"),
        pytest.param("a: 2026-01-01T00:00:00Z", {"a": "2026-01-01T00:00:00Z"}, id="time"),
        pytest.param("[1, 0x1f, 1.5, .inf, 1e3]", [1, 31, 1.5, math.inf, "1e3"], id="numbers"),
        pytest.param("[true, no, ~, null, '']", [True, False, None, None, ""], id="words"),
        pytest.param("['1', \"true\", !!str 5]", ["1", "true", "5"], id="text that looks like something else"),
        pytest.param("a: |\n  one\n  --- not a document\n", {"a": "one\n--- not a document\n"}, id="block of text"),
        pytest.param("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, id="anchor"),
        pytest.param(
            "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}, id="merge"
        ),
        pytest.param(
            "d: {<<: [{b: 1}, {b: 2, c: 2}], e: 3}", {"d": {"b": 1, "c": 2, "e": 3}}, id="merge of several, first wins"
        ),
        pytest.param("d: {<<: nothing, e: 3}", {"d": {"e": 3}}, id="merge of no mapping"),
        pytest.param('{"kind": "Node"}', {"kind": "Node"}, id="JSON"),
        pytest.param("\ufeffa: b", {"a": "b"}, id="byte order mark"),
        pytest.param("%YAML 1.1\n--- # comment\na: b", {"a": "b"}, id="directive"),
    ],
)
def test_a_document_has_the_values_it_writes(text: str, value: object) -> None:
    assert read(text)[-1] == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("# only a comment\n", [], id="comment"),
        pytest.param("---\n---\n# nothing\n---\na: 1\n---\n", [{"a": 1}], id="empty documents"),
        pytest.param("a: 1\n---\nb: 2\n--- \nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}], id="several"),
        pytest.param("a: 1\n...\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="document end"),
        pytest.param("--- [1]\n--- [2]\n", [[1], [2]], id="on the line of the dashes"),
        pytest.param("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}], id="line ends of Windows"),
        pytest.param("a: &x 1\n---\nb: 2", [{"a": 1}, {"b": 2}], id="an anchor ends with its document"),
    ],
)
def test_every_document_that_is_not_empty_is_read(text: str, values: list[object]) -> None:
    assert read(text) == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("a: [1", "line 4, column 1: did not find expected ',' or ']'", id="unclosed list"),
        pytest.param("a: b: c", "line 3, column 5: mapping values are not allowed in this context", id="two colons"),
        pytest.param("x: 1\na: *b", "line 4: the alias *b has no anchor", id="unknown alias"),
        pytest.param("a: &a [*a]", "line 3: the alias *a has no anchor", id="alias of itself"),
        pytest.param("[a]: b", "line 3: a key must be a plain value", id="list as a key"),
        pytest.param("a: 1\nb: 2\na: 3", "line 5: the key a occurs twice", id="key twice"),
        pytest.param("a: !!python/name:os.system", "line 3: the tag tag:yaml.org,2002:python/name:os.system"
                     " is not supported", id="code"),
        pytest.param("a: !!binary aGk=", "line 3: the tag tag:yaml.org,2002:binary is not supported", id="binary"),
        pytest.param(f"a: {'9' * 5000}", f"line 3: {'9' * 80} is not a value of int", id="number without end"),
        pytest.param("[" * 100_000, "line 3: nested more than 200 levels deep", id="nesting"),
        pytest.param("- " * 5_000 + "a", "line 3: nested more than 200 levels deep", id="nesting of blocks"),
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_read_spares_the_others(text: str, reason: str) -> None:
    assert read(f"first: 1\n---\n{text}\n---\nlast: 1\n") == [{"first": 1}, UnreadableDocument(reason), {"last": 1}]


def test_bytes_that_are_no_text_are_unreadable() -> None:
    (found,) = documents(b"a: \xff\xfe")
    assert isinstance(found, UnreadableDocument)
    assert "invalid" in found.reason


def test_half_a_surrogate_pair_is_unreadable() -> None:
    assert read('a: "\\ud800"') == [UnreadableDocument("line 1, column 7: found invalid Unicode character escape code")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="ascii")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc<~1", max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(VALUES.filter(lambda value: value is not None), max_size=3))
def test_whatever_is_written_is_read_back(values: list[object]) -> None:
    assert read(yaml.safe_dump_all(values)) == values
