"""The steps that ``manage`` can take: write the Secret, write ``caBundle``, or wait."""

from dataclasses import dataclass
from typing import TypeAlias

from certs.managed.certificate_secret import CertificateSecret


@dataclass(frozen=True, slots=True)
class WriteSecret:
    """Write the Secret, so that it holds ``holding``."""

    holding: CertificateSecret
    reason: str
    """Why the Secret has to be written, for the log."""


@dataclass(frozen=True, slots=True)
class WriteBundle:
    """Write ``bundle`` into these webhook configurations; if writing into one fails, the others are still written."""

    configurations: tuple[str, ...]
    bundle: bytes


@dataclass(frozen=True, slots=True)
class Idle:
    """Wait until an object changes, at most so many seconds; ``None`` is without a limit."""

    seconds: float | None = None


Action: TypeAlias = WriteSecret | WriteBundle | Idle
