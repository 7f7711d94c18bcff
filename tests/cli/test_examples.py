"""The examples in the help of every command run as they stand."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.cli.completion.shells import needed
from tests.cli.terminals import bare
from tests.golden.examples import EXAMPLES
from tests.suite.untraced import untraced_processes
from webhook.cli import COMMANDS, HelpExample, declaration, main

SERVERS: Final = ("serve", "hpa-api")
"""Commands that run until they are told to stop."""

BEFORE: Final = {"bash": "set -o pipefail; ", "zsh": "autoload -Uz compinit; compinit -u -D; ", "fish": ""}
"""What a shell has done before."""


def examples(*, servers: bool) -> list[tuple[str, HelpExample]]:
    """Each example that needs no cluster, with its command."""
    names = [name for name in COMMANDS if (name in SERVERS) is servers]
    return [(name, one) for name in names for one in declaration(name).HELP_EXAMPLES if not one.cluster]


@pytest.fixture(autouse=True, scope="module")
def _untraced() -> Iterator[None]:
    """What the commands do counts as coverage in the tests of each, in this process."""
    with untraced_processes():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like the root of the repository, where commands may leave files."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    return tmp_path


def environment() -> dict[str, str]:
    """The program on the PATH, and no settings."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {key: value for key, value in bare({"PATH": path}).items() if not key.startswith("STREAMS_")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_some_and_shows_them(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = declaration(name).HELP_EXAMPLES
    assert 2 <= len(found) <= 4
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert [one for one in found if f"  # {one.what}\n  {one.command}\n" not in shown] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_narrow_terminal_breaks_no_name(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names and values have hyphens, and are copied from the help."""
    monkeypatch.setenv("COLUMNS", "60")
    assert main([name, "--help"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.endswith("-") and line[-2:] != " -"] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_flag_is_wrong_use(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--nonsense"]) == 2
    assert f"streams-placement {name}: error: " in capsys.readouterr().err


def test_a_plugin_of_kubectl_shows_what_to_type_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/kubectl-streams_placement"])
    assert main(["version", "--help"]) == 0
    assert "  kubectl streams-placement version -o json\n" in capsys.readouterr().out


@pytest.mark.integration
@pytest.mark.parametrize(("name", "example"), examples(servers=False), ids=str)
def test_an_example_does_what_it_should(name: str, example: HelpExample, folder: Path) -> None:
    """In bash, or in the shell that it is about; 1 is what a refused object leads to."""
    assert name in example.command
    shell = next((each for each in BEFORE if f"{name} {each}" in example.command), "bash")
    done = subprocess.run(  # noqa: S603 -- our own examples
        (needed(shell), "-c", f"{BEFORE[shell]}{example.command}"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode in {0, 1}, "usage:" in done.stderr) == (True, False), done.stderr
    silent = "source" in example.command or name == "mcp"  # its input has ended
    assert done.stdout or len(list(folder.iterdir())) > 1 or silent


@pytest.mark.integration
@pytest.mark.parametrize(("name", "example"), examples(servers=True), ids=str)
def test_a_server_of_an_example_is_ready_and_stops(name: str, example: HelpExample, folder: Path) -> None:
    assert name in example.command
    with subprocess.Popen(  # noqa: S603 -- our own examples
        example.command.split(), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline().startswith("ready http")
        finally:
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    assert process.returncode == 0
