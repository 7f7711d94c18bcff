"""Random Jobs and their HostPools, and HostPools by themselves."""

import random
import re
from dataclasses import dataclass
from functools import cached_property

from tests.placement.planning.at_once import judged
from tests.placement.planning.random_jobs import Case, random_case
from tests.placement.planning.test_followed_advice import advice, done, followed_in_every_way
from tests.placement.planning.test_pool_refusals import check as check_pools
from tests.placement.planning.test_pool_refusals import random_pools
from tests.placement.planning.test_random_jobs import check as check_job
from tests.placement.properties.clusters import Cluster
from tests.placement.properties.pools.test_pool_hosts import created
from tests.placement.properties.pools.test_pool_refusals import check_fix, completion, followed, hosts
from tests.placement.properties.random_choices import RandomChoices
from tests.placement.properties.strategies import cluster
from tests.refused.census import Tried
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.objects.pool import Pool
from webhook.placement.text.fix import Partly


@dataclass(frozen=True)
class TriedJob:
    """A Job of random elements."""

    case: Case

    @cached_property
    def verdict(self) -> JobVerdict:
        """The verdict on it."""
        return judged(self.case.spec(), self.case.inventory())

    def refused(self) -> bool:
        """Whether it cannot run."""
        return self.verdict.refused

    def check_fixes(self) -> bool:
        """Each fix for the whole Job admits it, and each one for an element makes that able to run by itself."""
        if self.verdict.group is not None:
            check_job(self.case)
            return bool(followed_in_every_way(self.case, self.verdict.text))
        found = False
        for name, fixes in advice(self.verdict.text):
            ways = [*done(self.case, name, fixes)]
            found = found or bool(ways)
            if ways and name:
                alone = (names_alone(judged(way.spec(), way.inventory()).text) for way in ways)
                assert not all(name in names for names in alone), self.verdict.text
        return found

    def check_smallest(self) -> bool:
        """The conflict of the whole Job is a smallest one."""
        if self.verdict.group is None:
            return False  # of elements by themselves the conflict is that of a pod
        check_job(self.case)
        return True

    def followed(self) -> list[Tried]:
        """The Job after all that is advised."""
        return [TriedJob(case) for case in followed_in_every_way(self.case, self.verdict.text)]


def names_alone(text: str) -> set[str]:
    """The elements that a refusal says cannot run by themselves."""
    return {name for name, _ in advice(text) if name} if text else set()


@dataclass(frozen=True)
class TriedPoolsOfJob(TriedJob):
    """A Job of up to five HostPools."""

    def check_fixes(self) -> bool:
        """All that is advised is enough, or says that it is not."""
        check_pools(self.case)
        return bool(re.search(r"lower |label |drop ", self.verdict.text))

    def check_smallest(self) -> bool:
        """The sets of HostPools are smallest ones."""
        return True  # checked with the fixes

    def followed(self) -> list[Tried]:
        """The Job after all that is advised."""
        return [TriedPoolsOfJob(case) for case in followed_in_every_way(self.case, self.verdict.text)]


@dataclass(frozen=True)
class TriedPool:
    """A HostPool in a cluster."""

    pool: Pool
    cluster: Cluster

    def refused(self) -> bool:
        """Whether it cannot have its hosts."""
        return completion(self.pool, self.cluster).refusal is not None

    def check_fixes(self) -> bool:
        """After each change it has as many hosts as the text says."""
        refusal = completion(self.pool, self.cluster).refusal
        assert refusal
        for fix in refusal.fixes:
            check_fix(fix, self.pool, self.cluster)
        return bool(refusal.fixes)

    def check_smallest(self) -> bool:
        """There are too few nodes for its size, and enough for the size that it could have."""
        assert hosts(self.pool, self.cluster) < (self.pool.size or 0)
        return True

    def followed(self) -> list[Tried]:
        """The pool after the first fix that is said to be enough."""
        refusal = completion(self.pool, self.cluster).refusal
        assert refusal
        enough = next((fix for fix in refusal.fixes if not isinstance(fix, Partly)), None)
        return [TriedPool(*case) for case in followed(enough, self.pool, self.cluster)] if enough else []


def random_job(seed: int) -> TriedJob:
    """The Job of that number."""
    return TriedJob(random_case(seed))


def random_pools_of_job(seed: int) -> TriedPoolsOfJob:
    """The Job with several HostPools of that number."""
    return TriedPoolsOfJob(random_pools(seed))


def random_pool(seed: int) -> TriedPool:
    """The HostPool of that number; one that any cluster can have if the cluster has none with a size."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    found = cluster(RandomChoices(chance.randbytes(360)))
    pools = created(found)
    return TriedPool(chance.choice(pools) if pools else Pool("team", "none", "None", size=0), found)
