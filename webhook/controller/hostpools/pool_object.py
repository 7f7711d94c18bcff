"""HostPool objects as the controller reads them, from the watch and from single reads, and how they are written.

The webhook ignores a HostPool object that breaks rules. The controller must not: the pool's hosts are marked, and its
finalizer may be awaited. A status that breaks rules is ignored and overwritten, because the status is the controller's
own. If the rest breaks rules, only the pool's name is kept.
"""

from typing import Any, Final

from msgspec import Raw, Struct, field
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.api_types import Identified
from kubeapi.client.errors import ApiError, Cause
from webhook.cluster.objects import items, wire
from webhook.cluster.objects.custom_resources import pool
from webhook.cluster.objects.kinds import POOLS, AnyKind
from webhook.cluster.objects.metadata import NAMESPACE, MalformedError, Notes
from webhook.placement.inventory.pool_index import Name
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.objects.pool_spec import HostPoolSpec
from webhook.placement.text import keys
from webhook.placement.text.api_kinds import HOST_POOL


class _Believed(Struct, frozen=True, gc=False):
    """A HostPool without its status."""

    metadata: wire.DatedMetadata | None = None
    spec: HostPoolSpec | None = None


def read_believed(item: Raw) -> tuple[Pool, Notes]:
    """The pool, without its status if that breaks rules; raises MalformedError or one of :data:`decoding.ERRORS`."""
    try:
        return pool(items.decode(item, wire.HostPoolObject)), []
    except (MalformedError, *decoding.ERRORS) as error:
        believed = items.decode(item, _Believed)
        value = pool(wire.HostPoolObject(believed.metadata, believed.spec))
        return value, [f"{reason_of(error)}; rewriting its status"]


def reason_of(error: Exception) -> str:
    """The reason, in words, for which an object cannot be used."""
    return str(error) if isinstance(error, MalformedError) else decoding.reason(error)


def unreadable(pool: Pool) -> bool:
    """Whether only the name of the pool is known, because its object breaks rules."""
    return not pool.spl_name


def _read(item: Raw) -> tuple[Pool, Notes]:
    try:
        return read_believed(item)
    except (MalformedError, *decoding.ERRORS) as error:
        identity = items.decode(item, Identified).metadata
        if not identity.name:
            raise
        # No pod can name this pool: its SPL name is empty.
        stand_in = Pool(identity.namespace or NAMESPACE, identity.name, "", phase=Phase.FAILED)
        return stand_in, [reason_of(error)]


OWN_POOLS: AnyKind = replace(POOLS, read=_read)


FINALIZER: Final = f"{keys.PREFIX}hosts"
"""The finalizer that keeps a deleted HostPool until its hosts are released."""


class _StoredPoolMetadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = NAMESPACE
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    finalizers: list[str] | None = None
    deletion_timestamp: str | None = None


class _PoolDocument(Struct, frozen=True):
    metadata: _StoredPoolMetadata = field(default_factory=_StoredPoolMetadata)
    status: Any = None


class StoredPool(Struct, frozen=True):
    """A stored HostPool; ``pool`` is ``None`` if it breaks a rule that no schema can express: ``fault`` names it."""

    metadata: _StoredPoolMetadata
    status: dict[str, Any]
    pool: Pool | None
    fault: str = ""

    @property
    def name(self) -> Name:
        """Namespace and name."""
        return self.metadata.namespace, self.metadata.name

    @property
    def path(self) -> str:
        """The object's API path."""
        return path_of(*self.name)

    @property
    def leaving(self) -> bool:
        """Whether the object is being deleted and waits for its finalizers."""
        return self.metadata.deletion_timestamp is not None

    @property
    def held(self) -> bool:
        """Whether the object has the controller's finalizer."""
        return FINALIZER in (self.metadata.finalizers or ())

    def holding(self) -> dict[str, Any]:
        """The merge patch that adds the controller's finalizer."""
        finalizers = [*(self.metadata.finalizers or ()), FINALIZER]
        return {"metadata": {"resourceVersion": self.metadata.resource_version, "finalizers": finalizers}}

    def free(self) -> dict[str, Any]:
        """The merge patch that removes the controller's finalizer."""
        finalizers = [name for name in self.metadata.finalizers or () if name != FINALIZER]
        return {"metadata": {"resourceVersion": self.metadata.resource_version, "finalizers": finalizers or None}}


def path_of(namespace: str, name: str) -> str:
    """The API path of that HostPool."""
    return f"{HOST_POOL.path_in(namespace)}/{name}"


def read_pool(body: bytes) -> StoredPool:
    """Read a HostPool from JSON; raises :class:`ApiError` if not even its metadata can be read."""
    try:
        document = items.decode(Raw(body), _PoolDocument)
    except decoding.ERRORS as error:
        raise ApiError(Cause.UNREADABLE, f"the HostPool cannot be read: {decoding.reason(error)}") from None
    status = document.status if isinstance(document.status, dict) else {}
    try:
        return StoredPool(document.metadata, status, read_believed(Raw(body))[0])
    except (MalformedError, *decoding.ERRORS) as error:
        return StoredPool(document.metadata, status, None, reason_of(error))
