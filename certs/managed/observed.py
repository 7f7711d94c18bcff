"""Input of the rotation: ``RotationPolicy`` (what is wanted) and ``Observed`` (what was read from the cluster)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from certs.managed.certificate_secret import CertificateSecret
from certs.names import Names


@dataclass(frozen=True, slots=True)
class RotationPolicy:
    """The required names and lifetimes of certificates, and how long changes take to reach all clients."""

    names: Names
    lifetime: timedelta
    authority_lifetime: timedelta
    propagation: float
    """Seconds after which every API server uses a changed webhook configuration."""
    adoption: float
    """Seconds after which every server shows a changed leaf of the Secret."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The contents of the Secret and of the webhook configurations now, and since when they are so."""

    holding: CertificateSecret
    trusted: Mapping[str, tuple[bytes, ...]]
    """The ``caBundle`` of each webhook of each configuration that exists."""
    trusted_for: float = 0.0
    """Seconds since ``trusted``, or the bundle of the Secret, last changed."""
    issued_for: float = 0.0
    """Seconds since the leaf's authority last changed."""
