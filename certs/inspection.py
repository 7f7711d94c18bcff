"""Inspects the four files of a folder: are authority and leaf usable, and what is wrong, as sentences about files."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from certs.authority import AUTHORITY_NAME, LEAF_NAME
from certs.certificate import is_authority, is_for_servers, issued, names_of, read_certificate, read_key
from certs.files import AUTHORITY_CERTIFICATE, AUTHORITY_KEY, LEAF_CERTIFICATE, LEAF_KEY


@dataclass(frozen=True, slots=True)
class InspectedPair:
    """One certificate with its key: the certificate if it can be read, and all faults of certificate and key."""

    certificate: x509.Certificate | None
    key_matches: bool
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The state of a folder at one moment."""

    authority: InspectedPair
    leaf: InspectedPair
    chain_verifies: bool
    """The authority signed the leaf."""

    @classmethod
    def of(cls, contents: Mapping[str, bytes], now: datetime) -> Self:
        """The inspection of these files, whose contents are given by name; any contents are accepted."""
        authority = _authority(contents, now)
        leaf = _leaf(contents, now)
        if authority.certificate is None or leaf.certificate is None:
            return cls(authority, leaf, chain_verifies=False)
        if issued(authority.certificate, leaf.certificate):
            return cls(authority, leaf, chain_verifies=True)
        fault = f"{LEAF_CERTIFICATE} was not issued by {AUTHORITY_CERTIFICATE}"
        return cls(
            authority, InspectedPair(leaf.certificate, leaf.key_matches, (*leaf.faults, fault)), chain_verifies=False
        )

    @property
    def faults(self) -> tuple[str, ...]:
        """All faults, the authority's first; empty if the pair can be served."""
        return self.authority.faults + self.leaf.faults

    @property
    def is_foreign(self) -> bool:
        """Whether the authority was made by another program, and therefore may be replaced by ``--force`` only."""
        if self.authority.certificate is None:
            return False
        subject = self.authority.certificate.subject.rfc4514_string()
        return subject != f"CN={LEAF_NAME}" and not subject.startswith(f"CN={AUTHORITY_NAME} ")


def _authority(contents: Mapping[str, bytes], now: datetime) -> InspectedPair:
    certificate, key, faults = _read(contents, AUTHORITY_CERTIFICATE, AUTHORITY_KEY)
    if certificate is not None:
        faults += _outside(AUTHORITY_CERTIFICATE, certificate, now)
        if not is_authority(certificate):
            faults.append(f"{AUTHORITY_CERTIFICATE} is not the certificate of an authority")
    if key is not None and not isinstance(key, EllipticCurvePrivateKey):
        faults.append(f"{AUTHORITY_KEY} is not an elliptic-curve key")
    return _half(certificate, key, faults, files=(AUTHORITY_CERTIFICATE, AUTHORITY_KEY))


def _leaf(contents: Mapping[str, bytes], now: datetime) -> InspectedPair:
    certificate, key, faults = _read(contents, LEAF_CERTIFICATE, LEAF_KEY)
    if certificate is not None:
        faults += _outside(LEAF_CERTIFICATE, certificate, now)
        if not names_of(certificate):
            faults.append(f"{LEAF_CERTIFICATE} names no host")
        if not is_for_servers(certificate):
            faults.append(f"{LEAF_CERTIFICATE} is not for servers: its extended key usage lacks serverAuth")
    return _half(certificate, key, faults, files=(LEAF_CERTIFICATE, LEAF_KEY))


def _read(
    contents: Mapping[str, bytes], certificate_file: str, key_file: str
) -> tuple[x509.Certificate | None, PrivateKeyTypes | None, list[str]]:
    missing = [name for name in (certificate_file, key_file) if name not in contents]
    faults = [f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"] if missing else []
    certificate = read_certificate(contents.get(certificate_file, b""))
    if certificate is None and certificate_file not in missing:
        faults.append(f"{certificate_file} holds no certificate that can be read")
    key = read_key(contents.get(key_file, b""))
    if key is None and key_file not in missing:
        faults.append(f"{key_file} holds no private key that can be read")
    return certificate, key, faults


def _outside(file: str, certificate: x509.Certificate, now: datetime) -> list[str]:
    """The fault that ``now`` is outside the certificate's validity, if it is."""
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now < start:
        return [f"{file} is not valid before {start:%Y-%m-%d %H:%M:%S} UTC"]
    return [f"{file} expired on {end:%Y-%m-%d %H:%M:%S} UTC"] if now > end else []


def _half(
    certificate: x509.Certificate | None, key: PrivateKeyTypes | None, faults: list[str], *, files: tuple[str, str]
) -> InspectedPair:
    matches = certificate is not None and key is not None and key.public_key() == certificate.public_key()
    if certificate is not None and key is not None and not matches:
        faults.append(f"{files[1]} is not the key of {files[0]}")
    return InspectedPair(certificate, matches, tuple(faults))
