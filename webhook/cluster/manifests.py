"""Manifests as a user writes them: files of YAML or JSON, with lists and several documents, as plain objects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from webhook.cluster.yaml_documents import Unreadable, documents
from webhook.placement.problem import escape


class ManifestError(Exception):
    """A file cannot be read; the text is a sentence for whoever named it."""


def read_manifests(path: Path) -> Iterator[dict[str, Any]]:
    """Every object of the file, those inside a ``List`` one by one; :class:`ManifestError` if it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from None
    for document in _json(path, content) if path.suffix == ".json" else documents(content):
        if isinstance(document, Unreadable):
            raise ManifestError(f"{path}: {escape(document.reason)}")
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise ManifestError(f"{path}: a document is no Kubernetes object: it has no kind")
        items = document.get("items")
        if document["kind"].endswith("List") and isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))
        else:
            yield document


def _json(path: Path, content: bytes) -> Iterator[object]:
    try:
        yield msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ManifestError(f"{path}: {error}") from None
