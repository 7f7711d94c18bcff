"""The manifests that a command is given: the flags that name them, which are those of kubectl, and their objects."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Final

from webhook.admission.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cli.exits import WrongUse
from webhook.cluster.snapshot.manifests import ManifestError, read_named
from webhook.placement.text.api_kinds import NAMESPACE, NODE
from webhook.placement.text.problem import quote

Manifests = Sequence[tuple[str, Unstructured]]
"""Objects in the order in which the user named their files, each with the name of its file."""

_CLUSTER_SCOPED: Final = frozenset((kind.api_version, kind.name) for kind in (NODE, NAMESPACE))
"""``apiVersion`` and ``kind`` of objects that are in no namespace."""


def add_manifests(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that name manifests."""
    parser.add_argument(
        "-f",
        "--filename",
        action="extend",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Manifests: files of YAML or JSON, folders of them, or - for standard input; may be repeated.",
    )
    parser.add_argument("-R", "--recursive", action="store_true", help="Read folders recursively.")
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", help="Namespace of objects that state none (default: default)."
    )


def manifests_of(arguments: argparse.Namespace) -> Manifests:
    """Every object of the named files; raises :class:`WrongUse` if a file is unreadable, or a namespace contradicts."""
    try:
        manifests = list(read_named(arguments.filename, recursive=arguments.recursive))
    except ManifestError as error:
        raise WrongUse(str(error)) from error
    return manifests if arguments.namespace is None else list(_in_namespace(manifests, arguments.namespace))


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
