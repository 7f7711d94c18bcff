"""Contradictions between a pod's worker mapping, its placement clauses and its own pod affinity.

No cluster could meet both sides of such a contradiction, or the scheduler could not enforce both.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.annotations.worker_mapping import WorkerMapping
from webhook.placement.kube.pod import Affinity, PodTerm
from webhook.placement.spl.clauses import ClauseName, PlacementClause
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

_AGAINST: Final[dict[str, frozenset[str]]] = {
    "all-same-node": frozenset({ClauseName.EXLOCATION, ClauseName.ISOLATION}),
    "all-separate-nodes": frozenset({ClauseName.COLOCATION}),
}
"""For each uniform mapping, the clauses that contradict it."""


_OWN: Final = "the pod's own podAffinity"
_OWN_FIELD: Final = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def conflicts(
    mapping: WorkerMapping, clauses: Sequence[PlacementClause], soft: Collection[str], affinity: Affinity | None = None
) -> Iterator[Problem]:
    """A problem for each contradiction; constraints that are only preferred (``soft``) contradict nothing.

    ``affinity`` is the pod's. It may contain terms that the webhook added in an earlier review of the pod.
    """
    uniform = "none" if "uniform" in soft else mapping.uniform
    hard = [clause for clause in clauses if clause.name not in soft]
    contrary = _AGAINST.get(uniform, frozenset())
    for text in dict.fromkeys(clause.text for clause in hard if clause.name in contrary):
        yield Problem(annotation(keys.UNIFORM), f"uniform {uniform} and {text} contradict each other")
    yield from _several_near(mapping, uniform, hard, affinity)


def _several_near(
    mapping: WorkerMapping, uniform: str, hard: Sequence[PlacementClause], affinity: Affinity | None
) -> Iterator[Problem]:
    """A problem if the pod must share its node with pods of several kinds.

    With several affinity terms the scheduler looks for one pod that meets all of them; and if there is none, a pod that
    meets its own terms may go anywhere (``satisfyPodAffinity`` of the scheduler).
    """
    beside_others = [beside.clause.text for beside in mapping.pod_selections if beside.near]
    colocated = dict.fromkeys(clause.text for clause in hard if clause.name is ClauseName.COLOCATION)
    near = [" and ".join(colocated)] if colocated else []
    near += [f"uniform {uniform}"] if uniform == "all-same-node" else []
    near += beside_others
    own = bool(near) and any(_users_own(term, mapping) for term in _required(affinity))
    near += [_OWN] if own else []
    if len(near) > 1:
        field = _OWN_FIELD if own else annotation(keys.RUN_WITH if beside_others else keys.UNIFORM)
        both = ("both", "both") if len(near) == 2 else ("all", "all of them")  # noqa: PLR2004 - two are both
        message = f"{', '.join(near[:-1])} and {near[-1]} cannot {both[0]} be required"
        rule = f"Kubernetes looks for one pod that meets {both[1]} at once; keep one"
        yield Problem(field, f"{message}: {rule}")


def _required(affinity: Affinity | None) -> tuple[PodTerm, ...]:
    """The terms of the pod's required pod affinity."""
    return (affinity.pod_affinity.required if affinity and affinity.pod_affinity else None) or ()


def _users_own(term: PodTerm, mapping: WorkerMapping) -> bool:
    """Whether the user wrote the term, not the webhook for a colocation group, for workers or for ``run-with``."""
    needs = (term.label_selector.match_expressions if term.label_selector else None) or ()
    ours = any(need.key == keys.WORKER or need.key.startswith(keys.COLOCATION) for need in needs)
    return not ours and not any(beside.near and beside.needs == needs for beside in mapping.pod_selections)
