"""``listed``: all objects of a collection, read now and page by page, for decisions that must not rely on a cache."""

from collections.abc import AsyncIterator, Mapping
from typing import Final, Protocol
from urllib.parse import quote, urlencode

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.api_types import Page
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items

PAGE: Final = 100
"""Objects of one page: one or two megabytes of pods; the client takes answers of up to six."""


class ListReader(Protocol):
    """Sends GET requests to the API server; all failures are raised as :class:`ApiError`."""

    async def read(self, path: str) -> bytes:
        """The body of the answer to a GET of ``path``, which may have a query."""
        ...


async def listed(
    reader: ListReader, path: str, selectors: Mapping[str, str], *, page: int = PAGE
) -> AsyncIterator[Raw]:
    """Every object of the collection at ``path`` that ``selectors`` select, as JSON text. Raises :class:`ApiError`.

    ``selectors`` are query parameters such as ``fieldSelector``; ``page`` is the number of objects of one request.
    """
    query = {**selectors, "limit": str(page)}
    while True:
        body = await reader.read(f"{path}?{urlencode(query, quote_via=quote)}")
        try:
            part = items.decode(Raw(body), Page)
        except decoding.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"the list cannot be read: {decoding.reason(error)}") from None
        for item in part.items or ():
            yield item
        if not part.metadata.following:
            return
        query["continue"] = part.metadata.following
