"""Explanation of one application of another operator as a whole; its pods are explained by themselves."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from webhook.admission.checks.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import ReadPods
from webhook.placement.kinds.application import OperatorApplication
from webhook.placement.request.world import World
from webhook.placement.text.problem import fault_of, render
from webhook.placementreview import submission
from webhook.placementreview.explanations.decided_pod import NAMESPACE
from webhook.placementreview.explanations.job_explanation import JobExplanation

_UNREAD: Final = "it does not ask for placement: a cluster would admit it, and its pods would wait for nodes"
"""Warning for an application whose pods the nodes cannot run, and that admission lets through."""

_SAID: Final = 3
"""Problems of pods that are said as warnings."""


def explain_application(
    file: str, document: Unstructured, application: OperatorApplication, pods: ReadPods, world: World
) -> JobExplanation:
    """Explain the application with these pods as admission would judge it.

    One that asks for no placement is admitted as it is.
    """
    namespace = str(mapping(document, "metadata").get("namespace") or NAMESPACE)
    verdict = verdict_on(pods, namespace, world)
    verdict = replace(verdict, warnings=(*application.warnings(str(document.get("kind"))), *verdict.warnings))
    if verdict.refused and not application.asks:
        verdict = JobVerdict(warnings=tuple(_unasked(pods)))
    elif verdict.refused and application.suspended:
        verdict = verdict.postponed()
    return JobExplanation(
        file=file,
        origin=origin_of(document),
        namespace=namespace,
        verdict="refused" if verdict.refused else "admitted",
        code=verdict.fault.value if verdict.refused else 200,
        message=verdict.text,
        warnings=[*verdict.warnings],
        candidates=[],
        removed=[],
        patch=[],
        before=document,
        after=None if verdict.refused else document,
    )


def _unasked(pods: ReadPods) -> Iterator[str]:
    """The warnings about an application that asks for no placement and that admission would refuse if it did."""
    if isinstance(pods, list):
        yield _UNREAD
        return
    for problem in pods[:_SAID]:
        yield f"it does not ask for placement, and its pods are not judged: {problem.field}: {problem.message}"


def verdict_on(pods: ReadPods, namespace: str, world: World, seconds: float = submission.SECONDS) -> JobVerdict:
    """The verdict on an application with these pods; refused for what cannot be read of it."""
    if isinstance(pods, tuple):
        return JobVerdict(text=render(pods), fault=fault_of(pods))
    return submission.whole_application(pods, namespace, world, seconds)
