"""What the controller tells people of a pool: its status, and Events that kubectl shows when it describes it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from webhook.controller.events.event import Regarding
from webhook.controller.hostpools.pool_events import News, news
from webhook.controller.hostpools.pool_object import StoredPool
from webhook.controller.hostpools.pool_status import State, status_of


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
