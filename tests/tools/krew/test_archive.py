"""The plugin for Krew: what an archive holds, and how the launcher finds its libraries."""

import io
import os
import runpy
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.yaml_values import loaded
from tools.krew import archive
from tools.krew.__main__ import main
from tools.krew.archive import PLATFORMS, PROGRAM, Platform, packed, share, tag
from tools.krew.manifest import manifest

LAUNCHER = Path(archive.__file__).with_name("launcher.py")


def library(folder: Path, name: str, wheel_tags: str, *files: str) -> None:
    """Install a library as uv does: its files, and a folder that says what they are."""
    info = folder / f"{name}.dist-info"
    info.mkdir(parents=True)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(f"# {name}\n")
    (info / "WHEEL").write_text("\n".join(["Wheel-Version: 1.0", *(f"Tag: {each}" for each in wheel_tags.split()), ""]))
    recorded = [*files, f"{info.name}/WHEEL", f"{info.name}/RECORD", "../../bin/tool", "absent.pyc"]
    (info / "RECORD").write_text("".join(f"{each},sha256=abc,1\n" for each in recorded))


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """Libraries for two versions: pure, for any version, compiled, of different versions, and a builder of wheels."""
    for version in ("cp311", "cp312"):
        library(tmp_path / version, "pure-1", "py2-none-any py3-none-any", "pure/__init__.py", "pure/part.py")
        library(tmp_path / version, "stable-1", "cp311-abi3-manylinux_2_28_x86_64", "stable.py")
        library(tmp_path / version, "fast-1", f"{version}-{version}-manylinux_2_28_x86_64", "fast.py")
        library(tmp_path / version, "setuptools-84.2.1", "py3-none-any", "setuptools/__init__.py")
    library(tmp_path / "cp311", "old-1", "py3-none-any", "old.py")
    library(tmp_path / "cp311", "several-1", "cp311-abi3-linux_x86_64", "several.py")
    library(tmp_path / "cp312", "several-1", "cp312-abi3-linux_x86_64", "several.py")
    return tmp_path


def test_what_every_version_can_use_is_there_once(libraries: Path) -> None:
    share(libraries, ["cp311", "cp312"])
    assert files(libraries) == [
        "common/pure/__init__.py",
        "common/pure/part.py",
        "common/stable.py",
        "cp311/fast.py",
        "cp311/old.py",
        "cp311/several.py",
        "cp312/fast.py",
        "cp312/several.py",
    ]


def test_what_says_what_a_library_is_stays_with_it(libraries: Path) -> None:
    """``importlib.metadata`` looks for it."""
    share(libraries, ["cp311", "cp312"])
    assert (libraries / "common" / "pure-1.dist-info" / "RECORD").exists()
    assert not list(libraries.rglob("setuptools*"))


def test_the_same_files_are_the_same_archive(tmp_path: Path) -> None:
    archives = []
    for order in (("a", "b"), ("b", "a")):
        folder = tmp_path / order[0]
        for name in order:
            (folder / "lib" / name).mkdir(parents=True)
            (folder / "lib" / name / "module.py").write_text(name)
        (folder / PROGRAM).write_text("#!")
        (folder / "lib" / "a" / "__pycache__").mkdir()
        (folder / "lib" / "a" / "__pycache__" / "module.pyc").write_text("")
        os.utime(folder / PROGRAM, (len(archives), len(archives)))
        archives.append(packed(folder))
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as found:
        entries = [(each.name, oct(each.mode), each.mtime, each.uid) for each in found]
    assert entries == [
        (PROGRAM, "0o755", 0, 0),
        ("lib/a/module.py", "0o644", 0, 0),
        ("lib/b/module.py", "0o644", 0, 0),
    ]


class TestTheLauncher:
    """As Krew installs it: behind a link, in a folder of its own."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Path:
        """The folder that an archive is unpacked in, with a program that says where it came from."""
        common = tmp_path / "store" / "lib" / "common" / "webhook"
        common.mkdir(parents=True)
        (common / "__init__.py").write_text("")
        (common / "cli.py").write_text(
            "import sys\ndef main():\n    print(sys.argv, 'PYTHONPATH' in __import__('os').environ)\n    return 1\n"
        )
        (tmp_path / "store" / PROGRAM).write_bytes(LAUNCHER.read_bytes())
        (tmp_path / "store" / PROGRAM).chmod(0o755)
        return tmp_path / "store"

    def run(self, store: Path, path: str) -> tuple[int, str, str]:
        link = store.parent / PROGRAM
        link.symlink_to(store / PROGRAM)
        environment = {"PATH": path}
        command = (sys.executable, str(link), "plan", "-o", "json")
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 -- ourselves
        return done.returncode, done.stdout, done.stderr

    def test_it_runs_the_program_with_the_libraries_of_this_version(self, store: Path) -> None:
        (store / "lib" / f"cp{sys.version_info.major}{sys.version_info.minor}").mkdir()
        words = [str(store.parent / PROGRAM), "plan", "-o", "json"]
        # Programs of the user that kubeconfigs name, some of them in Python, must not find these libraries.
        assert self.run(store, "") == (1, f"{words} False\n", "")

    def test_another_python_on_the_path_is_used(self, store: Path, tmp_path: Path) -> None:
        (store / "lib" / "cp399").mkdir()
        other = tmp_path / "bin" / "python3.99"
        other.parent.mkdir()
        other.write_text('#!/bin/sh\necho "another: $@"\n')
        other.chmod(0o755)
        shim = tmp_path / "bin" / "python3.100"  # newer, and there is nothing behind it
        shim.write_text("#!/bin/sh\nexit 127\n")
        shim.chmod(0o755)
        (store / "lib" / "cp3100").mkdir()
        assert self.run(store, str(other.parent)) == (0, f"another: {store.parent / PROGRAM} plan -o json\n", "")

    def test_a_python_under_the_name_of_another_version_is_not_used(self, store: Path, tmp_path: Path) -> None:
        """It would run the launcher, which would look for a Python and find the same, again and again."""
        (store / "lib" / "cp399").mkdir()
        other = tmp_path / "bin" / "python3.99"
        other.parent.mkdir()
        other.symlink_to(sys.executable)
        code, _, error = self.run(store, str(other.parent))
        assert (code, "a Python of version 3.99 is needed" in error) == (3, True)

    def test_a_python_without_the_global_lock_does_not_fit(
        self, store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("sys.abiflags", "t", raising=False)
        monkeypatch.setenv("PATH", "")
        found = runpy.run_path(str(store / PROGRAM))
        (store / "lib" / "cp{}{}".format(*sys.version_info[:2])).mkdir()
        assert found["main"]() == 3
        mine = "{}.{}".format(*sys.version_info[:2])
        assert f"{mine}, but not CPython with the global lock: put" in capfd.readouterr().err

    def test_without_one_it_says_what_is_needed(self, store: Path) -> None:
        for name in ("cp399", "cp398"):
            (store / "lib" / name).mkdir()
        mine = f"{sys.executable} is {sys.version_info.major}.{sys.version_info.minor}"
        sentence = f"a Python of version 3.98, 3.99 is needed, and {mine}: put one of them on the PATH"
        assert self.run(store, "") == (3, "", f"streams-placement: {sentence}\n")


def test_the_manifest_names_each_archive_with_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / PLATFORMS[0].file("1.2.3")
    path.write_bytes(b"archive")
    text = manifest("1.2.3", "https://example.com", "https://example.com/v1.2.3/", {PLATFORMS[0]: path})
    spec = loaded(text)["spec"]
    assert (spec["version"], len(spec["shortDescription"]) <= 60) == ("v1.2.3", True)
    assert spec["platforms"] == [
        {
            "selector": {"matchLabels": {"os": "linux", "arch": "amd64"}},
            "uri": "https://example.com/v1.2.3/streams-placement-1.2.3-linux-amd64.tar.gz",
            "sha256": "0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3",
            "bin": PROGRAM,
        }
    ]


def test_a_release_has_an_archive_for_each_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(_: Path, platform: Platform, wheel: Path, path: Path, pythons: list[str]) -> None:
        path.write_text(f"{platform.name} {wheel.name} {[tag(one) for one in pythons]}")

    monkeypatch.setattr("tools.krew.__main__.make_archive", make)
    words = ["--wheel", "dist/streams_placement-1.2.3-py3-none-any.whl", "--url", "https://example.com/v1.2.3"]
    assert main([*words, "--homepage", "https://example.com", "--out", str(tmp_path)]) == 0
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == [*sorted(platform.file("1.2.3") for platform in PLATFORMS), "streams-placement.yaml"]


def test_a_file_that_is_not_a_wheel_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--wheel", "program", "--url", "u", "--homepage", "h", "--out", str(tmp_path)]
    assert main(words) == 2
    assert capsys.readouterr().err == "program is no wheel: its name should be NAME-VERSION-...whl\n"
