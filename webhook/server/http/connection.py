"""The connections of one port: time-outs and limits on everything that a client can leave unfinished.

aiohttp parses requests and writes responses (``http_protocol``); this module ends connections that are too slow, hold
too many unread answers, or are too many, and counts each by its cause. A request that has arrived completely on an idle
connection is offered to an :data:`InlineHandler` first, whose answer is written at once.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, cast

from aiohttp import StreamReader, web
from aiohttp.http import RawRequestMessage

from webhook.server.fair_queue import ClientFlows, FairQueue
from webhook.server.http.limits import Limits
from webhook.server.http.replies import HttpFault, failure
from webhook.server.http_protocol import HttpProtocol, familiar
from webhook.server.metrics import Metrics

Handler = Callable[[web.BaseRequest, float], Awaitable[web.StreamResponse]]
"""Answers a request whose first byte arrived at the given ``perf_counter`` time."""

FaultReply = Callable[[HttpFault], web.Response]
"""Makes the answer to a request that could not be read, or whose handler has failed."""

InlineHandler = Callable[["ClientConnection", RawRequestMessage, StreamReader, float], bytes | None]
"""Answers, if it can do so at once, a request whose body is complete and whose first byte arrived at the given time.

Returns all bytes of the response, or ``None``: then the :data:`Handler` answers the request.
"""

_log = logging.getLogger(__name__)


class ClientConnection(HttpProtocol):
    """One client's connection, which keeps the times since which its client owes something (``perf_counter`` seconds).

    * ``handshake``: the task of the TLS handshake, until that is done.
    * ``opened``: when the handshake was done; 0 as soon as the header of a request was complete.
    * ``arrived``: the first byte of a request whose header is not complete; 0 without one.
    * ``receiving``: since when the rest of a request's body is waited for; 0 if it is not.
    * ``stalled``: since when answers wait to be read by the client; 0 if none does.
    * ``last``: when the latest request began. ``busy``: whether a request is being answered.
    * ``headed``: whether a header is complete whose request is not answered yet. The handler starts some time after the
      header, so a body may arrive while the connection is not ``busy``.
    * ``flows``: the usage of the fair queue that this connection is charged for.
    * ``begun``: what an inline handler leaves for the handler of the same request; an exception if it has failed.
    """

    __slots__ = (
        "_all", "_unparsed", "arrived", "begun", "busy", "flows", "handshake", "headed", "last", "opened", "receiving",
        "stalled",
    )  # fmt: skip

    def __init__(
        self,
        connections: "Connections",
        flows: ClientFlows,
        *,
        loop: asyncio.AbstractEventLoop,
        **bounds: Any,  # noqa: ANN401 -- aiohttp's own keywords
    ) -> None:
        super().__init__(connections, loop=loop, familiar=connections.familiar, **bounds)
        self._all = connections
        self._unparsed = 0
        self.flows = flows
        self.opened = self.arrived = self.stalled = self.receiving = 0.0
        self.last = perf_counter()
        self.busy = self.headed = False
        self.begun: object = None
        self.handshake: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The handshake is done: the client owes a header from now on. Bounds the read and write buffers."""
        super().connection_made(transport)
        limits = self._all.limits
        cast("asyncio.WriteTransport", transport).set_write_buffer_limits(high=limits.unsent)
        if hasattr(transport, "set_read_buffer_limits"):  # uvloop's TLS transport has a buffer of undecrypted bytes
            transport.set_read_buffer_limits(high=limits.read_ahead)
        self.opened = self.last = perf_counter()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the connection, which has ended."""
        super().connection_lost(exc)
        self._all.open.discard(self)

    def data_received(self, data: bytes) -> None:
        """Note when a request's first byte came, then parse. Requests sent ahead of an answer are left unread."""
        if not self.arrived:
            self.arrived = perf_counter()
        if self.parse(data):
            self.headed = True
            if not self._answered_inline():
                self.hand_over()
            return
        self.headed = self.headed or self.ahead
        if self.busy:
            self.hold_back()
        elif self.familiar and not self.headed:
            self._unparsed += len(data)
            if self._unparsed > self._all.limits.header:
                self._all.end(self, "capacity")

    def _answered_inline(self) -> bool:
        """Whether the inline handler has answered the request that has arrived, the only one on this connection."""
        inline, transport = self._all.inline, self.transport
        if inline is None or transport is None or self._all.draining:
            return False
        request = self.complete_request()
        if request is None:
            return False
        try:
            answer = inline(self, *request, self.arrived)
        except Exception as failure:  # noqa: BLE001 -- raised again where aiohttp makes an answer of it
            self.begun = failure
            return False
        if answer is None:
            return False
        self.take()
        self.begin()
        self.end()
        transport.write(answer)
        return True

    def pause_writing(self) -> None:
        """The client does not read its answers: it owes that from now on."""
        super().pause_writing()
        self.stalled = perf_counter()
        self._all.bound_unread()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the answer; of a long one most is sent when its client is known already not to read."""
        finished = await super().finish_response(request, resp, start_time)
        if self.stalled:
            self._all.bound_unread()
        return finished

    @property
    def unread(self) -> int:
        """Bytes of answers that the client has not read yet."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    def resume_writing(self) -> None:
        """The client reads its answers again."""
        super().resume_writing()
        self.stalled = 0.0

    def begin(self) -> float:
        """The header of a request is complete; returns when its first byte came."""
        self.last = self.arrived or perf_counter()
        self.opened = self.arrived = 0.0
        self._unparsed = 0
        self.busy = True
        return self.last

    def end(self) -> None:
        """The answer to the request is known; bytes that arrive from now on belong to another request."""
        self.arrived = self.receiving = 0.0
        self.busy = False
        self.headed = self.ahead

    def owes_since(self) -> float:
        """Since when the client owes a header, or the reading of an answer; infinity if it owes neither."""
        return self.stalled or (not self.busy and (self.opened or self.arrived)) or float("inf")

    def unfinished(self, now: float) -> bool:
        """Whether a request is under way, or expected because the connection was opened a moment ago."""
        fresh = now - self.opened < self._all.limits.farewell_seconds
        return self.busy or fresh or self.arrived > 0 or self.handshake is not None

    def abort(self) -> None:
        """End the connection, or its handshake, at once, without TLS closure."""
        if self.handshake is not None:
            self.handshake.cancel()
        if self.transport is not None:
            self.transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 -- aiohttp's signature
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 -- aiohttp's parser quotes the input in it; an answer must not
    ) -> web.StreamResponse:
        """The answer to a request that aiohttp could not parse, or that failed: without any of the input."""
        if status == web.HTTPBadRequest.status_code:
            _log.debug("a request could not be read", exc_info=exc)
            fault = HttpFault(status, "the request is not HTTP/1.1, or its header is too large")
        else:
            _log.error("a request could not be answered", exc_info=exc)
            fault = HttpFault(500, "the server failed to answer; its log has the details")
        self._all.metrics.http_error(fault.code)
        reply = self._all.refuse(fault)
        reply.force_close()
        return reply


class Connections(web.Server):
    """All connections of one port. While ``draining``, answers say ``Connection: close``."""

    def __init__(
        self,
        handler: Handler,
        limits: Limits,
        metrics: Metrics,
        inline: InlineHandler | None = None,
        *,
        refuse: FaultReply = failure,
    ) -> None:
        super().__init__(self._serve)
        self._bounds = {
            "access_log": None,
            "auto_decompress": False,
            "keepalive_timeout": limits.keep_alive_seconds,
            "lingering_time": limits.farewell_seconds,
            "max_field_size": limits.header_line,
            "max_headers": limits.header_fields,
            "max_line_size": limits.header_line,
            "read_bufsize": limits.read_ahead,
        }
        self.familiar = familiar()
        self._answer = handler
        self.inline = inline
        self.refuse = refuse
        self.limits = limits
        self.metrics = metrics
        # A queue that holds addresses only: namespaces, which clients can make up, cannot push addresses out of it.
        self._queue = FairQueue()
        self.open: set[ClientConnection] = set()
        self.draining = False

    def accept(self, address: str) -> ClientConnection:
        """A new connection from that address; it counts as open from now on."""
        loop = asyncio.get_running_loop()
        connection = ClientConnection(self, self._queue.client(address), loop=loop, **self._bounds)
        self.open.add(connection)
        return connection

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast("ClientConnection", request.protocol)
        arrived = connection.begin()
        try:
            if isinstance(connection.begun, Exception):
                raise connection.begun
            reply = await self._answer(request, arrived)
        finally:
            connection.end()
        if self.draining or not request.content.is_eof():  # closing is cheaper than reading the rest of a refused body
            reply.force_close()
            connection.headed = True  # what still comes is the rest of the body
        return reply

    def make_room(self) -> bool:
        """End one connection of the address that has most connections; returns whether one could be ended.

        Only connections that are idle, in their handshake, or slow to send a body are ended: the one that has been idle
        longest, else the one whose request began first.
        """
        late = perf_counter() - self.limits.patience_seconds
        endable = [each for each in self.open if not each.busy or 0 < each.receiving < late]
        if not endable:
            return False
        count = Counter(each.flows.address for each in self.open)
        self.end(min(endable, key=lambda each: (-count[each.flows.address], each.busy, each.last)), "capacity")
        return True

    def bound_unread(self) -> None:
        """End the connections with most unread answers, until those of all connections fit into ``limits.bodies``."""
        stalled = sorted((each for each in self.open if each.stalled), key=lambda each: each.unread)
        total = sum(each.unread for each in stalled)
        while total > self.limits.bodies:
            total -= stalled[-1].unread
            self.end(stalled.pop(), "capacity")

    def end(self, connection: ClientConnection, cause: str) -> None:
        """End the connection at once, and count it under ``cause`` (``handshake``, ``timeout``, ``capacity``)."""
        self.open.discard(connection)
        connection.abort()
        self.metrics.connection_failed(cause)

    async def sweep(self) -> None:
        """End connections whose clients have owed something for ``header_seconds``; runs until cancelled."""
        while True:
            await asyncio.sleep(self.limits.header_seconds / 10)
            latest = perf_counter() - self.limits.header_seconds
            for connection in [each for each in self.open if each.owes_since() < latest]:
                self.end(connection, "timeout")
