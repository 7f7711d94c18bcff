"""What can be done next: one request's worth, or nothing."""

from dataclasses import dataclass
from typing import TypeAlias

from certs.managed.certificate_secret import CertificateSecret


@dataclass(frozen=True, slots=True)
class Write:
    """The Secret shall hold this."""

    holding: CertificateSecret
    reason: str
    """Why, for the log: what was seen."""


@dataclass(frozen=True, slots=True)
class Trust:
    """These configurations shall hold the bundle of the Secret; each by itself, whatever happens to another."""

    configurations: tuple[str, ...]
    bundle: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing for so many seconds, unless something changes; ``None`` is until then."""

    seconds: float | None = None


Action: TypeAlias = Write | Trust | Wait
