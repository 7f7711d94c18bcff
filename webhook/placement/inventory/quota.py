"""Quotas of a namespace: how many exclusive hosts its HostPools may have, and how many HostPools it may have.

This file parses the settings and says whether a pool is over a quota (``docs/hostpool.md``).
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.inventory.index import HARD
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.names import DNS_LABEL
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys
from webhook.placement.text.fix import Advice, Fix
from webhook.placement.text.problem import counted, quote

_ENTRY: Final = re.compile(rf"(?:(?P<namespace>{DNS_LABEL})[ ]*=[ ]*)?(?P<count>[0-9]{{1,6}})", re.ASCII)
"""One entry of a quota: a number, or ``namespace=number``; six digits are more than a cluster has nodes."""


class Quota(Struct, frozen=True):
    """A limit for each namespace: that in ``overrides``, else ``default``; ``None`` is unlimited."""

    default: int | None = None
    overrides: Mapping[str, int] = {}

    def of(self, namespace: str) -> int | None:
        """The limit for the namespace; ``None`` if it is unlimited."""
        return self.overrides.get(namespace, self.default)


class HostQuotaExcess(Struct, frozen=True):
    """A pool over the quota of exclusive hosts: the pool asks for more hosts than ``limit`` less ``taken``.

    ``used`` is the number of hosts that the namespace's other pools take, ``asked`` the size of the pool.
    """

    namespace: str
    limit: int
    used: int
    asked: int

    @property
    def left(self) -> int:
        """The number of hosts that the pool could ask for."""
        return max(self.limit - self.used, 0)

    def __str__(self) -> str:
        """The sentence for users; it names no other pool, which the reader may have no right to see."""
        may = f"namespace {self.namespace} may have {counted(self.limit, 'exclusive host')}"
        if not self.used:
            return f"{may} and this HostPool asks for {self.asked}"
        return f"{may}, its HostPools have {self.used} already, and this one asks for {self.asked}"


Count = Callable[[Pool, Inventory], int]
"""A function that counts the hosts that a pool takes of a quota."""


def wanted(pool: Pool, inventory: Inventory) -> int:
    """The number of hosts that the pool is to have: its size, but no fewer than it has; if it failed, as many."""
    hosts = holding(pool, inventory)
    return hosts if pool.phase is Phase.FAILED else max(pool.size or 0, hosts)


def holding(pool: Pool, inventory: Inventory) -> int:
    """The number of hosts that the pool has, by its status or by their taint: one is written before the other."""
    name = pool.namespace, pool.name
    return (inventory.pools.exclusives()[name] | closed_for(name, inventory)).bit_count()


def excess(pool: Pool, inventory: Inventory, quota: Quota, count: Count = holding) -> HostQuotaExcess | None:
    """The excess of the pool over the quota of exclusive hosts; ``None`` if there is no excess.

    The pool has not got all of its hosts yet. ``count`` counts the hosts of each other pool of the namespace.
    """
    limit = quota.of(pool.namespace) if pool.exclusive else None
    if limit is None:
        return None
    others = [
        inventory.pools[name]
        for name in inventory.pools.exclusives()
        if name[0] == pool.namespace and name[1] != pool.name
    ]  # fmt: skip
    in_use = sum(count(other, inventory) for other in others)
    asked = pool.size or 0
    return HostQuotaExcess(pool.namespace, limit, in_use, asked) if in_use + asked > limit else None


def parse_quota(text: str) -> Quota:
    """The quota in a text such as ``20,team-a=40,team-b=0``; raises ``ValueError`` with all mistakes.

    An empty text sets no limit; without a default only the named namespaces have a limit.
    """
    limits: dict[str, int] = {}
    problems: list[str] = []
    for part in text.split(",") if text.strip() else ():
        entry = _ENTRY.fullmatch(part.strip())
        if entry is None:
            problems.append(f'{quote(part.strip())} is not a quota such as "20" or "team-a=40"')
            continue
        namespace = entry["namespace"] or ""
        if namespace in limits:
            problems.append(f"{quote(part.strip())} is a second {f'quota of {namespace}' if namespace else 'default'}")
        limits.setdefault(namespace, int(entry["count"]))
    if problems:
        raise ValueError("; ".join(problems))
    default = limits.pop("", None)
    return Quota(default, limits)


def fewer_pools(gone: int, others: int) -> Fix:
    """What helps a namespace that has to have so many fewer HostPools, if as many of the ``others`` may be deleted."""
    which = "a HostPool that is" if gone == 1 else f"{gone} HostPools that are"
    delete = f"delete {which} not needed, or " if gone <= others else ""
    return Advice(f"{delete}ask for a larger quota of HostPools")


class PoolQuotaExcess(Struct, frozen=True):
    """A pool over the quota of HostPools: ``others`` of its namespace come before it, at least ``limit`` of them."""

    namespace: str
    limit: int
    others: int

    def __str__(self) -> str:
        """The sentence for users; it names no other pool, which the reader may have no right to see."""
        may = f"namespace {self.namespace} may have {counted(self.limit, 'HostPool')}"
        if not self.others:
            return may
        return f"{may}, and already has {'that many' if self.others == self.limit else self.others} besides this one"

    @property
    def remedy(self) -> Fix:
        """What would help."""
        return fewer_pools(self.others - self.limit + 1, self.others)


def surplus(pool: Pool, inventory: Inventory, quota: Quota) -> PoolQuotaExcess | None:
    """The quota of HostPools that the pool is over; ``None`` if it is not.

    Pools that have got their hosts count first and are never over the quota; then pools count in the order of their
    creation, and a pool that is not in the inventory last. Pools that are being deleted count until they are gone.
    """
    limit = quota.of(pool.namespace)
    pools = inventory.pools.of_namespace(pool.namespace)
    if limit is None or pool.served or len(pools) < limit:
        return None
    place = inventory.pools.places(pool.namespace).get(pool.name, len(pools))
    return PoolQuotaExcess(pool.namespace, limit, place) if place >= limit else None


def closed_for(name: Name, inventory: Inventory) -> Bits:
    """Nodes with the taint of an exclusive pool, NoSchedule or NoExecute."""
    taints = inventory.nodes.taints.get(keys.EXCLUSIVE)
    if not taints:
        return 0
    own = keys.exclusive(*name)
    return union(taints.get(Taint(keys.EXCLUSIVE, own, effect), 0) for effect in HARD)
