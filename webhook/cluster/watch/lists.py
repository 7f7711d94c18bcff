"""Lists read now, page by page: for questions that must not be answered from the inventory."""

from collections.abc import AsyncIterator, Mapping
from typing import Final, Protocol
from urllib.parse import quote, urlencode

from msgspec import Raw

from kubeapi.client import decoding
from kubeapi.client.api_types import Page
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items

PAGE: Final = 100
"""Objects of one page: a megabyte or two of pods, while an answer may have six."""


class ListReader(Protocol):
    """Reads lists of the API server; every failure is an :class:`ApiError`."""

    async def read(self, path: str) -> bytes:
        """Read one page as it is now."""
        ...


async def listed(
    reader: ListReader, path: str, selectors: Mapping[str, str], *, page: int = PAGE
) -> AsyncIterator[Raw]:
    """Every object of the collection at ``path``, as JSON text. Raises :class:`ApiError`."""
    query = {**selectors, "limit": str(page)}
    while True:
        body = await reader.read(f"{path}?{urlencode(query, quote_via=quote)}")
        try:
            found = items.decode(Raw(body), Page)
        except decoding.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"the list cannot be read: {decoding.reason(error)}") from None
        for item in found.items or ():
            yield item
        if not found.metadata.following:
            return
        query["continue"] = found.metadata.following
