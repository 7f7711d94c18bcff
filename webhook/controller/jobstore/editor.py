"""``ObjectEditor``: the requests by which controllers of Jobs create, change and delete objects."""

from typing import Protocol

from webhook.controller.hostpools.claims import ObjectWriter


class ObjectEditor(ObjectWriter, Protocol):
    """The API server; failures are ApiError, or LostError when this process does not hold the Lease any more."""

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection; the cause of the error is EXISTS where its name is taken."""
        ...

    async def json_patch(self, path: str, operations: object) -> bytes:
        """Apply all operations, or none; CONFLICT if one sets a ``resourceVersion`` that is not stored."""
        ...

    async def delete(self, path: str, *, uid: str = "", version: str = "", propagation: str = "") -> bytes:
        """Delete the object; CONFLICT if it has another uid, MISSING if there is none."""
        ...
