"""Reasons for which nodes are not eligible for a sized HostPool: the rules of ``allocation.eligible``, each with a fix.

The rules are: the pool's labels and devices, poolable nodes, no taint, not exclusive to another pool, no stranger on
the node.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from webhook.placement.constraints import families
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.refusal.clause_nodes import without_each
from webhook.placement.decision.refusal.cluster_change import helped_by_labels
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.selection.selector import holds, matching_all, requirements_of
from webhook.placement.kube.selection.tolerations import CORDONED
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of, labels_set, tag_requirements, tags_of
from webhook.placement.pools.allocation import strangers
from webhook.placement.pools.host_devices import nodes_with_devices
from webhook.placement.pools.host_list import retainable
from webhook.placement.request.claimed_devices import lacking
from webhook.placement.request.world import World
from webhook.placement.text.fix import AllowNode, FreeNode, LabelNode, NodeFix, Uncordon, Untaint
from webhook.placement.text.keys import EXCLUSIVE


class HostFix(NamedTuple):
    """A change that would make each of ``nodes`` to which it is made eligible."""

    nodes: Bits
    fix: NodeFix


class HostRule(Struct, frozen=True):
    """One rule for hosts of a pool: ``nodes`` are those that keep it.

    ``explain`` says why other nodes do not keep the rule, ``fixes`` what would help nodes that fail this rule alone.
    """

    nodes: Bits
    explain: Callable[[Bits], Iterable[Reason]]
    fixes: Callable[[Bits], Iterable[HostFix]]


def hurdles(pool: Pool, world: World) -> tuple[HostRule, ...]:
    """The rules for hosts of a sized pool, in the order in which nodes are blamed.

    Nodes that are the pool's hosts already, and may stay, keep all rules.
    """
    own_hosts = union(nodes for index, nodes in world.inventory.pools.hosts(pool).items() if index < (pool.size or 0))
    own_hosts &= retainable(pool, world.inventory, world.policy)
    about_pool = (_labelled(pool, world), *_equipped(pool, world))
    all_hurdles = (*about_pool, _poolable(world), _untainted(world), _free(pool, world), _alone(pool, world))
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


def best_fix(rules: tuple[HostRule, ...], world: World) -> HostFix | None:
    """The single change that makes most nodes eligible; ``None`` if no change makes any."""
    opened = without_each(world.everything, [rule.nodes for rule in rules])
    fixes = [fix for rule, nodes in zip(rules, opened, strict=True) for fix in rule.fixes(nodes & ~rule.nodes)]
    best = max(fixes, key=lambda fix: fix.nodes.bit_count(), default=None)
    return best if best and best.nodes else None


def _labelled(pool: Pool, world: World) -> HostRule:
    """Rule: the node has the pool's tags and meets its selector."""
    tagged = matching_all(world.inventory.nodes, tag_requirements(pool.tags))
    needs = labels_of(pool)

    def explain(out: Bits) -> Iterator[Reason]:
        if out & ~tagged:
            yield Reason(f"lacks the {tags_of(pool)}", f"lack the {tags_of(pool)}", out & ~tagged)
        if out & tagged:
            yield Reason("does not meet the selector", "do not meet the selector", out & tagged)

    def fixes(out: Bits) -> Iterable[HostFix]:
        fix = labelling(pool, out, world)
        return (fix,) if fix else ()

    return HostRule(matching_all(world.inventory.nodes, needs), explain, fixes)


def labelling(pool: Pool, out: Bits, world: World) -> HostFix | None:
    """The labels with which nodes of ``out`` keep the rule for labels; ``None`` if none help."""
    needs = labels_of(pool)
    labels = labels_set(needs)
    if not all(holds(need, labels[need.key]) for need in needs if need.key in labels):
        return None
    helped, without = helped_by_labels(needs, out, world.inventory.nodes)
    fix = LabelNode(labels=labels, help=helped.bit_count(), without=without.bit_count())
    return HostFix(helped, fix) if helped else None


def _equipped(pool: Pool, world: World) -> Iterator[HostRule]:
    """Rule: the node has the devices, or may have them. No change of a node gives it others."""
    if not pool.devices:
        return
    equipped = nodes_with_devices(pool, world.inventory, unhurried=world.policy.unhurried)

    def explain(out: Bits) -> Iterator[Reason]:
        for lack, nodes in equipped.lacks:
            if lack.choice and (short := nodes & out):
                out &= ~nodes
                what = lacking(lack, lack.choice, world.inventory.devices)
                yield Reason(f"has {what}", f"have {what}", short)
        if out:
            yield Reason("has devices that are not known", "have devices that are not known", out)

    yield HostRule(equipped.able, explain, lambda _: ())


def _poolable(world: World) -> HostRule:
    """Rule: the installation lets HostPools have the node."""
    reason = "may not be used by HostPools (poolable nodes)"
    return HostRule(
        matching_all(world.inventory.nodes, requirements_of(world.policy.poolable)),
        lambda out: (Reason(reason, reason, out),),
        lambda out: (HostFix(out, AllowNode()),),
    )


def _untainted(world: World) -> HostRule:
    """Rule: the node has no taint that keeps pods away, but for that of exclusive hosts."""
    tolerated = families.tolerated()

    def fixes(out: Bits) -> Iterator[HostFix]:
        by_cure: dict[NodeFix, Bits] = {}
        for key, by_taint in world.inventory.nodes.taints.items():
            for taint, nodes in by_taint.items() if key != EXCLUSIVE else ():
                cure: NodeFix = Uncordon() if taint.key == CORDONED else Untaint(taint=str(taint))
                by_cure[cure] = by_cure.get(cure, 0) | nodes & out
        once = more = 0
        for nodes in by_cure.values():
            more |= once & nodes
            once |= nodes
        for cure, nodes in sorted(by_cure.items(), key=lambda found: str(found[0])):
            yield HostFix(nodes & ~more, cure)

    return HostRule(tolerated.filter(world), lambda out: tolerated.explain(world, out), fixes)


def _free(pool: Pool, world: World) -> HostRule:
    """Rule: the node is exclusive to no other pool."""
    own = families.exclusive_to_none_but(((pool.namespace, pool.name),))
    release = FreeNode(how="release", whose="from another exclusive HostPool")
    return HostRule(own.filter(world), lambda out: own.explain(world, out), lambda out: (HostFix(out, release),))


def _alone(pool: Pool, world: World) -> HostRule:
    """Rule: no stranger runs on the node, if the pool is exclusive."""
    nodes = world.everything & ~strangers(pool, world.inventory) if pool.exclusive else world.everything
    foreign_pods = world.inventory.foreign_pods
    return HostRule(
        nodes,
        lambda out: (Reason(f"runs {foreign_pods.stranger}", f"run {foreign_pods.stranger}", out),),
        lambda out: (HostFix(out, FreeNode(whose=f"of {foreign_pods.strangers}")),),
    )
