"""``Record``: a Lease of coordination.k8s.io/v1 as it was read, and the Leases to write from it. Pure.

The times in a Lease come from other machines' clocks. They are written for people; no decision uses them.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from kubeapi.client.api_types import Identified
from kubeapi.client.decoding import ERRORS, reason
from kubeapi.client.errors import ApiError, Cause

API: Final = "coordination.k8s.io/v1"

Document = Mapping[str, Any]
"""A JSON object."""


class Record(Struct, frozen=True):
    """A Lease as it was read.

    ``version`` changes with every write. ``holder`` is empty if the Lease is free, ``None`` if the field cannot be
    read. ``duration`` is the number of seconds for which a renewal is good; 0 if the field cannot be read.
    """

    document: Document
    version: tuple[str, str]
    holder: str | None
    duration: int

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Decode a Lease; :class:`ApiError` if it is not an object, or has no resourceVersion."""
        try:
            identity = msgspec.json.decode(body, type=Identified).metadata
            document = msgspec.json.decode(body, type=dict[str, Any])
        except ERRORS as error:
            raise ApiError(Cause.UNREADABLE, f"the lease cannot be read: {reason(error)}") from None
        if not identity.version:
            # Without a resourceVersion a write would always succeed, and two processes could hold the Lease.
            raise ApiError(Cause.UNREADABLE, "the lease cannot be read: it has no resourceVersion")
        spec = document.get("spec")
        return cls(document, (identity.uid, identity.version), _holder(spec), _count(spec, "leaseDurationSeconds"))

    def held(self, identity: str, *, duration: int, now: str) -> Document:
        """The Lease to write when ``identity`` takes it or renews it."""
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
        """The Lease to write when its holder gives it back (client-go, ``leaderelection.release``)."""
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
    """The Lease that its first holder creates."""
    metadata = {"namespace": namespace, "name": name}
    spec = {"holderIdentity": identity, "leaseDurationSeconds": duration, "acquireTime": now, "renewTime": now}
    return {"apiVersion": API, "kind": "Lease", "metadata": metadata, "spec": {**spec, "leaseTransitions": 0}}


def _holder(spec: object) -> str | None:
    if spec is None:
        return ""
    holder = spec.get("holderIdentity") or "" if isinstance(spec, dict) else None
    return holder if isinstance(holder, str) else None


def _count(spec: object, field: str) -> int:
    """The positive integer in the field; 0 for anything else."""
    value = spec.get(field) if isinstance(spec, dict) else None
    return value if type(value) is int and value > 0 else 0
