"""What ``show`` says of a folder."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from cryptography import x509

from certs import files
from certs.certificate import fingerprint
from certs.creation import Created
from certs.inspection import Inspection
from certs.names import LOOPBACK, Names, service_names
from certs.report import days_left, json_report, repair_command, text_report
from tests.certs.samples import DAY, NOW, created, other_programs

CA = x509.BasicConstraints(ca=True, path_length=None)


def text_of(folder: Path) -> str:
    return text_report(folder, Inspection.of(files.read(folder), NOW), NOW)


def json_of(folder: Path) -> dict[str, object]:
    document: dict[str, object] = json.loads(json_report(folder, Inspection.of(files.read(folder), NOW), NOW))
    return document


def repair(folder: Path) -> str:
    return repair_command(folder, Inspection.of(files.read(folder), NOW))


def whole_text(folder: Path, result: Created) -> str:
    authority = result.authority.subject.rfc4514_string()
    return f"""{folder}: usable

authority
  subject          {authority}
  issuer           {authority}
  valid            2029-12-31 23:55:00 UTC to 2039-12-30 00:00:00 UTC
  days left        3650
  renewal due      2036-08-30 07:58:20 UTC
  SHA-256          {fingerprint(result.authority)}
  key matches      yes

leaf
  subject          CN=streams-placement
  names            localhost, 127.0.0.1, ::1
  issuer           {authority}
  valid            2029-12-31 23:55:00 UTC to 2030-04-01 00:00:00 UTC
  days left        90
  renewal due      2030-03-01 23:58:20 UTC
  SHA-256          {fingerprint(result.leaf)}
  key matches      yes
  chain verifies   yes"""


def test_the_text_of_a_usable_pair(tmp_path: Path) -> None:
    result = created(tmp_path)
    assert text_of(tmp_path) == whole_text(tmp_path, result)


def test_the_json_of_a_usable_pair(tmp_path: Path) -> None:
    result = created(tmp_path)
    authority = result.authority.subject.rfc4514_string()
    assert json_of(tmp_path) == {
        "directory": str(tmp_path),
        "usable": True,
        "problems": [],
        "notes": [],
        "repair": None,
        "authority": {
            "subject": authority,
            "dnsNames": [],
            "ipAddresses": [],
            "issuer": authority,
            "notBefore": "2029-12-31T23:55:00Z",
            "notAfter": "2039-12-30T00:00:00Z",
            "daysLeft": 3650,
            "renewalTime": "2036-08-30T07:58:20Z",
            "sha256": fingerprint(result.authority),
            "keyMatches": True,
        },
        "leaf": {
            "subject": "CN=streams-placement",
            "dnsNames": ["localhost"],
            "ipAddresses": ["127.0.0.1", "::1"],
            "issuer": authority,
            "notBefore": "2029-12-31T23:55:00Z",
            "notAfter": "2030-04-01T00:00:00Z",
            "daysLeft": 90,
            "renewalTime": "2030-03-01T23:58:20Z",
            "sha256": fingerprint(result.leaf),
            "keyMatches": True,
            "chainVerifies": True,
        },
    }


def test_an_unusable_pair_says_why_and_what_mends_it(tmp_path: Path) -> None:
    created(tmp_path)
    (tmp_path / "tls.key").write_bytes((tmp_path / "ca.key").read_bytes())
    assert text_of(tmp_path).splitlines()[:4] == [
        f"{tmp_path}: unusable",
        "  tls.key is not the key of tls.crt",
        f"to repair it: streams-placement-certs create --dir {tmp_path} --loopback",
        "",
    ]
    assert "  key matches      no" in text_of(tmp_path).splitlines()


def test_an_unusable_pair_says_so_in_json(tmp_path: Path) -> None:
    created(tmp_path)
    (tmp_path / "tls.crt").unlink()
    document = json_of(tmp_path)
    assert (document["usable"], document["problems"], document["leaf"]) == (False, ["tls.crt is missing"], None)


def test_an_empty_folder_has_nothing_to_show_but_its_faults(tmp_path: Path) -> None:
    assert text_of(tmp_path) == (
        f"{tmp_path}: unusable\n"
        "  ca.crt and ca.key are missing\n"
        "  tls.crt and tls.key are missing\n"
        f"to repair it: streams-placement-certs create --dir {tmp_path} --service NAME --namespace NAMESPACE"
    )


def test_a_key_that_others_can_reach_is_noted(tmp_path: Path) -> None:
    created(tmp_path)
    (tmp_path / "tls.key").chmod(0o644)
    note = "tls.key can be reached by others: its mode is 0644, not 0600"
    assert text_of(tmp_path).splitlines()[:2] == [f"{tmp_path}: usable", f"  note: {note}"]
    assert json_of(tmp_path)["notes"] == [note]


@pytest.mark.parametrize("report", [text_report, json_report], ids=["text", "json"])
def test_no_report_holds_key_material(tmp_path: Path, report: Callable[[Path, Inspection, datetime], str]) -> None:
    created(tmp_path)
    shown = report(tmp_path, Inspection.of(files.read(tmp_path), NOW), NOW)
    secrets = [line for name in files.KEYS for line in (tmp_path / name).read_text().splitlines()[1:-1]]
    assert not [line for line in secrets if line in shown]


def test_the_repair_command_asks_for_the_same_names(tmp_path: Path) -> None:
    created(tmp_path, names=service_names("web", "ns") + LOOPBACK + Names(("x.y",)))
    flags = "--service web --namespace ns --loopback --dns x.y"
    assert repair(tmp_path) == f"streams-placement-certs create --dir {tmp_path} {flags}"


def test_the_repair_command_quotes_the_folder(tmp_path: Path) -> None:
    assert "--dir '" + str(tmp_path / "a b") + "'" in repair(tmp_path / "a b")


def test_the_report_never_advises_to_replace_another_programs_authority(tmp_path: Path) -> None:
    files.write(tmp_path, {"ca.crt": other_programs(CA)[0]})
    assert repair(tmp_path) == ("streams-placement-certs create --dir NEW-FOLDER --service NAME --namespace NAMESPACE")


def test_names_that_no_flag_can_ask_for_are_left_out_of_the_command(tmp_path: Path) -> None:
    alternative = x509.SubjectAlternativeName([x509.DNSName("*.a"), x509.DNSName("b; rm\n"), x509.DNSName("c")])
    files.write(tmp_path, {"tls.crt": other_programs(alternative)[0]})
    assert repair(tmp_path) == f"streams-placement-certs create --dir {tmp_path} --dns c"


def test_what_a_certificate_says_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    alternative = x509.SubjectAlternativeName([x509.DNSName("a\x1b[2J")])
    files.write(tmp_path, {"tls.crt": other_programs(alternative, name="b\x1b[2J")[0]})
    rows = text_of(tmp_path).splitlines()
    assert [row for row in rows if "\x1b" in row] == []
    assert "  names            a\\x1b[2J" in rows


def test_days_left_are_negative_after_the_end(tmp_path: Path) -> None:
    leaf = created(tmp_path, days=90).leaf
    assert days_left(leaf, NOW + 92 * DAY) == -2
