"""Which ParallelRegions a Job is to have, and what their statuses say: the Job compared with what is stored. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.controller.conditions import merged_conditions
from webhook.controller.jobstore.records import StoredJob, StoredRegion
from webhook.controller.jobstore.store import JobStore
from webhook.placement.jobs.operators.region_widths import fused_widths, regions_around
from webhook.placement.objects.condition import ConditionState
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec, region_object_name
from webhook.placement.text import keys
from webhook.placement.text.problem import counted

Json = dict[str, Any]

SCALED: Final = "Scaled"
"""The condition of a ParallelRegion, and the reason for which it holds."""

UNSATISFIABLE: Final = "Unsatisfiable"
SCALING: Final = "Scaling"
"""Reasons for which it does not hold."""


class RegionPlan(Struct, frozen=True):
    """ParallelRegions to be created, by name, with their specs; to be changed; and to be deleted."""

    made: Mapping[str, Json]
    changed: tuple[tuple[StoredRegion, Json], ...]
    removed: tuple[StoredRegion, ...]


def region_plan(job: StoredJob, stated: JobSpec, widths: Mapping[str, int], store: JobStore) -> RegionPlan:
    """The plan for the regions of a Job with these ``widths``; an object of another owner is left alone.

    A Job whose submission has failed has none.
    """
    wanted = {} if job.undone else dict(_specs(job, stated, widths))
    there = {name: store.regions.all.get((job.namespace, name)) for name in wanted}
    own = [region for region in store.regions_of(job.key) if region.owner_uid == job.uid and not region.deleting]
    return RegionPlan(
        made={name: _json(spec) for name, spec in wanted.items() if there[name] is None},
        changed=tuple((region, _json(wanted[region.name])) for region in own
                      if region.name in wanted and region.stated != wanted[region.name]),
        removed=tuple(region for region in own if region.name not in wanted),
    )  # fmt: skip


def _specs(job: StoredJob, stated: JobSpec, widths: Mapping[str, int]) -> Iterator[tuple[str, ParallelRegionSpec]]:
    for region in stated.parallel_regions or ():
        spec = ParallelRegionSpec(job.name, region.name, widths[region.name], region.max_width, region.width)
        yield region_object_name(job.name, region.name), spec


def _json(spec: ParallelRegionSpec) -> Json:
    return {field: value for field, value in msgspec.to_builtins(spec).items() if value is not None}


def region_status(
    region: StoredRegion, job: StoredJob, stated: JobSpec, fusion: JobFusion, refusal: str, now: str
) -> Json | None:
    """The merge patch of the status of a region of that Job; ``None`` if the stored status equals it.

    ``refusal`` is why the width that is asked for does not fit.
    """
    spec = region.stated or ParallelRegionSpec()
    elements = elements_of_region(spec.region, stated, fusion)
    width = fused_widths(stated, fusion).get(spec.region, 0)
    stored = region.status_document()
    state = _state(width, spec.width, len(elements), refusal)
    wanted: Json = {
        "width": width,
        "selector": _selector(job.name, elements),
        "conditions": merged_conditions(stored.get("conditions"), {SCALED: state}, region.generation, now),
        "observedGeneration": region.generation,
    }
    if all(stored.get(field) == value for field, value in wanted.items()):
        return None
    return {"metadata": {"resourceVersion": str(region.version)}, "status": wanted}


def _selector(job: str, elements: Sequence[str]) -> str:
    """The selector of the pods of these elements. Kubernetes has no empty set, so one of none contradicts itself."""
    which = f"{keys.PE} in ({','.join(elements)})" if elements else f"!{keys.JOB}"
    return f"{keys.JOB}={job},{which}"


def _state(width: int, asked: int, elements: int, refusal: str) -> ConditionState:
    made = f"{counted(width, 'channel')} in {counted(elements, 'processing element')}"
    if width == asked:
        return ConditionState(holds=True, reason=SCALED, message=made)
    if refusal:
        return ConditionState(holds=False, reason=UNSATISFIABLE, message=f"still {made}: {refusal}")
    return ConditionState(holds=False, reason=SCALING, message=f"{made}, being changed to {counted(asked, 'channel')}")


def elements_of_region(name: str, stated: JobSpec, fusion: JobFusion) -> list[str]:
    """The processing elements with operators of the region, or of regions in it."""
    around = regions_around(stated)
    inside = {
        operator.name for operator in stated.operators or () if operator.region and name in around[operator.region]
    }
    return [
        element.name
        for element in fusion.processing_elements
        if any(operator.partition("[")[0] in inside for operator in element.operators)
    ]
