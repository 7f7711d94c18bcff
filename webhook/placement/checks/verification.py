"""Does a finished pod still say what its clauses require? A later webhook may have undone it.

Only requirements are compared that follow from the pod's own words, never a choice that depended on the cluster at
that moment (``docs/merging.md``).
"""

from collections.abc import Iterable, Iterator

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.decision import effects_of
from webhook.placement.decision.merge import merge
from webhook.placement.kube.pod import NodeTerm, Pod, Requirement, required_terms
from webhook.placement.kube.selector import NAME_FIELD
from webhook.placement.provision.effects import BindTo, Effect, NearPods, RequireNodes
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem


def undone(pod: Pod, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each kind of thing that the pod lacks, and for each label that says something else."""
    node_name = (pod.spec.node_name if pod.spec else None) or ""
    effects = effects_of(constraints, world)
    firm = [_either(effect) for effect in effects if getattr(effect, "firm", False)]
    additions, conflicts = merge(pod, [effect for effect in firm if not _bound(effect, node_name)])
    yield from conflicts
    near = [effect for effect in effects if isinstance(effect, NearPods) and effect.weight is None and not effect.firm]
    alone = ("podAffinity",) if near and not _together(pod) else ()
    host = [effect for effect in effects if _names_host(effect)]
    loose = ("nodeName",) if host and "nodeAffinity" not in additions.missing and not _tied(pod, node_name) else ()
    for kind in dict.fromkeys((*additions.missing, *alone, *loose)):
        message = f"lacks {kind} that its clauses require: something removed what the placement webhook had added"
        yield Problem("spec" if kind != "labels" else "metadata", message, fault=Fault.FORBIDDEN)


def _together(pod: Pod) -> bool:
    """Whether the pod must share a host with some colocated pods: which group that is, the Job object knows."""
    affinity = pod.spec.affinity.pod_affinity if pod.spec and pod.spec.affinity else None
    selectors = (term.label_selector for term in (affinity.required if affinity else None) or ())
    needs = (need for found in selectors for need in (found.match_expressions if found else None) or ())
    return any(need.key.startswith(keys.COLOCATION) for need in needs)


def _names_host(effect: Effect) -> bool:
    """Whether the effect ties the pod to one node; an address may mean another node by now, but never none."""
    return isinstance(effect, BindTo) or (isinstance(effect, RequireNodes) and bool(effect.terms[0].match_fields))


def _tied(pod: Pod, node_name: str) -> bool:
    """Whether the pod is tied to some node."""
    terms = (required_terms(pod.spec) if pod.spec else None) or ()
    return bool(node_name) or any(term.match_fields for term in terms)


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
