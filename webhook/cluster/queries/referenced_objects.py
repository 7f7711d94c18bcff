"""Objects to which one under review refers, such as training runtimes: read one by one, with a short time for each."""

from typing import Any, Final

import msgspec

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
            found = msgspec.json.decode(await self._server.read(reference.path))
        except (ApiError, *decoding.ERRORS):
            return None
        return found if isinstance(found, dict) else None
