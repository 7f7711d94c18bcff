"""The Secret as an object of the API server."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from certs.managed.certificate_secret import BUNDLE, KEYS, LEAF, CertificateSecret
from certs.managed.configuration import Object

MARK: Final = "streams.ibm.com/managed-certificates"
"""Annotation of a Secret that is ours to write; its value is ``true``."""


class ForeignError(Exception):
    """The Secret belongs to somebody else; the text is a sentence."""


def read_secret(secret: Object | None) -> CertificateSecret:
    """What the Secret holds; nothing if there is none.

    Raises:
        ForeignError: it holds a certificate, and does not say that it is ours.
    """
    contents = {} if secret is None else _contents(secret.get("data") or {})
    annotations = {} if secret is None else secret["metadata"].get("annotations") or {}
    taken = [key for key in (BUNDLE, *LEAF) if contents.get(key)]
    if taken and annotations.get(MARK) != "true":
        raise ForeignError(
            f"the Secret holds {', '.join(taken)} of somebody else: name another one, or give this one the annotation "
            f'{MARK}: "true" if it may be overwritten'
        )
    return CertificateSecret.of(contents)


def written_secret(secret: Object | None, holding: CertificateSecret, *, namespace: str, name: str) -> Object:
    """The Secret that holds this: the one that was read with nothing but our own keys changed, or a new one."""
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
        except (binascii.Error, ValueError):  # the API server lets none in
            contents[key] = b""
    return contents
