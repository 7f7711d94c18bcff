"""Problems as text."""

import pytest

from webhook.placement.text.problem import MESSAGE_LIMIT, Problem, escape, quote, render


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain text", "plain text", id="printable"),
        pytest.param("a\nb\r\tc", r"a\nb\r\tc", id="line ends and tabs"),
        pytest.param("\x1b[31mred", r"\x1b[31mred", id="terminal escape"),
        pytest.param("\u202eevil", r"\u202eevil", id="right-to-left override"),
        pytest.param("\x00\x7f\x9b", r"\x00\x7f\x9b", id="other control characters"),
        pytest.param("\U0001f600", r"\U0001f600", id="beyond 16 bits"),
        pytest.param("\ud800", r"\ud800", id="half a surrogate pair"),
    ],
)
def test_only_printable_ascii_is_left(text: str, expected: str) -> None:
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("x", 80, '"x"', id="plain"),
        pytest.param('say "x"', 80, r'"say \"x\""', id="quotes"),
        pytest.param("", 80, '""', id="empty"),
        pytest.param("abcdef", 6, '"abcdef"', id="exactly the limit"),
        pytest.param("abcdefg", 6, '"abcdef..."', id="longer"),
    ],
)
def test_users_words_are_quoted(text: str, limit: int, expected: str) -> None:
    assert quote(text, limit) == expected


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        pytest.param(Problem("f", "is wrong"), "f: is wrong", id="without a text"),
        pytest.param(Problem("f", "is wrong", "abc", 1), "f: is wrong\n  abc\n   ^", id="inside the text"),
        pytest.param(Problem("f", "is wrong", "abc", 3), "f: is wrong\n  abc\n     ^", id="at its end"),
        pytest.param(Problem("f", "is wrong", "", 0), "f: is wrong\n  \n  ^", id="empty text"),
        pytest.param(
            Problem("f", "is wrong", "a\nbc", 2), "f: is wrong\n  a\\nbc\n     ^", id="the caret counts escapes"
        ),
        pytest.param(Problem("f\n", "\x1b"), "f\\n: \\x1b", id="nothing acts on a terminal"),
        pytest.param(
            Problem("f", "is wrong", "x" * 50 + "y" + "z" * 100, 50),
            f"f: is wrong\n  {'x' * 36}y{'z' * 35}\n  {' ' * 36}^",
            id="a window of a long text",
        ),
        pytest.param(
            Problem("f", "is wrong", "x" * 200, 200), f"f: is wrong\n  {'x' * 72}\n  {' ' * 72}^", id="its end"
        ),
        pytest.param(Problem("f", "is wrong", "x" * 200, 0), f"f: is wrong\n  {'x' * 72}\n  ^", id="its start"),
    ],
)
def test_a_problem_names_its_field_and_points_at_the_place(problem: Problem, expected: str) -> None:
    assert render([problem]) == expected


def test_all_problems_stand_one_below_the_other() -> None:
    assert render([Problem("f", "is wrong", "a", 0), Problem("g", "too")]) == "f: is wrong\n  a\n  ^\ng: too"


@pytest.mark.parametrize(
    ("count", "ending"),
    [
        pytest.param(11, "\n... and 1 more problem.", id="one"),
        pytest.param(20, "\n... and 10 more problems.", id="several"),
    ],
)
def test_problems_that_do_not_fit_are_counted(count: int, ending: str) -> None:
    text = render([Problem("f", "x" * 94) for _ in range(count)])
    assert (text.endswith(ending), len(text) <= MESSAGE_LIMIT) == (True, True)
    assert text.count("f: ") == 10


def test_problems_that_just_fit_are_all_shown() -> None:
    first = "x" * (MESSAGE_LIMIT - len("f: ") - len("\ng: y"))
    assert render([Problem("f", first), Problem("g", "y")]) == f"f: {first}\ng: y"


def test_one_endless_problem_is_cut() -> None:
    assert len(render([Problem("f" * 5000, "is wrong")])) == MESSAGE_LIMIT


def test_an_endless_problem_and_another_stay_within_the_limit() -> None:
    assert len(render([Problem("f" * 5000, "is wrong"), Problem("g", "too")])) <= MESSAGE_LIMIT
