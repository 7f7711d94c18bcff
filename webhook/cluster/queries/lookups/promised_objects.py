"""Objects that were promised room: whether they are stored, so that nothing is kept for those that will have no pods.

An object that was admitted may be refused after that by a quota or another webhook, or may be deleted at once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError
from kubeapi.clock import Clock
from webhook.admission.answer import PromisedObject, PromisedQuestion
from webhook.cluster.watch.lists import ListReader

SECONDS: Final = 0.3
"""For all answers, which are asked for at the same time: a review waits for them."""

LASTS: Final = 1.0
"""Seconds for which an object that was found counts as stored: a flood of refusals does not ask for each of them."""

PAUSE: Final = 0.1
"""Seconds until an object that is missing is looked for again: most are stored within a tenth of that."""


class _PromisedMetadata(Struct, frozen=True, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None


class _PromisedDocument(Struct, frozen=True):
    metadata: _PromisedMetadata = _PromisedMetadata()


class PromisedObjects:
    """Reads objects that were promised room, one by one; ``pause`` waits for so many seconds of ``clock``."""

    def __init__(
        self,
        server: ListReader,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self._server = server
        self._pause = pause
        self._clock = clock
        self._found: dict[PromisedObject, float] = {}
        """When each was found, for those of the last moment."""

    async def stored(self, question: PromisedQuestion) -> frozenset[str]:
        """The uids of those that are stored, and are not being deleted; none of one that cannot be read.

        The others are looked for again until the patience of the question is over.
        """
        now = self._clock()
        self._found = {one: when for one, when in self._found.items() if now - when < LASTS}
        stored_ones = [one for one in question.objects if one in self._found]
        missing = [one for one in question.objects if one not in self._found]
        end = now + question.patience
        while True:
            there = await asyncio.gather(*map(self._is_stored, missing))
            stored_ones += [one for one, stored in zip(missing, there, strict=True) if stored]
            missing = [one for one, stored in zip(missing, there, strict=True) if not stored]
            remaining = end - self._clock()
            if not missing or remaining <= 0:
                break
            await self._pause(min(PAUSE, remaining))
        return frozenset(one.uid for one in stored_ones)

    async def _is_stored(self, one: PromisedObject) -> bool:
        try:
            metadata = msgspec.json.decode(await self._server.read(one.path), type=_PromisedDocument).metadata
        except (ApiError, *decoding.ERRORS):
            return False
        stored = metadata.uid == one.uid and metadata.deletion_timestamp is None
        if stored:
            self._found[one] = self._clock()
        return stored
