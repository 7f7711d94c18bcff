"""Several authorities' certificates in one PEM text: whom a client trusts."""

import re
from collections.abc import Iterable
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from certs.certificate import is_authority, read_certificate
from certs.files import SIZE_LIMIT

Bundle = tuple[x509.Certificate, ...]

MOST: Final = 8
"""Certificates of a bundle: a rotation needs two; the others are what clients were found to trust after a mishap."""

# Base64 has no hyphen, so no text makes this look at anything twice.
_BLOCK: Final = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----")


def read_bundle(pem: bytes) -> Bundle:
    """The first :data:`MOST` authorities in the text, each once; whatever cannot be read is left out."""
    blocks = _BLOCK.findall(pem[:SIZE_LIMIT])[:MOST]
    found = (read_certificate(block) for block in blocks)
    return tuple(dict.fromkeys(one for one in found if one is not None and is_authority(one)))


def write_bundle(bundle: Bundle) -> bytes:
    """The PEM text; the same bundle always gives the same bytes."""
    return b"".join(one.public_bytes(Encoding.PEM) for one in bundle)


def merged(needed: Iterable[x509.Certificate | None], wanted: Iterable[x509.Certificate]) -> Bundle:
    """All of those needed, then as many of the others as fit, each once."""
    first = dict.fromkeys(one for one in needed if one is not None)
    return tuple(dict.fromkeys((*first, *wanted)))[: max(MOST, len(first))]
