"""``plan``: show where everything that manifests describe would run, what it costs, and what stays free."""

import argparse
from typing import Final

from webhook import app
from webhook.app.plan import planned
from webhook.cli import Subparsers, flags, warn
from webhook.cli.command_help import HelpExample, declare
from webhook.cli.commands.explain import Manifests, add_manifests, manifests_of
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.output import add_output, write
from webhook.cli.plan_document import document_of
from webhook.cli.planpage.document import PlanDocument, PlannedElement, Subject
from webhook.cli.planpage.page import render
from webhook.cli.planpage.room import room
from webhook.cli.progress import progress
from webhook.cli.screen import Screen
from webhook.placement.text.problem import counted, enumerated, escape
from webhook.settings import Settings

_FLAGS: Final = (
    "snapshot", "context", "host_binding", "unknown_annotations", "elastic", "exclusive_effect", "exclusive_strangers",
    "excluded_namespaces", "poolable_nodes", "exclusive_quota", "pool_quota",
)  # fmt: skip
_DESCRIPTION: Final = (
    "Plan all Jobs, workloads and pods of the manifests together, on free capacity: a node for each pod, at the "
    "lowest total cost. An object that does not fit beside the earlier ones is refused, with the smallest set of "
    "constraints that cannot hold together and the nearest fix."
)
SECONDS: Final = 10.0
"""Seconds to look for the cheapest plan."""

_SHOWN: Final = 20
"""Nodes whose free room is printed; the others are only counted."""


HELP_EXAMPLES: Final = (
    HelpExample(
        "where the elements of a Job would run",
        "streams-placement plan -f examples/job-parallel.yaml --snapshot examples/cluster",
    ),
    HelpExample(
        "the same as a page for the browser",
        "streams-placement plan -f examples/job-parallel.yaml --snapshot examples/cluster -o html > plan.html",
    ),
    HelpExample(
        "several files together, in the cluster of a context",
        "streams-placement plan -f jobs/ -f pools.yaml --context kind-lab",
        cluster=True,
    ),
)
"""The examples of the help."""


def add(subparsers: Subparsers) -> None:
    """Declare the command."""
    parser = declare(subparsers, "plan", _DESCRIPTION, HELP_EXAMPLES)
    add_manifests(parser)
    add_output(parser, "html", note="Form of the answer; html is a page for the browser")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        metavar="N",
        help="Seconds to look for the cheapest plan, and to decide about each object (default: 10).",
    )
    flags.add(parser, _FLAGS)


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; returns ``Exit.REFUSED`` if something of it would be refused."""
    settings = flags.read(arguments)
    given = manifests_of(arguments)
    if arguments.output == "html":
        return write_page(given, settings, title="Plan", seconds=arguments.seconds)
    document = planned_document(given, settings, arguments.seconds, "Plan")
    if arguments.output == "text":
        _show(document)
    else:
        write(document, arguments.output)
    return _exit(document)


def write_page(given: Manifests, settings: Settings, *, title: str, seconds: float = SECONDS) -> int:
    """Print the page of the manifests; returns ``Exit.REFUSED`` if something of it would be refused."""
    document = planned_document(given, settings, seconds, title)
    print(render(document), end="")
    return _exit(document)


def _exit(document: PlanDocument) -> int:
    return Exit.REFUSED if any(subject.verdict == "refused" for subject in document.subjects) else Exit.OK


def planned_document(given: Manifests, settings: Settings, seconds: float, title: str) -> PlanDocument:
    """The plan of the manifests as a document; raises :class:`WrongUse` for a manifest that cannot be used."""
    with progress() as step:
        try:
            world = app.explain.explaining(settings, given, warn, step=step)
            found = planned(given, world, seconds, step)
        except ValueError as error:
            raise WrongUse(str(error)) from error
    if not found.objects:
        warn("nothing to plan: there is no pod, no workload and no Job in the manifests")
    nodes = counted(len(world.inventory.nodes.nodes), "node")
    source = f"snapshot {settings.snapshot}" if settings.snapshot else "the cluster as it is now"
    return document_of(found, title, f"{nodes}, {source}")


def _show(document: PlanDocument) -> None:
    """Print the plan for a person."""
    screen = Screen()
    for subject in document.subjects:
        _subject(subject, screen)
    if document.total_cost is not None:
        best = "no plan is cheaper" if document.cheapest else "the cheapest found in time"
        screen.heading(f"total cost {document.total_cost} ({best})")
    used = [node for node in document.nodes if any(one.planned != "0" for one in node.resources)]
    if used:
        rows = [
            (node.name, ", ".join(f"{one.name} {room(one.free, one.offers)}" for one in node.resources))
            for node in used[:_SHOWN]
        ]
        screen.table(("NODE", "FREE AFTERWARDS"), rows, fixed=("NODE",))
        if len(used) > _SHOWN:
            screen.say(f"and {len(used) - _SHOWN} more nodes; -o json has all")


def _subject(subject: Subject, screen: Screen) -> None:
    screen.heading(f"{escape(subject.file)}: {escape(subject.origin)} in namespace {escape(subject.namespace)}")
    style = "bold red" if subject.verdict == "refused" else "bold green"
    nodes = {element.node for element in subject.elements if element.node}
    nodes |= {name for element in subject.elements for name in element.placed}
    pods = sum(element.replicas for element in subject.elements)
    where = f", {counted(pods, 'pod')} on {counted(len(nodes), 'node')}" if nodes else ""
    screen.say(f"  {subject.verdict}{where}", style)
    if subject.message:
        screen.refusal(subject.message)
    for warning in subject.warnings:
        screen.say(f"  warning: {warning}", "yellow")
    if nodes:
        rows = [_row(element) for element in subject.elements]
        screen.table(("  ELEMENT", "NODE", "COST", "CONSTRAINTS"), rows, fixed=("NODE", "COST"))


def _row(element: PlannedElement) -> tuple[str, str, str, str]:
    node = element.node or enumerated([f"{name} ({count})" for name, count in element.placed.items()], 3)
    cost = "" if element.cost is None else str(element.cost)
    return f"  {escape(element.name)}", node, cost, escape(", ".join(element.clauses))
