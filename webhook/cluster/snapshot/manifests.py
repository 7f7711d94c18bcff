"""Reads manifests that a user names: files, folders, standard input; YAML or JSON, found as by ``kubectl apply -f``.

A file may hold several documents and lists of objects.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from kubeapi.client.decoding import ERRORS
from webhook.cluster.snapshot.folder import SUFFIXES
from webhook.cluster.snapshot.json_documents import JsonDocument, json_of
from webhook.cluster.snapshot.yaml_documents import UnreadableDocument, documents
from webhook.placement.text.problem import escape

STDIN: Final = "stdin"
"""The name of standard input in messages."""

_DASH: Final = "-"
_URL: Final = re.compile(r"https?://", re.IGNORECASE)


class ManifestError(Exception):
    """A manifest cannot be read; the text is a sentence for the user."""


class UnreadManifest(NamedTuple):
    """What of a ``file`` is not read, and the ``reason``: all of the file, or one document of it."""

    file: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


def _raise(unread: UnreadManifest) -> None:
    raise ManifestError(str(unread))


def read_named(
    names: Iterable[str], *, recursive: bool = False, unreadable: Callable[[UnreadManifest], object] = _raise
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the named files, each with the name of its file.

    A name is a file with any ending, a folder of ``*.json``, ``*.yaml`` and ``*.yml`` files, or ``-`` for standard
    input; with ``recursive`` the folders below a folder are read, too. Raises :class:`ManifestError` for a name that
    stands for no file. ``unreadable`` is called for each file that cannot be read, and each document
    that is not an object. By default it raises :class:`ManifestError`; if it returns, these are left out.
    """
    for name in names:
        if _URL.match(name):
            advice = "download it and give the file, or pipe it to -f -"
            raise ManifestError(f"{name}: URLs are not read; {advice}")
        if name == _DASH:
            yield from ((STDIN, document) for document in read_text(STDIN, sys.stdin.buffer.read(), unreadable))
            continue
        if not name:
            raise ManifestError("the name of a file is empty")
        for path in _folder(Path(name), recursive=recursive) if Path(name).is_dir() else (Path(name),):
            yield from ((str(path), document) for document in read_manifests(path, unreadable))


def read_manifests(path: Path, unreadable: Callable[[UnreadManifest], object] = _raise) -> Iterator[dict[str, Any]]:
    """Every object of the file, those inside a ``List`` one by one. ``unreadable`` is that of :func:`read_named`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        unreadable(UnreadManifest(str(path), str(error.strerror)))
        return
    yield from _objects(str(path), content, json_of(content, path.suffix), unreadable)


def read_text(
    name: str, content: bytes, unreadable: Callable[[UnreadManifest], object] = _raise
) -> Iterator[dict[str, Any]]:
    """Every object of a text, YAML or JSON, that errors call ``name``. ``unreadable`` is that of :func:`read_named`."""
    yield from _objects(name, content, json_of(content), unreadable)


def _folder(folder: Path, *, recursive: bool) -> list[Path]:
    """The files of manifests in a folder, sorted by path."""
    paths: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_unlisted):
        paths += (Path(parent, name) for name in names if name.endswith(SUFFIXES))
        if not recursive:
            folders.clear()
    if not paths:
        below = "" if recursive else "; with -R files in subfolders count as well"
        raise ManifestError(f"{folder}: the folder holds no file that ends in {', '.join(SUFFIXES)}{below}")
    return sorted(paths)


def _unlisted(error: OSError) -> None:
    raise ManifestError(f"{error.filename}: {error.strerror}") from error


def _objects(
    name: str, content: bytes, texts: list[JsonDocument] | None, unreadable: Callable[[UnreadManifest], object]
) -> Iterator[dict[str, Any]]:
    """The objects of the content, which has these texts of JSON or else is YAML."""
    for document in documents(content) if texts is None else _json(texts):
        if isinstance(document, UnreadableDocument):
            unreadable(UnreadManifest(name, escape(document.reason)))
        else:
            yield from _listed(name, document, unreadable)


def _listed(name: str, document: object, unreadable: Callable[[UnreadManifest], object]) -> Iterator[dict[str, Any]]:
    """The object, or the objects of the list that the document is.

    The members of a typed list (``PodList``) may leave out ``apiVersion`` and ``kind``, which follow from the list's.
    """
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        unreadable(UnreadManifest(name, "a document is not a Kubernetes object: it has no kind"))
        return
    kind, items = document["kind"], document.get("items")
    if not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    member = {"apiVersion": document.get("apiVersion", ""), "kind": kind.removesuffix("List")}
    stated = member if kind != "List" else {}
    for item in items:
        yield from _listed(name, {**stated, **item} if isinstance(item, dict) else item, unreadable)


def _json(texts: list[JsonDocument]) -> Iterator[object]:
    for document in texts:
        try:
            yield msgspec.json.decode(document.text)
        except ERRORS as error:
            yield UnreadableDocument(": ".join(filter(None, (document.place, str(error)))))
