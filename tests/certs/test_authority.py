"""Authorities and leaves, read back with nothing but their own bytes."""

import ipaddress
from datetime import timedelta
from typing import TypeVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store

from certs.authority import Authority
from certs.certificate import issued
from certs.names import LOOPBACK, Names, service_names
from tests.certs.samples import DAY, NOW, authority, key_pem, other_programs, rsa_key

T = TypeVar("T", bound=x509.ExtensionType)

AUTHORITY = authority()
LEAF = AUTHORITY.issue(service_names("web", "ns") + LOOPBACK, NOW, lifetime=90 * DAY)
BOTH = pytest.mark.parametrize("certificate", [AUTHORITY.certificate, LEAF.certificate], ids=["authority", "leaf"])


def extension(certificate: x509.Certificate, kind: type[T]) -> x509.Extension[T]:
    return certificate.extensions.get_extension_for_class(kind)


@BOTH
def test_keys_are_p256(certificate: x509.Certificate) -> None:
    key = certificate.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert isinstance(key.curve, ec.SECP256R1)


@BOTH
def test_signatures_are_ecdsa_with_sha256(certificate: x509.Certificate) -> None:
    assert isinstance(certificate.signature_hash_algorithm, hashes.SHA256)
    assert isinstance(certificate.signature_algorithm_parameters, ec.ECDSA)


@BOTH
def test_validity_begins_five_minutes_ago(certificate: x509.Certificate) -> None:
    assert certificate.not_valid_before_utc == NOW - timedelta(minutes=5)


def test_each_ends_after_its_lifetime() -> None:
    ends = [pair.certificate.not_valid_after_utc for pair in (AUTHORITY, LEAF)]
    assert ends == [NOW + 3650 * DAY, NOW + 90 * DAY]


def test_a_leaf_ends_with_its_authority() -> None:
    leaf = authority(days=30).issue(LOOPBACK, NOW, lifetime=90 * DAY)
    assert leaf.certificate.not_valid_after_utc == NOW + 30 * DAY


def test_an_authority_that_has_ended_issues_nothing() -> None:
    with pytest.raises(ValueError, match=r"^the authority has expired$"):
        authority(days=30).issue(LOOPBACK, NOW + 30 * DAY, lifetime=DAY)


def test_a_leaf_needs_a_name() -> None:
    with pytest.raises(ValueError, match=r"^a leaf needs at least one name$"):
        AUTHORITY.issue(Names(), NOW, lifetime=DAY)


def test_an_authority_may_not_make_further_authorities() -> None:
    constraints = extension(AUTHORITY.certificate, x509.BasicConstraints)
    assert (constraints.critical, constraints.value) == (True, x509.BasicConstraints(ca=True, path_length=0))


def test_a_leaf_is_not_an_authority() -> None:
    constraints = extension(LEAF.certificate, x509.BasicConstraints)
    assert (constraints.critical, constraints.value) == (True, x509.BasicConstraints(ca=False, path_length=None))


@pytest.mark.parametrize(
    ("certificate", "signs"),
    [
        pytest.param(AUTHORITY.certificate, {"key_cert_sign", "crl_sign"}, id="authority"),
        pytest.param(LEAF.certificate, {"digital_signature"}, id="leaf"),
    ],
)
def test_keys_are_for_one_use(certificate: x509.Certificate, signs: set[str]) -> None:
    usage = extension(certificate, x509.KeyUsage)
    uses = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    assert usage.critical
    assert {use for use in (*uses, "key_cert_sign", "crl_sign") if getattr(usage.value, use)} == signs


def test_a_leaf_is_for_servers_only() -> None:
    usage = extension(LEAF.certificate, x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]


def test_a_leaf_points_at_the_key_of_its_authority() -> None:
    identifier = extension(AUTHORITY.certificate, x509.SubjectKeyIdentifier).value.digest
    assert extension(LEAF.certificate, x509.AuthorityKeyIdentifier).value.key_identifier == identifier


@BOTH
def test_each_identifies_its_own_key(certificate: x509.Certificate) -> None:
    own = x509.SubjectKeyIdentifier.from_public_key(certificate.public_key())
    assert extension(certificate, x509.SubjectKeyIdentifier).value == own


def test_a_leaf_holds_all_names() -> None:
    alternative = extension(LEAF.certificate, x509.SubjectAlternativeName).value
    assert alternative.get_values_for_type(x509.DNSName) == [
        "web.ns.svc",
        "web.ns.svc.cluster.local",
        "web",
        "web.ns",
        "localhost",
    ]
    assert alternative.get_values_for_type(x509.IPAddress) == [
        ipaddress.ip_address("127.0.0.1"),
        ipaddress.ip_address("::1"),
    ]


def test_serial_numbers_are_random() -> None:
    leaves = [AUTHORITY.issue(LOOPBACK, NOW, lifetime=DAY) for _ in range(3)]
    assert len({leaf.certificate.serial_number for leaf in leaves}) == 3


def test_authorities_are_told_apart_by_name() -> None:
    digest = extension(AUTHORITY.certificate, x509.SubjectKeyIdentifier).value.digest.hex()
    assert AUTHORITY.certificate.subject.rfc4514_string() == f"CN=streams-placement authority {digest[:8]}"


def test_the_chain_verifies_by_the_rules_of_the_web() -> None:
    builder = PolicyBuilder().store(Store([AUTHORITY.certificate])).time(NOW)
    chain = builder.build_server_verifier(x509.DNSName("web.ns.svc")).verify(LEAF.certificate, [])
    assert chain == [LEAF.certificate, AUTHORITY.certificate]


def test_an_authority_reads_itself_back() -> None:
    again = Authority.from_pem(AUTHORITY.certificate_pem, AUTHORITY.key_pem)
    leaf = again.issue(LOOPBACK, NOW, lifetime=DAY)
    assert issued(AUTHORITY.certificate, leaf.certificate)


@pytest.mark.parametrize(
    ("certificate", "key", "message"),
    [
        pytest.param(b"", AUTHORITY.key_pem, "not a readable certificate and elliptic-curve key in PEM", id="nothing"),
        pytest.param(
            AUTHORITY.certificate_pem,
            key_pem(rsa_key()),
            "not a readable certificate and elliptic-curve key in PEM",
            id="RSA key",
        ),
        pytest.param(
            AUTHORITY.certificate_pem, LEAF.key_pem, "the key is not the key of the certificate", id="another key"
        ),
        pytest.param(LEAF.certificate_pem, LEAF.key_pem, "the certificate is not that of an authority", id="leaf"),
    ],
)
def test_what_is_not_an_authority_is_not_read_back(certificate: bytes, key: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Authority.from_pem(certificate, key)


def test_an_authority_without_a_key_identifier_can_issue() -> None:
    other = Authority.from_pem(*other_programs(x509.BasicConstraints(ca=True, path_length=None)))
    leaf = other.issue(LOOPBACK, NOW, lifetime=DAY)
    own = x509.SubjectKeyIdentifier.from_public_key(other.certificate.public_key())
    assert extension(leaf.certificate, x509.AuthorityKeyIdentifier).value.key_identifier == own.digest
