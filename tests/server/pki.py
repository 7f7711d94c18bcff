"""An authority for tests, and what it signs: small, fast, and able to make unusable certificates as well."""

import datetime as dt
import ipaddress
import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
DAY = dt.timedelta(days=1)

_NOTHING = dict.fromkeys(
    (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "encipher_only", "decipher_only",
    ),
    False,
)  # fmt: skip
_SIGNS = x509.KeyUsage(key_cert_sign=True, crl_sign=True, **_NOTHING)
"""What an authority's key is for. Clients of Python 3.13 and newer want it stated, and the identifiers of keys."""


class Pair(NamedTuple):
    """A certificate and its key, as PEM."""

    cert: bytes
    key: bytes

    def write(self, folder: Path, name: str = "tls") -> tuple[Path, Path]:
        """Two files, as a Kubernetes secret has them."""
        cert, key = folder / f"{name}.crt", folder / f"{name}.key"
        cert.write_bytes(self.cert)
        key.write_bytes(self.key)
        return cert, key


def pem(key: ec.EllipticCurvePrivateKey, password: bytes | None = None) -> bytes:
    """The key as PEM, encrypted if there is a password."""
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        encryption = serialization.BestAvailableEncryption(password)
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


class Authority:
    """Signs certificates for loopback; ``cert`` is its own, as PEM."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        built = self._builder(name, NOW + DAY).public_key(self._key.public_key())
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        built = built.add_extension(_SIGNS, critical=True)
        built = built.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        self.cert = built.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str = "server", expires: dt.datetime = NOW + DAY) -> Pair:
        """A certificate for that name, good for servers and clients alike."""
        key = ec.generate_private_key(ec.SECP256R1())
        addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "::1")]
        built = self._builder(name, expires).public_key(key.public_key())
        built = built.add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        built = built.add_extension(issuer, critical=False)
        cert = built.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return Pair(cert, pem(key))

    def client(self) -> ssl.SSLContext:
        """A client that trusts this authority and nobody else."""
        return ssl.create_default_context(cadata=self.cert.decode())

    def _builder(self, name: str, expires: dt.datetime) -> x509.CertificateBuilder:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        built = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name)
        built = built.serial_number(x509.random_serial_number())
        return built.not_valid_before(NOW - 10 * DAY).not_valid_after(expires)
