"""aiohttp's protocol of one connection, with the parts that aiohttp keeps to itself. No other module uses those.

With them a request that has arrived completely can be answered without a task, which halves the CPU time of a review;
the whole header of a request is bounded; and requests that a client sends ahead of an answer are left unread.
``PRIVATE`` lists the attributes. ``pyproject.toml`` bounds the version of aiohttp, and a contract test shows what each
of them means in the installed one. Where one is missing every request takes aiohttp's public way: answers are the
same, and aiohttp's own bounds hold (each line of a header, the number of its fields, and requests sent ahead).
"""

import asyncio
import functools
import logging
from typing import Any, Final, cast

import aiohttp
from aiohttp import HttpVersion11, StreamReader, web
from aiohttp.http import HttpRequestParser, RawRequestMessage

PRIVATE: Final = (
    "_messages",  # requests that are parsed and not handled yet, as pairs of message and payload, the oldest first
    "_waiter",  # the future that an idle connection waits on for a request; None while a request is answered
    "_parser",  # the parser of the connection; None once the connection is lost
    "_buffer_paused",  # whether reading is paused because too many requests were sent ahead
    "_pause_reading_for_buffer",  # pauses reading until requests sent ahead are handled
    "_msg_queue_resume_size",  # how many of these may be left when reading goes on
    "_reading_paused",  # whether reading is paused because the body that has arrived is not consumed
    "_next_keepalive_close_time",  # when an idle connection is closed, in seconds of the loop's clock
    "_lingering_time",  # for how many seconds the rest of a body is read after its request was answered
)
"""The private attributes of ``web.RequestHandler`` in use, and what each of them means."""

CONSUMED: Final = "message_consumed"
"""The method of the parser to call for each request taken from ``_messages``; aiohttp does not document it."""

_log = logging.getLogger(__name__)


def missing(protocol: type = web.RequestHandler, parser: type = HttpRequestParser) -> list[str]:
    """The names that these classes of aiohttp lack."""
    lacking = [name for name in PRIVATE if not hasattr(protocol, name)]
    return lacking if hasattr(parser, CONSUMED) else [*lacking, CONSUMED]


@functools.cache
def familiar() -> bool:
    """Whether the installed aiohttp has everything that :class:`HttpProtocol` uses; the log says once what it lacks."""
    lacking = missing()
    if lacking:
        _log.warning(
            "aiohttp %s lacks %s: reviews are answered through its public interface and take twice the CPU time; "
            "install the version of aiohttp that this release pins",
            aiohttp.__version__,
            ", ".join(lacking),
        )
    return not lacking


class HttpProtocol(web.RequestHandler):
    """One connection of aiohttp. ``familiar`` says whether its private attributes may be used."""

    __slots__ = ("_clock", "familiar")

    def __init__(
        self,
        server: web.Server,
        *,
        loop: asyncio.AbstractEventLoop,
        familiar: bool,
        **bounds: Any,  # noqa: ANN401 -- aiohttp's own keywords
    ) -> None:
        super().__init__(server, loop=loop, **bounds)
        self.familiar = familiar
        self._clock = loop.time
        if familiar:
            self._msg_queue_resume_size = 0  # no further request is read while one waits

    @property
    def ahead(self) -> bool:
        """Whether the header of a request is complete that no handler has begun to answer; False if that is unknown."""
        return self.familiar and bool(self._messages)

    def parse(self, data: bytes) -> bool:
        """Parse what has arrived.

        Returns whether a request has arrived on an idle connection: then no task is started for it, and
        :meth:`take` or :meth:`hand_over` must follow.
        """
        waiter = self._waiter if self.familiar else None
        if waiter is None or waiter.done():  # a request is being answered
            super().data_received(data)
            return False
        self._waiter = None  # its result would start the task
        try:
            super().data_received(data)
        finally:
            self._waiter = waiter
        return bool(self._messages)

    def complete_request(self) -> tuple[RawRequestMessage, StreamReader] | None:
        """The request that :meth:`parse` has announced, with its body.

        ``None`` unless all of it has arrived, it is the only one, the connection stays open after it, and the client
        reads what is sent.
        """
        message, payload = self._messages[0]
        if self._parser is None or self.writing_paused:
            return None
        if len(self._messages) > 1 or not payload.is_eof():
            return None
        if not isinstance(message, RawRequestMessage) or message.should_close or message.version != HttpVersion11:
            return None
        return message, payload

    def take(self) -> None:
        """Take the complete request, whose answer is sent without a task; the connection is idle from now on."""
        self._messages.popleft()
        cast("HttpRequestParser", self._parser).message_consumed()
        self._next_keepalive_close_time = self._clock() + self.keepalive_timeout

    def hand_over(self) -> None:
        """Have aiohttp start its task for the request that :meth:`parse` has announced."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def hold_back(self) -> None:
        """Leave unread what the client sends ahead of an answer, if a request has arrived already."""
        if self.ahead and not self._buffer_paused:
            self._pause_reading_for_buffer()

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 -- aiohttp's signature
        """Read on, if reading was paused: aiohttp calls this method for every piece of a body that is taken."""
        if not self.familiar or self._reading_paused:
            super().resume_reading(resume_parser)

    def close_unread(self) -> None:
        """Close the connection after the next answer, without reading the rest of what the client sends."""
        if self.familiar:
            self._lingering_time = 0.0
