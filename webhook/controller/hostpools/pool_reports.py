"""Writes a HostPool's status, and records Events about what changed in it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final, Literal, Protocol

from msgspec import Struct

from webhook.controller.events.event import Regarding
from webhook.controller.hostpools.claims import ObjectWriter
from webhook.controller.hostpools.pool_object import StoredPool
from webhook.controller.hostpools.pool_status import State, shared, status_of
from webhook.placement.checks.unbound_pods import sleepers_text
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.pool_plan import published
from webhook.placement.text.api_kinds import HOST_POOL
from webhook.placement.text.problem import counted, enumerated

NAMED: Final = 10
"""Hosts named in one Event; the status has all of them."""


class PoolEvent(Struct, frozen=True):
    """One Event about a HostPool: type, reason and note."""

    type: Literal["Normal", "Warning"]
    reason: str
    note: str


RELEASED: Final = PoolEvent("Normal", "Released", "its hosts are free again")


def stranger(host: str, who: str) -> PoolEvent:
    """The Event about a host that cannot be assigned because the pod ``who`` runs there."""
    return PoolEvent("Warning", "StrangerFound", f"{host}: {who} got there first, so another node is looked for")


def news(before: Pool | None, state: State) -> Iterator[PoolEvent]:
    """Events about the change of a pool's status from ``before`` to ``state``."""
    if state.phase is Phase.FAILED:
        yield PoolEvent("Warning", state.reason, state.message)
    if state.phase is Phase.READY and before is not None and before.sized:
        changes = list(_replaced(before, state) if published(before) else _assigned(state))
        yield from changes
        if changes and state.sleepers:
            yield PoolEvent(
                "Warning", "SleepersWait", f"{sleepers_text(state.sleepers)}: only the setting strict keeps them off"
            )
    if state.degraded:
        yield PoolEvent("Warning", "Degraded", "; ".join(state.degraded))
    if state.guests:
        yield PoolEvent("Normal", "OthersTolerate", shared(state))


def _assigned(state: State) -> Iterator[PoolEvent]:
    names = enumerated(state.hosts, NAMED, lambda host: host.name)
    yield PoolEvent("Normal", "HostsAssigned", f"{counted(len(state.hosts), 'host')}: {names}")


def _replaced(before: Pool, state: State) -> Iterator[PoolEvent]:
    """Events about indices whose host was replaced or found again."""
    had = {host.index: host for host in before.assigned}
    changed = [host for host in state.hosts if had.get(host.index) != host]
    for host in changed[:NAMED]:
        old = had.get(host.index)
        place = "an empty place" if old is None else f"the place of {old.name}"
        yield PoolEvent("Normal", "HostReplaced", f"host {host.index}: {host.name} takes {place}")
    if len(changed) > NAMED:
        yield PoolEvent("Normal", "HostsReplaced", f"{len(changed) - NAMED} more hosts are others now")


class EventRecorder(Protocol):
    """A recorder of Events."""

    def normal(self, regarding: Regarding, reason: str, note: str) -> None:
        """Record an Event of type Normal."""
        ...

    def warning(self, regarding: Regarding, reason: str, note: str) -> None:
        """Record an Event of type Warning."""
        ...


def rfc3339() -> str:
    """The present time in RFC 3339, to the second, as Kubernetes writes timestamps."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class PoolReports:
    """Writes statuses that differ from the stored ones, and records Events about the differences."""

    def __init__(self, server: ObjectWriter, events: EventRecorder, *, now: Callable[[], str] = rfc3339) -> None:
        self._server = server
        self._events = events
        self._now = now

    async def say(self, stored: StoredPool, state: State) -> bool:
        """Write the status; false if the stored one equals it. Raises ApiError."""
        patch = status_of(stored, state, self._now())
        if patch is None:
            return False
        await self._server.merge_patch(f"{stored.path}/status", patch)
        for piece in news(stored.pool, state):
            self.tell(stored, piece)
        return True

    def tell(self, stored: StoredPool, piece: PoolEvent) -> None:
        """Record an Event about the pool."""
        metadata = stored.metadata
        about = Regarding(
            api_version=HOST_POOL.api_version,
            kind=HOST_POOL.name,
            namespace=metadata.namespace,
            name=metadata.name,
            uid=metadata.uid,
        )
        (self._events.normal if piece.type == "Normal" else self._events.warning)(about, piece.reason, piece.note)
