"""Explanation of one Job of Streams as a whole; its pools and pods are explained by themselves."""

from webhook.admission.checks.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.request.world import World
from webhook.placement.text.problem import fault_of, render
from webhook.placementreview import submission
from webhook.placementreview.explanations.decided_pod import NAMESPACE
from webhook.placementreview.explanations.explanation import Explanation


class JobExplanation(Explanation, frozen=True):
    """The outcome of submitting a Job: admitted unchanged, unless it breaks a rule or cannot run as a whole.

    ``fusion`` says which processing elements the operators of an admitted Job are fused into, as its status would.
    """

    fusion: JobFusion | None = None


def explain_job(file: str, document: Unstructured, world: World) -> JobExplanation:
    """Explain the Job as admission would judge it."""
    problems = submission.wrong(document, world.inventory)
    model = None if problems else submission.whole(document, world)
    verdict = model.verdict if model else None
    message = render(problems) if problems else verdict.text if verdict else ""
    fault = fault_of(problems) if problems else verdict.fault if verdict and verdict.refused else None
    return JobExplanation(
        file=file,
        origin=origin_of(document),
        namespace=str(mapping(document, "metadata").get("namespace") or NAMESPACE),
        verdict="refused" if fault else "admitted",
        code=fault.value if fault else 200,
        message=message,
        warnings=[*verdict.warnings] if verdict else [],
        candidates=[],
        removed=[],
        patch=[],
        before=document,
        after=None if fault else document,
        fusion=model.fusion if model and not fault else None,
    )
