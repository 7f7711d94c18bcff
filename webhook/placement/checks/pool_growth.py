"""Node groups that can make the nodes an elastic HostPool lacks (``docs/autoscaled.md``, "Elastic HostPools").

A pool waits for any nodes that its tags and its selector allow. The labels and limits that groups state tell whether
enough such nodes can ever exist.
"""

from collections.abc import Collection

from msgspec import Struct

from webhook.placement.inventory.index import HARD
from webhook.placement.kube.selection.selector import requirements_of
from webhook.placement.nodegroups.group_reasons import GroupReason, enumerated_groups, listed_reasons
from webhook.placement.nodegroups.new_node import NewNode, needs_of, new_node
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of
from webhook.placement.request.world import World
from webhook.placement.text.problem import counted


class PoolGrowth(Struct, frozen=True):
    """The ``able`` groups make nodes that could be hosts; if these are too few, there are ``reasons`` of all groups.

    ``devices`` tells that hosts have devices, which groups do not state of their nodes. Of those that are too few there
    are ``nodes``.
    """

    able: tuple[NodeGroup, ...]
    reasons: tuple[str, ...] = ()
    devices: bool = False
    nodes: int = 0

    @property
    def notice(self) -> str:
        """Which groups make the nodes."""
        doubt = ", provided that they have the devices" if self.devices else ""
        return f"{enumerated_groups(self.able)} can make the missing nodes{doubt}"


def pool_growth(pool: Pool, missing: int, world: World) -> PoolGrowth | None:
    """Whether groups can make so many nodes for the pool; ``None`` if no group is asked.

    None is with the setting off or beside ``elastic``, and for a list of hosts: these are nodes that exist.
    """
    groups = world.node_groups
    if world.policy.elastic or pool.hosts is not None or not groups:
        return None
    obstacles = [(group, _obstacle(group, pool, world)) for group in groups]
    able = tuple(group for group, why in obstacles if not why)
    nodes = sum(group.count or 0 for group in able)
    if any(group.count is None for group in able) or nodes >= missing:
        return PoolGrowth(able, devices=bool(pool.devices))
    few = [
        GroupReason(group, why or f"can make only {counted(group.count or 0, 'more node')}") for group, why in obstacles
    ]
    return PoolGrowth(able, tuple(listed_reasons(few, "do not make enough either")), nodes=nodes)


def _obstacle(group: NodeGroup, pool: Pool, world: World) -> str:
    """Why no node of the group could be a host; empty if each could."""
    if group.closed:
        return group.closed
    taint = next((taint for taint in group.taints if taint.effect in HARD), None)
    if taint is not None:
        return f"makes nodes with the taint {taint}"
    known = world.inventory.nodes.labels

    def live(key: str) -> Collection[str]:
        return known.get(key, ())

    needs = needs_of((*labels_of(pool), *requirements_of(world.policy.poolable)))
    node = new_node(group, (needs,), {}, live)
    return "" if isinstance(node, NewNode) else f"makes no nodes with {', '.join(map(str, node))}"
