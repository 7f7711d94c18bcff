"""``Api``: reads and writes single objects as decoded JSON, for ``manage``; errors name the request."""

from collections.abc import Awaitable
from typing import Final

import msgspec

from certs.managed.configuration import Object
from kubeapi.client.decoding import ERRORS
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient

ANSWER_LIMIT: Final = 3 << 20
"""Bytes of an answer: the API server stores no object above 1.5 MiB (etcd's limit of a request), in base64 at worst."""

OUTDATED: Final = frozenset({Cause.CONFLICT, Cause.EXISTS, Cause.MISSING})
"""Causes of a write that came second: another program has changed, made or deleted the object since it was read."""


class Api:
    """Single objects of the API server. Every error is an :class:`ApiError` in the words of :func:`worded`."""

    def __init__(self, client: ObjectClient) -> None:
        self.now = client.now
        """The time of the API server at its last answer, to the second; this machine's before the first answer."""
        self._client = client

    async def find(self, path: str) -> Object | None:
        """The object as it is stored now; ``None`` if it does not exist."""
        try:
            return await self._object("GET", path, self._client.read(path))
        except ApiError as failure:
            if failure.cause is Cause.MISSING:
                return None
            raise

    async def create(self, collection: str, thing: Object) -> Object:
        """Make an object; the cause of the error is one of :data:`OUTDATED` if there is one of that name."""
        return await self._object("POST", collection, self._client.create(collection, thing))

    async def replace(self, path: str, thing: Object) -> Object:
        """Write the whole object; the cause is one of :data:`OUTDATED` if its version is not the stored one."""
        return await self._object("PUT", path, self._client.replace(path, thing))

    async def patch(self, path: str, operations: list[Object]) -> Object:
        """Apply a JSON Patch; the cause is one of :data:`OUTDATED` if it names a version that is not the stored one."""
        return await self._object("PATCH", path, self._client.json_patch(path, operations))

    async def _object(self, method: str, path: str, answer: Awaitable[bytes]) -> Object:
        try:
            document = msgspec.json.decode(await answer, type=Object)
        except ApiError as failure:
            raise worded(failure) from failure
        except ERRORS:
            # A proxy answered with status 200 and a page of its own.
            raise ApiError(Cause.UNREADABLE, f"the API server answers 200 to {method} {path}: OK") from None
        self.now = self._client.now
        return document


def worded(failure: ApiError) -> ApiError:
    """The same error in the words of ``manage``, whose log names the request that failed."""
    request = failure.request
    if request is None:
        return failure
    asked = f"{request.method} {request.path}"
    if request.code:
        text = f"the API server answers {request.code} to {asked}: {request.detail}"
    elif request.seconds:
        text = f"no answer to {asked} within {request.seconds:g} seconds"
    elif request.limit:
        text = f"the answer to {asked} is above {request.limit} bytes"
    else:
        text = f"{asked} failed: {request.detail}"
    return ApiError(failure.cause, text, wait=failure.wait, request=request)
