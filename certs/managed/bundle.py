"""CA bundles (``caBundle``): the certificates of several authorities in one PEM text, which clients trust together."""

import re
from collections.abc import Iterable
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from certs.certificate import is_authority, read_certificate
from certs.files import SIZE_LIMIT

Bundle = tuple[x509.Certificate, ...]
"""The certificates of a bundle, in their order in the PEM text."""

MOST: Final = 8
"""Certificates of a bundle: a rotation needs two; further ones are taken over from clients if the Secret is lost."""

# Base64 has no hyphen, so the pattern never backtracks.
_BLOCK: Final = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----")


def read_bundle(pem: bytes) -> Bundle:
    """The readable authorities among the first :data:`MOST` certificates in the text, each once."""
    blocks = _BLOCK.findall(pem[:SIZE_LIMIT])[:MOST]
    certificates = (read_certificate(block) for block in blocks)
    return tuple(dict.fromkeys(one for one in certificates if one is not None and is_authority(one)))


def write_bundle(bundle: Bundle) -> bytes:
    """The PEM text of the bundle; equal bundles give equal bytes."""
    return b"".join(one.public_bytes(Encoding.PEM) for one in bundle)


def merged(needed: Iterable[x509.Certificate | None], wanted: Iterable[x509.Certificate]) -> Bundle:
    """The bundle of all ``needed`` certificates, then of as many ``wanted`` ones as :data:`MOST` allows, each once."""
    first = dict.fromkeys(one for one in needed if one is not None)
    return tuple(dict.fromkeys((*first, *wanted)))[: max(MOST, len(first))]
