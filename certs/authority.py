"""An authority of our own: makes itself, issues leaves. ECDSA P-256 with SHA-256 throughout."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.certificate import is_authority, read_certificate, read_key
from certs.names import Names

BACKDATED: Final = timedelta(minutes=5)
"""How far a client's clock may be behind ours; Kerberos' customary tolerance of clock skew."""

AUTHORITY_NAME: Final = "streams-placement authority"
"""Begins the common name of every authority made here; eight hex digits of its key identifier follow."""

LEAF_NAME: Final = "streams-placement"
"""The common name of every leaf: clients look at the alternative names only."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key. Several certificates' PEM texts, joined, are a bundle."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """PEM text of the certificate."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """PEM text of the key: PKCS #8, not encrypted."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Leaf(Pair):
    """What a server shows."""

    __slots__ = ()


class Authority(Pair):
    """What a client trusts, and what issues leaves."""

    __slots__ = ()

    @classmethod
    def from_pem(cls, certificate: bytes, key: bytes) -> Self:
        """Read back what ``certificate_pem`` and ``key_pem`` gave.

        Raises:
            ValueError: either cannot be read, they do not belong together, or this is not an authority.
        """
        found, private = read_certificate(certificate), read_key(key)
        if found is None or not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("not a readable certificate and elliptic-curve key in PEM")
        if private.public_key() != found.public_key():
            raise ValueError("the key is not the key of the certificate")
        if not is_authority(found):
            raise ValueError("the certificate is not an authority's")
        return cls(found, private)

    def issue(self, names: Names, now: datetime, *, lifetime: timedelta) -> Leaf:
        """A new leaf for these names, with a key of its own; it ends with its authority if that ends first.

        Raises:
            ValueError: there is no name, or the authority has ended.
        """
        if not names:
            raise ValueError("a leaf needs at least one name")
        end = min(now + lifetime, self.certificate.not_valid_after_utc)
        if end <= now:
            raise ValueError("the authority has ended")
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = [x509.DNSName(name) for name in names.dns] + [x509.IPAddress(ip) for ip in names.addresses]
        builder = (
            _builder(_name(LEAF_NAME), key.public_key(), now=now, end=end)
            .issuer_name(self.certificate.subject)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(alternative), critical=False)
            .add_extension(_issuer_identifier(self.certificate), critical=False)
        )
        return Leaf(builder.sign(self.key, hashes.SHA256()), key)


def create_authority(now: datetime, lifetime: timedelta) -> Authority:
    """A new authority that may issue leaves but no further authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    # While bundles overlap there are two authorities: the name tells them apart.
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key()).digest.hex()
    name = _name(f"{AUTHORITY_NAME} {identifier[:8]}")
    builder = (
        _builder(name, key.public_key(), now=now, end=now + lifetime)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(authority=True), critical=True)
    )
    return Authority(builder.sign(key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, public: ec.EllipticCurvePublicKey, *, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _key_usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _issuer_identifier(authority: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    """The authority's own key identifier: another program may have made it in another way than ours."""
    try:
        identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        identifier = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
