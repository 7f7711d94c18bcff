"""``why``: why a pod, workload or HostPool of a cluster waits, was refused, or runs where it does, as of now."""

import argparse
import asyncio
from typing import Final

from webhook.app import why as program
from webhook.cli import warn
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import TEXT, write
from webhook.cli.terminal.progress import progress
from webhook.cli.why.changes import changes_since, concerned
from webhook.cli.why.lines import lines_of
from webhook.cli.why.report import WhyReport, judge, report
from webhook.cli.why.targets import target_of
from webhook.cluster.queries.object_facts import ObjectRef, UnknownObjectError
from webhook.placement.text.api_kinds import BATCH_JOB, HOST_POOL, POD
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import enumerated, quote
from webhook.settings import Settings

_NAMES: Final = 10
"""Objects that the error about an unknown one names at most."""


def run(arguments: argparse.Namespace) -> int:
    """Show the answer; returns ``Exit.REFUSED`` if admission would refuse the object today."""
    settings = given_settings.read(arguments)
    wanted = target_of(arguments.object, given_settings.namespace(arguments, settings))
    answer = _answer(settings, wanted)
    if arguments.output == TEXT:
        screen = Screen()
        screen.lines(lines_of(answer))
    else:
        write(answer, arguments.output)
    return Exit.REFUSED if answer.verdict == "refused" else Exit.OK


def _answer(settings: Settings, wanted: ObjectRef) -> WhyReport:
    """Read the object and its cluster, then what has a history that matters."""
    try:
        with progress() as step:
            step("asking the API server", 0, 0)
            facts = asyncio.run(program.found(settings, wanted, warn))
    except UnknownObjectError as unknown:
        raise WrongUse(_no_such_object(wanted, unknown.names)) from unknown
    document = facts.facts.document
    judged = judge(wanted, facts)
    pod = document if wanted.kind == POD else None
    refs = concerned(judged, pod)
    seen = asyncio.run(program.objects(settings, refs)) if refs else []
    if wanted.kind == HOST_POOL:
        seen = [document, *seen]
    created = document.get("metadata", {}).get("creationTimestamp")
    return report(wanted, facts, judged, changes_since(created, judged, pod, seen))


def _no_such_object(wanted: ObjectRef, names: list[str]) -> str:
    """The text of the error, with the objects that exist."""
    kind, where = wanted.kind.name, f"namespace {wanted.namespace}"
    # kubectl takes the word job for the kind of the group batch, too.
    ours = f"; for a Job of streams.ibm.com write stj/{wanted.name}" if wanted.kind == BATCH_JOB else ""
    if not names:
        return f"{where} has no {kind} that you may see: give another one with --namespace, or TYPE/NAME{ours}"
    near = nearest(wanted.name, names)
    meant = f"did you mean {near}? " if near else ""
    return f"{where} has no {kind} {quote(wanted.name)}, {meant}there are: {enumerated(names, _NAMES)}{ours}"
