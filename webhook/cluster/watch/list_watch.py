"""List and watch requests for one kind (client-go's ``ListWatch``): pages of a list, events of a watch."""

import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from kubeapi.client import decoding
from kubeapi.client.api_types import Event, Page
from kubeapi.client.connection import Connection, Status, cause_of
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items
from webhook.cluster.objects.kinds import AnyKind
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
        self._path = kind.path
        selectors = {"fieldSelector": kind.selector, "labelSelector": kind.labels}
        self._selector = {name: selector for name, selector in selectors.items() if selector}

    async def page(self, following: str | None = None) -> Page:
        """The first page of a consistent list, or the page for the ``continue`` token ``following``."""
        return await self._page(self._pace.page, {"continue": following} if following else {})

    async def version(self) -> str:
        """The current resourceVersion of the API server."""
        return (await self._page(1, {})).metadata.version

    async def watch(self, version: str) -> AsyncGenerator[list[Event], None]:
        """The events after ``version``, in batches as they arrive, until the API server ends the watch."""
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
                yield _events(lines, chunk)

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


def _events(lines: Lines, chunk: bytes) -> list[Event]:
    try:
        return [decoding.decoded(line, Event) for line in lines.feed(chunk)]
    except TooLongError as error:
        raise ApiError(Cause.UNREADABLE, f"an event cannot be read: {error}") from None
    except decoding.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"an event cannot be read: {decoding.reason(error)}") from None
