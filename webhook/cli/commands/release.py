"""``release``: gives hosts of HostPools back, without a controller: removes node marks and the pools' finalizers."""

import argparse
from typing import Final

import uvloop
from msgspec import Struct

from webhook import app
from webhook.app.release import ReleaseRequest
from webhook.cli import warn
from webhook.cli.arguments import given_settings
from webhook.cli.exits import Exit, WrongUse
from webhook.cli.terminal.output import TEXT, write
from webhook.cli.terminal.progress import progress
from webhook.controller.release import Freed, Scope, parse_scope
from webhook.placement.text.problem import enumerated, quote
from webhook.settings import Settings

_NAMED: Final = 10
"""Hosts that one line names at most."""


_LONGEST: Final = 3600.0
"""Largest value of ``--wait`` in seconds."""


class ReleaseAnswer(Struct, frozen=True, rename="camel"):
    """What was released, or with ``dry_run`` would be, for programs."""

    dry_run: bool
    released: tuple[Freed, ...]


def run(arguments: argparse.Namespace) -> int:
    """Release the hosts; returns ``Exit.TROUBLE`` if some could not be released."""
    settings = given_settings.read(arguments)
    wish = ReleaseRequest(_scopes(arguments), arguments.dry_run, arguments.delete_controller, arguments.wait)
    if wish.end_controllers and not settings.lease_namespace:
        raise WrongUse("--delete-controller needs --lease-namespace: the namespace of the Deployment, and of the Lease")
    if not 0 < wish.wait_seconds <= _LONGEST:
        raise WrongUse(
            f"--wait is {wish.wait_seconds:g}, but it should be more than 0 and at most {_LONGEST:g} seconds"
        )
    released = _released(settings, wish, arguments.output)
    if not wish.dry_run and not wish.end_controllers and any(freed.stays and freed.hosts for freed in released):
        warn("HostPools that are not deleted get hosts again as soon as a controller runs")
    failed = sum(bool(freed.failure) for freed in released)
    if failed:
        warn(f"{failed} of {len(released)} could not be fully released: run the command again")
    return Exit.TROUBLE if failed else Exit.OK


def _released(settings: Settings, wish: ReleaseRequest, form: str) -> list[Freed]:
    """Release the hosts and print what was released, as text at once; what was before an error is printed, too."""
    released: list[Freed] = []

    def report(freed: Freed) -> None:
        released.append(freed)
        step("giving hosts back", len(released), 0)
        if form == TEXT:
            print(_line(freed, dry_run=wish.dry_run), flush=True)

    try:
        with progress() as step:
            step("waiting for controllers to stop", 0, 0)
            uvloop.run(app.release.release(settings, wish, report))
    finally:
        if form != TEXT:
            write(ReleaseAnswer(wish.dry_run, tuple(released)), form)
    if form == TEXT and not released:
        print("HostPools: nothing to release")
    return released


def _scopes(arguments: argparse.Namespace) -> list[Scope]:
    """What to release, from the arguments; raises :class:`WrongUse` if these say nothing, or contradict ``--all``."""
    if arguments.all:
        if arguments.scopes:
            raise WrongUse(f"--all releases everything: leave out {', '.join(arguments.scopes)}, or --all")
        return [Scope()]
    if not arguments.scopes:
        raise WrongUse("say what to release: NAMESPACE/POOL, NAMESPACE for all HostPools there, or --all")
    return [_scope(text) for text in arguments.scopes]


def _scope(text: str) -> Scope:
    try:
        return parse_scope(text)
    except ValueError as wrong:
        raise WrongUse(f"{quote(text)} names no HostPool: {wrong}") from wrong


def _line(freed: Freed, *, dry_run: bool) -> str:
    """The line that is printed for one released pool, or for marks that belong to no pool."""
    if freed.failure:
        return f"{freed.what}: not released: {freed.failure}"
    done = []
    if freed.hosts:
        names = enumerated(freed.hosts, _NAMED)
        done.append(f"{'would release' if dry_run else 'released'} {names}")
    if freed.finalizer:
        done.append("would remove its finalizer" if dry_run else "removed its finalizer")
    if freed.closed:
        done.append("would set its condition Active to False" if dry_run else "set its condition Active to False")
    return f"{freed.what}: {', '.join(done) or 'nothing to release'}"
