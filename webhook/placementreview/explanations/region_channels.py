"""``RegionChannels``: which widths of a ParallelRegion fit, and why no larger ones do (``docs/why.md``)."""

import msgspec
from msgspec import Struct

from webhook.admission.checks.jobs import SubmittedJob
from webhook.admission.unstructured import Unstructured, mapping
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.jobs.operators.region_widths import widest
from webhook.placement.jobs.operators.width_search import FittingWidth, RegionOfJob, WidthSearch
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec
from webhook.placement.planning.search.solver import finished
from webhook.placement.request.world import World
from webhook.placementreview.submission import SECONDS


class RegionChannels(Struct, frozen=True):
    """The channels of a parallel region: those ``asked`` for, those ``made``, and ``most``, which the Job allows.

    ``fitting`` are those that fit beside what runs. ``refusal`` is why those that are asked for do not fit, empty if
    they do, and ``beyond`` why one more than fit does not; it is empty if the Job allows no more.
    """

    asked: int
    made: int
    most: int
    fitting: FittingWidth
    refusal: str
    beyond: str


def channels_of(region: Unstructured, job: Unstructured, world: World) -> RegionChannels | None:
    """The channels of a ParallelRegion of that Job; ``None`` if the Job does not have the region, or is not fused."""
    try:
        spec = msgspec.convert(mapping(region, "spec"), ParallelRegionSpec)
        stored = msgspec.json.decode(msgspec.json.encode(job), type=SubmittedJob)
    except msgspec.ValidationError:
        return None
    stated = next((one for one in stored.spec.parallel_regions or () if one.name == spec.region), None)
    if stated is None or not stored.spec.operators or stored.fusion is None:
        return None
    namespace, most = str(mapping(region, "metadata").get("namespace") or NAMESPACE), widest(stated)
    known = RegionOfJob((namespace, spec.job), spec.region, stored.spec, stored.fusion)
    search = WidthSearch(known, world.inventory, world.policy, AtOnce(SECONDS))
    fitting = finished(search.largest(most))
    refusal = _refusal(search, spec.width) if spec.width > max(known.width, fitting.width) else ""
    beyond = _refusal(search, fitting.width + 1) if fitting.proved and fitting.width < most else ""
    return RegionChannels(spec.width, known.width, most, fitting, refusal, beyond)


def _refusal(search: WidthSearch, width: int) -> str:
    """Why a width does not fit; empty if it does, or if that was not decided in time."""
    return finished(search.problem(width)) or finished(search.verdict(width)).text
