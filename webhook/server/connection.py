"""What one client may do on its connection, and all connections of one port.

aiohttp parses and answers; this adds a clock on everything that a client can leave unfinished, and counts.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, cast

from aiohttp import web

from webhook.server.limits import Limits
from webhook.server.metrics import Metrics
from webhook.server.replies import Fault, failure

Handler = Callable[[web.BaseRequest, float], Awaitable[web.Response]]
"""Answers a request whose first byte arrived at the given ``perf_counter`` time."""

_log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """A connection that knows since when its client owes something; times are ``perf_counter`` seconds.

    ``greeting`` is the task of its handshake, until that is done; ``opened`` is when it was done, and 0 once a request
    was complete; ``arrived`` the first byte of a request whose header is not complete, else 0; ``stalled`` since when
    answers wait to be read, else 0; ``last`` when the latest request began; ``busy`` whether one is being answered.
    """

    __slots__ = ("_all", "arrived", "busy", "greeting", "last", "opened", "stalled")

    def __init__(self, connections: "Connections", *, loop: asyncio.AbstractEventLoop, **bounds: Any) -> None:  # noqa: ANN401 -- aiohttp's own keywords
        super().__init__(connections, loop=loop, **bounds)
        self._all = connections
        self.opened = self.arrived = self.stalled = 0.0
        self.last = perf_counter()
        self.busy = False
        self.greeting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the clock: the first header is owed from now on."""
        super().connection_made(transport)
        self.opened = self.last = perf_counter()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room."""
        super().connection_lost(exc)
        self._all.open.discard(self)

    def data_received(self, data: bytes) -> None:
        """Note when a request's first byte came, then parse."""
        if not self.arrived:
            self.arrived = perf_counter()
        super().data_received(data)

    def pause_writing(self) -> None:
        """Start the clock: answers are not being read."""
        super().pause_writing()
        self.stalled = perf_counter()

    def resume_writing(self) -> None:
        """Stop that clock."""
        super().resume_writing()
        self.stalled = 0.0

    def begin(self) -> float:
        """A header is complete; returns when it began."""
        self.last = self.arrived or perf_counter()
        self.opened = self.arrived = 0.0
        self.busy = True
        return self.last

    def end(self) -> None:
        """The answer is known; what comes next is another request."""
        self.arrived = 0.0
        self.busy = False

    def owes_since(self) -> float:
        """Since when the client keeps us waiting, or infinity."""
        return self.stalled or (not self.busy and (self.opened or self.arrived)) or float("inf")

    def unfinished(self, now: float) -> bool:
        """Whether a request is under way, or bound to come because the connection was only just made."""
        fresh = now - self.opened < self._all.limits.farewell_seconds
        return self.busy or fresh or self.arrived > 0 or self.greeting is not None

    def abort(self) -> None:
        """End it without a farewell."""
        if self.greeting is not None:
            self.greeting.cancel()
        if self.transport is not None:
            self.transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 -- aiohttp's signature
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 -- aiohttp's parser quotes the input in it; that goes nowhere
    ) -> web.StreamResponse:
        """What aiohttp could not read, or we not answer, as a Status that repeats nothing of the input."""
        if status == web.HTTPBadRequest.status_code:
            _log.debug("a request could not be read", exc_info=exc)
            fault = Fault(status, "the request is not HTTP/1.1, or its header is too large")
        else:
            _log.error("a request could not be answered", exc_info=exc)
            fault = Fault(500, "the webhook failed to answer; its log has the details")
        self._all.metrics.http_error(fault.code)
        reply = failure(fault)
        reply.force_close()
        return reply


class Connections(web.Server):
    """All connections of one port. Answers say ``Connection: close`` while ``draining``."""

    def __init__(self, handler: Handler, limits: Limits, metrics: Metrics) -> None:
        super().__init__(
            self._serve,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=limits.keep_alive_seconds,
            lingering_time=limits.farewell_seconds,
            max_field_size=limits.header_line,
            max_headers=limits.header_fields,
            max_line_size=limits.header_line,
        )
        self._answer = handler
        self.limits = limits
        self.metrics = metrics
        self.open: set[Connection] = set()
        self.draining = False

    def __call__(self) -> Connection:
        """A new connection, which counts as open from now on."""
        connection = Connection(self, loop=self._loop, **self._kwargs)
        self.open.add(connection)
        return connection

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        connection = cast("Connection", request.protocol)
        arrived = connection.begin()
        try:
            reply = await self._answer(request, arrived)
        finally:
            connection.end()
        if self.draining or not request.content.is_eof():  # the rest of an unread body is not worth reading
            reply.force_close()
        return reply

    def make_room(self) -> bool:
        """End the connection, or handshake, that has been idle longest; whether there was one."""
        idle = [connection for connection in self.open if not connection.busy]
        if not idle:
            return False
        longest = min(idle, key=lambda connection: connection.last)
        self.open.discard(longest)
        longest.abort()
        self.metrics.connection_failed("capacity")
        return True

    async def sweep(self) -> None:
        """End, for ever, the connections whose clients keep us waiting for too long."""
        while True:
            await asyncio.sleep(self.limits.header_seconds / 10)
            latest = perf_counter() - self.limits.header_seconds
            for connection in [each for each in self.open if each.owes_since() < latest]:
                connection.abort()
                self.metrics.connection_failed("timeout")
