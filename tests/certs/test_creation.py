"""What ``create`` keeps, what it makes anew, and what a kill may leave behind."""

import stat
from pathlib import Path

import pytest
from cryptography import x509

from certs import files
from certs.creation import Created, Refused, create
from certs.inspection import Inspection
from certs.names import LOOPBACK, Names, service_names
from tests.certs.samples import DAY, NOW, contents, created, order, other_programs

ALL = ("ca.key", "ca.crt", "tls.key", "tls.crt")
LEAF_ONLY = ("tls.key", "tls.crt")
CA = x509.BasicConstraints(ca=True, path_length=None)


def is_usable(folder: Path) -> bool:
    return not Inspection.of(files.read(folder), NOW).faults


def test_an_empty_folder_gets_all_four_files(tmp_path: Path) -> None:
    result = created(tmp_path / "pair")
    assert (result.made, result.reasons) == (
        ALL,
        ("ca.crt and ca.key are missing", "tls.crt and tls.key are missing"),
    )


def test_what_was_made_is_usable(tmp_path: Path) -> None:
    created(tmp_path / "pair")
    assert is_usable(tmp_path / "pair")


def test_doing_it_again_changes_no_byte(tmp_path: Path) -> None:
    created(tmp_path)
    before = contents(tmp_path)
    again = created(tmp_path, now=NOW + 30 * DAY)
    assert (again.made, contents(tmp_path)) == ((), before)


def test_another_lifetime_is_not_a_reason_to_replace_a_good_leaf(tmp_path: Path) -> None:
    created(tmp_path)
    assert created(tmp_path, days=30).made == ()


def test_the_order_of_names_is_not_a_reason_either(tmp_path: Path) -> None:
    created(tmp_path, names=Names(("a", "b")))
    assert created(tmp_path, names=Names(("b", "a"))).made == ()


def test_other_names_get_a_new_leaf_of_the_same_authority(tmp_path: Path) -> None:
    first = created(tmp_path, names=LOOPBACK)
    second = created(tmp_path, names=service_names("web", "ns"))
    assert (second.made, second.authority) == (LEAF_ONLY, first.authority)
    assert second.reasons == (
        "tls.crt lacks web, web.ns, web.ns.svc, web.ns.svc.cluster.local",
        "tls.crt is also for 127.0.0.1, ::1, localhost",
    )


@pytest.mark.parametrize(("days", "made"), [(59, ()), (61, LEAF_ONLY)], ids=["second third", "last third"])
def test_a_leaf_is_renewed_in_the_last_third_of_its_life(tmp_path: Path, days: int, made: tuple[str, ...]) -> None:
    created(tmp_path, days=90)
    assert created(tmp_path, now=NOW + days * DAY).made == made


def test_a_renewed_leaf_says_why(tmp_path: Path) -> None:
    created(tmp_path, days=90)
    assert created(tmp_path, now=NOW + 61 * DAY).reasons == ("tls.crt is due for renewal",)


def test_an_expired_leaf_is_replaced(tmp_path: Path) -> None:
    created(tmp_path, days=90)
    assert created(tmp_path, now=NOW + 91 * DAY).reasons == ("tls.crt expired on 2030-04-01 00:00:00 UTC",)


def test_an_authority_in_its_last_third_is_renewed_with_its_leaf(tmp_path: Path) -> None:
    created(tmp_path, days=3650)
    late = created(tmp_path, now=NOW + 2500 * DAY)
    assert (late.made, late.reasons) == (ALL, ("tls.crt is due for renewal", "ca.crt is due for renewal"))


def test_an_authority_in_its_last_third_stays_while_its_leaf_is_good(tmp_path: Path) -> None:
    created(tmp_path)
    created(tmp_path, now=NOW + 2400 * DAY)
    assert created(tmp_path, now=NOW + 2450 * DAY).made == ()


def test_a_leaf_is_cut_to_its_authority_and_stays(tmp_path: Path) -> None:
    wanted = order(tmp_path, days=365, authority_days=30)
    first, second = create(wanted, NOW), create(wanted, NOW)
    assert isinstance(first, Created)
    assert isinstance(second, Created)
    assert (first.leaf.not_valid_after_utc, second.made) == (NOW + 30 * DAY, ())


def test_force_replaces_all(tmp_path: Path) -> None:
    first = created(tmp_path)
    forced = create(order(tmp_path, force=True), NOW)
    assert isinstance(forced, Created)
    assert (forced.made, forced.reasons) == (ALL, ("--force was given",))
    assert forced.authority != first.authority


@pytest.mark.parametrize(
    ("name", "made"),
    [("ca.crt", ALL), ("ca.key", ALL), ("tls.crt", LEAF_ONLY), ("tls.key", LEAF_ONLY)],
)
@pytest.mark.parametrize("size", [None, 0, 100], ids=["missing", "empty", "half written"])
def test_a_broken_file_is_repaired(tmp_path: Path, name: str, made: tuple[str, ...], size: int | None) -> None:
    created(tmp_path)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    if size is not None:
        (tmp_path / name).write_bytes(data[:size])
    assert created(tmp_path).made == made
    assert is_usable(tmp_path)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("start", ["empty folder", "older pair"])
def test_a_kill_between_any_two_steps_is_repaired(tmp_path: Path, start: str, steps: int) -> None:
    folder, newer = tmp_path / "pair", tmp_path / "newer"
    folder.mkdir()
    created(newer)
    if start == "older pair":
        created(folder)
    (folder / ".tls.crt.new").write_bytes(b"half")  # staged, never moved into place
    files.write(folder, {name: (newer / name).read_bytes() for name in files.ORDER[:steps]})
    created(folder)
    assert is_usable(folder)
    assert set(contents(folder)) - {".tls.crt.new"} == set(ALL)


@pytest.mark.parametrize("steps", [2, 3], ids=["authority switched", "authority and leaf's key switched"])
def test_after_a_kill_the_new_authority_is_reused(tmp_path: Path, steps: int) -> None:
    folder, newer = tmp_path / "pair", tmp_path / "newer"
    created(folder)
    authority = created(newer).authority
    files.write(folder, {name: (newer / name).read_bytes() for name in files.ORDER[:steps]})
    result = created(folder)
    assert (result.made, result.authority) == (LEAF_ONLY, authority)


def test_keys_that_others_could_read_are_closed(tmp_path: Path) -> None:
    created(tmp_path)
    for name in ("ca.key", "tls.key"):
        (tmp_path / name).chmod(0o644)
    again = created(tmp_path)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ca.key", "tls.key")]
    assert (again.made, again.protected, modes) == ((), ("ca.key", "tls.key"), [0o600, 0o600])


def test_the_authoritys_key_is_closed_along_with_a_new_leaf(tmp_path: Path) -> None:
    created(tmp_path)
    (tmp_path / "ca.key").chmod(0o644)
    assert created(tmp_path, names=Names(("a",))).protected == ("ca.key",)


def test_another_programs_authority_issues_our_leaf(tmp_path: Path) -> None:
    certificate, key = other_programs(CA)
    files.write(tmp_path, {"ca.crt": certificate, "ca.key": key})
    assert created(tmp_path).made == LEAF_ONLY
    assert is_usable(tmp_path)


def test_another_programs_authority_is_never_renewed(tmp_path: Path) -> None:
    certificate, key = other_programs(CA)
    files.write(tmp_path, {"ca.crt": certificate, "ca.key": key})
    assert created(tmp_path, now=NOW + 300 * DAY).made == LEAF_ONLY


def test_another_programs_authority_is_never_replaced(tmp_path: Path) -> None:
    files.write(tmp_path, {"ca.crt": other_programs(CA)[0]})
    before = contents(tmp_path)
    refused = create(order(tmp_path), NOW)
    assert isinstance(refused, Refused)
    assert (refused.reasons, contents(tmp_path)) == (("ca.key is missing",), before)


def test_unless_by_force(tmp_path: Path) -> None:
    files.write(tmp_path, {"ca.crt": other_programs(CA)[0]})
    assert isinstance(create(order(tmp_path, force=True), NOW), Created)
