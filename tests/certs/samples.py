"""Folders and certificates to look at: good ones with one thing changed, and ones that other programs made."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from certs.authority import Authority, create_authority
from certs.creation import Created, Order, create
from certs.names import LOOPBACK, Names

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@cache
def rsa_key() -> rsa.RSAPrivateKey:
    """A key that is not on a curve; one takes a third of a second to make."""
    return rsa.generate_private_key(65537, 2048)


def authority(*, now: datetime = NOW, days: int = 3650) -> Authority:
    return create_authority(now, days * DAY)


def order(
    folder: Path, *, names: Names = LOOPBACK, days: int = 90, authority_days: int = 3650, force: bool = False
) -> Order:
    return Order(folder, names, days * DAY, authority_days * DAY, force=force)


def created(folder: Path, *, now: datetime = NOW, names: Names = LOOPBACK, days: int = 90) -> Created:
    result = create(order(folder, names=names, days=days), now)
    assert isinstance(result, Created)
    return result


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def key_pem(key: CertificateIssuerPrivateKeyTypes) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def other_programs(
    *extensions: x509.ExtensionType,
    key: CertificateIssuerPrivateKeyTypes | None = None,
    issuer: Authority | None = None,
    name: str = "kubernetes",
) -> tuple[bytes, bytes]:
    """PEM of a certificate, signed by itself or by ``issuer``, with just these extensions, and of its key."""
    own = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + 365 * DAY)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    certificate = builder.sign(issuer.key if issuer else own, hashes.SHA256())
    return certificate.public_bytes(Encoding.PEM), key_pem(own)
