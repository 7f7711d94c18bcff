"""Check that a finished pod still has what its clauses require: another webhook may have removed something.

Only what follows from the pod's own clauses is compared (effects that are ``firm``), no choice that depended on the
cluster at the time of ``/mutate`` (``docs/merging.md``).
"""

from collections.abc import Iterable, Iterator

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.merge import merge
from webhook.placement.decision.verdict import effects_of
from webhook.placement.kube.pod import NodeTerm, Pod, Requirement, required_terms
from webhook.placement.kube.selection.selector import NAME_FIELD
from webhook.placement.provision.effects import BindTo, Effect, NearPods, RequireNodes
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem


def undone(pod: Pod, constraints: Iterable[Constraint], world: World) -> Iterator[Problem]:
    """A problem for each kind of thing that the pod lacks, and for each label with another value."""
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
    """Whether the pod has a required term of some colocation group; which group it must be, the Job object tells."""
    affinity = pod.spec.affinity.pod_affinity if pod.spec and pod.spec.affinity else None
    selectors = (term.label_selector for term in (affinity.required if affinity else None) or ())
    needs = (need for selector in selectors for need in (selector.match_expressions if selector else None) or ())
    return any(need.key.startswith(keys.COLOCATION) for need in needs)


def _names_host(effect: Effect) -> bool:
    """Whether the effect ties the pod to one node by name.

    For ``host("address")`` that may be another node by now, but the pod must still be tied to some node.
    """
    return isinstance(effect, BindTo) or (isinstance(effect, RequireNodes) and bool(effect.terms[0].match_fields))


def _tied(pod: Pod, node_name: str) -> bool:
    """Whether the pod is tied to some node by name."""
    terms = (required_terms(pod.spec) if pod.spec else None) or ()
    return bool(node_name) or any(term.match_fields for term in terms)


def _either(effect: Effect) -> Effect:
    """The effect, with ``nodeName`` as node affinity to that node: both are ways to say the same."""
    if isinstance(effect, BindTo):
        term = NodeTerm(match_fields=(Requirement(NAME_FIELD, "In", (effect.node,)),))
        return RequireNodes(effect.cause, (term,))
    return effect


def _bound(effect: Effect, node_name: str) -> bool:
    """Whether the effect asks for the node to which the pod is bound already."""
    if not isinstance(effect, RequireNodes) or not node_name:
        return False
    fields = effect.terms[0].match_fields or ()
    return any(node_name in (need.values or ()) for need in fields)
