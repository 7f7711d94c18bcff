"""Family ``host(P)`` and ``host(P[i])``: the pod runs on a host of a HostPool, or on its host i (``docs/hostpool.md``).

The nodes of a pool are found by labels alone: its tags, and for sized and literal pools the membership label that the
controller writes. So a pool of any size costs the scheduler one expression.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint, ConstraintDefaults, Reason, Spread, Tie
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.pod import NodeTerm, Requirement, Toleration
from webhook.placement.kube.selection.selector import matching, matching_all
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import SETTABLE, labels_of, labels_set, tags_of
from webhook.placement.provision.effects import Effect, PreferNodes, RequireNodes, Tolerate
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName, PoolName
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Advice, CompletePool, Fix, LabelNode
from webhook.placement.text.problem import Problem
from webhook.placement.text.rule import Rule


class PoolHosts(ConstraintDefaults, frozen=True, gc=False):
    """The condition that the node is a host of ``pool``, or with an ``index`` that one host.

    ``members`` is the requirement on the membership label, ``tags`` are those on tags and on the pool's selector.
    ``united`` tells that the tags of several pools count together.
    """

    rule: ClassVar[str] = Rule.POOL
    verb: ClassVar[str] = "drop"
    spread: ClassVar[Spread] = Spread.FREE
    clause: Clause
    soft: bool
    pool: Pool
    index: int | None
    members: tuple[Requirement, ...]
    tags: tuple[Requirement, ...]
    united: bool = False
    node: str = ""

    @property
    def separable(self) -> bool:
        """Another pool may then spell its tags otherwise; hosts of an exclusive pool are closed without its clause."""
        return not (self.united or self.pool.exclusive)

    def by_itself(self) -> "PoolHosts":
        """With the tags spelled as those of one pool are."""
        return replace(self, tags=labels_of(self.pool), united=False) if self.united else self

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """Needs for the tags and the pool's selector; a node gets its membership label when it becomes a host."""
        return self.tags

    @property
    def tie(self) -> Tie:
        """Hosts of a sized pool are nodes that exist, and an index names one."""
        if self.index is not None:
            return Tie.HOST
        return Tie.HOSTS if self.pool.sized else Tie.NONE

    def filter(self, world: World) -> Bits:
        """Nodes that have all the labels, or will have them once the pool is ready."""
        hosts = world.everything
        for requirement in (*self.members, *self.tags):
            hosts &= matching(world, requirement)
        return hosts

    def inject(self, world: World) -> Iterable[Effect]:
        """One node term and, for an exclusive pool, the toleration of its taint."""
        expressions = (*self.members, *self.tags)
        if expressions:
            term = NodeTerm(match_expressions=expressions)
            yield PreferNodes(self.clause.text, term) if self.soft else RequireNodes(self.clause.text, (term,))
        if self.pool.exclusive:
            value = keys.exclusive(self.pool.namespace, self.pool.name)
            effect = world.policy.exclusive_effect
            yield Tolerate(self.clause.text, Toleration(keys.EXCLUSIVE, "Equal", value, effect))

    def explain(self, world: World, out: Bits) -> Iterator[Reason]:
        """Nodes that are not hosts of the pool first, then its hosts that lack a label."""
        hosts = out & matching_all(world, self.members) if self.members else out
        plain = labels_of(self.pool)
        spelled = hosts & matching_all(world, plain) if plain != self.tags else 0
        strangers = (out & ~hosts if self.members else out) & ~spelled
        if strangers:
            what = self._what(world)
            yield Reason(f"is not {what}", f"are not {what}", strangers)
        if spelled:
            what, why = self._called(), f"the label {self.tags[0].key}: several tags count, each is a label of its own"
            yield Reason(f"is {what}, but lacks {why}", f"are {what}, but lack {why}", spelled)
        yield from self._lost(world, out & ~strangers & ~spelled)

    def fix(self, world: World, out: Bits) -> Fix | None:
        """Label one more node, or what would complete a pool that has no hosts."""
        if world.shortage(self.pool):
            return self._complete(world, out)
        if self.pool.sized:
            out &= matching_all(world, self.members)
        others = [need for need in self.tags if need.operator not in SETTABLE]
        labels = labels_set(self.tags)
        if not labels or not out & matching_all(world, others):
            return None
        return LabelNode(more=1, labels=labels, host_of=self.pool.spl_name if self.pool.sized else "")

    def _complete(self, world: World, out: Bits) -> Fix | None:
        """What would give the pool all of its hosts, with one of ``out`` among them; ``None`` if that is not sure."""
        name, size, allocation = self.pool.spl_name, self.pool.size or 0, world.allocation(self.pool)
        if self.index is not None:
            return None
        if allocation.remedy:
            granted = world.without_quotas().allocation(self.pool)
            hosts = union(world.named(host.name) for host in granted.hosts)
            return None if granted.reason or not out & hosts & matching_all(world, self.tags) else allocation.remedy
        able = union(world.named(host.name) for host in allocation.hosts)
        if out & able & matching_all(world, self.tags):
            if self.pool.hosts is not None:
                return Advice(f"fix the list of HostPool {name}")
            return CompletePool(name, shrinkable=True)
        others = [need for need in self.tags if need.operator not in SETTABLE]
        enough = (out & ~able & matching_all(world, others)).bit_count() >= size - allocation.eligible
        plain = self.pool.hosts is None and self.tags == labels_of(self.pool)
        return CompletePool(name) if plain and enough else None

    def _lost(self, world: World, out: Bits) -> Iterator[Reason]:
        """Why hosts of the pool no longer meet its requirements: tags first, then the selector."""
        tagged = out & matching_all(world, self.tags[: len({*self.pool.tags})])
        if out & ~tagged:
            tags = tags_of(self.pool)
            yield Reason(f"has lost the {tags}", f"have lost the {tags}", out & ~tagged)
        if tagged:
            selector = f"the selector of HostPool {self.pool.spl_name}"
            yield Reason(f"no longer meets {selector}", f"no longer meet {selector}", tagged)

    def _what(self, world: World) -> str:
        """What all other nodes are not, in words."""
        if shortage := world.shortage(self.pool):
            return f"in HostPool {self.pool.spl_name}, which cannot be completed: {shortage}"
        return self._called() if self.pool.sized else f"{self._called()} ({self._by()})"

    def _called(self) -> str:
        """What a host that meets the constraint is, in words."""
        name = f"HostPool {self.pool.spl_name}"
        if self.index is not None:
            return f"host {self.index} of {name}"
        return f"among the hosts of {name}" if self.pool.sized else f"in {name}"

    def _by(self) -> str:
        """What makes nodes hosts of an unsized pool, in words."""
        if not self.pool.tags:
            return "by its selector"
        return f"{tags_of(self.pool)}{' and its selector' if self.pool.selector else ''}"


def parse(ask: Ask, _world: World) -> Iterable[Constraint | Problem]:
    """One constraint for each pool that is named; tags count over all pools of the pod, as SPL takes their union."""
    return _pools(ask) if ask.pools else ()


def _pools(ask: Ask) -> Iterator[Constraint]:
    """The constraints of a pod that names pools."""
    soft = ClauseName.HOST in ask.soft
    several = len({tag for _, pool in ask.pools for tag in pool.tags}) > 1
    for clause, pool in ask.pools:
        index = clause.argument.index if isinstance(clause.argument, PoolName) else None
        needs = labels_of(pool, several=several)
        yield PoolHosts(clause.written, soft, pool, index, _membership(pool, index), needs, several)


def _membership(pool: Pool, index: int | None) -> tuple[Requirement, ...]:
    """The requirement on the membership label; none for an unsized pool."""
    if not pool.sized:
        return ()
    key = keys.membership(pool.namespace, pool.name)
    return (Requirement(key, "Exists") if index is None else Requirement(key, "In", (str(index),)),)
