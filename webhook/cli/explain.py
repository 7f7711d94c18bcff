"""``explain``: what admission would make of a manifest, against a snapshot, and why."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from webhook import app
from webhook.admission.document import Document
from webhook.admission.workloads import pods_of
from webhook.cli import COMMANDS, Subparsers, flags
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.explanation import Explanation, explain
from webhook.cli.pool_explanation import PoolExplanation, explain_pool, is_pool
from webhook.cli.screen import Screen
from webhook.cluster.manifests import ManifestError, read_manifests
from webhook.placement.world import World

_FLAGS = (
    "snapshot", "context", "host_binding", "unknown_annotations", "elastic", "exclusive_effect", "exclusive_strangers",
    "excluded_namespaces", "poolable_nodes", "exclusive_quota",
)  # fmt: skip
_DESCRIPTION = (
    "Show, for every pod of every manifest, whether it would be admitted, the patch, the nodes that could run it, and "
    "which rule removed each of the others; for every host pool, whether it could have its hosts. "
    "Host pools, nodes, Streams jobs, HPAIntents and namespaces among the manifests count as applied."
)


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "explain", help=COMMANDS["explain"], description=_DESCRIPTION, epilog=flags.EPILOG, allow_abbrev=False
    )
    parser.add_argument(
        "-f", "--filename", action="append", required=True, type=Path, metavar="FILE", help="Manifest; may be repeated."
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="Form of the answer.")
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Explain every pod and host pool; the exit code says whether one would be refused."""
    settings = flags.read(arguments)
    try:
        manifests = [(str(path), document) for path in arguments.filename for document in read_manifests(path)]
        world = app.explaining(settings, (document for _, document in manifests))
    except (ManifestError, ValueError) as error:
        raise WrongUse(str(error)) from error
    explanations = [found for file, document in manifests for found in _explained(file, document, world)]
    if arguments.output == "json":
        print(msgspec.json.format(msgspec.json.encode(explanations), indent=2).decode())
    else:
        _show(explanations)
    return Exit.REFUSED if any(found.refused for found in explanations) else Exit.OK


def _explained(file: str, document: Document, world: World) -> Sequence[Explanation]:
    if is_pool(document):
        return [explain_pool(file, document, world)]
    try:
        return [explain(file, found, world) for found in pods_of(document)]
    except msgspec.ValidationError as error:
        raise WrongUse(f"{file}: {document['kind']} is not readable: {error}") from error


def _show(explanations: list[Explanation]) -> None:
    screen = Screen()
    for found in explanations:
        if isinstance(found, PoolExplanation):
            screen.pool(found)
        else:
            screen.explanation(found)
    if not explanations:
        screen.say("no pod and no host pool in these manifests")
