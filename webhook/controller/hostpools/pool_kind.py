"""HostPools as the controller keeps them: none is overlooked, whatever is wrong with it.

The webhook takes a pool that breaks rules for absent. The controller must not: its hosts are marked, and it may be
about to go and wait for its finalizer. A status is the controller's own, so one that breaks rules is not believed, and
written anew. Where the rest breaks rules, all that is kept of the pool is that there is one.
"""

from msgspec import Raw, Struct
from msgspec.structs import replace

from kubeapi.client import decoding
from kubeapi.client.api_types import Identified
from webhook.cluster.objects import items, wire
from webhook.cluster.objects.kinds import POOLS, AnyKind
from webhook.cluster.objects.translate import NAMESPACE, MalformedError, Notes, pool
from webhook.placement.inventory.objects import Phase, Pool
from webhook.placement.inventory.pool_spec import HostPoolSpec


class _Believed(Struct, frozen=True, gc=False):
    """A HostPool without its status."""

    metadata: wire.PoolMetadata | None = None
    spec: HostPoolSpec | None = None


def read_believed(item: Raw) -> tuple[Pool, Notes]:
    """The pool, without its status if that breaks rules; raises MalformedError or one of :data:`decoding.ERRORS`."""
    try:
        return pool(items.decode(item, wire.HostPool)), []
    except (MalformedError, *decoding.ERRORS) as error:
        rest = items.decode(item, _Believed)
        found = pool(wire.HostPool(rest.metadata, rest.spec))
        return found, [f"{reason_of(error)}, so its status is written anew"]


def reason_of(error: Exception) -> str:
    """What is wrong with an object that cannot be used."""
    return str(error) if isinstance(error, MalformedError) else decoding.reason(error)


def unreadable(pool: Pool) -> bool:
    """Whether nothing is known of the pool but its name."""
    return not pool.spl_name


def _read(item: Raw) -> tuple[Pool, Notes]:
    try:
        return read_believed(item)
    except (MalformedError, *decoding.ERRORS) as error:
        identity = items.decode(item, Identified).metadata
        if not identity.name:
            raise
        # No pod can name it, as no name is empty.
        stand_in = Pool(identity.namespace or NAMESPACE, identity.name, "", phase=Phase.FAILED)
        return stand_in, [reason_of(error)]


OWN_POOLS: AnyKind = replace(POOLS, read=_read)
