"""``LeaseHold``: one process's hold on a Lease: takes, renews and gives it back, and knows how long it may act."""

import asyncio
from collections.abc import Awaitable
from typing import Final, Protocol

from kubeapi.client.errors import ApiError, Cause, FailedRequest
from kubeapi.clock import Clock, micro_time
from kubeapi.leaderelection.lease import API, Record, made
from kubeapi.leaderelection.lease_timing import LeaseTiming

RACE: Final = frozenset({Cause.CONFLICT, Cause.EXISTS})
"""Causes of a write that failed because another process has changed the Lease: the Lease has to be read again."""

_NEVER: Final = float("-inf")


class LostError(Exception):
    """This process does not hold the Lease, or no longer, so it must change nothing. The text is a sentence.

    ``taken`` is whether another process was seen to hold the Lease; else the Lease was not renewed in time.
    """

    def __init__(self, text: str, *, taken: bool = False) -> None:
        super().__init__(text)
        self.taken = taken


class Leases(Protocol):
    """The requests that a Lease needs; every failure raises :class:`ApiError`. ``ObjectClient`` implements them."""

    async def read(self, path: str) -> bytes:
        """The object as it is now; the cause of the error is MISSING if it does not exist."""
        ...

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection; the cause of the error is EXISTS if there is one."""
        ...

    async def replace(self, path: str, body: object) -> bytes:
        """Write an object; the cause of the error is CONFLICT if the version in the body is not the stored one."""
        ...


class LeaseHold:
    """The Lease ``namespace/name`` and one candidate for it; no other process may have the same ``identity``.

    Its coroutines must not run at the same time.
    """

    def __init__(
        self, leases: Leases, *, namespace: str, name: str, identity: str, timing: LeaseTiming, clock: Clock
    ) -> None:
        self.identity = identity
        self.name = f"{namespace}/{name}"
        self.certain = False
        """Whether the last write succeeded, so that the Lease is known to be as it was written."""
        self._leases = leases
        self._names = namespace, name
        self._collection = f"/apis/{API}/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._timing = timing
        self._clock = clock
        self._until = _NEVER
        self._written: Record | None = None

    @property
    def left(self) -> float:
        """Seconds for which this process may act from now on; 0 if it may not act. Computed at every call."""
        return max(0.0, self._until - self._clock())

    def check(self) -> None:
        """Raise LostError unless this process may act now."""
        if not self.left:
            raise LostError(f"the lease {self.name} is not held, or was not renewed in time")

    def end(self) -> None:
        """End the hold in this process, without a request."""
        self._until = _NEVER

    async def look(self) -> Record | None:
        """The Lease as it is now; ``None`` if it does not exist. Raises :class:`ApiError`, as do the methods below."""
        try:
            return Record.of(await self._bounded("GET", self._path, self._leases.read(self._path)))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise

    async def take(self, record: Record | None) -> None:
        """Write that this process holds the Lease last read as ``record``; the hold counts from before the request."""
        begun, now = self._clock(), micro_time()
        self.certain = False
        if record is None:
            body = made(*self._names, self.identity, duration=self._timing.lease, now=now)
            answer = await self._bounded("POST", self._collection, self._leases.create(self._collection, body))
        else:
            body = record.held(self.identity, duration=self._timing.lease, now=now)
            answer = await self._bounded("PUT", self._path, self._leases.replace(self._path, body))
        self._written = Record.of(answer)
        self._until = begun + self._timing.deadline
        self.certain = True

    async def renew(self) -> None:
        """Renew the Lease; raises LostError if another process holds it."""
        record = self._written if self.certain else await self.look()
        if record is not None and record.holder != self.identity:
            self.end()
            raise LostError(f"the lease {self.name} is not ours any more", taken=True)
        await self.take(record)

    async def give_back(self) -> None:
        """End the hold, and clear the Lease's holder if that is this process, so that another one can lead at once."""
        self.end()
        record = await self.look()
        if record is not None and record.holder == self.identity:
            free = self._leases.replace(self._path, record.free(now=micro_time()))
            await self._bounded("PUT", self._path, free)

    async def _bounded(self, method: str, path: str, answer: Awaitable[bytes]) -> bytes:
        """The answer; raises ApiError after the time-out of a request, and no later than the end of the hold."""
        seconds = min(self._timing.request, self.left or self._timing.request)
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            failed = FailedRequest(method=method, path=path, seconds=seconds)
            raise ApiError(Cause.UNREACHABLE, "the API server does not answer in time", request=failed) from None
