"""The frame of all commands: help, exit codes, and one sentence for what went wrong."""

import argparse
import io
import logging
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webhook.cli import COMMANDS, main, own_environment, typed_name, warn
from webhook.cli.commands import version
from webhook.cli.exits import WrongUse


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"{name} " not in shown or COMMANDS[name] not in shown] == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param([], ": error: the following arguments are required: COMMAND\nSee ", id="no command"),
        pytest.param(
            ["served"], ': error: unknown command "served" (did you mean serve?)\nSee ', id="misspelt command"
        ),
        pytest.param(["ls"], ': error: unknown command "ls": use one of check, clusters, ', id="unknown command"),
        pytest.param(["--port", "1"], "invalid choice: '1'", id="flag without a command"),
        pytest.param(
            ["plan"],
            " plan: error: the following arguments are required: -f/--filename\nSee streams-placement plan --help.\n",
            id="a flag that is missing",
        ),
    ],
)
def test_wrong_use_is_2(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert "usage: " not in said


@pytest.mark.parametrize(
    ("called", "folders", "typed"),
    [
        (".venv/bin/streams-placement", "", ".venv/bin/streams-placement"),
        (".venv/bin/streams-placement", "bin", "streams-placement"),
        ("/usr/bin/kubectl-streams_placement", "", "kubectl streams-placement"),
        ("/somewhere/webhook/__main__.py", "", "streams-placement"),
    ],
    ids=["by its path", "by its name", "as a plugin", "as a module"],
)
def test_a_command_to_type_is_called_as_this_one_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, called: str, folders: str, typed: str
) -> None:
    program = tmp_path / "bin" / "streams-placement"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / folders) if folders else "")
    monkeypatch.setattr(sys, "argv", [called])
    assert typed_name() == typed


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("/usr/bin/streams-placement", "usage: streams-placement "),
        ("/usr/bin/kubectl-streams_placement", "usage: kubectl streams-placement "),
        ("/somewhere/webhook/__main__.py", "usage: streams-placement "),
    ],
)
def test_help_shows_how_it_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], called: str, shown: str
) -> None:
    monkeypatch.setattr(sys, "argv", [called, "--help"])
    assert main() == 0
    assert capsys.readouterr().out.startswith(shown)


def test_the_package_can_be_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["streams-placement", "version"])
    with pytest.raises(SystemExit) as leaving:
        runpy.run_module("webhook", run_name="__main__")
    assert (leaving.value.code, capsys.readouterr().out[:18]) == (0, "streams-placement ")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param(
            ["version", "--ouput", "json"],
            "version: error: unrecognized arguments: --ouput json, did you mean --output?",
            id="misspelt",
        ),
        pytest.param(
            ["version", "--ouput=json"],
            "version: error: unrecognized arguments: --ouput=json, did you mean --output?",
            id="with a value",
        ),
        pytest.param(
            ["version", "--far-off"], "version: error: unrecognized arguments: --far-off", id="nothing like it"
        ),
        pytest.param(["version", "output\x1b"], "version: error: unrecognized arguments: output\\x1b", id="no flag"),
        pytest.param(["--early", "version"], "error: unrecognized arguments: --early", id="before the command"),
    ],
)
def test_a_flag_that_is_not_known(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert f"{complaint}\nSee " in capsys.readouterr().err


def test_another_process_looks_for_modules_where_this_one_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """But not in the current folder, where anybody's files may be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/libraries/cp312", "/libraries/common"])
    assert own_environment()["PYTHONPATH"] == "/libraries/cp312:/libraries/common"


def test_importing_it_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("webhook.__main__", run_name="webhook.__main__")
    assert capsys.readouterr().out == ""


class TestACommandThatFails:
    """One sentence on standard error, and the exit code for its sort."""

    @pytest.fixture(params=["wrong use", "trouble", "another pipe", "silent trouble", "interrupted"])
    def failure(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
        raised, code, sentence = {
            "wrong use": (WrongUse("give a file"), 2, "give a file"),
            "trouble": (RuntimeError("the disk\nis \x1b full"), 3, "the disk\\nis \\x1b full"),
            "another pipe": (BrokenPipeError(32, "Broken pipe"), 3, "[Errno 32] Broken pipe"),
            "silent trouble": (ZeroDivisionError(), 3, "ZeroDivisionError"),
            "interrupted": (KeyboardInterrupt(), 3, "interrupted"),
        }[request.param]

        def run(_: argparse.Namespace) -> int:
            raise raised

        monkeypatch.setattr(version, "run", run)
        return code, sentence

    def test_says_so_in_one_sentence(self, failure: tuple[int, str], capsys: pytest.CaptureFixture[str]) -> None:
        code, sentence = failure
        assert (main(["version"]), capsys.readouterr().err) == (code, f"streams-placement: {sentence}\n")


def test_a_warning_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that read clusters warn at the same time: the ends of their lines must not be mixed up."""
    written = list[str]()

    class Terminal(io.StringIO):
        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

    monkeypatch.setattr(sys, "stderr", Terminal())
    warn("cluster a: a Pod was skipped")
    assert list(filter(None, written)) == ["streams-placement: warning: cluster a: a Pod was skipped\n"]


class TestDebugging:
    """At level debug there is a traceback before the sentence."""

    @pytest.fixture(autouse=True)
    def _debug(self) -> Iterator[None]:
        root = logging.getLogger()
        level = root.level
        root.setLevel(logging.DEBUG)
        yield
        root.setLevel(level)

    def test_shows_a_traceback(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def run(_: argparse.Namespace) -> int:
            raise RuntimeError("the disk is full")

        monkeypatch.setattr(version, "run", run)
        assert main(["version"]) == 3
        lines = capsys.readouterr().err.splitlines()
        assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "streams-placement: the disk is full")
