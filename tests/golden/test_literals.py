"""String literals of a file, character by character, and edits of them."""

from pathlib import Path

import pytest

from tests.golden.layout import edited, laid_out
from tests.golden.literals import Quoting, Source
from tests.golden.rewriting import Edit


def runs(text: str) -> list[str]:
    source = Source.of(text)
    return [run.text for literal in source.literals(source.tree) for run in literal.runs()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 'plain'", ["plain"]),
        ('x = "a" "b"', ["ab"]),
        ('x = (\n    "a "  # why\n    "b"\n)', ["a b"]),
        ('x = "a" \\\n    "b"', ["ab"]),
        ('x = f"a {b} c" "d"', ["a ", " cd"]),
        ("x = f\"{{a}} {b['c']!r:>{d}}\"", ["{a} "]),
        (r'x = "tab\t, \x41\u00e9\N{DIGIT ONE}\101 \"q\""', ['tab\t, A\u00e91A "q"']),
        (r"x = 'it\'s'", ["it's"]),
        (r'x = r"raw\n\"q"', [r"raw\n\"q"]),
        ('x = """two\nlines\\\n on"""', ["two\nlines on"]),
        ('"""Docstring."""\nx = b"bytes"', []),
        ('x = "\u00e4", "after"', ["\u00e4", "after"]),
    ],
)
def test_runs_are_the_texts_between_fields(text: str, expected: list[str]) -> None:
    assert runs(text) == expected


@pytest.mark.parametrize(
    ("quoting", "text", "expected"),
    [
        (Quoting("", '"'), 'a "b"\n\\', r"a \"b\"\n\\"),
        (Quoting("", "'"), 'a "b"', 'a "b"'),
        (Quoting("f", '"'), "{a}", "{{a}}"),
        (Quoting("r", '"'), "a\\b", "a\\b"),
        (Quoting("", '"""'), 'a\n"b"', 'a\n"b"'),
        (Quoting("", '"'), "\x1b\u202e", r"\x1b\u202e"),
    ],
)
def test_a_text_is_spelled_for_its_quotes(quoting: Quoting, text: str, expected: str) -> None:
    assert quoting.written(text) == expected


def test_edits_are_made_from_the_end() -> None:
    assert edited("one two three", [Edit(Path(), 0, 3, "1"), Edit(Path(), 8, 13, "3")]) == "1 two 3"


def test_edits_that_overlap_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two edits overlap before offset 2"):
        edited("one two", [Edit(Path(), 0, 3, ""), Edit(Path(), 2, 5, "")])


def test_a_literal_that_is_too_long_is_cut_between_words() -> None:
    words = "word " * 40
    text = laid_out(Path("test_x.py"), f'def test_x() -> None:\n    assert found() == "{words}"\n')
    assert max(map(len, text.splitlines())) <= 120
    assert runs(text) == [words]


def test_a_literal_without_a_blank_stays() -> None:
    text = f'x = "{"w" * 130}"\n'
    assert laid_out(Path("test_x.py"), text) == text
