"""``status``: the state of a Job as a tree: HostPools, processing elements, their pods, and why one waits."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import uvloop

from webhook import app
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.screen import Screen, StyledLine
from webhook.cli.terminal.output import TEXT, write
from webhook.cli.terminal.progress import progress
from webhook.cluster.queries.job_view import ElementView, JobView, PoolView, UnknownJobError
from webhook.placement.objects.jobs.job_fusion import JobFusion, RegionWidth
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import counted, enumerated, escape, quote

_HOSTS: Final = 8
"""Hosts of a pool that its line names at most; ``-o json`` has all."""

_JOBS: Final = 10
"""Jobs that the error about an unknown one names at most."""

_STYLES: Final = {
    **dict.fromkeys(("Running", "Ready", "Completed"), "green"),
    **dict.fromkeys(("Failed", "Stopped"), "bold red"),
}
"""Style of a line by its phase."""
_UNDER_WAY: Final = "yellow"
"""Style of every other phase: something is still to come."""


def run(arguments: argparse.Namespace) -> int:
    """Show the Job; returns ``Exit.OK`` in whatever phase it is."""
    settings = given_settings.read(arguments)
    namespace = given_settings.namespace(arguments, settings)
    for name in (arguments.job, namespace):
        given_settings.check_name(name)
    try:
        with progress() as step:
            step("asking the API server", 0, 0)
            view = uvloop.run(app.status.job_status(settings, namespace, arguments.job))
    except UnknownJobError as unknown:
        raise WrongUse(_no_such_job(arguments.job, namespace, unknown.names)) from unknown
    if arguments.output != TEXT:
        write(view, arguments.output)
        return Exit.OK
    screen = Screen()
    screen.lines(tree(view))
    return Exit.OK


def _no_such_job(job: str, namespace: str, names: Sequence[str]) -> str:
    """The text of the error, with the Jobs that exist."""
    if not names:
        return f"namespace {namespace} has no Job of Streams: give another one with --namespace"
    suggestion = nearest(job, names)
    meant = f"did you mean {suggestion}? " if suggestion else ""
    return f"namespace {namespace} has no Job {quote(job)}, {meant}known Jobs: {enumerated(names, _JOBS)}"


def tree(view: JobView) -> Iterator[StyledLine]:
    """The lines of the tree: the Job, its HostPools, its processing elements, and below each why it does not run."""
    phases = Counter(one.phase for one in view.processing_elements)
    counts = [f"{phases[phase]} {phase}" for phase in sorted(phases)]
    yield StyledLine(f"Job {view.namespace}/{view.name}: {view.phase}", _style(view.phase))
    yield StyledLine(f"| {': '.join(filter(None, (_size(view), ', '.join(counts))))}")
    if view.fusion is not None:
        yield StyledLine(f"| {escape(_fused(view.fusion))}")
    if view.message:
        yield StyledLine(f"| {escape(view.message)}")
    if view.unsatisfiable:
        yield StyledLine(f"| could not be started again as a whole: {escape(view.unsatisfiable)}")
    if view.stranded:
        yield StyledLine(f"| stranded: {escape(view.stranded)}")
    branches = [
        *map(_pool, view.host_pools),
        *map(_region, view.parallel_regions),
        *map(_element, view.processing_elements),
    ]
    for place, (line, message) in enumerate(branches, 1):
        last = place == len(branches)
        yield StyledLine(f"{'`' if last else '+'}- {escape(line.text)}", line.style)
        if message:
            yield StyledLine(f"{' ' if last else '|'}    {escape(message)}")


def _size(view: JobView) -> str:
    return counted(len(view.processing_elements), "processing element")


def _fused(fusion: JobFusion) -> str:
    """How operators are fused: the scheme, elements asked for and made, and the traffic inside elements."""
    asked = f"{counted(fusion.asked, 'processing element')} asked for, {fusion.made} made"
    return f"fused ({fusion.scheme}): {asked}, {fusion.inside} % of the traffic stays inside"


def _pool(pool: PoolView) -> tuple[StyledLine, str]:
    hosts = f", {enumerated(pool.hosts, _HOSTS)}" if pool.hosts else ""
    return StyledLine(f"HostPool {pool.name} ({pool.pool}): {pool.phase}{hosts}", _style(pool.phase)), pool.message


def _region(region: RegionWidth) -> tuple[StyledLine, str]:
    stated = "" if region.width == region.stated else f", scaled from {region.stated}"
    return StyledLine(f"ParallelRegion {region.name}: {counted(region.width, 'channel')}{stated}", _style("Ready")), ""


def _element(element: ElementView) -> tuple[StyledLine, str]:
    where = f", {element.pod} on {element.node or 'no node'}" if element.pod else ""
    restarts = f", {counted(element.restarts, 'restart')}" if element.restarts else ""
    line = f"ProcessingElement {element.name}: {element.phase}{where}{restarts}"
    return StyledLine(line, _style(element.phase)), element.message


def _style(phase: str) -> str:
    return _STYLES.get(phase, _UNDER_WAY)
