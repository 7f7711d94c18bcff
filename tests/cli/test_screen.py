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
