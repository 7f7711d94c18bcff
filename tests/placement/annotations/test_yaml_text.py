"""The part of YAML that annotations may be written in."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.properties.random_choices import examples
from webhook.placement.annotations.yaml_text import Value, parse_yaml
from webhook.placement.text.problem import render


def read(text: str) -> Value:
    value, problem = parse_yaml(text, "f")
    assert problem is None, render([problem])
    return value


TEXTS: dict[str, tuple[str, Value]] = {
    "nothing": ("", None),
    "only a comment": ("# nothing", None),
    "a word": ("ssd", "ssd"),
    "the empty list": ("[ ]", []),
    "the empty mapping": ("{}", {}),
    "words in brackets": ("[ssd, 'n''vme', \"a\\u0041\"]", ["ssd", "n'vme", "aA"]),
    "a comma at the end": ("[a, b,]", ["a", "b"]),
    "brackets over several lines": ("[a, # first\n\tb\n]", ["a", "b"]),
    "JSON": ('[{"key":"a","values":["b",8,true]}]', [{"key": "a", "values": ["b", "8", "true"]}]),
    "a mapping in braces": ("{key: a, 'b' :c, d: , e: ~}", {"key": "a", "b": "c", "d": None, "e": None}),
    "what looks like other things": (
        "[8, 1.0, yes, 0x1F, -3, 2026-01-01]",
        ["8", "1.0", "yes", "0x1F", "-3", "2026-01-01"],
    ),
    "nothing at all": ("[null, ~, 'null']", [None, None, "null"]),
    "a block list": ("- a\n-   b  # the second\n\n# and\n- 'c'\n", ["a", "b", "c"]),
    "items that say nothing": ("-\n- \n- x", [None, None, "x"]),
    "lists in a list": ("- - a\n  - b\n- - c", [["a", "b"], ["c"]]),
    "a block mapping": (
        "key: disktype\noperator: In\r\nvalues: [ssd]",
        {"key": "disktype", "operator": "In", "values": ["ssd"]},
    ),
    "mappings in a list": (
        "- key: a\n  values:\n  - x\n  - y\n  operator: In\n- {key: b}",
        [{"key": "a", "values": ["x", "y"], "operator": "In"}, {"key": "b"}],
    ),
    "an item on the next line": ("-\n  key: a\n  operator:\n   In", [{"key": "a", "operator": "In"}]),
    "keys without values": ("a:\nb: # later\n", {"a": None, "b": None}),
    "a hash inside a word": ("a#b", "a#b"),
    "words with a blank": ("[a b]", ["a b"]),
    "a text of several lines": ("a: |\n  x", {"a": "x"}),
    "the beginning of a document": ("---\n- a", ["a"]),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_means(text: str, expected: Value) -> None:
    assert read(text) == expected


REFUSED = {
    "a list without an end": ("[a", "this is not YAML: did not find expected ',' or ']'", 2),
    "a mapping without an end": ("{a: b", "this is not YAML: did not find expected ',' or '}'", 5),
    "nothing between commas": ("[a,,b]", "this is not YAML: did not find expected node content", 3),
    "no colon on the second line": ("a: b\nc", "this is not YAML: could not find expected ':'", 6),
    "a key twice": ("{a: 1, a: 2}", '"a" occurs twice', 7),
    "a key twice in a block": ("a: 1\na: 2", '"a" occurs twice', 5),
    "a key that is nothing": ("{null: 1}", "a key must be a word", 1),
    "a key that is a list": ("{[a]: 1}", "a key must be a word", 1),
    "half a surrogate pair": (r'["\ud800"]', "this is not YAML: found invalid Unicode character escape code", 4),
    "a string without an end": ("['a", "this is not YAML: found unexpected end of stream", 3),
    "two values on a line": ("a: b: c", "this is not YAML: mapping values are not allowed in this context", 4),
    "something behind a list": ("[a] b", "this is not YAML: did not find expected <document start>", 4),
    "a line that stands nowhere": ("a:\n  - x\n b: c", "this is not YAML: did not find expected key", 10),
    "an indentation by tabs": ("- a\n\t- b", "this is not YAML: found a tab character that violates indentation", 4),
    "a character that YAML has not": ("a\x07", "this is not YAML: control characters are not allowed", 0),
    "a second document": ("- a\n---\n- b", "only one document is allowed, and a second begins here", 4),
    "an anchor": ("- &x a", "anchors and aliases are not supported: write the value out", 2),
    "an alias": ("- *x", "anchors and aliases are not supported: write the value out", 2),
    "a tag": ("- !!str a", 'tags are not supported: "tag:yaml.org,2002:str"', 2),
    "brackets too deep": ("[" * 17, "nested more than 16 levels deep", 16),
    "dashes too deep": ("- " * 17 + "a", "nested more than 16 levels deep", 32),
}


@pytest.mark.parametrize(("text", "message", "offset"), REFUSED.values(), ids=REFUSED.keys())
def test_the_first_mistake_is_shown_where_it_is(text: str, message: str, offset: int) -> None:
    _, problem = parse_yaml(text, "f")
    assert problem is not None
    assert (problem.field, problem.message, problem.text, problem.offset) == ("f", message, text, offset)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x" * 8193, "the text has 8193 bytes, at most 8192 are allowed"),
        ("\ud800", "U+D800 is half of a surrogate pair, so this is not Unicode text"),
    ],
    ids=["too long", "no text"],
)
def test_what_is_not_text_is_not_read(text: str, message: str) -> None:
    _, problem = parse_yaml(text, "f")
    assert problem is not None
    assert problem.message == message


WORDS = st.text("ab8-_./", min_size=1, max_size=4).filter(lambda word: not word.startswith(("---", "...")))
VALUES = st.recursive(WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3))


@given(VALUES)
@examples(60)
def test_what_is_written_in_any_style_is_read_as_it_was(value: Any) -> None:
    for text in (json.dumps(value), yaml.safe_dump(value), yaml.safe_dump(value, default_flow_style=True)):
        assert read(text.removesuffix("\n...\n")) == value


@given(st.text("[]{},:-'\"\n ab&*!|>%@`#\\?\t", max_size=40))
@examples(150)
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    value, problem = parse_yaml(text, "f")
    assert problem is None or (value is None and 0 <= (problem.offset or 0) <= len(text))
