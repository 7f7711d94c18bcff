"""Single objects: read, created and changed over the connection that also watches.

Nothing is ever tried again here: whoever got no answer does not know whether the change was made, and has to look.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from webhook.cluster.client.connection import Connection, Request
from webhook.cluster.client.errors import ApiError, Cause

SECONDS: Final = 10.0
"""For one request as a whole; the API server itself answers within milliseconds, or is in trouble."""

ANSWER_LIMIT: Final = 2 * (3 << 20)
"""Bytes of an object: the API server takes 3 MiB at most (``MaxRequestBodyBytes``), and adds its own bookkeeping."""

_JSON: Final = "application/json"
_MERGE: Final = "application/merge-patch+json"


class Writes:
    """One object a request; bodies are whatever msgspec writes as JSON, answers are the object's own JSON text.

    Everything that goes wrong is a :class:`ApiError`, after ``seconds`` at the latest. ``fence`` is called right before
    a change is sent, and raises whatever forbids it; reading is free.
    """

    def __init__(
        self, connection: Connection, *, fence: Callable[[], object] = lambda: None, seconds: float = SECONDS
    ) -> None:
        self._connection = connection
        self._fence = fence
        self._seconds = seconds

    async def read(self, path: str) -> bytes:
        """The object as it is now."""
        return await self._send(Request(path=path, silence=self._seconds))

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection at ``path``; the cause of a failure is EXISTS where its name is taken."""
        return await self._change("POST", path, body)

    async def replace(self, path: str, body: object) -> bytes:
        """Write the whole object; CONFLICT if it is not the ``metadata.resourceVersion`` of the body any more."""
        return await self._change("PUT", path, body)

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Change what the body names (RFC 7396); with a ``metadata.resourceVersion`` in it, only that version."""
        return await self._change("PATCH", path, body, _MERGE)

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
        answer = bytearray()
        try:
            async with asyncio.timeout(self._seconds), self._connection.send(request) as response:
                async for chunk in response.content.iter_any():
                    answer += chunk
                    if len(answer) > ANSWER_LIMIT:
                        raise ApiError(Cause.UNREADABLE, f"an object has more than {ANSWER_LIMIT} bytes")
        except TimeoutError:
            text = f"the API server does not answer within {self._seconds:g} seconds"
            raise ApiError(Cause.UNREACHABLE, text) from None
        return bytes(answer)
