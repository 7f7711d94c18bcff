"""The flags that name manifests, as kubectl has them: ``-f``, ``-R`` and ``-n``."""

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
"""Objects in the order in which they were given, each with the name of its file."""

_CLUSTERED: Final = frozenset((kind.api_version, kind.name) for kind in (NODE, NAMESPACE))
"""Version and kind of objects that are in no namespace."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "-f",
        "--filename",
        action="extend",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Manifests: files of YAML or JSON, folders of them, or - for standard input; may be repeated.",
    )
    parser.add_argument(
        "-R", "--recursive", action="store_true", help="Look through the folders below the folders as well."
    )
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", help="Namespace of objects that state none (default: default)."
    )


def read(arguments: argparse.Namespace) -> Manifests:
    """Every object of the files; :class:`WrongUse` if one cannot be read, or states another namespace."""
    try:
        found = list(read_named(arguments.filename, recursive=arguments.recursive))
    except ManifestError as error:
        raise WrongUse(str(error)) from error
    return found if arguments.namespace is None else list(_placed(found, arguments.namespace))


def _placed(manifests: Manifests, namespace: str) -> Iterator[tuple[str, Unstructured]]:
    """The objects in that namespace; as kubectl does, one that states another is refused."""
    for file, document in manifests:
        metadata = mapping(document, "metadata")
        stated = metadata.get("namespace")
        if (document.get("apiVersion"), document["kind"]) in _CLUSTERED:
            yield file, document
        elif stated and stated != namespace:
            what = f"{file}: {origin_of(document)} states the namespace {quote(str(stated))}"
            raise WrongUse(f"{what}, but --namespace is {quote(namespace)}: give --namespace {stated}, or none")
        else:
            yield file, {**document, "metadata": {**metadata, "namespace": namespace}}
