"""``convert``: SPL, ADL, bundles of Streams, Twister2 configurations and EMCO intents become manifests."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from webhook import app
from webhook.cli import Subparsers, say, warn
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.arguments.inputs import read_inputs
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.terminal.differences import as_yaml
from webhook.cli.terminal.output import add_output, write
from webhook.cluster.snapshot.manifests import ManifestError, read_named
from webhook.convert.conversion import ConvertOptions, InputKind, convert
from webhook.convert.findings import Conversion, InputLine, Manifest, RefusedInputError, Remark
from webhook.convert.targets import Targets
from webhook.placement.kube.names import is_object_name
from webhook.placement.request.world import World
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.problem import Problem, counted, escape, quote, render
from webhook.placementreview import submission
from webhook.placementreview.plans.fuse import fused_manifest
from webhook.settings import Settings

_DESCRIPTION: Final = (
    "Convert SPL programs, ADL and application bundles (.sab) of Streams with their job configuration overlays, "
    "Twister2 configurations and EMCO hardware intents into manifests: Jobs, HostPools, workloads, HPAIntents. What a "
    "manifest cannot express is printed on standard error, line by line: 'error' for an invalid input, 'lost' for a "
    "demand that is left out, 'note' for what you should check. With an error, or with a lost demand and without "
    "--partial, no manifest is written."
)
_FLAGS: Final = ("snapshot", "context")
_EXITS: Final = "Exit codes: 0 done, 1 refused or lost demands, 2 usage error, 3 failure."
_SHOWN: Final = 50
"""Errors of one input that are printed; the others are only counted."""

Results = Sequence[tuple[str, Conversion]]
"""The results with the names of their files, in the order of the command line."""


HELP_EXAMPLES: Final = (
    HelpExample("manifests of an SPL program", "streams-placement convert examples/convert/isolation.spl"),
    HelpExample(
        "applied at once",
        "streams-placement convert examples/convert/isolation.spl -n team-a | kubectl apply -f -",
        cluster=True,
    ),
    HelpExample("a program with the files that it uses", "streams-placement convert -f examples/convert/toolkit"),
    HelpExample(
        "processing elements, fused for the nodes of a cluster",
        "streams-placement convert examples/convert/toolkit --fused --snapshot examples/cluster",
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "convert", _DESCRIPTION, HELP_EXAMPLES, exits=_EXITS)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="Files to convert, folders of SPL programs, which are read together, or - for standard input.",
    )
    parser.add_argument("-f", "--filename", nargs="+", action="extend", default=[], metavar="FILE", help="As FILE.")
    parser.add_argument(
        "--from",
        dest="kind",
        choices=[kind.value for kind in InputKind],
        help="Kind of all files (default: detected from the content of each).",
    )
    parser.add_argument(
        "--onto",
        nargs="+",
        action="extend",
        metavar="MANIFEST",
        help="Add annotations to the pods and workloads of these manifests, instead of creating Jobs, workloads and "
        "HPAIntents.",
    )
    parser.add_argument("--name", metavar="NAME", help="Name of the Job or workload (default: made of the input's).")
    parser.add_argument("-n", "--namespace", metavar="NAME", help="Namespace of what is made (default: none stated).")
    parser.add_argument("--partial", action="store_true", help="Write manifests even if demands are lost.")
    parser.add_argument(
        "--fused",
        action="store_true",
        help="Fuse the operators of Jobs for the cluster of --snapshot or --context, and write processing elements.",
    )
    add_output(parser, forms=("yaml", "json"))
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Convert the files; returns ``Exit.REFUSED`` if one breaks its own rules, or if a demand is lost."""
    for flag in ("name", "namespace"):
        _check_name(f"--{flag}", getattr(arguments, flag))
    names = [*arguments.files, *arguments.filename]
    if not names:
        raise WrongUse("nothing to convert: name files, folders of SPL programs, or - for standard input")
    settings = flags.read(arguments)
    if not arguments.fused and not vars(arguments).keys().isdisjoint(_FLAGS):
        raise WrongUse("--snapshot and --context name the cluster for --fused: add it, or leave them out")
    targets = _targets(arguments.onto)
    given = read_inputs(names, arguments.kind)
    options = ConvertOptions(arguments.name, arguments.namespace, targets, given.primitives)
    conversions = convert(given.inputs, options)
    results: Results = [(one.name, conversion) for one, conversion in zip(given.inputs, conversions, strict=True)]
    _check_one_name(arguments.name, results)
    if arguments.fused and not any(conversion.problems for _, conversion in results):
        results = _fused(results, settings)
    broken, lost = _report(results)
    if broken or (lost and not arguments.partial):
        why = counted(broken, "error") if broken else f"{counted(lost, 'demand')} lost; --partial writes the rest"
        return say(f"no manifest is written: {why}", Exit.REFUSED)
    _write(results, [] if targets is None else [document for _, document in targets.documents], arguments.output)
    return Exit.OK


def _check_name(flag: str, name: str | None) -> None:
    if name is not None and (not is_object_name(name) or len(name) > LABEL_LIMIT):
        raise WrongUse(
            f"{flag} {quote(name)} is not a valid name: a-z, 0-9, '-' and '.', at most {LABEL_LIMIT} characters"
        )


def _check_one_name(name: str | None, results: Results) -> None:
    """``--name`` is for one object; two of them with one name would be the same object."""
    named = [
        (manifest["kind"], manifest["metadata"]["name"])
        for _, conversion in results
        for manifest in conversion.manifests
    ]
    twice = next((one for at, one in enumerate(named) if one in named[:at]), None)
    if twice is not None:
        advice = "convert the files one by one, each with a --name of its own"
        raise WrongUse(f"there would be two objects {twice[0]} {twice[1]}: {advice}")
    if name is not None and named and name not in {own for _, own in named}:
        raise WrongUse("--name is for one application: these have several, or none")


def _targets(names: list[str] | None) -> Targets | None:
    """The objects that get annotations."""
    if names is None:
        return None
    try:
        return Targets(list(read_named(names)))
    except ManifestError as error:
        raise WrongUse(str(error)) from error
    except RefusedInputError as refused:
        raise WrongUse(render(refused.problems)) from refused


def _fused(results: Results, settings: Settings) -> Results:
    """The results with Jobs of processing elements; a problem for a Job whose operators cannot be fused."""
    given = [(name, manifest) for name, conversion in results for manifest in conversion.manifests]
    world = app.explain.explaining(settings, given, warn)
    return [(name, _fused_conversion(name, conversion, world)) for name, conversion in results]


def _fused_conversion(name: str, conversion: Conversion, world: World) -> Conversion:
    manifests: list[Manifest] = []
    problems: list[Problem] = []
    remarks = list(conversion.remarks)
    for manifest in conversion.manifests:
        fused = fused_manifest(manifest, world, submission.SECONDS)
        what = f"Job {manifest['metadata']['name']}"
        if fused.text:
            why = " ".join(line.strip() for line in fused.text.splitlines())
            problems.append(Problem(name, f"{what} cannot be fused: {why}"))
        manifests.append(dict(fused.manifest))
        remarks += (Remark(InputLine(name, 1), what, warning, "look at its plan") for warning in fused.warnings)
    return Conversion(() if problems else tuple(manifests), tuple(remarks), tuple(problems))


def _report(results: Results) -> tuple[int, int]:
    """Print problems and remarks on standard error; returns how many problems and lost demands there are."""
    broken = lost = 0
    for _, conversion in results:
        for problem in conversion.problems[:_SHOWN]:
            place, _, text = render([problem]).partition(": ")
            print(f"{place}: error: {text}", file=sys.stderr)
        for line in _remark_lines(conversion):
            print(line, file=sys.stderr)
        broken += len(conversion.problems)
        lost += sum(remark.demand for remark in conversion.remarks)
    return broken, lost


def _remark_lines(conversion: Conversion) -> Iterator[str]:
    """The remarks, each on one line, with the place in front as compilers have it."""
    for remark in conversion.remarks:
        label = "lost" if remark.demand else "note"
        yield escape(f"{remark.at}: {label}: {remark.what}: {remark.why}; {remark.instead}")


def _write(results: Results, onto: Sequence[Manifest], form: str) -> None:
    manifests = [manifest for _, conversion in results for manifest in conversion.manifests]
    if form == "json":
        write({"apiVersion": "v1", "kind": "List", "items": [*manifests, *onto]}, form)
        return
    texts = [*_documents(results), *map(as_yaml, onto)]
    print("---\n".join(texts), end="")


def _documents(results: Results) -> Iterable[str]:
    """The manifests as YAML; the first of each input has comments with the input's name and the remarks.

    A file of which nothing is made or said, such as one that others use, has none unless it is the only one.
    """
    pending = ""
    for name, conversion in results:
        if len(results) > 1 and not conversion.manifests and not conversion.remarks:
            continue
        pending += "".join(f"# {line}\n" for line in (escape(f"Converted from {name}."), *_remark_lines(conversion)))
        for manifest in conversion.manifests:
            yield pending + as_yaml(manifest)
            pending = ""
    if pending:
        yield pending
