"""``NodeGroups``: the node groups that autoscalers state as objects of the cluster."""

from collections import Counter
from collections.abc import Iterable

from webhook.placement.nodegroups.node_claim import NodeClaim
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_pool import KIND, StatedNodePool


class NodeGroups:
    """The groups by kind, namespace and name; ``version`` counts changes, equal objects change nothing.

    What is used of the limits of NodePools their NodeClaims say, if these are known, else the NodePools themselves.
    """

    __slots__ = ("_claims", "_groups", "_listed", "_pools", "_used", "version")

    def __init__(self) -> None:
        self.version = 0
        self._groups: dict[tuple[str, str, str], NodeGroup] = {}
        self._pools: dict[str, StatedNodePool] = {}
        self._claims: dict[str, NodeClaim] = {}
        self._used: dict[str, Counter[str]] = {}
        self._listed = False

    def put(self, group: NodeGroup) -> None:
        """Add the group, or replace the one with its name."""
        key = group.kind, group.namespace, group.name
        if self._groups.get(key) != group:
            self._groups[key] = group
            self.version += 1

    def drop(self, kind: str, namespace: str, name: str) -> None:
        """Remove the group."""
        if self._groups.pop((kind, namespace, name), None) is not None:
            self.version += 1

    def put_node_pool(self, pool: StatedNodePool) -> None:
        """Add the NodePool, or replace the one with its name."""
        self._pools[pool.name] = pool
        self._count(pool)

    def drop_node_pool(self, name: str) -> None:
        """Remove the NodePool."""
        self._pools.pop(name, None)
        self.drop(KIND, "", name)

    def put_claim(self, claim: NodeClaim) -> None:
        """Add the NodeClaim, or replace the one with its name."""
        self._replace(claim.name, claim)

    def drop_claim(self, name: str) -> None:
        """Remove the NodeClaim."""
        self._replace(name, None)

    def claims_listed(self, *, readable: bool) -> None:
        """A list of NodeClaims is complete, or may not be read."""
        before, self._listed = self._counts_claims, readable
        self._count_all(before=before)

    def with_shapes(self, shapes: Iterable[NodeGroup]) -> list[NodeGroup]:
        """The groups and these shapes, in the order in which they are tried."""
        return sorted((*self._groups.values(), *shapes), key=lambda group: group.place)

    @property
    def _counts_claims(self) -> bool:
        """Whether NodeClaims are known: those of a snapshot are never listed."""
        return self._listed or bool(self._claims)

    def _replace(self, name: str, claim: NodeClaim | None) -> None:
        known, old = self._counts_claims, self._claims.pop(name, None)
        if claim is not None:
            self._claims[name] = claim
        if old == claim:
            return
        touched: dict[str, None] = {}
        for one, sign in ((old, -1), (claim, 1)):
            if one is not None:
                used = self._used.setdefault(one.node_pool, Counter())
                for resource, nano in one.used.items():
                    used[resource] += sign * nano
                touched[one.node_pool] = None
        self._count_all(before=known)
        for pool in touched:
            if pool in self._pools:
                self._count(self._pools[pool])

    def _count_all(self, *, before: bool) -> None:
        """Count again what all NodePools use, if it is now counted in another way than before."""
        for pool in self._pools.values() if before != self._counts_claims else ():
            self._count(pool)

    def _count(self, pool: StatedNodePool) -> None:
        """The NodePool as a group, with what is left of its limits."""
        used = {resource: f"{nano}n" for resource, nano in self._used.get(pool.name, Counter()).items()}
        self.put(pool.group(used if self._counts_claims else pool.used))
