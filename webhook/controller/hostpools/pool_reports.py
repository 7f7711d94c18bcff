"""What the controller tells people of a pool: its status, and Events that kubectl shows when it describes it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final, Literal, Protocol

from msgspec import Struct

from webhook.controller.events.event import Regarding
from webhook.controller.hostpools.pool_object import StoredPool
from webhook.controller.hostpools.pool_status import State, shared, status_of
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


class Server(Protocol):
    """The API server; whatever goes wrong is an ApiError, or LostError when this process leads no more."""

    async def read(self, path: str) -> bytes:
        """An object, or a list, as it is now."""
        ...

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Change an object; CONFLICT if it is not the version of the body any more."""
        ...


class Tells(Protocol):
    """Where Events go."""

    def normal(self, regarding: Regarding, reason: str, note: str) -> None:
        """Something went as it should."""
        ...

    def warning(self, regarding: Regarding, reason: str, note: str) -> None:
        """Something did not."""
        ...


def rfc3339() -> str:
    """Now, as Kubernetes writes its times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class PoolReports:
    """Writes only what is not said yet; an Event goes with every change that matters."""

    def __init__(self, server: Server, events: Tells, *, now: Callable[[], str] = rfc3339) -> None:
        self._server = server
        self._events = events
        self._now = now

    async def say(self, stored: StoredPool, state: State) -> bool:
        """Write the status; false if all of it was said already. Raises ApiError."""
        patch = status_of(stored, state, self._now())
        if patch is None:
            return False
        await self._server.merge_patch(f"{stored.path}/status", patch)
        for piece in news(stored.pool, state):
            self.tell(stored, piece)
        return True

    def tell(self, stored: StoredPool, piece: News) -> None:
        """An Event about the pool."""
        metadata = stored.metadata
        about = Regarding(
            api_version="streams.ibm.com/v1",
            kind="HostPool",
            namespace=metadata.namespace,
            name=metadata.name,
            uid=metadata.uid,
        )
        (self._events.normal if piece.type == "Normal" else self._events.warning)(about, piece.reason, piece.note)
