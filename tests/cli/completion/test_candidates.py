"""What can come next on a command line."""

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import command_line
from webhook.cli import COMMANDS, main
from webhook.cli.completion import SCRIPTS
from webhook.cli.completion.candidates import Directive, candidates_of
from webhook.cli.completion.command_entry import command_entry

KUBECONFIG = """\
apiVersion: v1
kind: Config
contexts:
- {name: kind-lab, context: {cluster: c, user: u}}
- {name: 'arn:aws:eks:eu-1:123:cluster/edge', context: {cluster: c, user: u}}
- {name: kind-edge, context: {cluster: c, user: u}}
"""


@pytest.fixture(autouse=True)
def _kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(path))


def words(*typed: str) -> list[str]:
    """The candidates for the last word."""
    return [each.word for each in candidates_of(typed).words]


def test_the_page_has_what_the_parsers_say() -> None:
    """``make reference`` writes it."""
    page = command_line.PAGE.read_text()
    assert page == command_line.page_text(command_line.entries(), page)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_of_each_shell_is_printed_as_it_is(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out == SCRIPTS[shell].read_text()


def test_the_first_word_is_a_command_with_its_summary() -> None:
    found = {each.word: each.description for each in candidates_of([""]).words}
    assert found == dict(COMMANDS)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param(["pl"], ["plan"], id="command"),
        pytest.param(["--v"], ["--version"], id="flag before any command"),
        pytest.param(["-"], ["-h", "--help", "--version"], id="every spelling after a single dash"),
        pytest.param(["nonsense", ""], [], id="unknown command"),
        pytest.param(["plan", ""], ["--filename"], id="what must be there comes first"),
        pytest.param(["explain", "--rec"], ["--recursive"], id="flag"),
        pytest.param(["explain", "-R", "--rec"], [], id="flag that is there already"),
        pytest.param(["explain", "-f", "a", "--file"], ["--filename"], id="flag that may be repeated"),
        pytest.param(["explain", "-f"], ["-f"], id="whole short flag"),
        pytest.param(["explain", "-o", ""], ["text", "json", "yaml", "html", "review"], id="choices"),
        pytest.param(["explain", "-o", "y"], ["yaml"], id="choice"),
        pytest.param(["explain", "--output=y"], ["--output=yaml"], id="choice after an equals sign"),
        pytest.param(["explain", "--nonsense=y"], [], id="value of an unknown flag"),
        pytest.param(["explain", "-n", ""], [], id="any text"),
        pytest.param(["completion", "z"], ["zsh"], id="argument"),
        pytest.param(["status", "--context", "kind-l"], ["kind-lab"], id="context"),
        pytest.param(["status", "--context=arn:"], ["--context=arn:aws:eks:eu-1:123:cluster/edge"], id="colons"),
        pytest.param(["clusters", "--contexts", "kind-lab,kind-e"], ["kind-lab,kind-edge"], id="second context"),
        pytest.param(["release", "--", "--al"], [], id="no flags behind two dashes"),
        pytest.param(["version", "--", ""], [], id="no arguments behind two dashes"),
    ],
)
def test_words(typed: list[str], expected: list[str]) -> None:
    assert words(*typed) == expected


@pytest.mark.parametrize(
    ("typed", "directive"),
    [
        (["explain", "-f", ""], Directive.FILES),
        (["explain", "-f", "a.yaml", ""], Directive.FILES),
        (["explain", "--filename="], Directive.FILES),
        (["convert", ""], Directive.FILES),
        (["convert", "--", "x"], Directive.FILES),
        (["plan", "--snapshot", "exa"], Directive.FOLDERS),
        (["plan", "-f", "a", "-o", "json", ""], Directive.NO_FILES),
        (["status", "par"], Directive.NO_FILES),
    ],
)
def test_files_are_for_the_shell_to_complete(typed: list[str], directive: Directive) -> None:
    assert candidates_of(typed).directive == directive


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_a_command_is_offered(name: str) -> None:
    names = {name for flag in command_entry(name).flags for name in flag.names if name.startswith("--")}
    assert set(words(name, "--")) == names


@given(st.lists(st.sampled_from([*COMMANDS, "-f", "-o", "--output=", "--", "-", "", "x", "--contexts", "--snapshot"])))
def test_a_candidate_goes_on_from_what_is_typed(typed: list[str]) -> None:
    last = typed[-1] if typed else ""
    assert all(each.word.startswith(last) for each in candidates_of(typed).words)


class TestTheKubeconfig:
    """Completion stays silent about what it cannot read: the shell would put it into the line."""

    @pytest.mark.parametrize(
        "text",
        ["", "[", "contexts: 3", "contexts: [1]", "contexts: [{context: {}}]", "contexts:", "[" * 5000, "\x00"],
        ids=["empty", "no YAML", "a number", "no object", "no name", "nothing", "deep", "zero byte"],
    )
    def test_a_strange_one_has_no_contexts(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "kubeconfig").write_text(text)
        assert words("status", "--context", "") == []

    def test_names_are_those_of_all_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = tmp_path / "other"
        names = ["b", "kind-lab", "a\nb", 7, "$(id)", "a b", ":0"]
        other.write_text(json.dumps({"contexts": [{"name": name} for name in names]}))
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'kubeconfig'}::{other}:{tmp_path / 'absent'}")
        expected = ["arn:aws:eks:eu-1:123:cluster/edge", "b", "kind-edge", "kind-lab"]
        assert words("status", "--context", "") == expected

    def test_without_the_variable_it_is_that_of_the_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("KUBECONFIG")
        monkeypatch.setattr(Path, "home", lambda: tmp_path)
        (tmp_path / ".kube").mkdir()
        (tmp_path / ".kube" / "config").write_text("contexts: [{name: mine}]")
        assert words("status", "--context", "") == ["mine"]


def written(*typed: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["__complete", *typed]) == 0
    return out.getvalue()


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        (["pl"], ["plan\tshow where the pods of a manifest would run, and the cost", ":4"]),
        (["explain", "-o", "j"], ["json", ":4"]),
        (["convert", ""], [":0"]),
    ],
)
def test_a_line_for_each_word_and_one_for_the_directive(typed: Sequence[str], lines: list[str]) -> None:
    assert written(*typed).splitlines() == lines


WORK = {"pydantic", "aiohttp", "numpy", "rich", "yaml", "webhook.app", "webhook.placement.kube", "kubeapi"}
"""What commands work with."""


@pytest.mark.integration
@pytest.mark.parametrize(
    "words", [*(("__complete", name, "--") for name in COMMANDS), ("explain", "--help"), ("serve", "--nonsense")]
)
def test_nothing_is_imported_that_a_command_works_with(words: tuple[str, ...]) -> None:
    code = f"import sys; from webhook.cli import main; main({list(words)}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=30)  # noqa: S603 -- ourselves
    assert set(done.stdout.splitlines()[-1].split()) & WORK == set()
