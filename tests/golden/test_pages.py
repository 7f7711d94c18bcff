"""Pages of the documentation, written anew."""

from pathlib import Path

import pytest

from tests.docs.commands import Command
from tests.golden.pages import reworded, updated, written_anew
from tests.golden.wording import Phrase


def test_an_output_without_dots_is_written_as_it_is() -> None:
    assert updated(Command("x", ["old"]), ["new", "lines"]) == ["new", "lines"]


def test_dots_stay_and_shown_lines_become_the_ones_most_like_them() -> None:
    output = ["a line that may hold", "something else", "another line at the end"]
    assert updated(Command("x", ["a line that cannot hold", "...", "another line near the end"]), output) == [
        "a line that may hold",
        "...",
        "another line at the end",
    ]


@pytest.mark.integration
def test_the_output_of_a_command_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Text.\n\n```sh\n$ echo new words\nold words\n$ true\n```\n")
    assert list(written_anew((page,))) == [(page, None)]
    assert page.read_text() == "Text.\n\n```sh\n$ echo new words\nnew words\n$ true\n```\n"
    assert list(written_anew((page,))) == []


@pytest.mark.integration
def test_an_output_that_its_dots_do_not_fit_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    page = tmp_path / "page.md"
    text = "```sh\n$ seq 3\nsomething\n...\n```\n"
    page.write_text(text)
    (found,) = written_anew((page,))
    assert found == (page, "page.md:1: its dots do not fit what comes of: seq 3")
    assert page.read_text() == text


def test_a_line_is_reworded_where_a_test_looks_for_the_words_of_now(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("it cannot hold\nothers cannot hold\n")
    assert list(reworded([Phrase("cannot", "may not")], ["\nit may not hold\n"], (page,))) == [page]
    assert page.read_text() == "it may not hold\nothers cannot hold\n"
