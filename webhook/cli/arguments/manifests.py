"""The objects of the manifests that a command was given."""

import argparse
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from webhook.admission.checks.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.references import referenced_kinds
from webhook.cli import warn
from webhook.cli.exits import WrongUse
from webhook.cluster.snapshot.manifests import ManifestError, UnreadManifest, read_named
from webhook.placement.request.world import World
from webhook.placement.text.api_kinds import NAMESPACE, NODE
from webhook.placement.text.problem import counted, enumerated, quote
from webhook.placementreview.submission import surrounding, unjudged

Manifests = Sequence[tuple[str, Unstructured]]
"""Objects in the order in which the user named their files, each with the name of its file."""

_CLUSTER_SCOPED: Final = frozenset((kind.api_version, kind.name) for kind in (NODE, NAMESPACE))
"""``apiVersion`` and ``kind`` of objects that are in no namespace."""


NAMED: Final = 5
"""Objects, or files, that a line of text names at most; more are counted."""


def object_name(document: Unstructured) -> str:
    """Kind and name, and whether the apiVersion is missing, without which no object is read as of a known kind."""
    return origin_of(document) if document.get("apiVersion") else f"{origin_of(document)} without an apiVersion"


def note_unjudged(given: Manifests, world: World, verb: str) -> None:
    """Warn in one line of the objects that get no verdict and that the world is not read from either.

    ``verb`` is what the command does with all others.
    """
    note_without(f"nothing to {verb}", unjudged(given, world, referenced_kinds()), given)


def note_unreviewed(given: Manifests, reviewed: Container[int]) -> None:
    """Warn in one line of the objects that a review says nothing of and that no cluster is read from either.

    ``reviewed`` are the places of those that it says something of.
    """
    others = (document for at, (_, document) in enumerate(given) if at not in reviewed)
    kinds = referenced_kinds()
    note_without("nothing to judge", (one for one in others if not surrounding(one, kinds)), given)


def note_without(what: str, documents: Iterable[Unstructured], given: Manifests) -> None:
    """Warn in one line that the command has ``what`` in these documents of those that it was given; not if none are."""
    names = [object_name(document) for document in documents]
    if names:
        warn(f"{what} in {len(names)} of {counted(len(given), 'object')}: {enumerated(names, NAMED)}")


def manifests_of(arguments: argparse.Namespace) -> Manifests:
    """Every object of the named files; raises :class:`WrongUse` if a file is unreadable, or a namespace contradicts."""
    manifests, unread = readable_manifests_of(arguments)
    if unread:
        raise WrongUse(str(unread[0]))
    return manifests


def readable_manifests_of(arguments: argparse.Namespace) -> tuple[Manifests, Sequence[UnreadManifest]]:
    """Every object of the named files, and the reason for each file that cannot be read and each document that is none.

    Raises :class:`WrongUse` if nothing can be read, if a name stands for no file, or if a namespace contradicts.
    """
    unread: list[UnreadManifest] = []
    try:
        manifests = list(read_named(arguments.filename, recursive=arguments.recursive, unreadable=unread.append))
    except ManifestError as error:
        raise WrongUse(str(error)) from error
    if unread and not manifests:
        raise WrongUse(str(unread[0]))
    return _placed(manifests, arguments.namespace), unread


def _placed(manifests: Manifests, namespace: str | None) -> Manifests:
    """The objects in the namespace that the user named, if any."""
    return manifests if namespace is None else list(_in_namespace(manifests, namespace))


def _in_namespace(manifests: Manifests, namespace: str) -> Iterator[tuple[str, Unstructured]]:
    """The objects with that namespace; as kubectl does, raises :class:`WrongUse` if one states another namespace."""
    for file, document in manifests:
        metadata = mapping(document, "metadata")
        stated = metadata.get("namespace")
        if (document.get("apiVersion"), document["kind"]) in _CLUSTER_SCOPED:
            yield file, document
        elif stated and stated != namespace:
            what = f"{file}: {origin_of(document)} states the namespace {quote(str(stated))}"
            raise WrongUse(f"{what}, but --namespace is {quote(namespace)}: give --namespace {stated}, or none")
        else:
            yield file, {**document, "metadata": {**metadata, "namespace": namespace}}
