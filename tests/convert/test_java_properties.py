"""Java properties are read as ``java.util.Properties`` reads them."""

import pytest

from webhook.convert.findings import RefusedInputError
from webhook.convert.java_properties import read_properties
from webhook.convert.source_text import decoded


def entries(text: str) -> dict[str, tuple[str, int]]:
    """The values by key, with their lines."""
    found = read_properties(decoded("in", text.encode()))
    return {key: (value.text, value.at.line) for key, value in found.items()}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a=b", "a", "b"),
        ("a = b", "a", "b"),
        ("  a : b c  ", "a", "b c"),
        ("a\tb", "a", "b"),
        ("a", "a", ""),
        ("a=", "a", ""),
        ("a==b", "a", "=b"),
        (r"a\=b\:c=d", "a=b:c", "d"),
        (r"a=\u0041\t\n\r\f\q\\", "a", "A\t\n\r\fq\\"),
        (r"a=\ud83d\ude00", "a", "\U0001f600"),
        ("a=\u201cIn\u201d", "a", "In"),
        ("a=b, \\\n    c", "a", "b, c"),
        ("a=b\\", "a", "b"),
        ("# no\n! no\n\na=b\r\n", "a", "b"),
    ],
)
def test_an_entry(text: str, key: str, value: str) -> None:
    assert {name: found for name, (found, _) in entries(text).items()} == {key: value}


def test_entries_have_the_line_at_which_they_begin() -> None:
    assert entries("a=1,\\\n2\n\nb=3\n") == {"a": ("1,2", 1), "b": ("3", 4)}


def test_an_even_number_of_backslashes_ends_a_line() -> None:
    assert entries("a=1\\\\\nb=2") == {"a": ("1\\", 1), "b": ("2", 2)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=1\na=2", 'in:2: "a" occurs twice, first in line 1'),
        ("=1", 'in:1: "=1" is not an entry: write key=value'),
        (r"a=\u12", r"in:1: \u is followed by four hexadecimal digits"),
        (r"a=\ud800", "in:1: an escape is half of a surrogate pair, so this is not Unicode text"),
    ],
)
def test_what_is_not_an_entry_is_refused(text: str, message: str) -> None:
    with pytest.raises(RefusedInputError) as raised:
        entries(text)
    (problem,) = raised.value.problems
    assert f"{problem.field}: {problem.message}" == message
