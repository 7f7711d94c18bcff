"""A Lease of coordination.k8s.io/v1, as one who wants to hold it reads and writes it. Pure.

The times in it are those of other people's clocks: they are kept and shown, and nothing is concluded from them.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
from msgspec import Raw, Struct

from webhook.cluster.client.api_types import Identified
from webhook.cluster.client.errors import ApiError, Cause
from webhook.cluster.objects import items

API: Final = "coordination.k8s.io/v1"

Document = Mapping[str, Any]
"""An object as JSON has it."""


class Record(Struct, frozen=True):
    """A Lease as it was read.

    ``version`` changes with every write. ``holder`` is empty where nobody holds it, ``None`` where that cannot be read.
    ``duration`` is for how many seconds the holder holds it after each renewal; 0 where that cannot be read.
    """

    document: Document
    version: tuple[str, str]
    holder: str | None
    duration: int

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Read it; :class:`ApiError` if it is no object, or one whose versions cannot be told apart."""
        try:
            identity = items.decode(Raw(body), Identified).metadata
            document = msgspec.json.decode(body, type=dict[str, Any])
        except items.ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"the lease cannot be read: {items.reason(error)}") from None
        if not identity.version:
            # Without one a write would be taken whatever happened meanwhile, and two could hold the lease.
            raise ApiError(Cause.UNREADABLE, "the lease cannot be read: it has no resourceVersion")
        spec = document.get("spec")
        return cls(document, (identity.uid, identity.version), _holder(spec), _count(spec, "leaseDurationSeconds"))

    def held(self, identity: str, *, duration: int, now: str) -> Document:
        """The Lease as it is to be written, held by ``identity`` from now on, or still."""
        mine = self.holder == identity
        return self._written(
            {
                "holderIdentity": identity,
                "leaseDurationSeconds": duration,
                "acquireTime": (mine and self._spec.get("acquireTime")) or now,
                "renewTime": now,
                "leaseTransitions": self._transitions + (not mine),
            }
        )

    def free(self, *, now: str) -> Document:
        """The Lease as it is to be written by a holder that gives it back (client-go, ``leaderelection.release``)."""
        given_back = {"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now}
        return self._written({**given_back, "leaseTransitions": self._transitions})

    @property
    def _spec(self) -> Document:
        spec = self.document.get("spec")
        return spec if isinstance(spec, dict) else {}

    @property
    def _transitions(self) -> int:
        return _count(self._spec, "leaseTransitions")

    def _written(self, changes: Document) -> Document:
        return {**self.document, "spec": {**self._spec, **changes}}


def made(namespace: str, name: str, identity: str, *, duration: int, now: str) -> Document:
    """The Lease as its first holder creates it."""
    metadata = {"namespace": namespace, "name": name}
    spec = {"holderIdentity": identity, "leaseDurationSeconds": duration, "acquireTime": now, "renewTime": now}
    return {"apiVersion": API, "kind": "Lease", "metadata": metadata, "spec": {**spec, "leaseTransitions": 0}}


def _holder(spec: object) -> str | None:
    if spec is None:
        return ""
    holder = spec.get("holderIdentity") or "" if isinstance(spec, dict) else None
    return holder if isinstance(holder, str) else None


def _count(spec: object, field: str) -> int:
    """A number that the field holds; 0 for anything else."""
    value = spec.get(field) if isinstance(spec, dict) else None
    return value if type(value) is int and value > 0 else 0
