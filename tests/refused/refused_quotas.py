"""Random HostPools over a quota of exclusive hosts or of HostPools, and what their refusals advise."""

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import msgspec

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import Cluster, standing
from tests.placement.properties.pools.test_pool_hosts import created
from tests.placement.properties.pools.test_pool_refusals import followed, hosts
from tests.placement.properties.random_choices import RandomChoices
from tests.placement.properties.strategies import cluster
from tests.refused.census import Tried
from webhook.placement.checks.completion import complete
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.request.world import World
from webhook.placement.text.fix import Fix, Lower, Partly
from webhook.placement.text.keys import EXCLUSIVE

HOSTS: Final = "ask for a larger quota of exclusive hosts"
POOLS: Final = "ask for a larger quota of HostPools"
DELETED: Final = re.compile(r"delete (?:a HostPool that is|(?P<count>\d+) HostPools that are) not needed, or " + POOLS)
USED: Final = re.compile(
    r"may have (\d+) exclusive hosts?, its HostPools have (\d+) already, and this one asks for (\d+)"
)


@dataclass(frozen=True)
class TriedQuota:
    """A HostPool that is to be created in a cluster, and the quotas of its namespace; ``None`` is unlimited."""

    pool: Pool
    cluster: Cluster
    hosts: int | None
    pools: int | None

    @cached_property
    def refusal(self) -> Refusal | None:
        """Why the pool cannot have its hosts."""
        policy = Policy(quota=Quota(self.hosts), pool_quota=Quota(self.pools))
        return complete(self.pool, World(decision_core.inventory(self.cluster), policy)).refusal

    def refused(self) -> bool:
        """Whether it cannot have its hosts."""
        return self.refusal is not None

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """What is advised."""
        assert self.refusal
        return self.refusal.fixes

    @property
    def over(self) -> bool:
        """Whether it is refused for a quota."""
        assert self.refusal
        return " may have " in self.refusal.text

    def check_fixes(self) -> bool:
        """Each fix helps as far as it says, and a smaller one does not."""
        assert self.refusal
        text = self.refusal.text
        for fix in self.fixes if self.over else ():
            ways = [*self.done(fix)]
            assert ways, text
            if isinstance(fix, Lower):
                assert not ways[0].refused(), text
                assert replace(self, pool=msgspec.structs.replace(self.pool, size=fix.to + 1)).refused(), text
            elif isinstance(fix, Partly):
                assert ways[0].refused(), text
                there = replace(self.cluster, pools=(*self.cluster.pools, self.pool))
                assert fix.note == f"{hosts(self.pool, there)} of {self.pool.size} would be eligible", text
            elif str(fix) == HOSTS:
                assert not ways[0].refused(), text
            else:
                assert not any(way.refused() and way.over and way.pools_over for way in ways), text
                for fewer in self._deleted(self._number(fix) - 1):
                    assert fewer.pools_over, text
        return self.over

    @property
    def pools_over(self) -> bool:
        """Whether its namespace has too many HostPools."""
        assert self.refusal
        return "exclusive host" not in self.refusal.headline and self.over

    def check_smallest(self) -> bool:
        """The numbers of the first line are those of the quota, of the other pools and of this one."""
        assert self.refusal
        if not (said := USED.search(self.refusal.headline)):
            return self.over
        others = [pool for pool in self.cluster.pools if pool.exclusive and self._beside(pool)]
        used = sum(self._wants(pool) for pool in others)
        assert tuple(map(int, said.groups())) == (self.hosts, used, self.pool.size), self.refusal.text
        return True

    def followed(self) -> list[Tried]:
        """The pool after the first fix that can be made and is enough by itself."""
        if not self.over:
            enough = next((fix for fix in self.fixes if not isinstance(fix, Partly)), None)
            ways = followed(enough, self.pool, self.cluster) if enough else ()
            return [replace(self, pool=pool, cluster=found) for pool, found in ways]
        enough = next((fix for fix in self.fixes if not isinstance(fix, Partly)), None)
        return [*self.done(enough)] if enough else []

    def done(self, fix: Fix) -> Iterator["TriedQuota"]:
        """The case after the fix, in every way to do it."""
        if isinstance(fix, Partly):
            yield from self.done(fix.fix)
        elif isinstance(fix, Lower):
            yield replace(self, pool=msgspec.structs.replace(self.pool, size=fix.to))
        elif str(fix) == HOSTS:
            yield replace(self, hosts=None)
        else:
            yield replace(self, pools=None)
            yield from self._deleted(self._number(fix))

    def _number(self, fix: Fix) -> int:
        """How many HostPools are to be deleted; none if they are all needed."""
        if str(fix) == POOLS:
            return 0
        said = DELETED.fullmatch(str(fix))
        assert said, fix
        return int(said["count"] or 1)

    def _deleted(self, count: int) -> Iterator["TriedQuota"]:
        """The case without so many other pools of the namespace, whichever they are."""
        others = [pool for pool in self.cluster.pools if self._beside(pool)]
        for gone in itertools.combinations(others, count) if count > 0 else ():
            kept = tuple(pool for pool in self.cluster.pools if pool not in gone)
            yield replace(self, cluster=replace(self.cluster, pools=kept))

    def _beside(self, pool: Pool) -> bool:
        return pool.namespace == self.pool.namespace and pool.name != self.pool.name

    def _wants(self, pool: Pool) -> int:
        """The hosts that another exclusive pool is to have."""
        own = f"{pool.namespace}.{pool.name}"
        closed = {
            node.name
            for node in self.cluster.nodes
            for taint in node.taints
            if taint.key == EXCLUSIVE and taint.value == own and taint.effect != "PreferNoSchedule"
        }
        has = len(closed | {*standing(pool, self.cluster.nodes).values()})
        return has if pool.phase is Phase.FAILED else max(pool.size or 0, has)


def random_quota(seed: int) -> TriedQuota:
    """The HostPool of that number; one that any cluster can have if the cluster has none with a size."""
    chance = random.Random(f"quota {seed}")  # noqa: S311 -- the same cases each time
    found = cluster(RandomChoices(chance.randbytes(360)))
    pools = created(found)
    if not pools:
        return TriedQuota(Pool("team", "none", "None", size=0), found, None, None)
    chosen = chance.choice(pools)
    size, mode = chance.randint(1, 5), chance.choice(("Shared", "Exclusive", "Exclusive"))
    new = msgspec.structs.replace(chosen, size=size, mode=mode, phase=Phase.PENDING, assigned=(), elastic=False)
    kept = replace(found, pools=tuple(pool for pool in found.pools if pool is not chosen))
    hosts_, pools_ = chance.choice((None, 0, 1, 2, 3, 4, 5)), chance.choice((None, None, None, 0, 1, 2))
    return TriedQuota(new, kept, hosts_, pools_)
