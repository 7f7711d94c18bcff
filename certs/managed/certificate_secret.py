"""Contents of the Secret: the leaf that is served, the bundle that clients trust, the authority, and the next one.

===================================  =====================================================================
``tls.crt``, ``tls.key``             the leaf, for the server
``ca.crt``                           the bundle that clients are to trust now
``authority.crt``, ``authority.key`` the authority that issues leaves
``next-authority.crt``, ``….key``    the authority that will issue leaves after a rotation; only during one
===================================  =====================================================================

The Secret is always replaced as a whole, so no reader ever sees half of a step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from certs.authority import Authority, Leaf
from certs.certificate import issued, read_certificate, read_key
from certs.files import LEAF_CERTIFICATE, LEAF_KEY
from certs.managed.bundle import Bundle, read_bundle, write_bundle

BUNDLE: Final = "ca.crt"
AUTHORITY: Final = ("authority.crt", "authority.key")
FOLLOWING: Final = ("next-authority.crt", "next-authority.key")
LEAF: Final = (LEAF_CERTIFICATE, LEAF_KEY)

KEYS: Final = frozenset({BUNDLE, *AUTHORITY, *FOLLOWING, *LEAF})
"""The keys of the Secret that this program writes; other keys are left alone."""


@dataclass(frozen=True, slots=True)
class CertificateSecret:
    """The usable contents of the Secret: a certificate without its own key counts as missing."""

    bundle: Bundle = ()
    authority: Authority | None = None
    following: Authority | None = None
    """The next authority, during a rotation, until all clients trust it."""
    leaf: Leaf | None = None

    @classmethod
    def of(cls, contents: Mapping[str, bytes]) -> Self:
        """Read the values of a Secret, given by key; any values are accepted."""
        return cls(
            bundle=read_bundle(contents.get(BUNDLE, b"")),
            authority=_authority(contents, AUTHORITY),
            following=_authority(contents, FOLLOWING),
            leaf=_leaf(contents),
        )

    @property
    def issuer(self) -> Authority | None:
        """The authority, if it issued the leaf; ``None`` otherwise."""
        if self.authority is None or self.leaf is None:
            return None
        return self.authority if issued(self.authority.certificate, self.leaf.certificate) else None

    def contents(self) -> dict[str, bytes]:
        """The values to write into the Secret by key; keys of :data:`KEYS` that are missing here must be removed."""
        values = {BUNDLE: write_bundle(self.bundle)}
        for (certificate, key), pair in ((AUTHORITY, self.authority), (FOLLOWING, self.following), (LEAF, self.leaf)):
            if pair is not None:
                values |= {certificate: pair.certificate_pem, key: pair.key_pem}
        return values


def _authority(contents: Mapping[str, bytes], names: tuple[str, str]) -> Authority | None:
    certificate, key = (contents.get(name, b"") for name in names)
    try:
        return Authority.from_pem(certificate, key)
    except ValueError:
        return None


def _leaf(contents: Mapping[str, bytes]) -> Leaf | None:
    certificate, key = (contents.get(name, b"") for name in LEAF)
    public, private = read_certificate(certificate), read_key(key)
    if public is None or not isinstance(private, EllipticCurvePrivateKey):
        return None
    return Leaf(public, private) if private.public_key() == public.public_key() else None
