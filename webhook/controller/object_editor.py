"""The API server as reconcilers use it: ``ObjectWriter`` changes objects, ``ObjectEditor`` also creates and deletes."""

from typing import Final, Protocol

from kubeapi.client.errors import Cause
from webhook.cluster.watch.lists import ListReader

REFUSALS: Final = frozenset({Cause.FORBIDDEN, Cause.INVALID, Cause.BROKEN, Cause.BUSY})
"""Causes of failures that tell why an object cannot be created: quota, admission, and a webhook that is down."""


class ObjectWriter(ListReader, Protocol):
    """The API server; failures are ApiError, or LostError when this process does not hold the Lease any more."""

    async def merge_patch(self, path: str, body: object) -> bytes:
        """Apply a merge patch; the error's cause is CONFLICT if its ``resourceVersion`` is not the stored one."""
        ...


class ObjectEditor(ObjectWriter, Protocol):
    """The API server; failures are ApiError, or LostError when this process does not hold the Lease any more."""

    async def create(self, path: str, body: object) -> bytes:
        """Add an object to the collection; the cause of the error is EXISTS where its name is taken."""
        ...

    async def json_patch(self, path: str, operations: object) -> bytes:
        """Apply all operations, or none; CONFLICT if one sets a ``resourceVersion`` that is not stored."""
        ...

    async def delete(self, path: str, *, uid: str = "", version: str = "", propagation: str = "") -> bytes:
        """Delete the object; CONFLICT if it has another uid, MISSING if it does not exist."""
        ...
