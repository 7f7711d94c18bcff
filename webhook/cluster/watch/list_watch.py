"""List and watch requests for one kind (client-go's ``ListWatch``): pages of a list, events of a watch."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

import msgspec

from kubeapi.client import decoding
from kubeapi.client.api_types import Event, Page
from kubeapi.client.connection import Connection, Status, cause_of
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import AnyKind, WatchEvent
from webhook.cluster.watch.backoff import Pace, between

LIMIT: Final = 4 << 20
"""Bytes of one line of a watch: an object has at most 1.5 MiB in etcd, and its JSON may be longer than that."""


class TooLongError(Exception):
    """A line has more than :data:`LIMIT` bytes."""


class Lines:
    """Splits the chunks of a watch response into lines; a chunk may begin and end anywhere in a line."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that are complete now, without newlines and without empty lines; may raise ``TooLongError``."""
        *ended, unfinished = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._take(piece)
            lines.append(b"".join(self._parts))
            self._parts.clear()
            self._size = 0
        self._take(unfinished)
        return [line for line in lines if line]

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise TooLongError(f"a line is longer than {self._limit} bytes")
        if piece:
            self._parts.append(piece)


PAGE_LIMIT: Final = 250 * (3 << 19)
"""Bytes of one page: 250 objects of 1.5 MiB, the largest that etcd stores."""


class ListWatch:
    """Lists and watches the objects of one kind. All failures are raised as :class:`ApiError`."""

    def __init__(self, kind: AnyKind, connection: Connection, pace: Pace, *, page_limit: int = PAGE_LIMIT) -> None:
        self.heard = time.monotonic()
        """Time (``time.monotonic``) of the last answer, or byte of a watch, about this kind; at first, the time now."""
        self._connection = connection
        self._pace = pace
        self._page_limit = page_limit
        self._decoder = msgspec.json.Decoder(kind.event) if kind.event else None
        self._paths = kind.api.paths
        self._place = 0
        selectors = {"fieldSelector": kind.selector, "labelSelector": kind.labels}
        self._selector = {name: selector for name, selector in selectors.items() if selector}

    @property
    def versions(self) -> int:
        """The number of versions in which the API server may serve the kind."""
        return len(self._paths)

    def try_next_version(self) -> None:
        """Ask for the next of these versions from now on; after the last one, for the first."""
        self._place = (self._place + 1) % len(self._paths)

    @property
    def _path(self) -> str:
        return self._paths[self._place]

    async def page(self, following: str | None = None) -> Page:
        """The first page of a consistent list, or the page for the ``continue`` token ``following``."""
        return await self._page(self._pace.page, {"continue": following} if following else {})

    async def version(self) -> str:
        """The current resourceVersion of the API server."""
        return (await self._page(1, {})).metadata.version

    async def watch(self, version: str) -> AsyncGenerator[list[Event | WatchEvent], None]:
        """The events after ``version``, in batches, until the API server ends the watch.

        An event that comes when nothing has come for a while is told at once. What comes within ``Pace.gather`` after
        a batch is the next one: to be woken for every event would cost more than all that is done with it.
        """
        query = {
            **self._selector,
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(round(between(*self._pace.watch))),
        }
        lines = Lines()
        async with self._connection.get(self._path, query, silence=self._pace.silence) as response:
            self.heard = time.monotonic()
            async for chunk in response.content.iter_any():
                self.heard = time.monotonic()
                yield [self._event(line) for line in _split(lines, chunk)]
                if response.connection and response.connection.transport:
                    await self._gather(response.connection.transport)

    async def _gather(self, transport: asyncio.Transport) -> None:
        """Leave what arrives now to the kernel for a moment."""
        # A TLS transport reads on while it is paused, and wakes this process each time, up to this many bytes.
        limit = getattr(transport, "set_read_buffer_limits", None)
        if limit is not None:
            limit(high=1, low=0)
        transport.pause_reading()
        await asyncio.sleep(self._pace.gather)
        transport.resume_reading()

    def _event(self, line: bytes) -> Event | WatchEvent:
        """The event; with its object if the kind has a type for that, and it can be read, else with its JSON text."""
        if self._decoder is not None:
            with contextlib.suppress(*decoding.ERRORS):
                event = self._decoder.decode(line)
                if event.type != "ERROR":
                    return event
        try:
            return decoding.decoded(line, Event)
        except decoding.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"an event cannot be read: {decoding.reason(error)}") from None

    async def _page(self, size: int, query: Mapping[str, str]) -> Page:
        parameters = {**self._selector, "limit": str(size), **query}
        body = bytearray()
        async with self._connection.get(self._path, parameters, silence=self._pace.answer) as response:
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > self._page_limit:
                    raise ApiError(Cause.UNREADABLE, f"a page has more than {self._page_limit} bytes")
        try:
            page = decoding.decoded(body, Page)
        except decoding.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"a page is not a list: {decoding.reason(error)}") from None
        if not page.metadata.version:
            raise ApiError(Cause.UNREADABLE, "a page is not a list: it has no resourceVersion")
        self.heard = time.monotonic()
        return page


def error_of(event: Event) -> ApiError:
    """The error that an event of type ERROR carries as a ``Status``."""
    try:
        status = items.decode(event.object, Status)
    except decoding.ERRORS:
        status = Status()
    return ApiError(cause_of(status.code or 0), f"the API server ends the watch: {status.message or 'no reason given'}")


def _split(lines: Lines, chunk: bytes) -> list[bytes]:
    try:
        return lines.feed(chunk)
    except TooLongError as error:
        raise ApiError(Cause.UNREADABLE, f"an event cannot be read: {error}") from None
