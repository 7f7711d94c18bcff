"""Tables on a terminal, and off it."""

import io

from rich.console import Console

from webhook.cli.screen import Screen

HEAD = ("NAME", "ASKED", "SAID")
ROWS = [("one", "a" * 60, "admitted"), ("the-second", "b", " ".join(["word"] * 12))]


class Terminal(io.StringIO):
    """A text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(*, terminal: bool) -> list[str]:
    """The lines of the table on a screen of 60 columns."""
    out = Terminal() if terminal else io.StringIO()
    console = Console(file=out, force_terminal=terminal, color_system=None, width=60, highlight=False, soft_wrap=True)
    Screen(console).table(HEAD, ROWS, fixed=("NAME",))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_terminal_gets_short_cells_and_a_wrapped_last_column() -> None:
    assert shown(terminal=True) == [
        "NAME        ASKED            SAID",
        "one         aaaaaaaaaaaaaa…  admitted",
        "the-second  b                word word word word word word",
        "                             word word word word word word",
    ]


def test_a_file_gets_every_cell_in_full_on_one_line() -> None:
    assert shown(terminal=False) == [
        f"NAME        ASKED{' ' * 55}  SAID",
        f"one         {'a' * 60}  admitted",
        f"the-second  b{' ' * 59}  {' '.join(['word'] * 12)}",
    ]


def narrow(rows: list[tuple[str, str, str]], width: int) -> list[str]:
    """The lines of the table in a file of that width."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=False, width=500, highlight=False, soft_wrap=True)
    Screen(console, width=width).table(HEAD, rows, fixed=("NAME",))
    return out.getvalue().splitlines()


def test_a_file_of_some_width_gets_lines_that_fit() -> None:
    assert narrow(ROWS, 60) == [
        "NAME        ASKED            SAID",
        "one         aaaaaaaaaaaa...  admitted",
        "the-second  b                word word word word word wor...",
    ]


def test_what_one_column_does_not_need_is_left_to_the_other() -> None:
    assert narrow(ROWS[:1], 60)[1] == f"one   {'a' * 41}...  admitted"
    assert narrow(ROWS[1:], 60)[1] == "the-second  b      word word word word word word word wor..."
    assert narrow([("one", "a", "b")], 60)[1] == "one   a      b"


def test_prose_is_wrapped_in_a_file_of_some_width_only() -> None:
    line = "  warning: " + " ".join(["word"] * 8)
    out, terminal = io.StringIO(), Terminal()
    for file, is_terminal in ((out, False), (terminal, True)):
        console = Console(file=file, force_terminal=is_terminal, color_system=None, width=500, soft_wrap=True)
        screen = Screen(console, width=30)
        screen.prose(line)
        screen.prose("  \x1bshort")
    assert out.getvalue() == "  warning: word word word word\n    word word word word\n  \\x1bshort\n"
    assert terminal.getvalue() == f"{line}\n  \\x1bshort\n"


def test_text_of_others_has_no_effect_on_a_terminal() -> None:
    out = Terminal()
    screen = Screen(Console(file=out, force_terminal=True, color_system=None, width=80, soft_wrap=True))
    screen.say("one \x1b[2Jline\nand the next")
    screen.table(("NODE", "SAID"), [("a\x1b[31m\nb", "\u202ec")], fixed=("NODE",))
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        r"one \x1b[2Jline",
        "and the next",
        "NODE          SAID",
        r"a\x1b[31m\nb  \u202ec",
    ]
