"""NodeClaims of Karpenter (``karpenter.sh/v1``): the nodes of NodePools, also those that have not joined yet.

A NodePool's ``status.resources`` counts both, some seconds late. NodeClaims tell them apart: what has joined is used,
and what has not is a node to come.
"""

from collections.abc import Mapping

from msgspec import Struct

from webhook.placement.kube.pod import Amount
from webhook.placement.kube.quantity import parse_quantity

NODES = "nodes"
"""The limit on the number of nodes, and how many there are."""


class NodeClaim(Struct, frozen=True, gc=False):
    """A NodeClaim of the ``node_pool``; ``used`` is what its node takes of the limits there, in billionths.

    It takes nothing before it has joined, and while it is being deleted (``updateNodePoolResources`` of Karpenter).
    """

    name: str
    node_pool: str
    used: Mapping[str, int] = {}


def node_claim(name: str, node_pool: str, capacity: Mapping[str, Amount], *, joined: bool, ending: bool) -> NodeClaim:
    """The NodeClaim of that name, whose machine has that capacity."""
    if not joined or ending:
        return NodeClaim(name, node_pool)
    amounts = {resource: parse_quantity(amount) for resource, amount in capacity.items()}
    used = {resource: nano for resource, nano in amounts.items() if nano is not None}
    return NodeClaim(name, node_pool, used | {NODES: 10**9})
