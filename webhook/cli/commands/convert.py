"""``convert``: SPL, ADL, bundles of Streams, Twister2 configurations and EMCO intents become manifests."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from webhook import app
from webhook.cli import say, warn
from webhook.cli.arguments import given_settings
from webhook.cli.arguments.inputs import read_inputs
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.parsers.convert import FLAGS
from webhook.cli.terminal.differences import as_yaml
from webhook.cli.terminal.output import write
from webhook.cluster.snapshot.manifests import ManifestError, read_named
from webhook.convert.conversion import ConvertOptions, convert
from webhook.convert.findings import Conversion, InputLine, Manifest, RefusedInputError, Remark
from webhook.convert.targets import Targets
from webhook.placement.kube.names import is_object_name
from webhook.placement.request.world import World
from webhook.placement.text.keys import LABEL_LIMIT
from webhook.placement.text.problem import Problem, counted, escape, quote, render
from webhook.placementreview import submission
from webhook.placementreview.plans.fuse import fused_manifest
from webhook.settings import Settings

_SHOWN: Final = 50
"""Errors of one input that are printed; the others are only counted."""

Results = Sequence[tuple[str, Conversion]]
"""The results with the names of their files, in the order of the command line."""


def run(arguments: argparse.Namespace) -> int:
    """Convert the files; returns ``Exit.REFUSED`` if one breaks its own rules, or if a demand is lost."""
    for flag in ("name", "namespace"):
        _check_name(f"--{flag}", getattr(arguments, flag))
    names = [*arguments.files, *arguments.filename]
    if not names:
        raise WrongUse("nothing to convert: name files, folders of SPL programs, or - for standard input")
    settings = given_settings.read(arguments)
    if not arguments.fused and not vars(arguments).keys().isdisjoint(FLAGS):
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
