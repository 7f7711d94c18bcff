"""Work that takes long is shown on a terminal, in one line that goes away."""

import contextlib
import io
from collections.abc import Callable
from typing import Final

import pytest

from tests.cli.terminals import Terminal
from webhook.cli import main, warn
from webhook.cli.terminal.progress import progress
from webhook.placementreview.submission import silent

GONE: Final = "\x1b[1A\x1b[2K"
"""One line up, and that line erased."""

SHOWN_LATER: Final = 60.0
"""Seconds before anything is shown of work that ends earlier."""


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal that moves its cursor; :func:`work` writes to it."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


def work(terminal: Terminal, delay: float, *steps: tuple[str, int, int], last: Callable[[], None] = int) -> str:
    """What the terminal shows of work with these steps, which ends once the last of them is to be seen."""
    with contextlib.redirect_stderr(terminal.stream), progress(delay) as step:
        for each in steps:
            step(*each)
        if delay < SHOWN_LATER:
            terminal.until(steps[-1][0])
        last()
    return terminal.shown()


def test_what_takes_long_is_shown_with_its_numbers(terminal: Terminal) -> None:
    shown = work(terminal, 0.01, ("reading the snapshot", 0, 0), ("deciding", 1200, 3400))
    assert "deciding" in shown
    assert "1,200 of 3,400" in shown


def test_nothing_of_it_stays(terminal: Terminal) -> None:
    assert work(terminal, 0.01, ("deciding", 1, 2)).endswith(GONE)


def test_a_number_without_an_end_stands_alone(terminal: Terminal) -> None:
    shown = work(terminal, 0.01, ("reading the cluster", 45_000, 0))
    assert ("45,000 " in shown, " of " in shown) == (True, False)


def test_what_is_quick_shows_nothing(terminal: Terminal) -> None:
    assert work(terminal, SHOWN_LATER, ("deciding", 1, 2)) == ""


def test_many_steps_in_a_moment_are_one(terminal: Terminal) -> None:
    assert "99" not in work(terminal, 0.01, *(("reading", number, 0) for number in range(1, 100)))


def test_a_warning_stands_above_the_line(terminal: Terminal) -> None:
    shown = work(terminal, 0.01, ("deciding", 1, 2), last=lambda: warn("beware"))
    assert "streams-placement: warning: beware\n" in shown


def test_standard_output_goes_where_it_went(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    shown = work(terminal, 0.01, ("deciding", 1, 2), last=lambda: print("the answer"))  # noqa: T201 -- a command does
    assert ("the answer" in shown, capsys.readouterr().out) == (False, "the answer\n")


def test_an_error_takes_the_line_away(terminal: Terminal) -> None:
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        work(terminal, 0.01, ("deciding", 1, 2), last=fail)
    assert terminal.shown().endswith(GONE)


def test_a_dumb_terminal_gets_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with contextlib.redirect_stderr(terminal.stream), progress(0.0) as step:
        assert step is silent
    assert terminal.shown() == ""


def test_a_pipe_gets_nothing() -> None:
    pipe = io.StringIO()
    with contextlib.redirect_stderr(pipe), progress(0.0) as step:
        assert step is silent
    assert pipe.getvalue() == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["explain", "-f", "examples/deployment.yaml"], ["reading the snapshot", "deciding"]),
        (
            ["plan", "-f", "examples/job-parallel.yaml"],
            ["reading the snapshot", "deciding", "looking for the cheapest plan"],
        ),
    ],
    ids=["explain", "plan"],
)
def test_commands_say_what_they_do(
    words: list[str], told: list[str], explain: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``explain`` is the fixture that changes to the repository."""
    assert explain
    steps: list[str] = []
    monkeypatch.setattr("webhook.cli.terminal.progress.silent", lambda what, *_: steps.append(what))
    assert main([*words, "--snapshot", "examples/cluster"]) == 0
    assert list(dict.fromkeys(steps)) == told


def test_clusters_are_counted(explain: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain
    steps: list[tuple[str, int, int]] = []
    monkeypatch.setattr("webhook.cli.terminal.progress.silent", lambda *step: steps.append(step))
    assert main(["clusters", "-f", "examples/apps/emco.yaml", "--clusters", "examples/clusters"]) == 0
    assert {total for _, _, total in steps} == {4}
    assert (steps[0], len(steps)) == (("reading clusters", 0, 4), 4)
