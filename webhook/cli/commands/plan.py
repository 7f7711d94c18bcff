"""``plan``: show where everything that manifests describe would run, what it costs, and what stays free."""

import argparse
from typing import Final

from webhook.cli.arguments import given_settings
from webhook.cli.arguments.manifests import manifests_of
from webhook.cli.planned_manifests import exit_of, planned_document, write_page
from webhook.cli.planpage.room import room
from webhook.cli.screen import Screen
from webhook.cli.terminal.output import write
from webhook.placement.text.problem import counted, enumerated, escape
from webhook.placementreview.plans.document import PlanDocument, PlannedElement, PlannedFusion, Subject

_STREAMS: Final = 20
"""Streams between elements that are printed."""

_OPERATORS: Final = 10
"""Operators of an element that are printed."""

_SHOWN: Final = 20
"""Nodes whose free room is printed; the others are only counted."""


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; returns ``Exit.REFUSED`` if something of it would be refused."""
    settings = given_settings.read(arguments)
    given = manifests_of(arguments)
    if arguments.output == "html":
        return write_page(given, settings, title="Plan", seconds=arguments.seconds)
    document = planned_document(given, settings, arguments.seconds, "Plan")
    if arguments.output == "text":
        _show(document)
    else:
        write(document, arguments.output)
    return exit_of(document)


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
    if subject.fusion is not None:
        _fusion(subject.fusion, screen)
    if nodes:
        heads = ("  ELEMENT", *(("OPERATORS",) if subject.fusion else ()), "NODE", "COST", "CONSTRAINTS")
        rows = [_row(element, operators=subject.fusion is not None) for element in subject.elements]
        screen.table(heads, rows, fixed=("NODE", "COST"))


def _fusion(fusion: PlannedFusion, screen: Screen) -> None:
    """Print how operators are fused, and the streams between elements."""
    asked = "" if fusion.asked == fusion.made else f", {fusion.asked} asked for"
    screen.say(
        f"  fused ({escape(fusion.scheme)}) into {counted(fusion.made, 'processing element')}{asked}: "
        f"{fusion.inside} % of the traffic stays inside, {fusion.between_nodes} % leaves its node"
    )
    for stream in fusion.streams[:_STREAMS]:
        why = f" ({stream.clause})" if stream.clause else ""
        ends, place = " and ".join(stream.operators), "nodes" if stream.between_nodes else "elements"
        share = f"{stream.share} %" if stream.share else "less than 1 %"
        screen.say(f"  between {place}: {escape(f'{ends}, {share} of the traffic{why}')}")
    if len(fusion.streams) > _STREAMS:
        screen.say(f"  and {len(fusion.streams) - _STREAMS} more streams; -o json has up to 100")


def _row(element: PlannedElement, *, operators: bool) -> tuple[str, ...]:
    node = element.node or enumerated([f"{name} ({count})" for name, count in element.placed.items()], 3)
    cost = "" if element.cost is None else str(element.cost)
    inside = enumerated([one.name for one in element.operators], _OPERATORS)
    named = (f"  {escape(element.name)}", *([escape(inside)] if operators else []))
    return (*named, node, cost, escape(", ".join(element.clauses)))
