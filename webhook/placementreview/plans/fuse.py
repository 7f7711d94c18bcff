"""``convert --fused`` and ``plan``: a Job of operators becomes one of processing elements."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.admission.checks.templates import is_job
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.operators.fused_job import judge_model
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placement.text.problem import render
from webhook.placementreview.submission import wrong

UNNAMED: Final = "unnamed"
"""The name of an object that states none: an inventory knows Jobs by their names."""

_MADE_UP: Final = "xxxxx"
"""What stands for the five characters that the API server appends to a ``generateName``."""


class FusedManifest(Struct, frozen=True, eq=False):
    """A Job with processing elements in place of its operators, and how these were fused; ``text`` if it is refused.

    ``stated`` is the Job as the manifest states it.
    """

    manifest: Unstructured
    stated: JobSpec | None = None
    fusion: JobFusion | None = None
    warnings: tuple[str, ...] = ()
    text: str = ""


def name_of(document: Unstructured) -> Name:
    """The namespace and the name of an object of a manifest; one that the API server is to name gets a name here."""
    metadata = mapping(document, "metadata")
    prefix = metadata.get("generateName")
    name = metadata.get("name") or (f"{prefix}{_MADE_UP}" if prefix else UNNAMED)
    return str(metadata.get("namespace") or NAMESPACE), str(name)


def named(document: Unstructured) -> Unstructured:
    """The Job with that name, as the API server stores it: its HostPools are made, and found, by the Job's name."""
    metadata = mapping(document, "metadata")
    if not is_job(document) or metadata.get("name"):
        return document
    return {**document, "metadata": {**metadata, "name": name_of(document)[1]}}


def fused_manifest(document: Unstructured, world: World, seconds: float) -> FusedManifest:
    """The object with its operators fused, decided in at most so many seconds; one without operators as it is."""
    if not is_job(document) or "operators" not in mapping(document, "spec"):
        return FusedManifest(document)
    if problems := wrong(document, world.inventory):
        return FusedManifest(document, text=render(problems))
    spec = msgspec.convert(mapping(document, "spec"), JobSpec)
    model = finished(judge_model(name_of(document), spec, world, AtOnce(seconds), measured=True))
    if model.verdict.refused:
        return FusedManifest(document, text=model.verdict.text)
    made: dict[str, Any] = {**document, "spec": msgspec.to_builtins(model.spec)}
    return FusedManifest(made, spec, model.fusion, model.verdict.warnings)
