"""``why``: why a pod, workload or HostPool of a cluster waits, was refused, or runs where it does, as of now."""

import argparse
import asyncio
from typing import Final

from webhook.app import why as program
from webhook.cli import Subparsers, warn
from webhook.cli.arguments import flags
from webhook.cli.arguments.command_help import HelpExample, declare
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import TEXT, add_output, write
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

_DESCRIPTION: Final = (
    "Show why an object of a cluster waits, or why it runs where it does: the current admission verdict, the nodes "
    "that can run it and the rule that excludes each of the others, the scheduler's messages, and what has changed "
    "since the object was created. The cluster is read with your own rights; nothing is written."
)
_NAMES: Final = 10
"""Objects that the error about an unknown one names at most."""

HELP_EXAMPLES: Final = (
    HelpExample("a pod of the namespace default", "streams-placement why parallel-0-ioyms", cluster=True),
    HelpExample("a workload of another namespace", "streams-placement why deployment/pipeline -n team-a", cluster=True),
    HelpExample("which width of a parallel region fits", "streams-placement why stpr/parallel-work", cluster=True),
    HelpExample("a host pool, for a program", "streams-placement why hostpool/mypool -o json", cluster=True),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "why", _DESCRIPTION, HELP_EXAMPLES)
    parser.add_argument(
        "object",
        nargs="+",
        metavar="OBJECT",
        help="A pod's NAME, or TYPE/NAME as for kubectl: deployment/x, hostpool/x, streamsjob/x, stpr/x.",
    )
    flags.add_namespace(parser, "Its namespace")
    add_output(parser)
    flags.add(parser, ("context", *flags.JUDGING))


def run(arguments: argparse.Namespace) -> int:
    """Show the answer; returns ``Exit.REFUSED`` if admission would refuse the object today."""
    settings = flags.read(arguments)
    wanted = target_of(arguments.object, flags.namespace(arguments, settings))
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
