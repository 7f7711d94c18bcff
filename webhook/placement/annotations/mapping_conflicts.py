"""What one pod asks for that no cluster, or no scheduler, could ever keep together: mapping, clauses, own affinity."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.annotations.worker_mapping import WorkerMapping
from webhook.placement.kube.pod import Affinity, PodTerm
from webhook.placement.spl.clauses import Clause, ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

_AGAINST: Final[dict[str, frozenset[str]]] = {
    "all-same-node": frozenset({ClauseName.EXLOCATION, ClauseName.ISOLATION}),
    "all-separate-nodes": frozenset({ClauseName.COLOCATION}),
}
"""The clauses that cannot hold for workers that are mapped so."""


_OWN: Final = "the pod's own podAffinity"
_OWN_FIELD: Final = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"


def conflicts(
    mapping: WorkerMapping, clauses: Sequence[Clause], soft: Collection[str], affinity: Affinity | None = None
) -> Iterator[Problem]:
    """A problem for each pair that contradicts itself; what is only preferred (``soft``) contradicts nothing.

    ``affinity`` is that of the pod, which may have our own terms in it already.
    """
    uniform = "none" if "uniform" in soft else mapping.uniform
    hard = [clause for clause in clauses if clause.name not in soft]
    contrary = _AGAINST.get(uniform, frozenset())
    for text in dict.fromkeys(clause.text for clause in hard if clause.name in contrary):
        yield Problem(annotation(keys.UNIFORM), f"uniform {uniform} and {text} contradict each other")
    yield from _together(mapping, uniform, hard, affinity)


def _together(
    mapping: WorkerMapping, uniform: str, hard: Sequence[Clause], affinity: Affinity | None
) -> Iterator[Problem]:
    """A problem if there are several kinds of pods that the pod must be near to.

    Of several affinity terms Kubernetes counts only a pod that meets them all, and lets one that meets its own terms
    go anywhere while there is none (``satisfyPodAffinity`` of its scheduler).
    """
    beside_others = [beside.clause for beside in mapping.pod_selections if beside.near]
    colocated = dict.fromkeys(clause.text for clause in hard if clause.name is ClauseName.COLOCATION)
    near = [" and ".join(colocated)] if colocated else []
    near += [f"uniform {uniform}"] if uniform == "all-same-node" else []
    near += beside_others
    own = bool(near) and any(_foreign(term, mapping) for term in _required(affinity))
    near += [_OWN] if own else []
    if len(near) > 1:
        field = _OWN_FIELD if own else annotation(keys.RUN_WITH if beside_others else keys.UNIFORM)
        both = ("both", "both") if len(near) == 2 else ("all", "all of them")  # noqa: PLR2004 - two are both
        message = f"{', '.join(near[:-1])} and {near[-1]} cannot {both[0]} be required"
        rule = f"Kubernetes looks for one pod that meets {both[1]} at once; keep one"
        yield Problem(field, f"{message}: {rule}")


def _required(affinity: Affinity | None) -> tuple[PodTerm, ...]:
    """The pods that the pod says itself it must be near to."""
    return (affinity.pod_affinity.required if affinity and affinity.pod_affinity else None) or ()


def _foreign(term: PodTerm, mapping: WorkerMapping) -> bool:
    """Whether the term is the user's own: neither that of a colocation group, nor of workers, nor of ``run-with``."""
    needs = (term.label_selector.match_expressions if term.label_selector else None) or ()
    ours = any(need.key == keys.WORKER or need.key.startswith(keys.COLOCATION) for need in needs)
    return not ours and not any(beside.near and beside.needs == needs for beside in mapping.pod_selections)
