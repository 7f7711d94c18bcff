"""A ``WhyReport`` as lines of text for a person."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from webhook.cli.screen import StyledLine
from webhook.cli.why.report import WhyReport
from webhook.placement.jobs.operators.width_search import FittingWidth
from webhook.placement.kube.timestamps import time_of
from webhook.placement.text.problem import counted, enumerated, escape

_LISTED: Final = 12
"""Names of nodes that one line lists at most; ``-o json`` has all."""

_PODS: Final = 20
"""Pods that are listed at most, those without a node first."""

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def lines_of(report: WhyReport, now: datetime | None = None) -> Iterator[StyledLine]:
    """The lines of the answer; ``now`` is what ages are counted to."""
    age = _age(report.created, now or datetime.now(UTC))
    created = f", created {age} ago" if age else ""
    yield StyledLine(f"{report.kind} {report.namespace}/{report.name}: {escape(report.state)}{created}", "bold")
    for wish in report.asks:
        yield StyledLine(f"  asks for {escape(wish)}")
    yield from _verdict(report)
    yield from _channels(report)
    for warning in report.warnings:
        yield StyledLine(f"  warning: {escape(warning)}", "yellow")
    if report.scheduler:
        yield StyledLine(f"  the scheduler says: {escape(report.scheduler)}")
    for event in report.events:
        yield StyledLine(f"  {escape(event.reason)} of {escape(event.about)}: {escape(event.message)}", "yellow")
    yield from _changes(report)
    yield from _pods(report)
    if report.candidates:
        yield StyledLine(f"  candidates: {enumerated(report.candidates, _LISTED)}")
    for removed in report.removed:
        clause = f"{escape(removed.clause)}: " if removed.clause else ""
        yield StyledLine(f"  out: {enumerated(removed.nodes, _LISTED)} ({clause}{escape(removed.reason)})", "dim")
    if report.unread:
        unread = enumerated(report.unread, _LISTED)
        yield StyledLine(f"  you may not list {unread}: results that depend on them are left out", "yellow")


def _verdict(report: WhyReport) -> Iterator[StyledLine]:
    if report.verdict == "unknown":
        yield StyledLine("  the current admission verdict cannot be determined", "yellow")
        return
    total = len({*report.candidates, *(node for removed in report.removed for node in removed.nodes)})
    of_nodes = f", {len(report.candidates)} of {counted(total, 'node')} can run it"
    count = of_nodes if total and report.kind != "HostPool" else ""
    done = f"scaled to {report.channels.asked}" if report.channels else "submitted"
    if report.verdict == "fits":
        yield StyledLine(f"  {done} today it would be admitted{count}", "green")
        return
    first, *following = report.message.splitlines() or [""]
    if report.verdict == "waits":
        style, would = "yellow", "it does not ask for placement: submitted today it would be admitted, and wait"
    else:
        style, would = "bold red", f"{done} today it would be refused"
    yield StyledLine(f"  {would}{count}", style)
    yield StyledLine(f"  {first}", style)
    yield from (StyledLine(f"  {line}") for line in following)


def _channels(report: WhyReport) -> Iterator[StyledLine]:
    """How many channels of a ParallelRegion fit, and why no more."""
    if (channels := report.channels) is None:
        return
    words = FittingWidth(channels.fit, channels.proved).words or "how many fit was not decided in time"
    yield StyledLine(f"  channels: {words}; {channels.made} are made, and the Job allows {channels.most}")
    if channels.beyond:
        yield StyledLine(f"  {counted(channels.fit + 1, 'channel')} would be refused:")
        yield from (StyledLine(f"    {escape(line)}") for line in channels.beyond.splitlines())


def _changes(report: WhyReport) -> Iterator[StyledLine]:
    if report.changes:
        yield StyledLine("  since it was created:")
    for change in report.changes:
        at = f"{change.at} " if change.at else ""
        yield StyledLine(f"    {at}{escape(change.text)}")


def _pods(report: WhyReport) -> Iterator[StyledLine]:
    """The pods, those without a node first, each with the scheduler's message."""
    ordered = sorted(report.pods, key=lambda pod: (bool(pod.node), pod.name))
    for pod in ordered[:_PODS]:
        where = f" on {pod.node}" if pod.node else ""
        why = f": {escape(pod.message)}" if pod.message else ""
        yield StyledLine(f"  pod {pod.name}: {escape(pod.phase)}{where}{why}")
    if len(ordered) > _PODS:
        yield StyledLine(f"  and {counted(len(ordered) - _PODS, 'more pod')}")


def _age(created: str, now: datetime) -> str:
    """The time since then in its largest unit; empty if it is not known."""
    start = time_of(created)
    seconds = int((now - start).total_seconds()) if start else -1
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), "")
