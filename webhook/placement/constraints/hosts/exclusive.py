"""Family of exclusive hosts: the node is exclusive to no HostPool but those that the pod names.

See ``docs/hostpool.md``.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread
from webhook.placement.inventory.exclusive_taint import foreign_tolerations
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.owner import of_daemon_set
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Advice, Fix, Untaint
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class NoForeignExclusiveHosts(ConstraintDefaults, frozen=True, gc=False):
    """The standing condition that the node is exclusive to no pool but those in ``own``."""

    rule: ClassVar[str] = Rule.NODES
    about_taints: ClassVar[bool] = True
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    own: tuple[Name, ...]
    clause: Clause | None = None
    soft: bool = False
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes that have no taint of another exclusive pool, and are not hosts of another exclusive pool."""
        if not self.own:
            return world.everything & ~world.inventory.pools.exclusive()
        values = {keys.exclusive(*name) for name in self.own}
        foreign = world.inventory.pools.claimed(self.own)
        for taint, nodes in world.inventory.nodes.taints.get(keys.EXCLUSIVE, {}).items():
            if taint.value not in values:
                foreign |= nodes
        return world.everything & ~foreign

    def explain(self, _world: World, out: Bits) -> Iterator[Reason]:
        """All of them under one reason, which does not say whose hosts the nodes are."""
        yield Reason("is exclusive to another HostPool", "are exclusive to another HostPool", out)

    def fix(self, world: World, out: Bits) -> Fix | None:
        """Delete the one pool that holds such a node, or remove an exclusive taint that belongs to no pool."""
        tainted = dict[str, Bits]()
        for taint, nodes in world.inventory.nodes.taints.get(keys.EXCLUSIVE, {}).items():
            tainted[taint.value] = tainted.get(taint.value, 0) | nodes
        once = twice = 0
        for name, hosts in world.inventory.pools.exclusives().items():
            closed = (hosts | tainted.pop(keys.exclusive(*name), 0)) if name not in self.own else 0
            once, twice = once | closed, twice | once & closed
        stray = union(tainted.values())
        if out & once & ~twice & ~stray:
            return Advice("delete the exclusive HostPool that holds such a node")
        return Untaint(taint=keys.EXCLUSIVE) if out & stray & ~once else None


def parse(ask: Ask, world: World) -> Iterable[Constraint | Problem]:
    """The condition, if there are exclusive hosts, and a problem for each toleration of the taint of another pool."""
    own: tuple[Name, ...] = ()
    for _, pool in ask.pools:
        if pool.mode == "Exclusive":
            own += ((pool.namespace, pool.name),)
    # To create a DaemonSet with such a toleration takes a right, which is checked when the DaemonSet is submitted.
    tolerations = ask.spec.tolerations
    wrong = foreign_tolerations(tolerations, (*own, *ask.closed_pools)) if tolerations else []
    if wrong and of_daemon_set(ask.references):
        wrong = []
    return (*wrong, NoForeignExclusiveHosts(own)) if world.inventory.pools.exclusive() else wrong
