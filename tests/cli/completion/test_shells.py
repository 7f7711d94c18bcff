"""Completion in real shells, and through a real kubectl.

A shell that is missing is said to be missing; with ``REQUIRE_SHELLS=1``, as ``make shells`` has it, that is a failure.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.completion.interactive import InteractiveShell, shell_source
from tests.cli.completion.shells import SHELLS, needed
from tests.cli.terminals import bare
from tests.e2e.programs.binaries import kubectl
from webhook.cli.parsers.completion import HELP_EXAMPLES

pytestmark = pytest.mark.integration

KUBECONFIG = "contexts: [{name: 'arn:aws:eks:eu-1:123:cluster/edge'}]"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of a user with the program on the PATH, and with a kubeconfig."""
    home = tmp_path_factory.mktemp("home")
    (home / "kubeconfig").write_text(KUBECONFIG)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "KUBECONFIG": str(home / "kubeconfig"), "HOME": str(home), "LC_ALL": "C.UTF-8"}
    return {key: value for key, value in bare(own).items() if not key.startswith("COVERAGE")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the user is in: two files and a folder."""
    found = tmp_path_factory.mktemp("work")
    (found / "snapshots").mkdir()
    (found / "snapshot.yaml").write_text("")
    (found / "my pod.yaml").write_text("")
    return found


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, folder: Path, environment: dict[str, str]) -> Iterator[InteractiveShell]:
    """A shell with completion switched on."""
    with InteractiveShell(needed(request.param), folder, environment) as found:
        yield found


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        pytest.param("expl", "explain ", id="command"),
        pytest.param("explain --out", "explain --output ", id="flag"),
        pytest.param("explain -o rev", "explain -o review ", id="choice"),
        pytest.param("explain --output=rev", "explain --output=review ", id="choice after an equals sign"),
        pytest.param("explain -f snapshot.", "explain -f snapshot.yaml ", id="file"),
        pytest.param("explain -f a.yaml snapshot.", "explain -f a.yaml snapshot.yaml ", id="second file"),
        pytest.param("explain -f my", "explain -f my\\ pod.yaml ", id="file with a blank"),
        pytest.param("explain --filename=snapshot.", "explain --filename=snapshot.yaml ", id="file behind a sign"),
        pytest.param("plan --snapshot s", "plan --snapshot snapshots/", id="folder"),
        pytest.param("status --context ar", "status --context arn:aws:eks:eu-1:123:cluster/edge ", id="context"),
        pytest.param("status --context arn:aws:e", "status --context arn:aws:eks:eu-1:123:cluster/edge ", id="colons"),
        pytest.param("version nothing", "version nothing", id="nothing to complete"),
        pytest.param("nonsense --o", "nonsense --o", id="unknown command"),
    ],
)
def test_a_line_in_bash_and_zsh(shell: InteractiveShell, typed: str, line: str) -> None:
    plain = shell.completed(f"streams-placement {typed}").replace("\\:", ":")
    assert plain == f"streams-placement {line}"


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        ("expl", ["explain\tshow the admission verdict for a manifest, and the reasons"]),
        ("explain -o y", ["yaml"]),
        ("explain --output=y", ["--output=yaml"]),
        ("explain -f snapshot.", ["snapshot.yaml"]),
        ("explain --filename=snapshot.", ["--filename=snapshot.yaml"]),
        ("plan --snapshot s", ["snapshots/"]),
        ("status --context ar", ["arn:aws:eks:eu-1:123:cluster/edge"]),
        ("version nothing", []),
    ],
)
def test_a_line_in_fish(folder: Path, environment: dict[str, str], typed: str, lines: list[str]) -> None:
    code = f"streams-placement completion fish | source; complete --do-complete 'streams-placement {typed}'"
    command = (needed("fish"), "--no-config", "--command", code)
    done = subprocess.run(  # noqa: S603 -- a shell, on purpose
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    found = [line.removesuffix("\tDirectory") for line in done.stdout.splitlines()]
    assert found == lines


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_is_one_that_the_shell_can_read(name: str, environment: dict[str, str]) -> None:
    code = f"streams-placement completion {name} | {needed(name)} -n"
    command = ("/bin/bash", "-c", code)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 -- a shell, on purpose
    assert (done.returncode, done.stderr) == (0, "")


def test_the_help_says_what_was_typed_here() -> None:
    assert {shell_source("bash"), shell_source("zsh")} < {each.command for each in HELP_EXAMPLES}


class TestKubectl:
    """kubectl runs ``kubectl_complete-streams_placement``, from pip or made by ``completion kubectl``."""

    def completed(self, environment: dict[str, str], *typed: str) -> list[str]:
        command = (str(kubectl()), "__complete", "streams-placement", *typed)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 -- kubectl
        return done.stdout.splitlines()

    def test_a_command(self, environment: dict[str, str]) -> None:
        expected = ["explain\tshow the admission verdict for a manifest, and the reasons", ":4"]
        assert self.completed(environment, "expl") == expected

    def test_a_choice(self, environment: dict[str, str]) -> None:
        assert self.completed(environment, "explain", "-o", "y") == ["yaml", ":4"]

    def test_a_file(self, environment: dict[str, str]) -> None:
        assert self.completed(environment, "explain", "-f", "")[-1] == ":0"

    def test_the_executable_that_is_printed(self, environment: dict[str, str], tmp_path: Path) -> None:
        """As behind Krew, which installs the plugin alone."""
        own = tmp_path / "bin"
        own.mkdir()
        (own / "kubectl-streams_placement").symlink_to(Path(sys.executable).parent / "kubectl-streams_placement")
        printed = own / "kubectl_complete-streams_placement"
        command = "kubectl streams-placement completion kubectl"
        done = subprocess.run(("bash", "-c", command), env=environment, capture_output=True, timeout=60, check=True)  # noqa: S603, S607 -- a shell, on purpose
        printed.write_bytes(done.stdout)
        printed.chmod(0o755)
        bare_path = environment | {"PATH": f"{own}:/usr/bin:/bin"}
        assert self.completed(bare_path, "explain", "-o", "y") == ["yaml", ":4"]
