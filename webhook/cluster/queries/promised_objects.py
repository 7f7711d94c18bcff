"""Objects that were promised room: whether they are stored, so that nothing is kept for those that will have no pods.

An object that was admitted may be refused after that by a quota or another webhook, or may be deleted at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError, Cause
from webhook.admission.answer import PromisedObject, PromisedQuestion
from webhook.cluster.watch.lists import ListReader

SECONDS: Final = 0.3
"""For all answers, which are asked for at the same time: a review waits for them."""

PAUSE: Final = 0.1
"""Seconds until an object that is missing is looked for again: most are stored within a tenth of that."""


class _PromisedMetadata(Struct, frozen=True, rename="camel"):
    uid: str = ""
    deletion_timestamp: str | None = None


class _PromisedDocument(Struct, frozen=True):
    metadata: _PromisedMetadata = _PromisedMetadata()


class PromisedObjects:
    """Reads objects that were promised room, one by one; ``pause`` waits for so many seconds."""

    def __init__(self, server: ListReader, pause: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._server = server
        self._pause = pause

    async def missing(self, question: PromisedQuestion) -> frozenset[str]:
        """The uids of those that are not stored, or are being deleted; one that cannot be read counts as stored.

        Those that are missing are looked for again until the patience of the question is over.
        """
        left, missing = question.patience, await self._missing(question.objects)
        while missing and left > 0:
            await self._pause(min(PAUSE, left))
            left -= PAUSE
            missing = await self._missing(missing)
        return frozenset(one.uid for one in missing)

    async def _missing(self, objects: Sequence[PromisedObject]) -> list[PromisedObject]:
        stored = await asyncio.gather(*map(self._is_stored, objects))
        return [one for one, there in zip(objects, stored, strict=True) if not there]

    async def _is_stored(self, one: PromisedObject) -> bool:
        try:
            found = msgspec.json.decode(await self._server.read(one.path), type=_PromisedDocument).metadata
        except ApiError as failure:
            return failure.cause is not Cause.MISSING
        except decoding.ERRORS:
            return True
        return found.uid == one.uid and found.deletion_timestamp is None
