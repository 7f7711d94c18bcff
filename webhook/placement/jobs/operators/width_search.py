"""``WidthSearch``: which widths of a parallel region fit beside what runs of its Job.

What runs and does not change stays where it is, and counts (``docs/fusion.md``).
"""

import functools

from msgspec import Struct

from webhook.placement.fusion.application import application_of
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.operators.fused_job import as_fused, judge_model
from webhook.placement.jobs.operators.fusion_search import FusionSearch
from webhook.placement.jobs.operators.region_widths import fused_widths, made_widths, with_widths
from webhook.placement.jobs.operators.scaling import UNFUSED, EarlierFusion, scaling_of
from webhook.placement.jobs.problems import problem_steps
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World


class FittingWidth(Struct, frozen=True):
    """The largest ``width`` that was found to fit, 0 if none was; ``proved`` tells that no larger one does."""

    width: int = 0
    proved: bool = False

    @property
    def words(self) -> str:
        """How many channels fit; empty if that is not known."""
        if not self.width:
            return "not even 1 fits now" if self.proved else ""
        return f"{'at most ' if self.proved else ''}{self.width} {'fits' if self.width == 1 else 'fit'} now"


class RegionOfJob(Struct, frozen=True):
    """The parallel ``region`` of a ``job``, as the Job is ``stated`` and as its operators are fused."""

    job: tuple[str, str]
    region: str
    stated: JobSpec
    fusion: JobFusion | None

    @property
    def width(self) -> int:
        """The number of channels that are made; 0 if none is yet."""
        return fused_widths(self.stated, self.fusion)[self.region] if self.fusion else 0

    def widened(self, width: int) -> JobSpec:
        """The Job in which the region has that width, and all others those that they are made with."""
        return with_widths(self.stated, {**made_widths(self.stated, self.fusion), self.region: width})


class WidthSearch:
    """The search for one region; ``solving`` says how long it may take."""

    def __init__(self, region: RegionOfJob, inventory: Inventory, policy: Policy, solving: Solving) -> None:
        self._region = region
        self._cluster = World(inventory, policy)
        self._solving = solving
        self._earlier = UNFUSED
        if fusion := region.fusion:
            scaling = scaling_of(region.job, as_fused(region.stated, fusion), inventory)
            self._earlier = EarlierFusion(fusion.processing_elements, scaling)

    async def verdict(self, width: int) -> JobVerdict:
        """The verdict on the whole Job with that width."""
        spec = self._region.widened(width)
        model = await judge_model(self._region.job, spec, self._cluster, self._solving, self._earlier)
        return model.verdict

    async def problem(self, width: int) -> str:
        """What of the Job's own rules that width breaks first; empty if it breaks none."""
        for problem in problem_steps(self._region.job[1], self._region.widened(width)):
            await self._solving.rest()
            if problem is not None:
                return f"{problem.field}: {problem.message}"
        return ""

    async def largest(self, most: int) -> FittingWidth:
        """The largest width up to ``most``, searched upwards from the current one in steps that double."""
        width, step = self._region.width, 1
        while width and width < most and self._solving.left() > 0:
            width = min(width + step, most)
            able = False if await self.problem(width) else await self._fits(width)
            if not able:
                return await self.most(width, proved=able is not None)
            if width == most:
                return FittingWidth(width, proved=True)
            step *= 2
        return await self.most(width + 1, proved=width >= most)

    async def most(self, fails: int, *, proved: bool = True) -> FittingWidth:
        """The largest width below ``fails``; none of a Job that is not fused yet.

        ``proved`` tells whether it is known that this one does not fit.
        """
        fits, width = 0, self._region.width
        if not width:
            return FittingWidth()
        while fails - fits > 1:
            if self._solving.left() <= 0:
                return FittingWidth(fits)
            able = await self._fits(width)
            fits, fails = (width, fails) if able else (fits, width)
            proved = proved and able is not None
            width = (fits + fails) // 2
        return FittingWidth(fits, proved)

    async def _fits(self, width: int) -> bool | None:
        """Whether all of the Job can run with that width; ``None`` if that is not decided."""
        spec = self._region.widened(width)
        search = FusionSearch(self._region.job, self._cluster, self._solving, self._earlier)
        outcome = await search.find(spec, await self._solving.run(functools.partial(application_of, spec)))
        return None if outcome.found is None and not outcome.decided else outcome.found is not None
