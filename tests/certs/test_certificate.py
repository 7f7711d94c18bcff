"""What certificates say of themselves, whoever made them."""

from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.certificate import (
    fingerprint,
    is_authority,
    is_for_servers,
    issued,
    names_of,
    needs_renewal,
    read_certificate,
    read_key,
    renewal_time,
)
from certs.names import LOOPBACK, Names
from tests.certs.samples import DAY, NOW, authority, key_pem, other_programs

AUTHORITY = authority()
LEAF = AUTHORITY.issue(LOOPBACK, NOW, lifetime=90 * DAY)


def other(*extensions: x509.ExtensionType) -> x509.Certificate:
    return x509.load_pem_x509_certificate(other_programs(*extensions)[0])


def test_a_certificate_reads_back() -> None:
    assert read_certificate(LEAF.certificate_pem) == LEAF.certificate


@pytest.mark.parametrize(
    "pem",
    [
        pytest.param(b"", id="empty"),
        pytest.param(LEAF.certificate_pem[:300], id="half written"),
        pytest.param(LEAF.key_pem, id="key"),
        pytest.param(b"\x00\xff" * 100, id="binary"),
    ],
)
def test_no_certificate(pem: bytes) -> None:
    assert read_certificate(pem) is None


def test_a_certificate_with_a_broken_extension_is_none() -> None:
    broken = x509.UnrecognizedExtension(x509.SubjectAlternativeName.oid, b"not DER")
    assert read_certificate(other_programs(broken)[0]) is None


@pytest.mark.parametrize(
    "pem",
    [
        pytest.param(b"", id="empty"),
        pytest.param(LEAF.key_pem[:100], id="half written"),
        pytest.param(LEAF.certificate_pem, id="certificate"),
        pytest.param(
            LEAF.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
            id="with a password",
        ),
    ],
)
def test_no_key(pem: bytes) -> None:
    assert read_key(pem) is None


def test_names_read_back() -> None:
    assert names_of(LEAF.certificate) == LOOPBACK


def test_an_authority_has_no_names() -> None:
    assert names_of(AUTHORITY.certificate) == Names()


def test_names_of_other_kinds_are_left_out() -> None:
    alternative = x509.SubjectAlternativeName([x509.UniformResourceIdentifier("spiffe://a"), x509.DNSName("b")])
    assert names_of(other(alternative)) == Names(("b",))


@pytest.mark.parametrize(
    ("certificate", "expected"),
    [
        pytest.param(AUTHORITY.certificate, True, id="authority"),
        pytest.param(LEAF.certificate, False, id="leaf"),
        pytest.param(other(), False, id="says nothing"),
    ],
)
def test_who_is_an_authority(certificate: x509.Certificate, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_authority(certificate) is expected


@pytest.mark.parametrize(
    ("certificate", "expected"),
    [
        pytest.param(LEAF.certificate, True, id="leaf"),
        pytest.param(other(), True, id="says nothing"),
        pytest.param(other(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])), False, id="for clients"),
    ],
)
def test_who_is_for_servers(certificate: x509.Certificate, expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_for_servers(certificate) is expected


def test_another_authority_did_not_issue_the_leaf() -> None:
    assert not issued(authority().certificate, LEAF.certificate)


def test_a_name_alone_does_not_make_an_issuer() -> None:
    name = AUTHORITY.certificate.subject.rfc4514_string().removeprefix("CN=")
    pem, _ = other_programs(key=ec.generate_private_key(ec.SECP256R1()), name=name)
    assert not issued(x509.load_pem_x509_certificate(pem), LEAF.certificate)


def test_renewal_is_due_in_the_last_third_of_a_life() -> None:
    life = 90 * DAY + timedelta(minutes=5)
    assert renewal_time(LEAF.certificate) == NOW + 90 * DAY - life / 3


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [pytest.param(-1, False, id="before"), pytest.param(0, True, id="at"), pytest.param(1, True, id="after")],
)
def test_renewal_is_needed_from_then_on(seconds: int, expected: bool) -> None:  # noqa: FBT001 - a table's column
    moment = renewal_time(LEAF.certificate) + timedelta(seconds=seconds)
    assert needs_renewal(LEAF.certificate, moment) is expected


def test_a_fingerprint_is_32_bytes_in_hex() -> None:
    parts = fingerprint(LEAF.certificate).split(":")
    assert (len(parts), {len(part) for part in parts}) == (32, {2})


def test_keys_of_other_kinds_are_read_too() -> None:
    assert isinstance(
        read_key(key_pem(ed25519.Ed25519PrivateKey.generate())),
        ed25519.Ed25519PrivateKey,
    )
