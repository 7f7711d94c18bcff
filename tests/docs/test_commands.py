"""The commands on the pages do what the pages show."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import Command, commands, pattern, run, runnable
from tests.docs.forked_commands import forked_commands
from tests.docs.pages import ROOT, Block

RUN = runnable()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the program that the pages run."""
    with forked_commands(tmp_path_factory.mktemp("forked")) as folder:
        yield folder


@pytest.mark.integration
@pytest.mark.parametrize("page", dict.fromkeys(block.page for block in RUN), ids=lambda page: page.name)
def test_the_commands_of_a_page_write_what_it_shows(page: Path, programs: Path) -> None:
    """One block after the other, as a reader types them: a later one may use what an earlier one has left."""
    written, shown = dict[str, list[str]](), dict[str, list[str]]()
    for block in (one for one in RUN if one.page == page):
        for command in commands(block):
            lines = run(command.text, programs)
            if not pattern(command.shown).fullmatch("".join(f"{line}\n" for line in lines)):
                written[f"{block}: {command.text}"], shown[f"{block}: {command.text}"] = lines, command.shown
    assert written == shown


def test_there_are_commands_to_run() -> None:
    assert len(RUN) >= 20


def test_three_dots_stand_for_any_lines_and_nothing_else_does() -> None:
    shown = ["first", "...", "last"]
    outputs = ["first\nlast\n", "first\na\nb\nlast\n", "first\nlost\n", "first\na\n"]
    assert [bool(pattern(shown).fullmatch(output)) for output in outputs] == [True, True, False, False]


def test_a_command_goes_on_after_a_greater_than_sign() -> None:
    block = Block(ROOT / "README.md", 1, "sh", "$ cat <<'END'\n> text\n> END\ntext\n$ true\n")
    assert list(commands(block)) == [Command("cat <<'END'\ntext\nEND", ["text"]), Command("true", [])]
