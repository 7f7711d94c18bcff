"""What is worth an Event when the status of a HostPool changes. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from webhook.controller.hostpools.pool_status import State, shared
from webhook.placement.checks.sleepers import in_words
from webhook.placement.inventory.objects import Phase, Pool
from webhook.placement.pools.pool_plan import published
from webhook.placement.text.problem import counted, enumerated

NAMED: Final = 10
"""Hosts named in one Event; the status has all of them."""


class News(Struct, frozen=True):
    """One Event: its type, its reason and what it says."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


RELEASED: Final = News("Normal", "Released", "its hosts are free again")


def stranger(host: str, who: str) -> News:
    """A host cannot be given to the pool; ``who`` is there."""
    return News("Warning", "StrangerFound", f"{host}: {who} got there first, so another node is looked for")


def news(before: Pool | None, state: State) -> Iterator[News]:
    """What people should hear, now that the status of the pool says this and not what it said ``before``."""
    if state.phase is Phase.FAILED:
        yield News("Warning", state.reason, state.message)
    if state.phase is Phase.READY and before is not None and before.sized:
        changes = list(_replaced(before, state) if published(before) else _assigned(state))
        yield from changes
        if changes and state.sleepers:
            yield News("Warning", "SleepersWait", f"{in_words(state.sleepers)}: only the setting strict keeps them off")
    if state.degraded:
        yield News("Warning", "Degraded", "; ".join(state.degraded))
    if state.guests:
        yield News("Normal", "OthersTolerate", shared(state))


def _assigned(state: State) -> Iterator[News]:
    names = enumerated(state.hosts, NAMED, lambda host: host.name)
    yield News("Normal", "HostsAssigned", f"{counted(len(state.hosts), 'host')}: {names}")


def _replaced(before: Pool, state: State) -> Iterator[News]:
    """Places that are somebody else's now, or somebody's again."""
    had = {host.index: host for host in before.assigned}
    changed = [host for host in state.hosts if had.get(host.index) != host]
    for host in changed[:NAMED]:
        old = had.get(host.index)
        place = "an empty place" if old is None else f"the place of {old.name}"
        yield News("Normal", "HostReplaced", f"host {host.index}: {host.name} takes {place}")
    if len(changed) > NAMED:
        yield News("Normal", "HostsReplaced", f"{len(changed) - NAMED} more hosts are others now")
