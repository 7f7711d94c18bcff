"""One process's hold on a Lease: for how long, and how it is got, renewed and given back."""

import asyncio
from collections.abc import Awaitable
from typing import Final, Protocol

from webhook.cluster.client.errors import ApiError, Cause
from webhook.controller.clock import Clock, micro_time
from webhook.controller.leaderelection.lease import API, Record, made
from webhook.controller.leaderelection.lease_timing import LeaseTiming

RACE: Final = frozenset({Cause.CONFLICT, Cause.EXISTS})
"""Answers that say: the lease is not what it was, look again; no trouble, as somebody is always second."""

_NEVER: Final = float("-inf")


class LostError(Exception):
    """This process leads no more, or not yet: it must change nothing. A sentence."""


class Leases(Protocol):
    """Where the lease is; whatever goes wrong is a :class:`ApiError`."""

    async def read(self, path: str) -> bytes:
        """The object as it is now; MISSING if there is none."""
        ...

    async def create(self, path: str, body: object) -> bytes:
        """Add an object; EXISTS if there is one."""
        ...

    async def replace(self, path: str, body: object) -> bytes:
        """Write an object; CONFLICT if it is not the version of the body any more."""
        ...


class LeaseHold:
    """The lease ``namespace/name`` as ``identity``, which is nobody else's, holds it or not."""

    def __init__(
        self, leases: Leases, *, namespace: str, name: str, identity: str, terms: LeaseTiming, clock: Clock
    ) -> None:
        self.identity = identity
        self.name = f"{namespace}/{name}"
        self.certain = False
        """Whether we know what the lease is: as we wrote it last."""
        self._leases = leases
        self._place = namespace, name
        self._collection = f"/apis/{API}/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._terms = terms
        self._clock = clock
        self._until = _NEVER
        self._written: Record | None = None

    @property
    def left(self) -> float:
        """Seconds for which this process may act from now on; 0 if it may not. Computed at every look."""
        return max(0.0, self._until - self._clock())

    def check(self) -> None:
        """Raise LostError unless this process may act now."""
        if not self.left:
            raise LostError(f"the lease {self.name} is not held, or was not renewed in time")

    def end(self) -> None:
        """Act no more."""
        self._until = _NEVER

    async def look(self) -> Record | None:
        """The lease as it is now; ``None`` if there is none. Raises :class:`ApiError`, like all that follows."""
        try:
            return Record.of(await self._soon(self._leases.read(self._path)))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise

    async def take(self, record: Record | None) -> None:
        """Hold the lease that was last seen like that, from the moment of asking on."""
        begun, now = self._clock(), micro_time()
        self.certain = False
        if record is None:
            body = made(*self._place, self.identity, duration=self._terms.lease, now=now)
            answer = await self._soon(self._leases.create(self._collection, body))
        else:
            body = record.held(self.identity, duration=self._terms.lease, now=now)
            answer = await self._soon(self._leases.replace(self._path, body))
        self._written = Record.of(answer)
        self._until = begun + self._terms.deadline
        self.certain = True

    async def renew(self) -> None:
        """Hold it for longer; raises LostError if it is another's."""
        record = self._written if self.certain else await self.look()
        if record is not None and record.holder != self.identity:
            self.end()
            raise LostError(f"the lease {self.name} is not ours any more")
        await self.take(record)

    async def give_back(self) -> None:
        """Let another one in at once, if it is ours."""
        self.end()
        record = await self.look()
        if record is not None and record.holder == self.identity:
            await self._soon(self._leases.replace(self._path, record.free(now=micro_time())))

    async def _soon(self, answer: Awaitable[bytes]) -> bytes:
        """Wait for an answer; while it is held, not beyond that."""
        try:
            async with asyncio.timeout(min(self._terms.request, self.left or self._terms.request)):
                return await answer
        except TimeoutError:
            raise ApiError(Cause.UNREACHABLE, "the API server does not answer in time") from None
