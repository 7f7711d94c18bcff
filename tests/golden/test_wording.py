"""How two texts differ, word by word."""

import pytest

from tests.golden.comparison import differing_texts
from tests.golden.wording import Hunk, hunks, is_message, old_words, phrases
from webhook.placement.text.problem import Problem


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("it cannot hold: 0", "it can not hold: 0", [Hunk(3, 9, "can not")]),
        ("one two", "one and two", [Hunk(4, 4, "and ")]),
        ("one and two", "one two", [Hunk(4, 8, "")]),
        ("a b c d", "x y c z", [Hunk(0, 3, "x y"), Hunk(6, 7, "z")]),
        ("same", "same", []),
    ],
)
def test_differences_are_whole_words(old: str, new: str, expected: list[Hunk]) -> None:
    assert hunks(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("it cannot hold", "it may not hold", [("cannot", "may not")]),
        ("go to it now", "go on it now", [("go to it", "go on it")]),
        ("one two", "one and two", [("one two", "one and two")]),
        ("it cannot hold, never", "it may not hold, ever", [("cannot", "may not"), ("never", "ever")]),
    ],
)
def test_a_phrase_is_long_enough_to_be_known_again(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert [tuple(phrase) for phrase in phrases(old, new)] == expected


def test_words_are_looked_for_with_the_one_behind() -> None:
    assert list(old_words("it cannot both hold", "it can never both hold")) == ["cannot both"]


def test_a_message_has_two_words() -> None:
    assert is_message("two words")
    assert not any(map(is_message, ("word", "", "node-a =", " - ")))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("a", "b", [("a", "b")]),
        ("a", "a", []),
        (["a", ("b", 1)], ["x", ("b", 2)], [("a", "x")]),
        (["a"], ["a", "b"], []),
        ({"k": "a", "l": 1}, {"k": "b", "m": 1}, [("a", "b")]),
        ({"a", "b"}, {"b", "c"}, [("a", "c")]),
        ({"a", "b"}, {"c", "d"}, []),
        (Problem("f", "a"), Problem("f", "b"), [("a", "b")]),
        (Problem("f", "a"), ("f", "b"), []),
        (1, "a", []),
    ],
)
def test_texts_at_the_same_place_are_compared(left: object, right: object, expected: list[tuple[str, str]]) -> None:
    assert list(differing_texts(left, right)) == expected
