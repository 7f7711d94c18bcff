"""The plugin for Krew: a real archive, checked by Krew's own tool, installed by Krew and run by kubectl."""

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.programs import binaries
from tests.e2e.progress import say
from tests.golden.examples import EXAMPLES
from tools.krew.__main__ import main
from tools.krew.archive import PLATFORMS

ARCHES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
"""The names of machines in Python and in Go."""

MINE: Final = f"linux/{ARCHES.get(platform.machine(), platform.machine())}"
SECONDS: Final = 900


def run(*words: str, **environment: str) -> str:
    """What a program writes; it has to end with 0."""
    done = subprocess.run(  # noqa: S603 -- our own words
        words,
        env=os.environ | environment,
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder, and its server, with the manifest and the archive for this machine and this version of Python."""
    folder = tmp_path_factory.mktemp("released")
    say("making the archive for Krew ...")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(EXAMPLES.parent))
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        wheel = next(folder.glob("*.whl"))
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        words = ["--wheel", str(wheel), "--url", url, "--homepage", "https://example.com", "--out", str(folder)]
        assert main([*words, "--platform", MINE, "--python", python]) == 0
        yield folder
        server.shutdown()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with kubectl and Krew, which is a plugin of kubectl itself, and without this product."""
    folder = tmp_path_factory.mktemp("bin")
    programs = {**binaries.krew(), "kubectl": binaries.kubectl()}
    for name, program in (("kubectl", "kubectl"), ("kubectl-krew", "krew"), ("validate", "validate-krew-manifest")):
        (folder / name).symlink_to(programs[program])
    (folder / f"python3.{sys.version_info.minor}").symlink_to(sys.executable)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


def test_krew_accepts_the_manifest_and_the_archive(released: Path, path: str) -> None:
    """Its tool downloads the archive, compares the checksum, unpacks it, and looks for the licence."""
    validate = str(Path(path.split(os.pathsep, maxsplit=1)[0]) / "validate")
    run(validate, "-manifest", str(released / "streams-placement.yaml"), PATH=path)


@pytest.fixture(scope="class")
def environment(released: Path, path: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("krew")
    archive = next(each for each in PLATFORMS if each.name == MINE).file(version(released))
    where = (f"--manifest={released / 'streams-placement.yaml'}", f"--archive={released / archive}")
    kubectl = str(Path(path.split(os.pathsep, maxsplit=1)[0]) / "kubectl")
    run(kubectl, "krew", "install", *where, PATH=path, KREW_ROOT=str(root))
    return {"PATH": f"{root / 'bin'}{os.pathsep}{path}", "KUBECTL": kubectl}


def test_kubectl_runs_it(released: Path, environment: dict[str, str]) -> None:
    said = run(environment["KUBECTL"], "streams-placement", "version", PATH=environment["PATH"])
    assert said == f"streams-placement {version(released)}\n"


def test_it_decides_and_plans(environment: dict[str, str]) -> None:
    words = ("plan", "-f", "examples/job-parallel.yaml", "--snapshot", "examples/cluster")
    assert "total cost" in run(environment["KUBECTL"], "streams-placement", *words, PATH=environment["PATH"])


def test_processes_of_its_own_find_the_libraries(environment: dict[str, str]) -> None:
    """The tour starts a server, which starts the program for certificates."""
    words = ("tour", "--only", "pool-tagged")
    assert "1 admitted" in run(environment["KUBECTL"], "streams-placement", *words, PATH=environment["PATH"])


def version(released: Path) -> str:
    """The version of the wheel."""
    return next(released.glob("*.whl")).name.split("-")[1]
