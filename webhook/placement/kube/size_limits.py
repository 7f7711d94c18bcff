"""Limits on a pod that asks for placement: its job's name, containers, ports, terms, tolerations and the like.

With these limits a decision takes milliseconds. The API server limits only the bytes of an object, and two megabytes of
terms or constraints would take far longer. Each limit is several times what the largest known installations use.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from webhook.placement.kube.pod import NodeTerm, Pod, PodAffinity, PodSpec, required_terms
from webhook.placement.text.keys import JOB, LABEL_LIMIT, PE
from webhook.placement.text.problem import Problem

WORDS_LIMIT: Final = 20_000
"""Expressions of node terms and values of expressions, counted together: the scheduler reads all of them for every
node. Three terms that each list the 5,000 hosts of a pool are within the limit."""

NESTING_LIMIT: Final = 100
"""Levels of lists and objects in the template of a pod: a pod has some fifteen. Python's own limit is about 1,000."""

_COMPARISON: Final = {"Gt": 8, "Lt": 8}
"""What an expression with Gt or Lt counts besides itself and its value: evaluation takes ten times as long."""

_SPEC: Final = PodSpec()


_SMALL: Final = 1000
"""Containers, ports, amounts, labels and tolerations together that are within each of their limits."""


def oversized(pod: Pod) -> tuple[Problem, ...]:
    """A problem for each part of the pod that is over its limit: the labels that name its job and element, its spec."""
    labels, spec = (pod.metadata.labels if pod.metadata else None) or {}, pod.spec or _SPEC
    # The API server checks labels after the webhook, which would keep whatever they hold with its answers.
    names: tuple[Problem, ...] = ()
    for key in (JOB, PE):
        if key in labels and len(labels[key]) > LABEL_LIMIT:
            names += (_too_long(key, labels[key]),)
    if _small(spec):
        return names
    return names + tuple(
        [
            Problem(field, f"has {size} {what}, at most {limit} are allowed in a pod that asks for placement")
            for field, what, limit, count in _LIMITS
            if (size := count(spec)) > limit
        ]
    )


def _too_long(key: str, name: str) -> Problem:
    return Problem(f"metadata.labels[{key}]", f"has {len(name)} characters, at most {LABEL_LIMIT} are allowed")


def _small(spec: PodSpec) -> bool:
    """Whether the pod cannot be over any limit: it has few containers, and no affinity or spread of its own."""
    if spec.affinity is not None or spec.topology_spread_constraints is not None:
        return False
    size = len(spec.node_selector or ()) + len(spec.tolerations or ()) + len(spec.overhead or ())
    for container in (*(spec.containers or ()), *(spec.init_containers or ())):
        size += 1 + len(container.ports or ())
        if container.resources is not None:
            size += len(container.resources.requests or ()) + len(container.resources.limits or ())
    return size <= _SMALL


def words(terms: Iterable[NodeTerm]) -> int:
    """The number of expressions in the node terms and of values in these, counted together as for ``WORDS_LIMIT``."""
    return sum(
        [
            1 + len(need.values or ()) + _COMPARISON.get(need.operator, 0)
            for term in terms
            for needs in (term.match_expressions, term.match_fields)
            for need in needs or ()
        ]
    )


def _node_words(spec: PodSpec) -> int:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None:
        return 0
    return words(required_terms(spec) or ()) + words(term.preference for term in affinity.preferred or ())


def _pod_terms(spec: PodSpec) -> int:
    affinity = spec.affinity
    if affinity is None:
        return 0
    kinds: Iterator[PodAffinity] = filter(None, (affinity.pod_affinity, affinity.pod_anti_affinity))
    return sum(len(kind.required or ()) + len(kind.preferred or ()) for kind in kinds)


def _containers(spec: PodSpec) -> int:
    return len(spec.containers or ()) + len(spec.init_containers or ())


def _amounts(spec: PodSpec) -> int:
    size = len(spec.overhead or ())
    for container in (*(spec.containers or ()), *(spec.init_containers or ())):
        if container.resources is not None:
            size += len(container.resources.requests or ()) + len(container.resources.limits or ())
    return size


def _ports(spec: PodSpec) -> int:
    return sum([len(one.ports or ()) for one in (*(spec.containers or ()), *(spec.init_containers or ()))])


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
"""For each limit: the path of the field, the noun for what is counted, the limit, and the function that counts."""
