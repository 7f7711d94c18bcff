"""Why nodes cannot be hosts of a sized HostPool: each rule of ``allocation.eligible``, with what would help.

The rules are: the pool's labels, poolable nodes, no taint, not exclusive to another pool, no stranger on the node.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from webhook.placement.constraints import families
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.clause_nodes import without_each
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.selector import matching_all, requirements_of
from webhook.placement.kube.tolerations import in_words
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import SETTABLE, labels_of, setting, tag_requirements, tags_of
from webhook.placement.pools.allocation import strangers
from webhook.placement.pools.host_list import retainable
from webhook.placement.request.world import World
from webhook.placement.text.keys import EXCLUSIVE


class Fix(Struct, frozen=True):
    """A change that would make each of ``nodes`` to which it is made eligible.

    Its text is ``before``, the number of nodes ("3 more nodes"), and ``after``.
    """

    nodes: Bits
    before: str
    after: str = ""

    def text(self, count: int) -> str:
        """The text of the change, made to ``count`` nodes."""
        return f"{self.before} {'one' if count == 1 else count} more node{'s' * (count != 1)}{self.after}"


class HostRule(Struct, frozen=True):
    """One rule for hosts of a pool: ``nodes`` are those that keep it.

    ``explain`` says why other nodes do not keep the rule, ``fixes`` what would help nodes that fail this rule alone.
    """

    nodes: Bits
    explain: Callable[[Bits], Iterable[Reason]]
    fixes: Callable[[Bits], Iterable[Fix]]


def hurdles(pool: Pool, world: World) -> tuple[HostRule, ...]:
    """The rules for hosts of a sized pool, in the order in which nodes are blamed.

    Nodes that are the pool's hosts already, and may stay, keep all rules.
    """
    own_hosts = union(nodes for index, nodes in world.inventory.pools.hosts(pool).items() if index < (pool.size or 0))
    own_hosts &= retainable(pool, world.inventory, world.policy)
    all_hurdles = (_labelled(pool, world), _poolable(world), _untainted(world), _free(pool, world), _alone(pool, world))
    return tuple(HostRule(one.nodes | own_hosts, one.explain, one.fixes) for one in all_hurdles)


def ruled_out(rules: Iterable[HostRule], world: World) -> list[Reason]:
    """Why nodes are out, each node under the first rule that it fails; the reason with most nodes first."""
    open_nodes = world.everything
    reasons: list[Reason] = []
    for rule in rules:
        out = open_nodes & ~rule.nodes
        open_nodes &= rule.nodes
        reasons += rule.explain(out) if out else ()
    return sorted(reasons, key=lambda reason: -reason.nodes.bit_count())


def best_fix(rules: tuple[HostRule, ...], world: World) -> Fix | None:
    """The single change that makes most nodes eligible; ``None`` if no change makes any."""
    opened = without_each(world.everything, [rule.nodes for rule in rules])
    fixes = [fix for rule, nodes in zip(rules, opened, strict=True) for fix in rule.fixes(nodes & ~rule.nodes)]
    best = max(fixes, key=lambda fix: fix.nodes.bit_count(), default=None)
    return best if best and best.nodes else None


def _labelled(pool: Pool, world: World) -> HostRule:
    """Rule: the node has the pool's tags and meets its selector."""
    tagged = matching_all(world.inventory.nodes, tag_requirements(pool.tags))
    needs = labels_of(pool)
    others = [need for need in needs if need.operator not in SETTABLE]

    def explain(out: Bits) -> Iterator[Reason]:
        if out & ~tagged:
            yield Reason(f"lacks the {tags_of(pool)}", f"lack the {tags_of(pool)}", out & ~tagged)
        if out & tagged:
            yield Reason("does not meet the selector", "do not meet the selector", out & tagged)

    def fixes(out: Bits) -> Iterator[Fix]:
        yield Fix(out & matching_all(world.inventory.nodes, others), "label", f" {setting(needs)}")

    return HostRule(matching_all(world.inventory.nodes, needs), explain, fixes)


def _poolable(world: World) -> HostRule:
    """Rule: the installation lets HostPools have the node."""
    reason = "may not be pooled (poolable nodes)"
    return HostRule(
        matching_all(world.inventory.nodes, requirements_of(world.policy.poolable)),
        lambda out: (Reason(reason, reason, out),),
        lambda out: (Fix(out, "let HostPools have", " (poolable nodes)"),),
    )


_CURES = {"is cordoned": ("uncordon", "")}
"""What helps against a taint that has words of its own: text before and after the number of nodes.

Taints of passing conditions are not listed: no pool is refused for these.
"""


def _untainted(world: World) -> HostRule:
    """Rule: the node has no taint that keeps pods away, but for that of exclusive hosts."""
    tolerated = families.tolerated()

    def fixes(out: Bits) -> Iterator[Fix]:
        by_cure: dict[tuple[str, str], Bits] = {}
        for key, by_taint in world.inventory.nodes.taints.items():
            for taint, nodes in by_taint.items() if key != EXCLUSIVE else ():
                cure = _CURES.get(in_words(taint), (f"take the taint {taint} off", ""))
                by_cure[cure] = by_cure.get(cure, 0) | nodes & out
        once = more = 0
        for nodes in by_cure.values():
            more |= once & nodes
            once |= nodes
        for (before, after), nodes in sorted(by_cure.items()):
            yield Fix(nodes & ~more, before, after)

    return HostRule(tolerated.filter(world), lambda out: tolerated.explain(world, out), fixes)


def _free(pool: Pool, world: World) -> HostRule:
    """Rule: the node is exclusive to no other pool."""
    own = families.exclusive_to_none_but(((pool.namespace, pool.name),))
    release = ("release", " from another exclusive HostPool")
    return HostRule(own.filter(world), lambda out: own.explain(world, out), lambda out: (Fix(out, *release),))


def _alone(pool: Pool, world: World) -> HostRule:
    """Rule: no stranger runs on the node, if the pool is exclusive."""
    nodes = world.everything & ~strangers(pool, world.inventory) if pool.exclusive else world.everything
    foreign_pods = world.inventory.foreign_pods
    return HostRule(
        nodes,
        lambda out: (Reason(f"runs {foreign_pods.stranger}", f"run {foreign_pods.stranger}", out),),
        lambda out: (Fix(out, "free", f" of {foreign_pods.strangers}"),),
    )
