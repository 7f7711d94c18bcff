"""Reads the body of a request: bounded in size and in time, with an answer to ``Expect: 100-continue``."""

import asyncio
from time import perf_counter
from typing import Final, cast

from aiohttp import hdrs, web

from webhook.server.http.connection import ClientConnection
from webhook.server.http.replies import HttpFault

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
"""What a client waits for that sent the header ``Expect: 100-continue``, as curl does before a large body."""


async def read_body(request: web.BaseRequest, limit: int, latest: float) -> bytes | HttpFault:
    """The whole body, or a fault if it does not arrive by the ``perf_counter`` time ``latest``, or not completely.

    Of a body of more than ``limit`` bytes somewhat more than ``limit`` is returned, which the caller has to refuse.
    """
    connection = cast("ClientConnection", request.protocol)
    connection.receiving = perf_counter()
    try:
        return await _collect(request, limit, latest)
    except TimeoutError:
        return HttpFault(503, "the body of the request did not arrive in time")
    except (ConnectionError, RuntimeError):  # the client hung up; aiohttp raises the second if it did so before
        return HttpFault(400, "the body of the request is incomplete")
    finally:
        connection.receiving = 0.0


async def _collect(request: web.BaseRequest, limit: int, latest: float) -> bytes:
    """Read until the end of the body, or until it is over the limit; ``TimeoutError`` at ``latest``."""
    if hdrs.EXPECT in request.headers and request.transport is not None:
        request.transport.write(_CONTINUE)
    body = bytearray()
    try:
        async with asyncio.timeout(latest - perf_counter()):
            while len(body) <= limit and (piece := await request.content.readany()):
                body += piece
        return bytes(body)
    finally:
        body.clear()  # if the client hung up, the exception keeps this frame until garbage is collected
