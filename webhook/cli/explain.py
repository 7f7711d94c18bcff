"""``explain``: what admission would make of a manifest, against a snapshot or a cluster, and why."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from webhook import app
from webhook.admission.templates import origin_of, pods_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cli import COMMANDS, Subparsers, flags, manifests, warn
from webhook.cli.client import review
from webhook.cli.differences import as_yaml
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.explanation import NAMESPACE, Explanation, explain
from webhook.cli.manifests import Manifests
from webhook.cli.pool_explanation import PoolExplanation, explain_pool, is_pool
from webhook.cli.screen import Screen
from webhook.placement.request.world import World
from webhook.placement.text.problem import enumerated
from webhook.settings import Settings

_FLAGS: Final = (
    "snapshot", "context", "host_binding", "unknown_annotations", "elastic", "exclusive_effect", "exclusive_strangers",
    "excluded_namespaces", "poolable_nodes", "exclusive_quota", "pool_quota",
)  # fmt: skip
_DESCRIPTION: Final = (
    "Show, for every pod of every manifest, whether it would be admitted, the patch, the nodes that could run it, and "
    "which rule removed each of the others; for every host pool, whether it could have its hosts. "
    "Host pools, nodes, Streams jobs, HPAIntents and namespaces among the manifests count as applied. "
    "With -o review nothing is judged: the AdmissionReview of each pod is written, one a line, to be sent to /mutate."
)
_NAMED: Final = 5
"""Objects that are named where there is nothing to judge."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "explain", help=COMMANDS["explain"], description=_DESCRIPTION, epilog=flags.EPILOG, allow_abbrev=False
    )
    manifests.add(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", *_FORMS, "review"),
        default="text",
        help="Form of the answer (default: text).",
    )
    parser.add_argument(
        "--strict", dest="must_judge", action="store_true", help="Exit with 2 where there is nothing to judge."
    )
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Explain every pod and host pool; the exit code says whether one would be refused."""
    settings = flags.read(arguments)
    given = manifests.read(arguments)
    if arguments.output == "review":
        reviews = list(_reviews(given))
        _note_nothing(
            "no review to write: there is no pod and no workload", reviews, given, strict=arguments.must_judge
        )
        _write(reviews)
        return Exit.OK
    explanations = _judged(given, settings)
    nothing = "nothing to judge: there is no pod, no workload and no HostPool"
    _note_nothing(nothing, explanations, given, strict=arguments.must_judge)
    if arguments.output == "text":
        _show(explanations)
    else:
        print(_FORMS[arguments.output](msgspec.to_builtins(explanations)))
    return Exit.REFUSED if any(found.refused for found in explanations) else Exit.OK


def _judged(given: Manifests, settings: Settings) -> list[Explanation]:
    try:
        world = app.explain.explaining(settings, given, warn)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    return [found for file, document in given for found in _explained(file, document, world)]


def _explained(file: str, document: Unstructured, world: World) -> Sequence[Explanation]:
    if is_pool(document):
        return [explain_pool(file, document, world)]
    try:
        return [explain(file, document, found, world) for found in pods_of(document)]
    except msgspec.ValidationError as error:
        raise WrongUse(f"{file}: {document['kind']} is not readable: {error}") from error


def _note_nothing(nothing: str, found: Sequence[object], given: Manifests, *, strict: bool) -> None:
    """Warn, or refuse, where nothing was found: an empty rendering, only a Service, a kind without a pod template."""
    if found:
        return
    objects = [origin_of(document) for _, document in given]
    held = f", only {enumerated(objects, _NAMED)}" if objects else ", they are empty"
    if strict:
        raise WrongUse(f"{nothing} in the manifests{held}")
    warn(f"{nothing} in the manifests{held}")


def _reviews(given: Manifests) -> Iterator[bytes]:
    """The review of every pod, as the API server sends it to ``/mutate``."""
    for _, document in given:
        for found in pods_of(document):
            namespace = mapping(found.pod, "metadata").get("namespace") or NAMESPACE
            yield msgspec.json.encode(review(found.pod, namespace))


def _write(reviews: Sequence[bytes]) -> None:
    for each in reviews:
        print(each.decode())
    if len(reviews) > 1:
        warn(f"these are {len(reviews)} reviews, one a line: the server takes one at a time")


def _as_json(explanations: object) -> str:
    return msgspec.json.format(msgspec.json.encode(explanations), indent=2).decode()


def _as_yaml(explanations: object) -> str:
    return as_yaml(explanations).rstrip("\n")


_FORMS: Final[Mapping[str, Callable[[object], str]]] = {"json": _as_json, "yaml": _as_yaml}
"""Forms of the answer for programs."""


def _show(explanations: Iterable[Explanation]) -> None:
    screen = Screen()
    for found in explanations:
        if isinstance(found, PoolExplanation):
            screen.pool(found)
        else:
            screen.explanation(found)
