"""Words that cannot hold together and words to drop, where every choice is decided anew."""

from collections.abc import Callable

import pytest

from webhook.placement.decision.refusal.relaxation import REFUSED, Relaxation

Decide = Callable[[frozenset[str]], int]


def lacking(words: str, fitting: Decide, enough: int = 1, likely: str = "") -> Relaxation:
    """A pod that says these words, a letter each, all to be dropped."""
    return Relaxation(
        dict.fromkeys(words, "drop"), fitting, enough, likely=lambda: {word: word in likely for word in words}
    )


def kept(words: str, *too_much: str, count: int = 1) -> Decide:
    """So many fit a pod that keeps no such choice of its words."""
    return lambda dropped: 0 if any({*choice} <= {*words} - dropped for choice in too_much) else count


CONFLICTS: dict[str, tuple[str, Decide, str, str]] = {
    "a guess that is right": ("abc", kept("abc", "ab"), "ab", "ab"),
    "a guess that is too little": ("abc", kept("abc", "ab"), "b", "ab"),
    "a guess that is too much": ("abcd", kept("abcd", "ab"), "abc", "ab"),
    "a guess that is beside the point": ("abcdefgh", kept("abcdefgh", "bg"), "cd", "bg"),
    "no guess, and one word": ("a", kept("a", "a"), "", "a"),
    "a conflict that no single word solves": ("abcd", kept("abcd", "ab", "cd"), "ab", "ab"),
    "what opens nodes by going belongs to it": ("abc", lambda dropped: int(dropped == {"b"}), "c", "b"),
    "nobody's words": ("ab", lambda _dropped: 0, "", ""),
    "no words": ("", lambda _dropped: 0, "", ""),
    "what the pod may not lack stays": (
        "abc", lambda dropped: REFUSED if "a" in dropped else int("b" in dropped), "b", "b",
    ),
    "what the pod may not lack is too much by itself": (
        "abc", lambda dropped: REFUSED if "a" in dropped else 0, "a", "a",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("words", "fitting", "guess", "expected"), CONFLICTS.values(), ids=CONFLICTS)
def test_the_conflict_is(words: str, fitting: Decide, guess: str, expected: str) -> None:
    assert "".join(lacking(words, fitting).conflict(guess)) == expected


def test_fewer_than_all_are_as_good_as_none() -> None:
    assert lacking("ab", kept("ab", "a", count=4), 5).conflict("a") == ()
    assert lacking("ab", kept("ab", "a", count=5), 5).conflict("a") == ("a",)


def test_of_very_many_words_the_conflict_may_not_be_the_smallest() -> None:
    many = "".join(map(chr, range(ord("A"), ord("A") + 60)))
    asked: list[frozenset[str]] = []

    def fitting(dropped: frozenset[str]) -> int:
        asked.append(dropped)
        return kept(many, many[::7])(dropped)

    found = lacking(many, fitting, likely="BC").conflict("BC")
    assert {*many[::7]} < {*found}
    assert len(asked) < 30


def test_every_choice_is_decided_once() -> None:
    asked: list[frozenset[str]] = []

    def fitting(dropped: frozenset[str]) -> int:
        asked.append(dropped)
        return kept("abc", "ab")(dropped)

    found = lacking("abc", fitting)
    assert (found.conflict("ab"), found.best(), found.best_of([("a", "c"), ("a", "b")])) == (
        ("a", "b"), (1, ("a",)), (1, ("a", "c")),
    )  # fmt: skip
    assert (len(asked), frozenset() in asked) == (len({*asked}), False)


WORDS = "".join(map(chr, range(ord("a"), ord("a") + 64)))


def test_of_many_words_only_the_likely_ones_are_tried() -> None:
    """So that no words make an answer expensive, whatever they mean."""
    asked: list[frozenset[str]] = []

    def fitting(dropped: frozenset[str]) -> int:
        asked.append(dropped)
        return int(len(dropped) % 3 == 1)

    found = lacking(WORDS, fitting, likely="xyz")
    pairs = [(one, other) for one in WORDS for other in WORDS if one < other]
    assert {*"xyz"} <= found.alone.keys()
    assert (len(found.alone), found.best_of(pairs)) == (8, (0, ()))
    assert found.conflict("ab")
    assert len(asked) <= 64


def test_a_conflict_that_takes_long_to_make_smaller_is_named_as_it_is() -> None:
    found = lacking(WORDS, kept(WORDS, WORDS))
    assert found.conflict("ab") == tuple(WORDS)


def test_the_word_without_which_most_fit_is_the_best() -> None:
    counts = {"a": 1, "b": 3, "c": 3}
    found = lacking("abcd", lambda dropped: sum(counts.get(word, 0) for word in dropped) if len(dropped) == 1 else 0)
    assert found.best() == (3, ("b",))


@pytest.mark.parametrize("count", [0, REFUSED], ids=["none fits", "refused"])
def test_no_word_is_the_best_where_none_helps(count: int) -> None:
    assert lacking("ab", lambda _dropped: count).best() == (0, ())
    assert lacking("", lambda _dropped: count).best() == (0, ())
