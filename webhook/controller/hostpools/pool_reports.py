"""Writes a HostPool's status, and records Events about what changed in it."""

import time
from collections.abc import Iterator
from typing import Final

from kubeapi.clock import Clock
from webhook.controller.events.event import EventText, Regarding
from webhook.controller.events.recorder import EventRecorder, record
from webhook.controller.hostpools.pool_object import StoredPool
from webhook.controller.hostpools.pool_status import State, shared, status_of
from webhook.controller.object_editor import ObjectWriter
from webhook.placement.checks.unbound_pods import sleepers_text
from webhook.placement.kube.timestamps import timestamp
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.pool_plan import published
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.problem import counted, enumerated

NAMED: Final = 10
"""Hosts named in one Event; the status has all of them."""


RELEASED: Final = EventText("Normal", "Released", "its hosts are free again")


def stranger(host: str, who: str) -> EventText:
    """The Event about a host that cannot be assigned because the pod ``who`` runs there."""
    return EventText("Warning", "StrangerFound", f"{host}: {who} runs there already; choosing another node")


def news(before: Pool | None, state: State) -> Iterator[EventText]:
    """Events about the change of a pool's status from ``before`` to ``state``."""
    if state.phase is Phase.FAILED:
        yield EventText("Warning", state.reason, state.message)
    if state.phase is Phase.READY and before is not None and before.sized:
        changes = list(_replaced(before, state) if published(before) else _assigned(state))
        yield from changes
        if changes and state.sleepers:
            yield EventText(
                "Warning", "SleepersWait", f"{sleepers_text(state.sleepers)}: only the setting strict keeps them off"
            )
    if state.degraded:
        yield EventText("Warning", "Degraded", "; ".join(state.degraded))
    if state.guests:
        yield EventText("Normal", "OthersTolerate", shared(state))


def _assigned(state: State) -> Iterator[EventText]:
    names = enumerated(state.hosts, NAMED, lambda host: host.name)
    yield EventText("Normal", "HostsAssigned", f"{counted(len(state.hosts), 'host')}: {names}")


def _replaced(before: Pool, state: State) -> Iterator[EventText]:
    """Events about indices whose host was replaced or found again."""
    had = {host.index: host for host in before.assigned}
    changed = [host for host in state.hosts if had.get(host.index) != host]
    for host in changed[:NAMED]:
        old = had.get(host.index)
        place = "an empty place" if old is None else f"the place of {old.name}"
        yield EventText("Normal", "HostReplaced", f"host {host.index}: {host.name} takes {place}")
    if len(changed) > NAMED:
        yield EventText("Normal", "HostsReplaced", f"{len(changed) - NAMED} more hosts were replaced")


class PoolReports:
    """Writes statuses that differ from the stored ones, and records Events about the differences."""

    def __init__(self, server: ObjectWriter, events: EventRecorder, *, now: Clock = time.time) -> None:
        self._server = server
        self._events = events
        self._now = now

    async def say(self, stored: StoredPool, state: State) -> bool:
        """Write the status; false if the stored one equals it. Raises ApiError."""
        patch = status_of(stored, state, timestamp(self._now()))
        if patch is None:
            return False
        await self._server.merge_patch(f"{stored.path}/status", patch)
        for piece in news(stored.pool, state):
            self.tell(stored, piece)
        return True

    def tell(self, stored: StoredPool, piece: EventText) -> None:
        """Record an Event about the pool."""
        record(self._events, Regarding.of(HOST_POOL, stored.name, stored.metadata.uid), piece)
