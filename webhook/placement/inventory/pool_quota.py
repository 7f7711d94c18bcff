"""How many HostPools a namespace may have (``docs/hostpool.md``).

Every pool that waits for hosts costs a look whenever nodes change. What is beyond the quota is refused when it is
created, and gets no hosts where two were created at the same moment.
"""

from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Pool
from webhook.placement.inventory.quota import Quota
from webhook.placement.text.problem import counted


class Surplus(Struct, frozen=True):
    """A pool that comes after ``limit`` others of its namespace, which may have no more."""

    namespace: str
    limit: int

    def __str__(self) -> str:
        """It names the namespace, which is the reader's own, and none of its pools."""
        may = f"namespace {self.namespace} may have {counted(self.limit, 'HostPool')}"
        return f"{may}, and has as many without this one" if self.limit else may

    @property
    def remedy(self) -> str:
        """What would help."""
        more = "ask for a larger quota of HostPools"
        return f"delete a HostPool that is not needed, or {more}" if self.limit else more


def surplus(pool: Pool, cluster: Inventory, quota: Quota) -> Surplus | None:
    """What is wrong with one pool too many; it need not be in the cluster, and is the last one then.

    Those that have been served come first and are never too many, then those that were created first. Pools that are
    being deleted count until they are gone.
    """
    limit = quota.of(pool.namespace)
    pools = cluster.pools.of_namespace(pool.namespace)
    if limit is None or pool.served or len(pools) < limit:
        return None
    place = cluster.pools.places(pool.namespace).get(pool.name, len(pools))
    return Surplus(pool.namespace, limit) if place >= limit else None
