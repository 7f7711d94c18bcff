"""``host(P)`` and ``host(P[i])``: the pod runs on a host, or on exactly that host, of a pool (``docs/hostpool.md``).

A pool's nodes are found by labels alone: its tags, and for sized and literal pools the membership label that the
controller writes. So a pool of any size costs the scheduler one expression.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec import Struct

from webhook.placement import keys
from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.clauses import ClauseName, PoolName
from webhook.placement.cluster import Phase, Pool
from webhook.placement.constraint import Constraint, Reason, Spread
from webhook.placement.effects import Effect, PreferNodes, RequireNodes, Tolerate
from webhook.placement.pod import NodeTerm, Requirement, Toleration
from webhook.placement.pool_labels import SETTABLE, labels_of, setting, tags_of
from webhook.placement.problem import Problem
from webhook.placement.selector import matching, matching_all
from webhook.placement.world import World


class PoolHosts(Struct, frozen=True, gc=False):
    """A pool, or one of its hosts: ``members`` are the label requirements of membership, ``tags`` those of tags."""

    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: str
    soft: bool
    pool: Pool
    index: int | None
    members: tuple[Requirement, ...]
    tags: tuple[Requirement, ...]
    node: str = ""

    def filter(self, world: World) -> Bits:
        """Nodes that have, or are about to have, all the labels."""
        found = world.everything
        for requirement in (*self.members, *self.tags):
            found &= matching(world, requirement)
        return found

    def inject(self, world: World) -> Iterable[Effect]:
        """One node term and, for an exclusive pool, the toleration of its taint."""
        expressions = (*self.members, *self.tags)
        if expressions:
            term = NodeTerm(match_expressions=expressions)
            yield PreferNodes(self.clause, term) if self.soft else RequireNodes(self.clause, (term,))
        if self.pool.exclusive:
            value = keys.exclusive(self.pool.namespace, self.pool.name)
            effect = world.policy.exclusive_effect
            yield Tolerate(self.clause, Toleration(keys.EXCLUSIVE, "Equal", value, effect))

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Strangers to the pool first, then its hosts that lost a tag."""
        strangers = out & ~matching_all(world, self.members) if self.members else out
        if strangers:
            what = self._what(world)
            yield Reason(f"is not {what}", f"are not {what}", strangers)
        if out & ~strangers:
            tags = tags_of(self.pool)
            yield Reason(f"has lost the {tags}", f"have lost the {tags}", out & ~strangers)

    def mend(self, world: World, out: Bits) -> str:
        """One more node with the tags, or a larger pool."""
        if self.pool.sized:
            if self.index is not None or not self._shortage(world):
                return ""
            if world.allocation(self.pool).over_quota:
                return "ask for a larger quota of exclusive hosts, or for a smaller pool"
            return f"make more nodes eligible for HostPool {self.pool.spl_name}, or a smaller pool"
        labels = setting(self.tags)
        others = [need for need in self.tags if need.operator not in SETTABLE]
        return f"label one more node {labels}" if labels and out & matching_all(world, others) else ""

    def _what(self, world: World) -> str:
        name = f"HostPool {self.pool.spl_name}"
        shortage = self._shortage(world)
        if shortage:
            return f"in {name}, which cannot be completed: {shortage}"
        if self.index is not None:
            return f"host {self.index} of {name}"
        if self.pool.sized:
            return f"among the hosts of {name}"
        return f"in {name} ({tags_of(self.pool) if self.pool.tags else 'by its selector'})"

    def _shortage(self, world: World) -> str:
        if not self.pool.sized or self.pool.phase is Phase.READY:
            return ""
        return world.allocation(self.pool).reason


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint a pool that is named; tags count over all pools of the pod, as SPL takes their union."""
    return _pools(ask) if ask.pools else ()


def _pools(ask: Ask) -> Iterator[Constraint]:
    soft = ClauseName.HOST in ask.soft
    several = len({tag for _, pool in ask.pools for tag in pool.tags}) > 1
    for clause, pool in ask.pools:
        index = clause.argument.index if isinstance(clause.argument, PoolName) else None
        needs = labels_of(pool, several=several)
        yield PoolHosts(clause.text, soft, pool, index, _membership(pool, index), needs)


def _membership(pool: Pool, index: int | None) -> tuple[Requirement, ...]:
    if not pool.sized:
        return ()
    key = keys.membership(pool.namespace, pool.name)
    return (Requirement(key, "Exists") if index is None else Requirement(key, "In", (str(index),)),)
