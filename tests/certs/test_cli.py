"""The program as people call it: every sentence, every exit code."""

import runpy
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography import x509

from certs import files
from certs.cli import main
from tests.certs.samples import DAY, NOW, contents, created, other_programs

PROGRAM = Path(sys.executable).with_name("streams-placement-certs")
DATES = "leaf until 2031-01-01 (365 days), authority until 2039-12-30 (3650 days)\n"


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - our own program


@pytest.mark.integration
@pytest.mark.untraced
def test_create_as_a_process(tmp_path: Path) -> None:
    done = run([str(PROGRAM), "create", "--dir", str(tmp_path / "pair"), "--loopback"])
    assert (done.returncode, done.stderr) == (0, "")
    assert set(contents(tmp_path / "pair")) == set(files.ORDER)


@pytest.mark.integration
@pytest.mark.untraced
def test_show_as_a_process(tmp_path: Path) -> None:
    created(tmp_path)
    done = run([str(PROGRAM), "show", "--dir", str(tmp_path)])
    assert (done.returncode, done.stderr) == (1, "")  # the sample's time has not come yet
    assert done.stdout.startswith(f"{tmp_path}: unusable\n  ca.crt is not valid before 2029-12-31 23:55:00 UTC\n")


@pytest.mark.integration
def test_creators_at_the_same_time_leave_one_usable_pair(tmp_path: Path) -> None:
    commands = [[str(PROGRAM), "create", "--dir", str(tmp_path), "--dns", name, "--force"] for name in ("a", "b", "c")]
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(run, commands))
    assert [process.returncode for process in done] == [0, 0, 0]
    assert main(["show", "--dir", str(tmp_path)]) == 0


def test_the_package_is_the_program_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["certs", "create", "--dir", str(tmp_path), "--loopback"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("certs", run_name="__main__")
    assert ended.value.code == 0


def test_importing_the_module_of_the_program_runs_nothing() -> None:
    assert "main" in runpy.run_module("certs.__main__", run_name="anything")


@pytest.mark.untraced
@pytest.mark.parametrize("module", ["certs.cli", "certs.managed.command"])
def test_what_is_slow_to_import_waits_until_it_is_needed(module: str) -> None:
    """Only ``manage`` needs an HTTP client, and only a kubeconfig PyYAML."""
    slow = {"aiohttp", "yaml"} if module == "certs.cli" else {"yaml"}
    code = f"import sys, {module}; print(sorted({slow} & set(sys.modules)))"
    found = subprocess.check_output((sys.executable, "-c", code), text=True)  # noqa: S603 -- our own program
    assert found == "[]\n"


def test_create_says_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["create", "--dir", str(tmp_path), "--service", "web", "--namespace", "ns"], NOW)
    assert (code, capsys.readouterr().out) == (
        0,
        f"made ca.key, ca.crt, tls.key, tls.crt in {tmp_path}: "
        "ca.crt and ca.key are missing; tls.crt and tls.key are missing\n"
        "for web.ns.svc, web.ns.svc.cluster.local, web, web.ns\n" + DATES,
    )


def test_create_says_what_it_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    created(tmp_path, days=365)
    (tmp_path / "tls.key").chmod(0o644)
    code = main(["create", "--dir", str(tmp_path), "--loopback"], NOW)
    assert (code, capsys.readouterr().out) == (
        0,
        f"kept the pair in {tmp_path}: it is usable\n"
        "restricted access to tls.key: its mode is now 0600\n"
        "for localhost, 127.0.0.1, ::1\n" + DATES,
    )


def test_create_refuses_to_replace_another_programs_authority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write(tmp_path, {"ca.crt": other_programs()[0]})
    code = main(["create", "--dir", str(tmp_path), "--loopback"], NOW)
    assert (code, capsys.readouterr().err) == (
        1,
        (
            f"streams-placement-certs create: {tmp_path} holds the authority CN=kubernetes, which another program "
            "created and which cannot be used: ca.key is missing; ca.crt is not the certificate of an authority. "
            "Choose another folder, or replace it for good with --force\n"
        ),
    )


def test_by_the_clock_a_life_of_30_days_has_30_days_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["create", "--dir", str(tmp_path), "--loopback", "--days", "30"])
    assert " (30 days), authority until " in capsys.readouterr().out


@pytest.mark.parametrize("command", ["create", "show"])
def test_a_folder_that_cannot_be_one_is_trouble(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "pair"
    monkeypatch.setenv("STREAMS_PLACEMENT_CERTS_LOOPBACK", "yes")
    code = main([command, "--dir", str(folder)])
    where = "" if command == "create" else f" ({folder}/ca.key)"
    assert (code, capsys.readouterr().err) == (
        3,
        f"streams-placement-certs {command}: {folder} cannot be used: Not a directory{where}\n",
    )


def test_a_folder_in_the_place_of_a_file_is_trouble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tls.key").mkdir()
    code = main(["create", "--dir", str(tmp_path), "--loopback"])
    assert (code, capsys.readouterr().err) == (
        3,
        f"streams-placement-certs create: {tmp_path} cannot be used: Is a directory ({tmp_path}/tls.key)\n",
    )


def test_a_folder_that_another_holds_is_trouble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_PATIENCE", 0.0)
    with files.locked(tmp_path):
        code = main(["create", "--dir", str(tmp_path), "--loopback"])
    assert (code, capsys.readouterr().err) == (
        3,
        (
            f"streams-placement-certs create: {tmp_path} cannot be used: "
            "another streams-placement-certs already runs there\n"
        ),
    )


def test_show_of_a_usable_pair_succeeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    created(tmp_path)
    assert main(["show", "--dir", str(tmp_path)], NOW) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path}: usable\n")


def test_show_of_an_expired_pair_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    created(tmp_path, days=90)
    assert main(["show", "--dir", str(tmp_path), "-o", "json"], NOW + 91 * DAY) == 1
    assert '"tls.crt expired on 2030-04-01 00:00:00 UTC"' in capsys.readouterr().out


def test_an_unreadable_authority_is_not_another_programs(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"half")
    assert main(["create", "--dir", str(tmp_path), "--loopback"]) == 0


def test_an_authority_of_another_program_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files.write(tmp_path, {"ca.crt": other_programs(x509.BasicConstraints(ca=True, path_length=None))[0]})
    main(["show", "--dir", str(tmp_path)], NOW)
    assert "  subject          CN=kubernetes" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", files.ORDER)
def test_the_command_that_show_gives_mends_the_folder(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    created(tmp_path / "a b")
    (tmp_path / "a b" / name).write_bytes(b"half")
    main(["show", "--dir", str(tmp_path / "a b")], NOW)
    command = capsys.readouterr().out.split("to repair it: ")[1].splitlines()[0]
    filled_in = command.replace("NAMESPACE", "ns").replace("NAME", "web")
    main(shlex.split(filled_in)[1:], NOW)
    assert main(["show", "--dir", str(tmp_path / "a b")], NOW) == 0
