"""Jobs of Streams as placement knows them: their model, which says of pods what those do not say themselves."""

from collections.abc import Iterable

from webhook.cluster.objects import wire
from webhook.cluster.objects.translate import full_name, refuse, to_cpus
from webhook.placement.inventory.objects import Element, Job
from webhook.placement.text.problem import quote

JOB_LIMIT = 1000
"""Processing elements of one job (``docs/operations.md``, limits)."""


def job(source: wire.JobObject) -> Job:
    """A job's model: its processing elements, and what each operator's placement says."""
    namespace, name = full_name(source.metadata).split("/", 1)
    stated = (source.spec and source.spec.processing_elements) or ()
    elements = tuple(_element(element, f"{name}-{place}") for place, element in enumerate(stated))
    refuse(_job_faults(elements))
    return Job(namespace, name, elements=elements)


def _element(stated: wire.ProcessingElement, default: str) -> Element:
    operators = stated.operators or ()
    placements = tuple((operator.name or "", operator.placement) for operator in operators if operator.placement)
    bound = bool(stated.template and stated.template.metadata and to_cpus(stated.template.metadata))
    return Element(stated.name or default, placements, bound)


def _job_faults(elements: tuple[Element, ...]) -> Iterable[str]:
    if len(elements) > JOB_LIMIT:
        yield f"spec.processingElements: {len(elements)} of them, at most {JOB_LIMIT} are allowed"
    first: dict[str, int] = {}
    for place, element in enumerate(elements):
        earlier = first.setdefault(element.name, place)
        if earlier != place:
            path = "spec.processingElements"
            yield f"{path}[{place}].name: {quote(element.name)} is also the name of {path}[{earlier}]"
