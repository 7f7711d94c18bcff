"""The image is made of the files that the wheel is made of, on a base that does not change by itself."""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.tools.release.repositories import git
from tools.image.root import USER
from tools.release.locked import libraries
from tools.release.python_packages import build_wheel
from tools.release.sbom import uninstalled
from tools.release.source import last_commit
from tools.release.version import PROJECT, version_of

DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
COPIED = sorted(
    {name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
)
MAKE = shutil.which("make") or "make"


def test_each_stage_begins_with_one_base_by_its_digest() -> None:
    (base,) = re.findall(r"^ARG PYTHON=(.+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?$", DOCKERFILE, re.MULTILINE)
    assert stages == [("python:${PYTHON}", "build"), ("scratch", "image"), ("image", "checked"), ("image", "")]


def test_the_image_has_nothing_but_what_was_chosen_and_checked() -> None:
    """Without a shell, every command of a stage behind the first one has to be a list of words."""
    _, image, checked, last = re.split(r"^FROM .*$", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert re.findall(r"^COPY (.*)$", image, re.MULTILINE) == ["--from=build /image /"]
    assert re.findall(r"^RUN (.*)$", checked, re.MULTILINE) == ['["python", "-m", "tools.image.self_check"]']
    (copied,) = re.findall(r"^COPY --from=checked (\S+) ", last, re.MULTILINE)
    assert f"COPY image.cdx.json {Path(copied).parent}/\n" in checked
    assert "\nRUN " not in image + last


def test_the_image_has_the_user_that_it_runs_as() -> None:
    assert set(re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE)) == {f"{USER}:{USER}"}


def test_the_base_is_one_of_the_versions_of_python_that_are_supported() -> None:
    minor = re.search(r"ARG PYTHON=3\.(\d+)", DOCKERFILE)
    assert minor is not None
    assert int(minor[1]) >= 11


def test_a_builder_is_sent_what_is_copied_and_nothing_else() -> None:
    first, *rest = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert first == "*"
    assert sorted(line.removeprefix("!") for line in rest if line.startswith("!")) == COPIED


@pytest.mark.integration
def test_what_is_copied_makes_the_wheel_of_the_release(repository: Path, released: Path, tmp_path: Path) -> None:
    """The same bytes, so that what was tested of one holds for the other."""
    git(tmp_path, "clone", "--quiet", str(repository), "all")
    context = tmp_path / "context"
    context.mkdir()
    for name in COPIED:
        path = tmp_path / "all" / name
        if path.is_dir():
            unused = shutil.ignore_patterns("*.expected.*")
            shutil.copytree(path, context / name, symlinks=True, ignore=unused if name == "examples" else None)
        else:
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, context / name)
    for path in (each for each in context.rglob("*") if each.is_file() and not each.is_symlink()):
        path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    wheel = build_wheel(context, last_commit(repository).seconds, tmp_path)
    assert wheel.read_bytes() == next(released.glob("*.whl")).read_bytes()


_RUNS = """
import asyncio, sys
from webhook.cli import COMMANDS, load, main
from rich import progress
import numpy, uvloop, yaml
from webhook.placement.devices.published.device import Attribute, Device
from webhook.placement.devices.selectors.selector import DeviceBudget, Selector
for name in COMMANDS:
    load(name)
device = Device("gpu-0", (Attribute("model", "A100"),), ())
text = 'cel.bind(of, device.attributes["gpu.example.com"], of.?model.orValue("x").lowerAscii() == "a100")'
assert Selector(text).matches("gpu.example.com", device, DeviceBudget()) is True
uvloop.run(asyncio.sleep(0))
assert numpy.__file__.startswith(sys.argv[1]), numpy.__file__
sys.exit(main(["plan", "-f", "examples/job-parallel.yaml", "--snapshot", "examples/cluster"]))
"""
"""Every command, colours and progress, a selector of devices with all it may use, a server's loop, a solved plan."""


@pytest.mark.integration
@pytest.mark.skipif(sys.platform != "linux", reason="the commands are those of the image")
def test_what_is_left_of_the_libraries_is_enough(tmp_path: Path) -> None:
    """The Dockerfile's own commands change a copy of the libraries, and the program runs with that."""
    environment, kept = tmp_path / "lib" / "python3.13" / "site-packages", 0
    lock = (ROOT / "requirements.lock").read_text()
    removed = uninstalled(DOCKERFILE)
    assert "pygments" in removed
    for name in {each.name for each in libraries(lock) if each.runs(PROJECT)} - removed:
        kept += _copied(name, environment)
    (run,) = re.findall(r"^RUN (.* pip uninstall .*image.symbols.*)$", DOCKERFILE, re.MULTILINE)
    for command in run.split(" && ")[1:]:
        text = command.replace("/opt/streams-placement", str(tmp_path)).strip()
        text = re.sub(r"^python -m", f"{sys.executable} -m", text)
        subprocess.run(["sh", "-c", text], cwd=ROOT, check=True, timeout=300)  # noqa: S603, S607 -- of the Dockerfile
    left = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file())
    assert left < kept * 0.7, f"{left:,} of {kept:,} bytes are left"
    command = (sys.executable, "-S", "-c", _RUNS, str(tmp_path))
    own = {**os.environ, "FORCE_COLOR": "1", "PYTHONPATH": f"{environment}:{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, timeout=300)  # noqa: S603, PLW1510 -- ourselves
    assert (done.returncode, done.stderr, b"\x1b[" in done.stdout) == (0, b"", True)


def _copied(name: str, folder: Path) -> int:
    """Copy the files of an installed library, of which there may be none on this machine; returns their bytes."""
    try:
        files = metadata.distribution(name).files or ()
    except metadata.PackageNotFoundError:
        return 0
    kept = [each for each in files if ".." not in each.parts and each.suffix != ".pyc"]
    for each in kept:
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(each.locate(), folder / each)
    return sum((folder / each).stat().st_size for each in kept)


def test_its_labels_say_version_and_commit() -> None:
    for name, value in (("version", '"${VERSION}"'), ("revision", '"${REVISION}"'), ("licenses", '"Apache-2.0"')):
        assert f"org.opencontainers.image.{name}={value}" in DOCKERFILE


def test_make_image_gives_version_and_commit() -> None:
    command = (MAKE, "--no-print-directory", "--dry-run", "image")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 -- make
    assert done.stdout.startswith("docker build ")
    assert done.stdout.endswith(f" --tag streams-placement:{version_of(ROOT)} .\n")
    command = (*command, "BUILDER=podman", "IMAGE=registry.example.com/x")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 -- make
    words = done.stdout.split()
    assert words[:2] == ["podman", "build"]
    assert f"VERSION={version_of(ROOT)}" in words
    assert f"registry.example.com/x:{version_of(ROOT)}" in words
    assert any(word.startswith("REVISION=") for word in words)
    for name in re.findall(r"--build-arg (\w+)=", done.stdout):
        assert name == "SOURCE_DATE_EPOCH" or f"\nARG {name}=" in DOCKERFILE


def test_nothing_is_compiled_for_the_times_of_files_as_layers_keep_none() -> None:
    assert DOCKERFILE.count('"install"') == DOCKERFILE.count('"--no-compile"') == 2
    assert "compileall" not in DOCKERFILE
