"""Reads and writes the certificates in a Kubernetes Secret object, if the Secret belongs to this program."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from certs.managed.certificate_secret import BUNDLE, KEYS, LEAF, CertificateSecret
from certs.managed.configuration import Object

MARK: Final = "streams.ibm.com/managed-certificates"
"""Annotation of a Secret that this program may write; its value is ``true``."""


class ForeignError(Exception):
    """The Secret holds certificates of another program; the text is a sentence."""


def read_secret(secret: Object | None) -> CertificateSecret:
    """The certificates that the Secret holds; none without a Secret.

    Raises:
        ForeignError: the Secret holds certificates, and lacks the annotation :data:`MARK`.
    """
    contents = {} if secret is None else _contents(secret.get("data") or {})
    annotations = {} if secret is None else secret["metadata"].get("annotations") or {}
    foreign = [key for key in (BUNDLE, *LEAF) if contents.get(key)]
    if foreign and annotations.get(MARK) != "true":
        raise ForeignError(
            f"the Secret holds {', '.join(foreign)} of another owner: name another one, or give this one the "
            f'annotation {MARK}: "true" if it may be overwritten'
        )
    return CertificateSecret.of(contents)


def written_secret(secret: Object | None, holding: CertificateSecret, *, namespace: str, name: str) -> Object:
    """The Secret to write for ``holding``: ``secret`` with only this program's keys changed, or a new object."""
    kept = secret or {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": name, "namespace": namespace},
    }
    metadata = kept["metadata"]
    values = {key: base64.b64encode(value).decode() for key, value in holding.contents().items()}
    others = {key: value for key, value in (kept.get("data") or {}).items() if key not in KEYS}
    annotations = {**(metadata.get("annotations") or {}), MARK: "true"}
    return {**kept, "metadata": {**metadata, "annotations": annotations}, "data": {**others, **values}}


def _contents(data: Mapping[str, str]) -> dict[str, bytes]:
    contents = {}
    for key in KEYS & data.keys():
        try:
            contents[key] = base64.b64decode(data[key], validate=True)
        except (binascii.Error, ValueError):  # cannot happen: the API server checks base64
            contents[key] = b""
    return contents
