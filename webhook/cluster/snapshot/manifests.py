"""Reads manifests that a user names: files, folders, standard input; YAML or JSON, found as by ``kubectl apply -f``.

A file may hold several documents and lists of objects.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from webhook.cluster.snapshot.folder import SUFFIXES
from webhook.cluster.snapshot.yaml_documents import UnreadableDocument, documents
from webhook.placement.text.problem import escape

STDIN: Final = "stdin"
"""The name of standard input in messages."""

_DASH: Final = "-"
_URL: Final = re.compile(r"https?://", re.IGNORECASE)


class ManifestError(Exception):
    """A manifest cannot be read; the text is a sentence for the user."""


def read_named(names: Iterable[str], *, recursive: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the named files, each with the name of its file.

    A name is a file with any ending, a folder of ``*.json``, ``*.yaml`` and ``*.yml`` files, or ``-`` for standard
    input; with ``recursive`` the folders below a folder are read, too. Raises :class:`ManifestError` if a file cannot
    be read, or a document is not an object.
    """
    for name in names:
        if _URL.match(name):
            advice = "download it and give the file, or pipe it to -f -"
            raise ManifestError(f"{name}: URLs are not read; {advice}")
        if name == _DASH:
            content = sys.stdin.buffer.read()
            yield from ((STDIN, document) for document in _objects(STDIN, content, json=_is_json(content)))
            continue
        if not name:
            raise ManifestError("the name of a file is empty")
        for path in _folder(Path(name), recursive=recursive) if Path(name).is_dir() else (Path(name),):
            yield from ((str(path), document) for document in read_manifests(path))


def read_manifests(path: Path) -> Iterator[dict[str, Any]]:
    """Every object of the file, those inside a ``List`` one by one. Raises :class:`ManifestError`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from None
    yield from _objects(str(path), content, json=path.suffix == ".json")


def _folder(folder: Path, *, recursive: bool) -> list[Path]:
    """The files of manifests in a folder, sorted by path."""
    paths: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_unlisted):
        paths += (Path(parent, name) for name in names if name.endswith(SUFFIXES))
        if not recursive:
            folders.clear()
    if not paths:
        below = "" if recursive else "; with -R those in the folders below it count, too"
        raise ManifestError(f"{folder}: the folder holds no file that ends in {', '.join(SUFFIXES)}{below}")
    return sorted(paths)


def _unlisted(error: OSError) -> None:
    raise ManifestError(f"{error.filename}: {error.strerror}") from error


def _is_json(content: bytes) -> bool:
    """Whether the text is a JSON object: YAML may begin with a brace too, and JSON with tabs is not YAML."""
    if not content.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _objects(name: str, content: bytes, *, json: bool) -> Iterator[dict[str, Any]]:
    for document in _json(name, content) if json else documents(content):
        if isinstance(document, UnreadableDocument):
            raise ManifestError(f"{name}: {escape(document.reason)}")
        yield from _listed(name, document)


def _listed(name: str, document: object) -> Iterator[dict[str, Any]]:
    """The object, or the objects of the list that the document is.

    The members of a typed list (``PodList``) may leave out ``apiVersion`` and ``kind``, which follow from the list's.
    """
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ManifestError(f"{name}: a document is not a Kubernetes object: it has no kind")
    kind, items = document["kind"], document.get("items")
    if not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    member = {"apiVersion": document.get("apiVersion", ""), "kind": kind.removesuffix("List")}
    stated = member if kind != "List" else {}
    for item in items:
        yield from _listed(name, {**stated, **item} if isinstance(item, dict) else item)


def _json(name: str, content: bytes) -> Iterator[object]:
    try:
        yield msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ManifestError(f"{name}: {error}") from None
