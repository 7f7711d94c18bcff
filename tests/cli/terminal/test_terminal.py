"""Colour is for terminals, and only where nobody forbids it; tables are cut to fit on terminals alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminals import bare, into_file, on_terminal, process_on_terminal
from tests.golden.examples import EXAMPLES
from tests.suite.untraced import untraced_processes

pytestmark = pytest.mark.integration

ESCAPE = "\x1b"
EXPLAIN = ("explain", "-f", "examples/pool-tagged.yaml", "--snapshot", "examples/cluster")
PLAN = ("plan", "-f", "examples/job-parallel.yaml", "--snapshot", "examples/cluster")


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)


def piped(*words: str, **environment: str) -> tuple[int, str, str]:
    """Exit code and what is written into pipes; the command counts as coverage in its tests in this process."""
    command = (sys.executable, "-m", "webhook", *words)
    with untraced_processes():
        done = subprocess.run(  # noqa: S603 -- ourselves
            command, env=bare(environment), capture_output=True, text=True, timeout=60, check=False
        )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.untraced
def test_a_terminal_gets_colours() -> None:
    """The program itself; the others are calls in this process."""
    assert f"{ESCAPE}[1;32m  admitted" in process_on_terminal(*EXPLAIN, TERM="xterm")


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"}],
    ids=["NO_COLOR", "dumb", "NO_COLOR against FORCE_COLOR"],
)
def test_a_terminal_gets_no_escape_sequence_if_it_is_told_so(environment: dict[str, str]) -> None:
    shown = on_terminal(*EXPLAIN, **environment)
    assert (ESCAPE in shown, "candidates: worker-" in shown) == (False, True)


def test_an_empty_no_color_forbids_nothing() -> None:
    assert ESCAPE in on_terminal(*EXPLAIN, TERM="xterm", NO_COLOR="")


@pytest.mark.parametrize(("environment", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)], ids=["", "forced"])
def test_a_pipe_gets_colours_by_force_only(environment: dict[str, str], *, coloured: bool) -> None:
    assert (ESCAPE in piped(*EXPLAIN, **environment)[1]) is coloured


def test_a_pipe_gets_whole_tables_even_with_colours() -> None:
    """A log of continuous integration has ``FORCE_COLOR``, and nobody wants the cells of its tables cut."""
    shown = into_file("tour", TERM="xterm", FORCE_COLOR="1", COLUMNS="60")
    assert (ESCAPE in shown, "refused-index" in shown, "…" in shown) == (True, True, False)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_programs_read_is_never_coloured(form: str) -> None:
    assert ESCAPE not in on_terminal(*PLAN, "-o", form, TERM="xterm", FORCE_COLOR="1")


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.untraced)])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("version",), id="version"),
        pytest.param((*EXPLAIN, "-o", "json"), marks=pytest.mark.untraced, id="explain"),
        pytest.param(PLAN, id="plan"),
    ],
)
def test_a_reader_that_has_enough_is_not_an_error_to_talk_about(words: tuple[str, ...], unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = (sys.executable, "-m", "webhook", *words)
    environment = bare({"PYTHONUNBUFFERED": unbuffered})
    with os.fdopen(writing, "wb") as out:
        done = subprocess.run(  # noqa: S603 -- ourselves
            command, stdout=out, stderr=subprocess.PIPE, env=environment, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.untraced
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_in_one_sentence(unbuffered: str) -> None:
    command = (sys.executable, "-m", "webhook", "version")
    environment = bare({"PYTHONUNBUFFERED": unbuffered})
    with Path("/dev/full").open("wb") as out:
        done = subprocess.run(  # noqa: S603 -- ourselves
            command, stdout=out, stderr=subprocess.PIPE, env=environment, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (3, b"streams-placement: [Errno 28] No space left on device\n")


def test_the_name_of_a_file_has_no_effect_on_a_terminal(tmp_path: Path) -> None:
    manifest = tmp_path / f"{ESCAPE}[2J.yaml"
    manifest.write_bytes((EXAMPLES / "pool-tagged.yaml").read_bytes())
    for command in ("explain", "plan"):
        out = into_file(command, "-f", str(tmp_path), "--snapshot", "examples/cluster")
        assert (ESCAPE in out, f"{tmp_path}/\\x1b[2J.yaml: Pod" in out) == (False, True)


def test_json_has_no_effect_on_a_terminal_and_needs_no_encoding(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    text = (EXAMPLES / "pool-tagged.yaml").read_text()
    manifest.write_text(text.replace("  annotations:\n", '  annotations:\n    example.com/note: "\\x9B31m\\u202E"\n'))
    words = ("explain", "-f", str(manifest), "--snapshot", "examples/cluster", "-o", "json")
    code, out, err = piped(*words, PYTHONIOENCODING="ascii")
    assert (code, err, out.isascii()) == (0, "", True)
    assert json.loads(out)[0]["before"]["metadata"]["annotations"]["example.com/note"] == "\x9b31m\u202e"
