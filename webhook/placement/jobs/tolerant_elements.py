"""Processing elements that tolerate everything, beside exclusive HostPools that are not theirs.

The pod of such an element is refused as soon as it could get onto an exclusive host (``docs/hostpool.md``). So its Job
is refused before: because of hosts that there are, and of those that pools of the Job would get in any case.
"""

from collections.abc import Iterator, Sequence

from webhook.placement.decision.tolerated_hosts import of_everything, opening, own_pools, reach, refuse_tolerations
from webhook.placement.inventory.objects import Pool
from webhook.placement.kube.bits import union
from webhook.placement.planning.members import Member
from webhook.placement.pools.allocation import eligible
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem


def tolerance_problems(member: Member, choices: Sequence[Pool], world: World) -> Iterator[Problem]:
    """A problem for each toleration of everything by which the pods would be refused.

    ``choices`` are the pools of the Job whose hosts are yet to be chosen.
    """
    found = tuple(refuse_tolerations(member.ask, member.verdict.constraints, world))
    yield from found
    own = own_pools(member.ask)
    foreign = [pool for pool in choices if pool.exclusive and (pool.namespace, pool.name) not in own]
    if found or not foreign or not opening(member.ask, world):
        return
    near = reach(member.verdict.constraints, world)
    if any(_some_host_in(near, pool, world) for pool in foreign):
        yield from of_everything(member.ask, world)


def _some_host_in(nodes: int, pool: Pool, world: World) -> bool:
    """Whether the pool has too few eligible nodes outside of these to have all of its hosts there."""
    able = eligible(pool, world.inventory, world.policy) | union(world.inventory.pools.hosts(pool).values())
    return (able & ~nodes).bit_count() < (pool.size or 0)
