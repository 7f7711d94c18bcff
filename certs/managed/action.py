"""The steps that ``manage`` can take: write the Secret, write ``caBundle``, or wait."""

from dataclasses import dataclass
from typing import TypeAlias

from certs.managed.certificate_secret import CertificateSecret


@dataclass(frozen=True, slots=True)
class Write:
    """Write the Secret, so that it holds this."""

    holding: CertificateSecret
    reason: str
    """What was seen that calls for it, for the log."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Write the bundle of the Secret into each of these configurations, also if writing into another one fails."""

    configurations: tuple[str, ...]
    bundle: bytes


@dataclass(frozen=True, slots=True)
class Idle:
    """Wait for so many seconds, or until something changes; ``None`` is only until then."""

    seconds: float | None = None


Action: TypeAlias = Write | Trust | Idle
