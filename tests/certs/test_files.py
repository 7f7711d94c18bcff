"""The folder: modes, whole files, one writer at a time."""

import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from certs import files

CONTENTS = {"ca.crt": b"1", "ca.key": b"2", "tls.crt": b"3", "tls.key": b"4"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask 000", "umask 022", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_keys_are_for_their_owner_and_certificates_for_all(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    modes = {name: mode(tmp_path / name) for name in CONTENTS}
    assert modes == {"ca.crt": 0o644, "ca.key": 0o600, "tls.crt": 0o644, "tls.key": 0o600}


@pytest.mark.usefixtures("umask")
def test_a_folder_that_we_make_is_for_its_owner(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "parent" / "pair")
    assert mode(tmp_path / "parent" / "pair") == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.make_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    assert files.read(tmp_path) == CONTENTS


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert files.read(tmp_path / "nowhere") == {}


def test_nothing_else_stays_in_the_folder(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    assert {path.name for path in tmp_path.iterdir()} == set(CONTENTS)


def test_a_leftover_of_a_killed_run_is_replaced_with_the_right_mode(tmp_path: Path) -> None:
    leftover = tmp_path / ".tls.key.new"
    leftover.write_bytes(b"half")
    leftover.chmod(0o666)
    files.write(tmp_path, {"tls.key": b"whole"})
    assert (mode(tmp_path / "tls.key"), files.read(tmp_path)) == (0o600, {"tls.key": b"whole"})


def test_a_link_in_the_place_of_a_key_is_replaced_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(b"precious")
    for name in ("tls.key", ".tls.key.new"):
        (tmp_path / name).symlink_to(target)
    files.write(tmp_path, {"tls.key": b"new"})
    assert (target.read_bytes(), (tmp_path / "tls.key").is_symlink()) == (b"precious", False)


def test_keys_are_replaced_before_certificates(tmp_path: Path) -> None:
    (tmp_path / "tls.crt").mkdir()  # in the way of the last replacement
    with pytest.raises(IsADirectoryError):
        files.write(tmp_path, CONTENTS)
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"ca.key", "ca.crt", "tls.key"}


def test_what_cannot_be_staged_changes_nothing(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    (tmp_path / ".tls.crt.new").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write(tmp_path, dict.fromkeys(CONTENTS, b"new"))
    assert files.read(tmp_path) == CONTENTS


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tls.key")
    assert files.read(tmp_path) == {"tls.key": b""}


def test_no_more_than_64_kib_are_read(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"x" * 100_000)
    assert len(files.read(tmp_path)["ca.crt"]) == 65_536


def test_a_key_that_others_can_read_is_exposed(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    (tmp_path / "tls.key").chmod(0o640)
    assert files.exposed(tmp_path) == {"tls.key": 0o640}


def test_an_exposed_key_is_given_back_to_its_owner(tmp_path: Path) -> None:
    files.write(tmp_path, CONTENTS)
    (tmp_path / "ca.key").chmod(0o644)
    assert files.protect(tmp_path) == {"ca.key": 0o644}
    assert mode(tmp_path / "ca.key") == 0o600


def test_a_second_writer_gives_up_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_PATIENCE", 0.05)
    with (
        files.locked(tmp_path),
        pytest.raises(TimeoutError, match="another streams-placement-certs already runs there"),
        files.locked(tmp_path),
    ):
        raise AssertionError


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with files.locked(tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    with files.locked(tmp_path):
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
