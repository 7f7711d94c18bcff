"""Objects to which one under review refers, such as training runtimes: read one by one, with a short time for each."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from kubeapi.client import decoding
from kubeapi.client.errors import ApiError
from kubeapi.client.object_client import ObjectClient
from webhook.placement.kinds.references import ObjectReference

SECONDS: Final = 0.5
"""For an answer: a review waits for it."""


class ReferencedObjects:
    """Reads objects by their references."""

    def __init__(self, server: ObjectClient) -> None:
        self._server = server

    async def find(self, reference: ObjectReference) -> dict[str, Any] | None:
        """The object as it is stored; ``None`` for one that does not exist, or cannot be read."""
        try:
            document = msgspec.json.decode(await self._server.read(reference.path))
        except (ApiError, *decoding.ERRORS):
            return None
        return document if isinstance(document, dict) else None

    async def all_named(self, path: str) -> dict[str, dict[str, Any]]:
        """All objects at the path of a kind without namespaces, by name; none if they cannot be read."""
        try:
            page = msgspec.json.decode(await self._server.read(path), type=_Listed)
        except (ApiError, *decoding.ERRORS):
            return {}
        named = ((one.get("metadata"), one) for one in page.items)
        return {str(own["name"]): one for own, one in named if isinstance(own, dict) and own.get("name")}


class _Listed(Struct, frozen=True):
    items: tuple[dict[str, Any], ...] = ()


decoding.inspect_types(__name__)  # threads that read several clusters import this module when they need it first
