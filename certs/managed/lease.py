"""Who may act: a Lease that one process holds, and renews while it lives.

No two clocks are ever compared: a candidate takes a Lease over when it has *watched* it unrenewed for its duration, by
its own monotonic clock, and the holder stops acting at two thirds of that, counted from before its last renewal was
sent. What a holder still sends after a pause is refused by the version of the object that it wants to change.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NoReturn

from certs.managed.api import Api, ConflictError, FailureError
from certs.managed.configuration import Object

DEADLINE_SHARE: Final = 2 / 3
RENEWAL_SHARE: Final = 2 / 15
"""Of the duration: 10 s and 2 s of 15 s, as Kubernetes' own components have it (component-base, ``leaderelection``)."""

REQUEST_SHARE: Final = 1 / 3
"""Of the duration: a request that was begun before the deadline is given up before the Lease can be another's."""


class LostError(Exception):
    """The Lease is, or may be, another's: nothing may be changed any more. The text is a sentence."""


class Lease:
    """One Lease, as one candidate sees it; ``duration`` in whole seconds, as the API has it."""

    def __init__(
        self,
        api: Api,
        *,
        namespace: str,
        name: str,
        identity: str,
        duration: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identity = identity
        self._api = api
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._path = f"{self._collection}/{name}"
        self._metadata = {"name": name, "namespace": namespace}
        self._duration = duration
        self._clock = clock
        self._until = float("-inf")
        self._turns = asyncio.Lock()
        self._known: Object | None = None
        """The Lease as we wrote it last."""

    @property
    def pause(self) -> float:
        """Seconds between two renewals, or two looks at another's Lease."""
        return self._duration * RENEWAL_SHARE

    def check(self) -> None:
        """Call this right before every change; raises LostError."""
        if self._clock() >= self._until:
            raise LostError(f"the lease {self._metadata['name']} was not renewed in time")

    async def acquire(self, say: Callable[[str], None]) -> None:
        """Wait until the Lease is ours; failures are said, and tried again."""
        seen: tuple[object, ...] = ()
        since = self._clock()
        while True:
            try:
                found = await self._api.find(self._path)
                version = _version(found)
                if version != seen:
                    seen, since = version, self._clock()
                if _free(found) or self._clock() - since >= _duration(found, self._duration):
                    await self._put(found)
                    return
            except ConflictError:
                pass  # another candidate was faster: look again
            except FailureError as failure:
                say(str(failure))
            await asyncio.sleep(self.pause)

    async def keep(self, say: Callable[[str], None]) -> NoReturn:
        """Renew it again and again; raises LostError when that did not succeed for too long, or it is another's."""
        while True:
            await asyncio.sleep(self.pause)
            await self.renew(say)

    async def renew(self, say: Callable[[str], None]) -> None:
        """Renew it now; failures are said as long as it is ours all the same. Raises LostError."""
        async with self._turns:
            try:
                await self._put(self._known)
            except ConflictError:
                await self._look_again(say)
            except FailureError as failure:
                say(str(failure))
        self.check()

    async def release(self) -> None:
        """Let the next one in at once, if it is still ours; raises FailureError."""
        known, self._until = self._known, float("-inf")
        if known is not None:
            spec = {**known["spec"], "holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
            await self._api.replace(self._path, {**known, "spec": spec})

    async def _look_again(self, say: Callable[[str], None]) -> None:
        """A renewal whose answer we never saw makes the next one a conflict: whose is it?"""
        try:
            found = await self._api.find(self._path)
            if found is not None and found["spec"].get("holderIdentity") != self.identity:
                self._known, self._until = None, float("-inf")
                raise LostError(f"the lease {self._metadata['name']} is another's now")
            await self._put(found)
        except FailureError as failure:
            say(str(failure))

    async def _put(self, found: Object | None) -> None:
        begun = self._clock()
        spec = found["spec"] if found else {}
        mine = spec.get("holderIdentity") == self.identity
        changes = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self._duration,
            "renewTime": _now(),
            "acquireTime": spec["acquireTime"] if mine else _now(),
            "leaseTransitions": (spec.get("leaseTransitions") or 0) + (not mine and bool(spec)),
        }
        if found is None:
            empty = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": self._metadata}
            self._known = await self._api.create(self._collection, {**empty, "spec": changes})
        else:
            self._known = await self._api.replace(self._path, {**found, "spec": {**spec, **changes}})
        self._until = begun + self._duration * DEADLINE_SHARE


def _free(found: Object | None) -> bool:
    return found is None or not (found.get("spec") or {}).get("holderIdentity")


def _duration(found: Object | None, default: int) -> int:
    return int(((found or {}).get("spec") or {}).get("leaseDurationSeconds") or default)


def _version(found: Object | None) -> tuple[object, ...]:
    return (found["metadata"]["uid"], found["metadata"]["resourceVersion"]) if found else ()


def _now() -> str:
    """For people who look at the Lease; as Kubernetes writes its MicroTime."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
