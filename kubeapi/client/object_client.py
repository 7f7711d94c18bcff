"""A client for single objects: read, created, changed and deleted, each request bounded in time and size.

No request is repeated here: a sender that got no answer does not know whether the change was made, and has to look.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import aiohttp
import msgspec

from kubeapi.client.connection import Connection, Request
from kubeapi.client.errors import ApiError, Cause, FailedRequest

SECONDS: Final = 10.0
"""For one request as a whole; the API server itself answers within milliseconds, or is in trouble."""

ANSWER_LIMIT: Final = 2 * (3 << 20)
"""Bytes of an object: the API server takes 3 MiB at most (``MaxRequestBodyBytes``), and adds its own bookkeeping."""

_JSON: Final = "application/json"
_JSON_PATCH: Final = "application/json-patch+json"
_MERGE_PATCH: Final = "application/merge-patch+json"


class ObjectClient:
    """One object a request. Bodies are any value that msgspec writes as JSON, answers the JSON text of the object.

    Every failure is an :class:`ApiError`, after ``seconds`` at the latest; so is an answer of more than ``limit``
    bytes. ``fence`` is called right before a change is sent, each time, and raises an exception of its own if it must
    not be sent; reading passes no fence.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        fence: Callable[[], object] = lambda: None,
        seconds: float = SECONDS,
        limit: int = ANSWER_LIMIT,
    ) -> None:
        self.now = datetime.now(UTC)
        """The time of the API server at its last answer, to the second; this machine's where it did not say."""
        self._connection = connection
        self._fence = fence
        self._seconds = seconds
        self._limit = limit

    async def read(self, path: str) -> bytes:
        """The object as it is now; the cause of the error is MISSING if there is none."""
        return await self._send(Request(path=path, silence=self._seconds))

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection at ``path``; the cause of the error is EXISTS where its name is taken."""
        return await self._change("POST", path, body)

    async def replace(self, path: str, body: object) -> bytes:
        """Write the whole object; CONFLICT if it is not the ``metadata.resourceVersion`` of the body any more."""
        return await self._change("PUT", path, body)

    async def json_patch(self, path: str, operations: object) -> bytes:
        """Apply the operations in turn (RFC 6902), or none of them; one that sets the version makes it a condition."""
        return await self._change("PATCH", path, operations, _JSON_PATCH)

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Change what the body names (RFC 7396); with a ``metadata.resourceVersion`` in it, only that version."""
        return await self._change("PATCH", path, body, _MERGE_PATCH)

    async def delete(self, path: str, *, uid: str = "", version: str = "") -> bytes:
        """Delete the object; with a ``uid`` or a ``version`` only that one, else CONFLICT."""
        wanted = {name: value for name, value in (("uid", uid), ("resourceVersion", version)) if value}
        return await self._change("DELETE", path, {"preconditions": wanted})

    async def _change(self, method: str, path: str, body: object, content: str = _JSON) -> bytes:
        text = msgspec.json.encode(body)
        return await self._send(
            Request(
                path=path, method=method, body=text, content=content, silence=self._seconds, fence=self._fence
            )
        )  # fmt: skip

    async def _send(self, request: Request) -> bytes:
        method, path = request.method, request.path
        answer = bytearray()
        try:
            async with asyncio.timeout(self._seconds), self._connection.send(request) as response:
                async for chunk in response.content.iter_any():
                    answer += chunk
                    if len(answer) > self._limit:
                        failed = FailedRequest(method=method, path=path, limit=self._limit)
                        text = f"an object has more than {self._limit} bytes"
                        raise ApiError(Cause.UNREADABLE, text, request=failed)
        except TimeoutError:
            failed = FailedRequest(method=method, path=path, seconds=self._seconds)
            text = f"the API server does not answer within {self._seconds:g} seconds"
            raise ApiError(Cause.UNREACHABLE, text, request=failed) from None
        self.now = _date(response) or datetime.now(UTC).replace(microsecond=0)
        return bytes(answer)


def _date(response: aiohttp.ClientResponse) -> datetime | None:
    """The ``Date`` of the answer, if it names a zone, as HTTP demands."""
    try:
        moment = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None
