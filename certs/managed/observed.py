"""What is wanted, and what is seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from certs.managed.certificate_secret import CertificateSecret
from certs.names import Names


@dataclass(frozen=True, slots=True)
class RotationPolicy:
    """What is wanted, and how patient to be."""

    names: Names
    lifetime: timedelta
    authority_lifetime: timedelta
    propagation: float
    """Seconds after which every API server uses a configuration that was seen changed."""
    adoption: float
    """Seconds after which every server shows a leaf that was seen in the Secret."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is seen now."""

    holding: CertificateSecret
    trusted: Mapping[str, tuple[bytes, ...]]
    """The ``caBundle`` of each webhook of each configuration that exists."""
    trusted_for: float = 0.0
    """Seconds for which neither these nor the bundle of the Secret have changed."""
    issued_for: float = 0.0
    """Seconds for which the leaf has been one of this same authority."""
