"""``ObjectClient``: single requests (read, create, change, delete), each bounded in time and size.

No request is repeated: a caller that got no answer does not know whether the change was made, and has to read the
object again.
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
"""Time-out of one request as a whole; a healthy API server answers within milliseconds."""

ANSWER_LIMIT: Final = 2 * (3 << 20)
"""Bytes of an answer: the API server takes 3 MiB at most (``MaxRequestBodyBytes``), and adds ``managedFields``."""

_JSON: Final = "application/json"
_JSON_PATCH: Final = "application/json-patch+json"
_MERGE_PATCH: Final = "application/merge-patch+json"


class ObjectClient:
    """Sends one request for one object. Bodies are values that msgspec writes as JSON, answers are JSON text.

    Every failure raises :class:`ApiError`, after ``seconds`` at the latest, and so does an answer of more than
    ``limit`` bytes. ``fence`` is called right before each change is sent, and raises an exception of its own if the
    change must not be sent; it is not called for :meth:`read`.
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
        """The time of the API server at its last answer, in whole seconds; this machine's time if it did not say."""
        self._connection = connection
        self._fence = fence
        self._seconds = seconds
        self._limit = limit

    async def read(self, path: str) -> bytes:
        """The object as it is now; the cause of the error is MISSING if it does not exist."""
        return await self._send(Request(path=path, silence=self._seconds))

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection at ``path``; the cause of the error is EXISTS where its name is taken."""
        return await self._change("POST", path, body)

    async def replace(self, path: str, body: object) -> bytes:
        """Write the whole object; CONFLICT if ``metadata.resourceVersion`` of the body is not the stored one."""
        return await self._change("PUT", path, body)

    async def json_patch(self, path: str, operations: object) -> bytes:
        """Apply all operations (RFC 6902), or none. CONFLICT if one sets a ``resourceVersion`` that is not stored."""
        return await self._change("PATCH", path, operations, _JSON_PATCH)

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Merge the body into the object (RFC 7396); CONFLICT if it has a ``resourceVersion`` that is not stored."""
        return await self._change("PATCH", path, body, _MERGE_PATCH)

    async def delete(self, path: str, *, uid: str = "", version: str = "", propagation: str = "") -> bytes:
        """Delete the object; CONFLICT if ``uid`` or ``version`` is given and not the stored one.

        ``propagation`` says what becomes of objects that it owns: ``Foreground``, ``Background`` or ``Orphan``; without
        it what Kubernetes does with that kind.
        """
        wanted = {name: value for name, value in (("uid", uid), ("resourceVersion", version)) if value}
        policy = {"propagationPolicy": propagation} if propagation else {}
        return await self._change("DELETE", path, {"preconditions": wanted, **policy})

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
    """The header ``Date`` of the answer; ``None`` if it cannot be read, or has no time zone."""
    try:
        moment = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None
