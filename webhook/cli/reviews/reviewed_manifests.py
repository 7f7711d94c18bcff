"""Asks for a review of manifests, and shows the answer as text, JSON or YAML."""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from webhook.app.review_requests import RejectedReviewError, admitted, reviewed, reviewer_of
from webhook.cli import warn
from webhook.cli.arguments.manifests import Manifests
from webhook.cli.exits import WrongUse
from webhook.cli.reviews.review_explanation import (
    EvictionExplanation,
    ReviewExplanation,
    ReviewRemoved,
    evictions_of,
    explanations_of,
    judged,
)
from webhook.cli.reviews.what_if_flags import in_flags, namespace_of
from webhook.cli.screen import Screen
from webhook.cli.terminal.differences import changed_lines
from webhook.cli.terminal.output import TEXT, write
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.problem import counted, enumerated, escape
from webhook.placementreview.review import EvictedElsewhere, ReviewSpec, ReviewStatus, WhatIf
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

_LISTED: Final = 12
"""Names of nodes that one line lists at most; ``-o json`` has all."""


def explain_by_review(
    given: Manifests, arguments: argparse.Namespace, settings: Settings, changes: WhatIf | None
) -> tuple[set[int], bool]:
    """Show the answers to the manifests; returns the places of those that have one, and whether all is admitted.

    Raises :class:`WrongUse` for manifests that cannot be reviewed.
    """
    namespace = namespace_of(arguments, settings)
    status = asyncio.run(_asked(given, settings, namespace, changes))
    about = [result for result in status.results if judged(given, result)]
    explanations = explanations_of(given, about)
    evictions = list(evictions_of(status.evicted))
    if arguments.output == TEXT:
        _show(explanations, evictions, status, changes)
    else:
        write([*explanations, *evictions], arguments.output)
    if status.evicted_elsewhere and arguments.output != TEXT:
        warn(elsewhere_line(status.evicted_elsewhere))
    return {result.manifest for result in about}, admitted(status)


async def _asked(given: Manifests, settings: Settings, namespace: str, changes: WhatIf | None) -> ReviewStatus:
    try:
        async with reviewer_of(settings) as reviewer:
            documents = [document for _, document in given]
            return await reviewed(reviewer, documents, namespace, ReviewSpec(what_if=changes), warn)
    except RejectedReviewError as error:
        raise WrongUse(in_flags(str(error), changes)) from error
    except FatalError as error:
        raise FatalError(in_flags(str(error), changes)) from error


def _show(
    explanations: Sequence[ReviewExplanation],
    evictions: Sequence[EvictionExplanation],
    status: ReviewStatus,
    changes: WhatIf | None,
) -> None:
    """Print the answers for a person."""
    screen = Screen()
    for explanation in explanations:
        show_explanation(screen, explanation)
    if changes and changes.drain:
        screen.heading(f"drained: {enumerated(changes.drain, _LISTED, escape)}")
        for eviction in evictions:
            pod = f"{escape(eviction.origin)} in namespace {escape(eviction.namespace)}"
            screen.say(f"  {pod} {_outcome(eviction)}", "red" if eviction.refused else "")
        if status.evicted_elsewhere:
            screen.say(f"  {elsewhere_line(status.evicted_elsewhere)}")
        if not evictions and not status.evicted_elsewhere:
            screen.say("  no pod is evicted")


def show_explanation(screen: Screen, explanation: ReviewExplanation) -> None:
    """Print the explanation of one object."""
    screen.heading(
        f"{escape(explanation.file)}: {escape(explanation.origin)} in namespace {escape(explanation.namespace)}"
    )
    screen.say(f"  {_verdict(explanation)}", "bold red" if explanation.refused else "bold green")
    if explanation.refused:
        screen.refusal(explanation.message)
    elif explanation.message:
        screen.prose(f"  {explanation.message}")
    if explanation.after is not None:
        screen.difference(changed_lines(explanation.before, explanation.after))
    elif not explanation.refused:
        for step in explanation.patch:
            value = f" {msgspec.json.encode(step['value']).decode()}" if "value" in step else ""
            screen.say(f"  patch: {step.get('op')} {step.get('path')}{value}")
    for warning in explanation.warnings:
        screen.say(f"  warning: {escape(warning)}", "yellow")
    if explanation.candidates:
        screen.say(f"  candidates: {enumerated(explanation.candidates, _LISTED, escape)}")
    for removed in explanation.removed:
        clause = f"{escape(removed.clause)}: " if removed.clause else ""
        screen.say(f"  out: {_nodes(removed)} ({clause}{escape(removed.reason)})", "dim")


def _verdict(explanation: ReviewExplanation) -> str:
    said: str = explanation.verdict
    if explanation.waits:
        said += ", waits for a node"
    elif not explanation.asks:
        said += " unchanged (it does not ask for placement)"
    if explanation.candidate_count is not None:
        total = explanation.candidate_count + sum(removed.count for removed in explanation.removed)
        pool = explanation.origin.rpartition(", ")[2].startswith(f"{HOST_POOL.name} ")
        can = "could be its hosts" if pool else "can run it"
        said += f", {explanation.candidate_count} of {counted(total, 'node')} {can}" if total else ""
    return said


def _nodes(removed: ReviewRemoved) -> str:
    return enumerated(removed.nodes, _LISTED, escape) if removed.nodes else counted(removed.count, "node")


_OUTCOMES: Final[Mapping[str, str]] = {
    "Placed": "runs again on",
    "Refused": "is refused when it is created again",
    "Unplaced": "finds no node",
    "Deleted": "is deleted",
}
"""What becomes of an evicted pod."""


def _outcome(eviction: EvictionExplanation) -> str:
    node = (eviction.node or "another node") if eviction.outcome == "Placed" else ""
    why = f": {eviction.message}" if eviction.message else ""
    return f"{_OUTCOMES[eviction.outcome]}{' ' if node else ''}{node}{why}"


def elsewhere_line(elsewhere: EvictedElsewhere) -> str:
    """The line about evicted pods of namespaces whose pods the user may not list."""
    outcomes = ", ".join(_counts(elsewhere))
    return f"{counted(elsewhere.count, 'pod')} of other namespaces: {outcomes}"


def _counts(elsewhere: EvictedElsewhere) -> Iterator[str]:
    for count, outcome in (
        (elsewhere.placed, "placed"),
        (elsewhere.refused, "refused"),
        (elsewhere.unplaced, "without a node"),
        (elsewhere.deleted, "deleted"),
    ):
        if count:
            yield f"{count} {outcome}"
