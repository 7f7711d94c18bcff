"""Processing elements that tolerate everything, beside exclusive HostPools that are not theirs.

The pod of such an element is refused as soon as it could get onto an exclusive host (``docs/hostpool.md``). So its Job
is refused before: because of hosts that there are, and of those that pools of the Job would get in any case.
"""

from collections.abc import Iterator, Sequence

from webhook.placement.decision.tolerated_hosts import of_everything, opening, own_pools, reach, refuse_tolerations
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.members import Member
from webhook.placement.pools.allocation import eligible
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem


def tolerance_problems(member: Member, choices: Sequence[Pool], world: World) -> Iterator[Problem]:
    """A problem for each toleration of everything by which the pods would be refused.

    ``choices`` are the pools of the Job whose hosts are yet to be chosen.
    """
    problems = tuple(refuse_tolerations(member.ask, member.verdict.constraints, world))
    yield from problems
    near = 0 if problems else _near(member, world)
    if near and any(_some_host_in(near, pool, world) for pool in _foreign(member, choices)):
        yield from of_everything(member.ask, world)


def taken_from(choices: Sequence[Pool], members: Sequence[Member], settled: Bits, world: World) -> dict[Name, Bits]:
    """Nodes that exclusive pools must not have as hosts: ``settled`` ones of others, and where such pods may go."""
    settled_pools = {(pool.namespace, pool.name): settled for pool in choices if pool.exclusive}
    for member in members if settled_pools else ():
        if near := _near(member, world):
            for pool in _foreign(member, choices):
                settled_pools[pool.namespace, pool.name] |= near
    return settled_pools


def _near(member: Member, world: World) -> Bits:
    """The nodes that pods which tolerate everything could get onto, whichever pool they become exclusive to.

    Pods that name a pool whose hosts are yet to be chosen stay on these hosts, which belong to no exclusive pool.
    """
    if not opening(member.ask, world) or any(demand.host for demand in member.conditions):
        return 0
    return reach(member.verdict.constraints, world)


def _foreign(member: Member, choices: Sequence[Pool]) -> list[Pool]:
    """The exclusive pools that the member does not name."""
    own = own_pools(member.ask)
    return [pool for pool in choices if pool.exclusive and (pool.namespace, pool.name) not in own]


def _some_host_in(nodes: Bits, pool: Pool, world: World) -> bool:
    """Whether the pool has too few eligible nodes outside of these to have all of its hosts there."""
    return (world.once(pool, _able) & ~nodes).bit_count() < (pool.size or 0)


def _able(pool: Pool, world: World) -> Bits:
    """The nodes that are, or could be, hosts of the pool."""
    return eligible(pool, world.inventory, world.policy) | union(world.inventory.pools.hosts(pool).values())
