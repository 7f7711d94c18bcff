"""Creates certificate authorities and issues leaf certificates with them. ECDSA P-256 with SHA-256 throughout."""

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
"""How long before now a certificate becomes valid: a client's clock may be slow (Kerberos' usual tolerance)."""

AUTHORITY_NAME: Final = "streams-placement authority"
"""The beginning of the common name of every authority of this program; eight hex digits of its key identifier
follow."""

LEAF_NAME: Final = "streams-placement"
"""The common name of every leaf; clients check the alternative names only."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """The certificate as PEM; the PEM texts of several certificates, joined, are a bundle."""
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The key as PEM: PKCS #8, not encrypted."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Leaf(Pair):
    """A certificate that a server shows to its clients, with its key."""

    __slots__ = ()


class Authority(Pair):
    """A certificate authority: clients trust its certificate, its key issues leaves."""

    __slots__ = ()

    @classmethod
    def from_pem(cls, certificate: bytes, key: bytes) -> Self:
        """The authority of the PEM texts ``certificate_pem`` and ``key_pem``.

        Raises:
            ValueError: one text cannot be read, the key is not the certificate's, or it is not an authority's.
        """
        public, private = read_certificate(certificate), read_key(key)
        if public is None or not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("not a readable certificate and elliptic-curve key in PEM")
        if private.public_key() != public.public_key():
            raise ValueError("the key is not the key of the certificate")
        if not is_authority(public):
            raise ValueError("the certificate is not that of an authority")
        return cls(public, private)

    def issue(self, names: Names, now: datetime, *, lifetime: timedelta) -> Leaf:
        """A new leaf for these names with a new key; the leaf expires with the authority if that expires first.

        Raises:
            ValueError: there is no name, or the authority has expired.
        """
        if not names:
            raise ValueError("a leaf needs at least one name")
        end = min(now + lifetime, self.certificate.not_valid_after_utc)
        if end <= now:
            raise ValueError("the authority has expired")
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
    """A new self-signed authority, which may issue leaves but no further authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    # During a rotation clients trust two authorities; the key identifier makes their names different.
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
    """The leaf's extension that refers to the authority's key identifier.

    The identifier is read from the authority, because another program may have computed it in another way.
    """
    try:
        identifier = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        identifier = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
