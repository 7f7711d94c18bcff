"""The wheel, installed beside the pinned libraries and far from any clone, does what the README says."""

import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.release.locked import libraries
from tools.release.version import version_of

pytestmark = [pytest.mark.integration, pytest.mark.untraced]

SECONDS = 120


@pytest.fixture(scope="module")
def programs(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment with the wheel, and no libraries but those of the lock file."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    packages = next(environment.glob("lib/python3*/site-packages"))
    for library in libraries((ROOT / "requirements.lock").read_text()):
        link(metadata.distribution(library.name), packages)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(environment / "bin" / "python"))
    wheel = next(released.glob("*.whl"))
    command = (*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel))
    subprocess.run(command, check=True, timeout=SECONDS)  # noqa: S603 -- pip, no shell
    return environment / "bin"


def link(library: metadata.Distribution, packages: Path) -> None:
    """Link the files of an installed library into another folder of packages, without a network."""
    for file in library.files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                target.symlink_to(file.locate())


def run(programs: Path, folder: Path, *words: str) -> str:
    """What a program of the environment writes, run in a folder without a clone; it has to end with 0."""
    environment = {"PATH": f"{programs}{os.pathsep}{os.defpath}", "HOME": str(folder), "TMPDIR": str(folder)}
    done = subprocess.run(  # noqa: S603 -- ourselves
        (programs / words[0], *words[1:]),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_is_the_wheel_that_runs(programs: Path, tmp_path: Path) -> None:
    said = run(programs, tmp_path, "python", "-c", "import webhook, certs, kubeapi; print(webhook.__file__)")
    assert Path(said).is_relative_to(programs.parent)


@pytest.mark.parametrize("words", [("streams-placement", "version"), ("kubectl-streams_placement", "version")])
def test_it_says_its_version(programs: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert run(programs, tmp_path, *words) == f"streams-placement {version_of(ROOT)}\n"


def test_it_explains_a_manifest_against_a_snapshot(programs: Path, tmp_path: Path) -> None:
    words = ("-f", str(ROOT / "examples" / "pool-tagged.yaml"), "--snapshot", str(ROOT / "examples" / "cluster"))
    assert "\n  admitted, 2 of 13 nodes can run it\n" in run(programs, tmp_path, "streams-placement", "explain", *words)


def test_it_has_the_kinds_of_other_operators(programs: Path, tmp_path: Path) -> None:
    example = ROOT / "examples" / "applications" / "spark.yaml"
    words = ("-f", str(example), "--snapshot", str(ROOT / "examples" / "cluster"))
    said = run(programs, tmp_path, "streams-placement", "explain", *words)
    assert f"{example}: SparkApplication pi, executor in namespace default\n  admitted" in said


def test_it_has_the_examples_of_the_tour(programs: Path, tmp_path: Path) -> None:
    """The tour starts the server, which starts the program for certificates."""
    here = subprocess.run(
        (sys.executable, "-m", "webhook", "tour", "--all"), capture_output=True, text=True, timeout=SECONDS, check=True
    )
    there = run(programs, tmp_path, "streams-placement", "tour", "--all")
    own = next(programs.parent.glob("lib/python3*/site-packages")) / "webhook" / "examples"
    assert f"; the cluster is {own / 'cluster'}.\n" in there
    assert [line for line in there.splitlines() if "examples/cluster" not in line] == [
        line for line in here.stdout.splitlines() if "examples/cluster" not in line
    ]


def test_what_the_tour_names_next_works(programs: Path, tmp_path: Path) -> None:
    shown = run(programs, tmp_path, "streams-placement", "tour", "--only", "pool-tagged").splitlines()
    explain, start = (line.split() for line in shown[-2:])
    assert "\n  admitted, 2 of 13 nodes can run it\n" in run(programs, tmp_path, *explain)
    command = [str(programs / start[0]), *start[1:], "--port", "0", "--health-port", "0", "--drain", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- ourselves
        try:
            assert process.stdout is not None
            assert "https://127.0.0.1:" in process.stdout.readline()
        finally:
            process.terminate()
            process.wait(SECONDS)


def test_certificates_are_made(programs: Path, tmp_path: Path) -> None:
    assert run(programs, tmp_path, "streams-placement-certs", "--help").startswith("usage: streams-placement-certs")
