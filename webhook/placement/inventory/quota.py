"""How many hosts the exclusive pools of a namespace may have together, and how many pools (``docs/hostpool.md``)."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.objects import Phase, Pool
from webhook.placement.inventory.pool_marks import closed_for
from webhook.placement.text.problem import counted, quote

_ENTRY: Final = re.compile(
    r"(?:(?P<namespace>[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)[ ]*=[ ]*)?(?P<count>[0-9]{1,6})", re.ASCII
)
"""A number for all namespaces, or for one (a DNS label); six digits are more than any cluster has nodes."""


class Quota(Struct, frozen=True):
    """Exclusive hosts that a namespace may have: ``default``, or what ``overrides`` says of it; ``None`` is any."""

    default: int | None = None
    overrides: Mapping[str, int] = {}

    def of(self, namespace: str) -> int | None:
        """How many the namespace may have."""
        return self.overrides.get(namespace, self.default)


class Excess(Struct, frozen=True):
    """A pool that asks for more than is left of ``limit``: the namespace's other pools hold ``taken`` hosts."""

    namespace: str
    limit: int
    taken: int
    asked: int

    @property
    def left(self) -> int:
        """How many the pool could ask for."""
        return max(self.limit - self.taken, 0)

    def __str__(self) -> str:
        """It names the namespace, which is the reader's own, and none of its pools."""
        may = f"namespace {self.namespace} may have {counted(self.limit, 'exclusive host')}"
        if not self.taken:
            return f"{may} and this HostPool asks for {self.asked}"
        return f"{may}, its HostPools have {self.taken} already, and this one asks for {self.asked}"


Count = Callable[[Pool, Inventory], int]


def wanted(pool: Pool, inventory: Inventory) -> int:
    """Hosts that the pool is to have: its size, once it has failed only those that it holds."""
    held = holding(pool, inventory)
    return held if pool.phase is Phase.FAILED else max(pool.size or 0, held)


def holding(pool: Pool, inventory: Inventory) -> int:
    """Hosts that the pool has, by its status or by their taint: one is written before the other."""
    name = pool.namespace, pool.name
    return (inventory.pools.exclusives()[name] | closed_for(name, inventory)).bit_count()


def excess(pool: Pool, inventory: Inventory, quota: Quota, count: Count = holding) -> Excess | None:
    """What is wrong with a pool that has not got all of its hosts yet; ``count`` says what each other pool takes."""
    limit = quota.of(pool.namespace) if pool.exclusive else None
    if limit is None:
        return None
    others = [
        inventory.pools[name]
        for name in inventory.pools.exclusives()
        if name[0] == pool.namespace and name[1] != pool.name
    ]  # fmt: skip
    taken = sum(count(other, inventory) for other in others)
    asked = pool.size or 0
    return Excess(pool.namespace, limit, taken, asked) if taken + asked > limit else None


def parse_quota(text: str) -> Quota:
    """A default and exceptions, such as ``20,team-a=40,team-b=0``; ``ValueError`` with all that is wrong.

    An empty text bounds nothing; without a default only the namespaces named are bounded.
    """
    found: dict[str, int] = {}
    problems: list[str] = []
    for part in text.split(",") if text.strip() else ():
        entry = _ENTRY.fullmatch(part.strip())
        if entry is None:
            problems.append(f'{quote(part.strip())} is no quota such as "20" or "team-a=40"')
            continue
        namespace = entry["namespace"] or ""
        if namespace in found:
            problems.append(f"{quote(part.strip())} is a second {f'quota of {namespace}' if namespace else 'default'}")
        found.setdefault(namespace, int(entry["count"]))
    if problems:
        raise ValueError("; ".join(problems))
    default = found.pop("", None)
    return Quota(default, found)


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


def surplus(pool: Pool, inventory: Inventory, quota: Quota) -> Surplus | None:
    """What is wrong with one pool too many; it need not be in the cluster, and is the last one then.

    Those that have been served come first and are never too many, then those that were created first. Pools that are
    being deleted count until they are gone.
    """
    limit = quota.of(pool.namespace)
    pools = inventory.pools.of_namespace(pool.namespace)
    if limit is None or pool.served or len(pools) < limit:
        return None
    place = inventory.pools.places(pool.namespace).get(pool.name, len(pools))
    return Surplus(pool.namespace, limit) if place >= limit else None
