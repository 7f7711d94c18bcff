"""Members whose pods run already, and stay where they are while others of their group are placed."""

from collections.abc import Sequence

from msgspec.structs import replace

from webhook.placement.constraints.constraint import StandingConstraint
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.members import Demand, Member
from webhook.placement.request.world import World


def pinned(member: Member, node: str, pools: Sequence[Pool], world: World, *, apart: bool = False) -> Member:
    """The member whose pods run on the node, where their requests count as used.

    What else the node would have to be does not matter any more: the pods stay, whatever becomes of its labels and
    taints. ``pools`` are those whose hosts are yet to be chosen. With ``apart`` nothing shares the node with them.
    """
    here = world.named(node)
    conditions = []
    for condition in member.conditions:
        host = _host(condition, here, pools, world)
        together = () if apart else condition.together
        stays = replace(condition, clause="", nodes=here, requests={}, limit=None, shut=0, host=host, together=together)
        conditions.append(stays)
    return replace(member, conditions=tuple(conditions), stays=True)


def bounded(member: Member, nodes: Bits) -> Member:
    """The member whose pods may go to these nodes only."""
    there = Demand(None, nodes, StandingConstraint())
    return replace(member, conditions=(*member.conditions, there))


def _host(demand: Demand, here: Bits, pools: Sequence[Pool], world: World) -> tuple[Name, int | None] | None:
    """The place that the node has already among the hosts of the pool that is demanded."""
    if demand.host is None:
        return None
    pool = next(each for each in pools if (each.namespace, each.name) == demand.host[0])
    hosts = world.inventory.pools.hosts(pool)
    return next(((demand.host[0], index) for index, nodes in hosts.items() if nodes == here), None)
