"""What the refusal of replicas says of topology domains, which take fewer of the pods than their nodes could hold."""

from collections.abc import Iterator

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.decision.crowd import Crowd
from webhook.placement.decision.remedy import CLAUSE_LIMIT
from webhook.placement.request.world import World
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import shorten


def alone_in(crowd: Crowd, world: World) -> str:
    """The topology key in whose domains the pods are one each, if all nodes that can run one are in such a domain."""
    limits = crowd.limits()
    others = {limit.key for limit in limits if limit.key != HOSTNAME}
    if not limits or len(others) > 1 or not all(isinstance(limit, OnePerDomain) for limit in limits):
        return ""
    nodes = world.cluster.nodes
    within = nodes.with_key(next(iter(others))) if others else nodes.own_hostname
    return "" if crowd.candidates & ~within else next(iter(others), HOSTNAME)


def apart_by_host(constraint: Constraint) -> bool:
    """Whether it lets no two of the pods share a host name, as pods do that must share a node."""
    return isinstance(constraint.spread, OnePerDomain) and constraint.spread.key == HOSTNAME


def by_node(crowd: Crowd, world: World) -> bool:
    """Whether every limit by domain is one by node: each of the pods on its own, and each with its own host name."""
    found = [isinstance(limit, OnePerDomain) and limit.key == HOSTNAME for limit in crowd.limits()]
    return not found or (all(found) and world.cluster.nodes.own_hostname == world.everything)


def new_domains(crowd: Crowd, missing: int) -> Iterator[str]:
    """New domains that surely help: none of the pods is there yet, and there is room for all that they may take.

    Of several keys it is said only if all but one are host names, which are new with every node.
    """
    limits = crowd.limits()
    one = [limit for limit in limits if limit.key != HOSTNAME or len(limits) == 1]
    single = len(limits) == 1 or all(isinstance(limit, OnePerDomain) for limit in limits)
    each = crowd.each_new(one[0]) if len(one) == 1 and single else 0
    if each:
        count = -(-missing // each)
        nodes = "a node" if count == 1 else f"{count} nodes, each"
        room = f"room for {'one' if each == 1 else each} of them"
        yield f"add {nodes} with another {shorten(one[0].key, CLAUSE_LIMIT)} and {room}"
