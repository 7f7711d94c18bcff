"""Reads certificates and keys: names, purposes, issuer, fingerprint, and when a certificate is due for renewal."""

from datetime import datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from certs.names import IPAddress, Names

RENEWAL_SHARE = 3
"""A certificate is renewed when a third of its lifetime is left, as cert-manager does by default."""


def read_certificate(pem: bytes) -> x509.Certificate | None:
    """The first certificate in the PEM text; ``None`` if any of its fields cannot be read."""
    try:
        certificate = x509.load_pem_x509_certificate(pem)
        # The library parses these two only on access: access them now, so that no later access fails.
        certificate.extensions, certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return None
    return certificate


def read_key(pem: bytes) -> PrivateKeyTypes | None:
    """The private key in the PEM text; ``None`` if it cannot be read, or only with a password."""
    try:
        return load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None


def names_of(certificate: x509.Certificate) -> Names:
    """The DNS names and IP addresses of the certificate; other kinds of alternative names are left out."""
    try:
        alternative = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return Names()
    # The library reads eight bytes as a network, which means nothing in a leaf.
    addresses = [value for value in alternative.get_values_for_type(x509.IPAddress) if isinstance(value, IPAddress)]
    return Names(tuple(alternative.get_values_for_type(x509.DNSName)), tuple(addresses))


def is_authority(certificate: x509.Certificate) -> bool:
    """Whether the certificate may issue other certificates (basic constraints)."""
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def is_for_servers(certificate: x509.Certificate) -> bool:
    """Whether a server may show the certificate: it may if there is no extended key usage (RFC 5280, 4.2.1.12)."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return ExtendedKeyUsageOID.SERVER_AUTH in usage


def issued(authority: x509.Certificate, leaf: x509.Certificate) -> bool:
    """Whether the authority's key signed the leaf, under the authority's name."""
    try:
        leaf.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def renewal_time(certificate: x509.Certificate) -> datetime:
    """When the last third of the certificate's lifetime begins."""
    end = certificate.not_valid_after_utc
    return end - (end - certificate.not_valid_before_utc) / RENEWAL_SHARE


def needs_renewal(certificate: x509.Certificate, now: datetime) -> bool:
    """Whether the last third of the certificate's lifetime has begun; ``now`` has a time zone."""
    return now >= renewal_time(certificate)


def fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256 of the certificate: 32 upper-case hex bytes with colons between, as ``openssl x509`` prints it."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()
