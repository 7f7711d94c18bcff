"""The widths of a Job's parallel regions: those that the Job states, or to which the regions were scaled.

A region keeps the width to which it was scaled until the Job states another one (``docs/fusion.md``).
"""

from collections.abc import Mapping

from msgspec.structs import replace

from webhook.placement.objects.jobs.job_fusion import JobFusion, RegionWidth
from webhook.placement.objects.jobs.job_operators import WIDTH_LIMIT, RegionSpec
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec


def with_widths(spec: JobSpec, widths: Mapping[str, int]) -> JobSpec:
    """The Job in which these regions have these widths."""
    regions = spec.parallel_regions
    if not regions or all(widths.get(region.name, region.width) == region.width for region in regions):
        return spec
    return replace(
        spec,
        parallel_regions=tuple(replace(region, width=widths.get(region.name, region.width)) for region in regions),
    )


def regions_around(spec: JobSpec) -> dict[str, frozenset[str]]:
    """For each region of the Job itself and the regions that it is nested in."""
    outer = {region.name: region.within for region in spec.parallel_regions or ()}
    by_operator: dict[str, frozenset[str]] = {}
    for name in outer:
        around: set[str] = set()
        at: str | None = name
        while at is not None and at in outer and at not in around:
            around.add(at)
            at = outer[at]
        by_operator[name] = frozenset(around)
    return by_operator


def widest(region: RegionSpec) -> int:
    """The largest width to which the region may be scaled."""
    return WIDTH_LIMIT if region.max_width is None else region.max_width


def _bounded(width: int, region: RegionSpec) -> int:
    """The width within the bounds of the region; what a Job states that breaks its own bound stays as it is."""
    most = widest(region)
    return region.width if region.width > most else max(1, min(width, most))


def fused_widths(stated: JobSpec, fusion: JobFusion) -> dict[str, int]:
    """The widths with which the regions of the Job are fused."""
    made = {one.name: one.width for one in fusion.regions}
    return {region.name: made.get(region.name, region.width) for region in stated.parallel_regions or ()}


def made_widths(spec: JobSpec, fusion: JobFusion | None) -> dict[str, int]:
    """The widths of regions that were fused already: those of which the Job still states the same width."""
    made = {one.name: one for one in (fusion.regions if fusion else ())}
    return {
        region.name: _bounded(made[region.name].width, region)
        for region in spec.parallel_regions or ()
        if region.name in made and made[region.name].stated == region.width
    }


def wanted_widths(spec: JobSpec, fusion: JobFusion | None, scaled: Mapping[str, ParallelRegionSpec]) -> dict[str, int]:
    """The width that each region is to have; ``scaled`` are the ParallelRegions of the Job by their regions.

    A ParallelRegion counts as long as the Job states the width that it knows of. Without one the width stays as made.
    """
    made = made_widths(spec, fusion)
    wanted: dict[str, int] = {}
    for region in spec.parallel_regions or ():
        known = scaled.get(region.name)
        width = made.get(region.name, region.width)
        if known is not None and known.job_width == region.width:
            width = known.width
        wanted[region.name] = _bounded(width, region)
    return wanted


def region_widths(stated: JobSpec, spec: JobSpec) -> tuple[RegionWidth, ...]:
    """The regions as ``status.fusion`` has them: of the Job as its user states it, and as it is made by ``spec``."""
    pairs = zip(stated.parallel_regions or (), spec.parallel_regions or (), strict=True)
    return tuple(RegionWidth(region.name, made.width, region.width) for region, made in pairs)
