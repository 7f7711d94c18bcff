"""Annotations of ours on a workload itself: they say nothing about its pods, whose annotations the template has."""

from collections.abc import Iterator

from msgspec.structs import replace

from webhook.admission.document import Document, mapping
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem


def misplaced(document: Document, path: tuple[str, ...], old: Document | None = None) -> Iterator[Problem]:
    """A problem for each annotation of ours that does not reach the pods of the template at ``path``.

    What the template says as well is not lost. With ``old``, what the object was before, only what is said anew counts.
    """
    ours = mapping(document, *path, "metadata", "annotations")
    where = ".".join((*path, "metadata", "annotations"))
    for place, whose in _places(str(document.get("kind"))):
        said = mapping(document, *place, "metadata", "annotations")
        before = mapping(old, *place, "metadata", "annotations") if old else {}
        for key in sorted(said):
            lost = key.startswith(keys.PREFIX) and key not in keys.FOREIGN and ours.get(key) != said[key]
            if lost and (old is None or before.get(key) != said[key]):
                field = ".".join((*place, "metadata", f"annotations[{key}]"))
                yield Problem(field, f"{whose}: write it in {where}")


def _places(kind: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where annotations stand that are not the pods', and whose they are."""
    yield (), f"a {kind}'s own annotations do not reach its pods"
    if kind == "CronJob":
        yield ("spec", "jobTemplate"), "the annotations of a CronJob's Jobs do not reach their pods"


def with_misplaced(decision: Decision, problems: tuple[Problem, ...], policy: Policy) -> Decision:
    """The decision, refused for such annotations or, if the installation has chosen so for unknown ones, warned."""
    if problems and policy.unknown_annotations == "refuse":
        return replace(decision, problems=(*problems, *decision.problems), additions=None)
    warnings = (f"{problem.field}: {problem.message}" for problem in problems)
    return replace(decision, warnings=(*warnings, *decision.warnings)) if problems else decision
