"""Does a finished pod still say what its clauses require? A later webhook may have undone it.

Only requirements are compared that follow from the pod's own words, never a choice that depended on the cluster at
that moment (``docs/merging.md``).
"""

from collections.abc import Iterable, Iterator

from webhook.placement import keys
from webhook.placement.ask import Ask
from webhook.placement.bits import Bits
from webhook.placement.constraint import Constraint
from webhook.placement.decision import effects_of
from webhook.placement.effects import BindTo, Effect, RequireNodes
from webhook.placement.merge import merge
from webhook.placement.pod import NodeTerm, Pod, Requirement
from webhook.placement.problem import Fault, Problem
from webhook.placement.selector import NAME_FIELD
from webhook.placement.verdict import judge
from webhook.placement.world import World


def undone(pod: Pod, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each kind of thing that the pod lacks, and for each label that says something else."""
    node_name = (pod.spec.node_name if pod.spec else None) or ""
    firm = [_either(effect) for effect in effects_of(constraints, world) if getattr(effect, "firm", False)]
    additions, conflicts = merge(pod, [effect for effect in firm if not _bound(effect, node_name)])
    yield from conflicts
    for kind in additions.missing:
        message = f"lacks {kind} that its clauses require: something removed what the placement webhook had added"
        yield Problem("spec" if kind != "labels" else "metadata", message, fault=Fault.FORBIDDEN)


def trespass(ask: Ask, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem where the pod would get round an exclusive host: by ``nodeName``, or by tolerating everything."""
    own = {(pool.namespace, pool.name) for _, pool in ask.pools}
    values = {keys.exclusive(*name) for name in own}
    foreign: Bits = world.cluster.claimed(own)
    for taint, nodes in world.cluster.nodes.taints.get(keys.EXCLUSIVE, {}).items():
        foreign |= nodes if taint.value not in values else 0
    foreign &= world.everything
    if not foreign:
        return
    spec = ask.spec
    if spec.node_name and world.named(spec.node_name) & foreign:
        yield Problem("spec.nodeName", "the node is exclusive to another HostPool", fault=Fault.FORBIDDEN)
    for at, toleration in enumerate(spec.tolerations or ()):
        if not toleration.key and toleration.operator == "Exists" and _reach(constraints, world) & foreign:
            message = "a toleration of everything would let the pod onto hosts that are exclusive to another HostPool"
            yield Problem(f"spec.tolerations[{at}]", message, fault=Fault.FORBIDDEN)


def _reach(constraints: Iterable[Constraint], world: World) -> Bits:
    """The nodes that the pod's own clauses leave; standing conditions, exclusivity among them, aside."""
    return judge([constraint for constraint in constraints if constraint.clause], world).candidates


def _either(effect: Effect) -> Effect:
    """``nodeName`` and the one node in the affinity are two ways to say the same."""
    if isinstance(effect, BindTo):
        term = NodeTerm(match_fields=(Requirement(NAME_FIELD, "In", (effect.node,)),))
        return RequireNodes(effect.cause, (term,))
    return effect


def _bound(effect: Effect, node_name: str) -> bool:
    """Whether the effect asks for the node that the pod is bound to already."""
    if not isinstance(effect, RequireNodes) or not node_name:
        return False
    fields = effect.terms[0].match_fields or ()
    return any(node_name in (need.values or ()) for need in fields)
