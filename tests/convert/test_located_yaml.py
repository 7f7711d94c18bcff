"""YAML and JSON with lines, and what of them is refused."""

import pytest

from webhook.convert import located_yaml, source_text
from webhook.convert.findings import RefusedInputError
from webhook.convert.located_yaml import located_documents
from webhook.convert.source_text import decoded


def refusal(content: bytes) -> str:
    with pytest.raises(RefusedInputError) as raised:
        located_documents(decoded("in", content))
    (problem,) = raised.value.problems
    return f"{problem.field}: {problem.message}"


def test_values_have_their_lines() -> None:
    (found,) = located_documents(decoded("in", b"\xef\xbb\xbfa: 1\nb:\n- x\n- {c: ~}\n---\n"))
    assert found.plain() == {"a": "1", "b": ["x", {"c": None}]}
    assert (found.at.line, found.fields["b"].items[1].fields["c"].at.line) == (1, 4)
    assert (found.items, found.text, found.fields["a"].fields, found.fields["a"].text) == ([], "", {}, "1")


def test_json_may_be_indented_by_tabs() -> None:
    (found,) = located_documents(decoded("in", b'{\n\t"a": [1,\n\t\ttrue]\n}'))
    assert found.plain() == {"a": ["1", "true"]}
    assert found.fields["a"].items[1].at.line == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\u201cIn\u201d", "In"),
        ("\u2018gpu\u2019", "gpu"),
        ("\u201cIn\u2019", "\u201cIn\u2019"),
        ("\u2018a\u2019 \u2018b\u2019", "\u2018a\u2019 \u2018b\u2019"),
        ("\u201c", "\u201c"),
        ("'null'", "null"),
    ],
)
def test_quotes_of_word_processors_are_taken_off(text: str, value: str) -> None:
    (found,) = located_documents(decoded("in", f"a: {text}".encode()))
    assert found.plain() == {"a": value}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: &x 1\nb: *x\n", "in:1: anchors and aliases are not supported: write the value out"),
        (b"a: 1\nb: *x\n", "in:2: anchors and aliases are not supported: write the value out"),
        (b"a: !!python/name:os 1\n", 'in:1: tags are not supported: "tag:yaml.org,2002:python/name:os"'),
        (b"a: 1\na: 2\n", 'in:2: "a" occurs twice'),
        (b"? [a]\n: 1\n", "in:1: a key must be a word"),
        (b"name: {{.App}}\n", "in:1: a key must be a word, and {{...}} of a template must be filled in first"),
        (b"[" * 30, "in:1: nested more than 24 levels deep"),
        (b"a: [1\n", "in:2: this is not YAML: did not find expected ',' or ']'"),
        (b"\ta: 1\n", "in:1: this is not YAML: found character that cannot start any token"),
        (b"a: \x01\n", "in:1: this is not YAML: control characters are not allowed"),
        (b'a: "\\ud800"\n', "in:1: this is not YAML: found invalid Unicode character escape code"),
        (b"a: \0\n", "in:1: there is a NUL character: this is not text"),
        (b"a: 1\nb: \xff\n", "in:2: byte 8 is not UTF-8: save the input as UTF-8"),
        ("a: 1".encode("utf-16"), "in:1: byte 0 is not UTF-8: save the input as UTF-8"),
    ],
)
def test_what_is_not_taken_is_refused(content: bytes, message: str) -> None:
    assert refusal(content) == message


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(located_yaml, "_NODES", 3)
    assert refusal(b"[1, 2, 3, 4]") == "in:1: there are more than 3 values"
    message = f"in: the input has {source_text.TEXT_LIMIT + 1} bytes, at most {source_text.TEXT_LIMIT} are read"
    assert refusal(b"x" * (source_text.TEXT_LIMIT + 1)) == message


def test_a_problem_shows_its_line() -> None:
    source = decoded("in", b"first\r\nsecond\r\n")
    found = source.problem(9, "wrong")
    assert (found.field, found.text, found.offset) == ("in:2", "second", 2)
    assert source.problem(99, "wrong").field == "in:3"
