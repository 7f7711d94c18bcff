"""Explanation of one Job of Streams as a whole; its pools and pods are explained by themselves."""

from webhook import app
from webhook.admission.templates import origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cli.explanation import NAMESPACE, Explanation
from webhook.placement.request.world import World
from webhook.placement.text.problem import fault_of, render


class JobExplanation(Explanation, frozen=True):
    """What would become of a Job: it is refused if it breaks a rule, and else admitted as it is."""


def explain_job(file: str, document: Unstructured, world: World) -> JobExplanation:
    """Explain the Job as admission would judge it."""
    problems = app.explain.wrong(document, world.inventory)
    return JobExplanation(
        file=file,
        origin=origin_of(document),
        namespace=str(mapping(document, "metadata").get("namespace") or NAMESPACE),
        verdict="refused" if problems else "admitted",
        code=fault_of(problems).value if problems else 200,
        message=render(problems) if problems else "",
        warnings=[],
        candidates=[],
        removed=[],
        patch=[],
        before=document,
        after=None if problems else document,
    )
