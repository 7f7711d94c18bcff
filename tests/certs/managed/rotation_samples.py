"""What is wanted of a cluster, and what its Secret may hold: good ones with one thing changed."""

from datetime import datetime, timedelta
from typing import Any

from certs.authority import Authority, Leaf
from certs.managed.certificate_secret import CertificateSecret
from certs.managed.configuration import ServiceReference
from certs.managed.observed import Observed, RotationPolicy
from certs.names import Names, service_names
from tests.certs.samples import DAY, NOW, authority

SERVICE = ServiceReference("ns", "web")
NAMES = service_names("web", "ns")
HOUR = timedelta(hours=1)


def terms(
    *,
    names: Names = NAMES,
    days: float = 90,
    authority_days: float = 365,
    propagation: float = 60,
    adoption: float = 600,
) -> RotationPolicy:
    return RotationPolicy(names, days * DAY, authority_days * DAY, propagation=propagation, adoption=adoption)


def leaf(issuer: Authority, *, now: datetime = NOW, names: Names = NAMES, days: float = 90) -> Leaf:
    return issuer.issue(names, now, lifetime=days * DAY)


def holding(issuer: Authority | None = None, **changes: Any) -> CertificateSecret:
    """One authority, its leaf, and the bundle that says so."""
    own = issuer or authority(days=365)
    return CertificateSecret(**{"bundle": (own.certificate,), "authority": own, "leaf": leaf(own), **changes})


def view(held: CertificateSecret, *bundles: bytes, trusted_for: float = 0, issued_for: float = 0) -> Observed:
    """The Secret, and what each configuration trusts, of which there are as many as bundles."""
    trusted = {f"mutating/{index}": (bundle,) for index, bundle in enumerate(bundles)}
    return Observed(held, trusted, trusted_for=trusted_for, issued_for=issued_for)
