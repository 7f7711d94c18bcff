"""What one client may do on its connection, and all connections of one port.

aiohttp parses and answers; this adds a clock on everything that a client can leave unfinished, and counts.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, cast

from aiohttp import web

from webhook.server.limits import Limits
from webhook.server.metrics import Metrics
from webhook.server.replies import HttpFault, failure
from webhook.server.turns import Asker, Turns

Handler = Callable[[web.BaseRequest, float], Awaitable[web.Response]]
"""Answers a request whose first byte arrived at the given ``perf_counter`` time."""

_log = logging.getLogger(__name__)


class HttpConnection(web.RequestHandler):
    """A connection that knows since when its client owes something; times are ``perf_counter`` seconds.

    ``greeting`` is the task of its handshake, until that is done; ``opened`` is when it was done, and 0 once a request
    was complete; ``arrived`` the first byte of a request whose header is not complete, else 0; ``stalled`` since when
    answers wait to be read, else 0; ``last`` when the latest request began; ``busy`` whether one is being answered;
    ``receiving`` since when the rest of its body is waited for, else 0. ``asker`` is whose it is.
    """

    __slots__ = ("_all", "_unparsed", "arrived", "asker", "busy", "greeting", "last", "opened", "receiving", "stalled")

    def __init__(
        self,
        connections: "Connections",
        asker: Asker,
        *,
        loop: asyncio.AbstractEventLoop,
        **bounds: Any,  # noqa: ANN401 -- aiohttp's own keywords
    ) -> None:
        super().__init__(connections, loop=loop, **bounds)
        self._all = connections
        self._msg_queue_resume_size = 0  # aiohttp's: of requests sent ahead, none is read while another one waits
        self._unparsed = 0
        self.asker = asker
        self.opened = self.arrived = self.stalled = self.receiving = 0.0
        self.last = perf_counter()
        self.busy = False
        self.greeting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the clock: the first header is owed from now on. Bound what is read ahead, and what waits unread."""
        super().connection_made(transport)
        limits = self._all.limits
        cast("asyncio.WriteTransport", transport).set_write_buffer_limits(high=limits.unsent)
        if hasattr(transport, "set_read_buffer_limits"):  # that of TLS, in uvloop: for what is not decrypted yet
            transport.set_read_buffer_limits(high=limits.read_ahead)
        self.opened = self.last = perf_counter()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room."""
        super().connection_lost(exc)
        self._all.open.discard(self)

    def data_received(self, data: bytes) -> None:
        """Note when a request's first byte came, then parse; requests that are sent ahead wait unread."""
        if not self.arrived:
            self.arrived = perf_counter()
        super().data_received(data)
        if self.busy:
            if self._messages and not self._buffer_paused:
                self._pause_reading_for_buffer()
        elif not self._messages:
            self._unparsed += len(data)
            if self._unparsed > self._all.limits.header:
                self._all.end(self, "capacity")

    def pause_writing(self) -> None:
        """Start the clock: answers are not being read."""
        super().pause_writing()
        self.stalled = perf_counter()
        self._all.bound_unread()

    @property
    def unread(self) -> int:
        """Bytes of answers that the client has yet to read."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """Stop that clock."""
        super().resume_writing()
        self.stalled = 0.0

    def begin(self) -> float:
        """A header is complete; returns when it began."""
        self.last = self.arrived or perf_counter()
        self.opened = self.arrived = 0.0
        self._unparsed = 0
        self.busy = True
        return self.last

    def end(self) -> None:
        """The answer is known; what comes next is another request."""
        self.arrived = self.receiving = 0.0
        self.busy = False

    def owes_since(self) -> float:
        """Since when the client keeps us waiting, or infinity."""
        return self.stalled or (not self.busy and (self.opened or self.arrived)) or float("inf")

    def unfinished(self, now: float) -> bool:
        """Whether a request is under way, or bound to come because the connection was only just made."""
        fresh = now - self.opened < self._all.limits.farewell_seconds
        return self.busy or fresh or self.arrived > 0 or self.greeting is not None

    def close_unread(self) -> None:
        """Have the connection end after the next answer, with what the client is still sending left unread."""
        self._lingering_time = 0.0

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
            fault = HttpFault(status, "the request is not HTTP/1.1, or its header is too large")
        else:
            _log.error("a request could not be answered", exc_info=exc)
            fault = HttpFault(500, "the webhook failed to answer; its log has the details")
        self._all.metrics.http_error(fault.code)
        reply = failure(fault)
        reply.force_close()
        return reply


class Connections(web.Server):
    """All connections of one port. Answers say ``HttpConnection: close`` while ``draining``.

    ``turns`` is the order in which the handler decides, if it keeps one: it knows what clients used lately.
    """

    def __init__(self, handler: Handler, limits: Limits, metrics: Metrics, turns: Turns | None = None) -> None:
        super().__init__(
            self._serve,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=limits.keep_alive_seconds,
            lingering_time=limits.farewell_seconds,
            max_field_size=limits.header_line,
            max_headers=limits.header_fields,
            max_line_size=limits.header_line,
            read_bufsize=limits.read_ahead,
        )
        self._answer = handler
        self.limits = limits
        self.metrics = metrics
        self._turns = turns or Turns()
        self.open: set[HttpConnection] = set()
        self.draining = False

    def welcome(self, address: str) -> HttpConnection:
        """A new connection from that address, which counts as open from now on."""
        connection = HttpConnection(self, self._turns.asker(address), loop=self._loop, **self._kwargs)
        self.open.add(connection)
        return connection

    async def _serve(self, request: web.BaseRequest) -> web.Response:
        connection = cast("HttpConnection", request.protocol)
        arrived = connection.begin()
        try:
            reply = await self._answer(request, arrived)
        finally:
            connection.end()
        if self.draining or not request.content.is_eof():  # the rest of an unread body is not worth reading
            reply.force_close()
        return reply

    def make_room(self) -> bool:
        """End a connection, or handshake, of the address that has most of them; whether there was one.

        Of these the one that has been idle longest, else the one whose body has been arriving longest.
        """
        late = perf_counter() - self.limits.patience_seconds
        endable = [each for each in self.open if not each.busy or 0 < each.receiving < late]
        if not endable:
            return False
        count = Counter(each.asker.address for each in self.open)
        self.end(min(endable, key=lambda each: (-count[each.asker.address], each.busy, each.last)), "capacity")
        return True

    def bound_unread(self) -> None:
        """End the connections that leave most unread, until all together hold no more answers than bodies may take."""
        stalled = sorted((each for each in self.open if each.stalled), key=lambda each: each.unread)
        total = sum(each.unread for each in stalled)
        while total > self.limits.bodies:
            total -= stalled[-1].unread
            self.end(stalled.pop(), "capacity")

    def end(self, connection: HttpConnection, cause: str) -> None:
        """End the connection at once, and count why."""
        self.open.discard(connection)
        connection.abort()
        self.metrics.connection_failed(cause)

    async def sweep(self) -> None:
        """End, for ever, the connections whose clients keep us waiting for too long."""
        while True:
            await asyncio.sleep(self.limits.header_seconds / 10)
            latest = perf_counter() - self.limits.header_seconds
            for connection in [each for each in self.open if each.owes_since() < latest]:
                self.end(connection, "timeout")
