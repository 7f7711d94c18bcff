"""How much a pod that asks for placement may say in its spec, so that a decision about it takes milliseconds.

The API server bounds the size of an object alone, and two megabytes of terms or constraints take far longer to judge
than anything that people write. Each limit is several times what the largest known installations use.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from webhook.placement.kube.pod import Affinity, NodeTerm, Pod, PodAffinity, PodSpec
from webhook.placement.text.problem import Problem

WORDS_LIMIT: Final = 20_000
"""Expressions in node terms, and their values, counted together: the scheduler reads each for every node. A list of all
5,000 hosts of a pool fits into three terms."""

_COMPARISON: Final = {"Gt": 8, "Lt": 8}
"""What an expression that compares numbers counts for besides: it takes as long as ten others."""

_SPEC: Final = PodSpec()


def oversized(pod: Pod) -> tuple[Problem, ...]:
    """A problem for each part of the pod's spec that says more than is judged; counting costs next to nothing."""
    spec = pod.spec or _SPEC
    return tuple(
        Problem(field, f"has {found} {what}, at most {limit} are allowed in a pod that asks for placement")
        for field, what, limit, count in _LIMITS
        if (found := count(spec)) > limit
    )


def words(terms: Iterable[NodeTerm]) -> int:
    """Expressions in node terms, and their values, counted together."""
    return sum(
        len(needs) + sum([len(need.values or ()) + _COMPARISON.get(need.operator, 0) for need in needs])
        for term in terms
        for needs in (term.match_expressions or (), term.match_fields or ())
    )


def _node_words(spec: PodSpec) -> int:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None:
        return 0
    required = words((affinity.required.node_selector_terms if affinity.required else None) or ())
    return required + words(preferred.preference for preferred in affinity.preferred or ())


def _pod_terms(spec: PodSpec) -> int:
    affinity = spec.affinity or Affinity()
    kinds: Iterator[PodAffinity] = filter(None, (affinity.pod_affinity, affinity.pod_anti_affinity))
    return sum(len(kind.required or ()) + len(kind.preferred or ()) for kind in kinds)


def _containers(spec: PodSpec) -> int:
    return len(spec.containers or ()) + len(spec.init_containers or ())


def _amounts(spec: PodSpec) -> int:
    found = len(spec.overhead or ())
    for container in (*(spec.containers or ()), *(spec.init_containers or ())):
        if container.resources is not None:
            found += len(container.resources.requests or ()) + len(container.resources.limits or ())
    return found


def _ports(spec: PodSpec) -> int:
    return sum(len(one.ports or ()) for one in (*(spec.containers or ()), *(spec.init_containers or ())))


_LIMITS: Final[tuple[tuple[str, str, int, Callable[[PodSpec], int]], ...]] = (
    ("spec.containers", "containers, init containers among them", 1000, _containers),
    ("spec.containers[].resources", "amounts of resources", 5000, _amounts),
    ("spec.containers[].ports", "ports", 20_000, _ports),
    ("spec.nodeSelector", "labels", 2000, lambda spec: len(spec.node_selector or ())),
    ("spec.affinity.nodeAffinity", "expressions and values of node terms", WORDS_LIMIT, _node_words),
    ("spec.affinity", "terms about pods", 1000, _pod_terms),
    ("spec.tolerations", "tolerations", 2000, lambda spec: len(spec.tolerations or ())),
    (
        "spec.topologySpreadConstraints", "constraints", 10,
        lambda spec: len(spec.topology_spread_constraints or ()),
    ),
)  # fmt: skip
"""Field, what is counted there, how many of it there may be, and how they are counted."""
