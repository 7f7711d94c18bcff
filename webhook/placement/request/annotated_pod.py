"""The annotations and labels of a pod, parsed (``AnnotatedPod``) without knowing pools, nodes or containers."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.annotations import placement_text, worker_mapping
from webhook.placement.annotations.mapping_conflicts import conflicts
from webhook.placement.annotations.placement_text import (
    SHOWN,
    PlacementText,
    annotation,
    idle_preferences,
    read_placement,
)
from webhook.placement.annotations.worker_mapping import NOTHING, WorkerMapping, read_mapping
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Affinity, Pod
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Problem

_KNOWN: Final = keys.ANNOTATIONS | keys.FOREIGN
_WRITABLE: Final = sorted(key.removeprefix(keys.PREFIX) for key in keys.ANNOTATIONS - keys.WRITTEN)
NO_TEXTS: Final[Mapping[str, str]] = {}
"""The annotations, or the labels, of a pod that has none."""


class AnnotatedPod(Struct, frozen=True, gc=False):
    """The annotations and labels of a pod, and what they say of its placement and of its worker mapping.

    ``job`` and ``pe`` are the names in the labels, empty without them. ``warnings`` and ``problems`` are those of the
    annotations, as far as no pool, node or container has to be known for them.
    """

    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    job: str
    pe: str
    placement: PlacementText
    mapping: WorkerMapping
    warnings: tuple[str, ...]
    problems: tuple[Problem, ...]


def annotated(pod: Pod, dropped: Collection[Clause], policy: Policy) -> AnnotatedPod:
    """What the pod says in its annotations and labels, but for the clauses ``dropped``."""
    metadata, affinity = pod.metadata, pod.spec.affinity if pod.spec else None
    annotations = (metadata.annotations if metadata else None) or NO_TEXTS
    labels = (metadata.labels if metadata else None) or NO_TEXTS
    placement = read_placement(annotations.get(keys.PLACEMENT), annotations.get(keys.PREFERRED))
    mapping = read_mapping(annotations)
    if dropped:
        placement, mapping = placement_text.without(placement, dropped), worker_mapping.without(mapping, dropped)
    warnings, problems = placement.warnings, placement.problems
    unknown = [key for key in annotations if key.startswith(keys.PREFIX) and key not in _KNOWN]
    if unknown:
        warned, refused = _unknown(unknown, policy)
        warnings, problems = warnings + warned, refused + problems
    if mapping is not NOTHING or placement.soft or (affinity and affinity.pod_affinity):
        warned, refused = _mapped(mapping, placement, affinity)
        warnings, problems = warnings + warned, problems + refused
    job, pe = labels.get(keys.JOB, ""), labels.get(keys.PE, "")
    return AnnotatedPod(annotations, labels, job, pe, placement, mapping, warnings, problems)


def _mapped(
    mapping: WorkerMapping, placement: PlacementText, affinity: Affinity | None
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Warnings and problems of the worker mapping, and of what contradicts it or is preferred beside it."""
    warnings = mapping.warnings
    problems = (*mapping.problems, *conflicts(mapping, placement.clauses, placement.soft, affinity))
    if placement.soft:
        broken = bool(mapping.problems)  # what cannot be read may be what is preferred
        mapped, uniform = broken or bool(mapping.expressions), broken or mapping.uniform != "none"
        warnings += idle_preferences(placement, mapped=mapped, uniform=uniform)
    return warnings, problems


def _unknown(unknown: Iterable[str], policy: Policy) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Warnings (by policy) or problems for annotation keys under our prefix that are not known.

    The key of a constraint may be misspelt, and a constraint must not be ignored in silence.
    """
    problems = []
    for key in itertools.islice(unknown, SHOWN):
        near = nearest(key.removeprefix(keys.PREFIX), _WRITABLE)
        hint = f", did you mean {keys.PREFIX}{near}?" if near else ""
        problems.append(Problem(annotation(key), f"unknown annotation{hint}"))
    if policy.unknown_annotations == "warn":
        return tuple(f"{problem.field}: {problem.message}" for problem in problems), ()
    return (), tuple(problems)
