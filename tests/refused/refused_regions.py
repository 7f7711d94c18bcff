"""Parallel regions of random Jobs that run, which are scaled to more channels than fit beside what runs."""

import copy
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.admission.checks.test_parallel_regions import answered, scale
from tests.answers import response
from tests.builders import Json, bound_pod, cluster, node
from tests.fusion_jobs import BUNDLE, fused_job
from tests.placement.jobs.operators.fusion_oracle import Job
from tests.placement.jobs.operators.fusion_refusals import NO_TYPE, OTHER_SCHEME, PARTLY
from tests.placement.jobs.operators.test_random_fusion import with_regions
from tests.placement.kinds.random_applications import millicores
from tests.refused.census import Tried
from tests.refused.refused_applications import cores
from webhook.placement.jobs.job_verdict import UNDECIDED
from webhook.placement.objects.jobs.job_fusion import FusedElement
from webhook.placement.objects.jobs.parallel_region import ParallelRegionSpec

FIRST: Final = re.compile(
    r"\d+ channels of parallel region \w+ do not fit beside the running pods"
    r"(?:: (?:(?P<proved>at most )?(?P<fit>\d+) fits? now|not even 1 fits now))?\."
)
ADDED: Final = re.compile(r"add (?:a|(?P<count>\d+)) nodes?(?: with cpu (?P<cpu>\w+) free)?")
DROPPED: Final = re.compile(r"drop (?P<operator>\w+): (?P<clause>.*)")


@dataclass(frozen=True)
class Running:
    """A processing element that runs: its operators, its node, and its millicores."""

    fused: FusedElement
    on: str
    cpu: int


@dataclass(frozen=True)
class TriedRegion:
    """A ``region`` of a Job that runs on ``nodes`` of so many millicores, and the width that is asked for."""

    job: Job
    nodes: dict[str, int]
    running: tuple[Running, ...]
    region: str
    width: int

    @property
    def made(self) -> int:
        """The number of channels that run."""
        return next(int(one["width"]) for one in self.job["parallelRegions"] if one["name"] == self.region)

    @cached_property
    def answer(self) -> Json:
        """The answer to the width."""
        pods = [
            bound_pod(one.on, job="apps", pe=one.fused.name, requests={"cpu": one.cpu} if one.cpu else {})
            for one in self.running
        ]
        inventory = cluster([node(name, cpu=cpu) for name, cpu in self.nodes.items()], pods=pods)
        elements = [{"name": one.fused.name, "operators": [*one.fused.operators]} for one in self.running]
        widths = [{**one, "stated": one["width"]} for one in self.job["parallelRegions"]]
        fusion = {"processingElements": elements, "regions": widths}
        stored = {"metadata": {"name": "apps"}, "spec": {"bundle": BUNDLE, **self.job}, "status": {"fusion": fusion}}
        spec = ParallelRegionSpec("apps", self.region, self.made, None, self.made)
        return response(answered(scale(self.width, inventory, before=self.made), stored, spec))

    @property
    def text(self) -> str:
        """The refusal; empty if the width is admitted."""
        return "" if self.answer["allowed"] else str(self.answer["status"]["message"])

    @property
    def decided(self) -> bool:
        """Whether it was found out in time if all can run; if not, the width is admitted."""
        return UNDECIDED not in self.answer.get("warnings", ())

    def refused(self) -> bool:
        """Whether so many channels do not fit beside what runs."""
        return FIRST.match(self.text) is not None

    @property
    def fixes(self) -> list[str]:
        """What is advised for the whole Job; nothing of a refusal with a line for each operator."""
        last = self.text.splitlines()[-1]
        return last.removeprefix("Nearest fix: ").removesuffix(".").split(", or ") if last.startswith("Nearest") else []

    def check_fixes(self) -> bool:
        """Each fix admits the width, and a node less would not; one that is not enough by itself says so."""
        checked = False
        for fix in self.fixes:
            for way in self.done(fix.removesuffix(PARTLY)):
                assert (way.text != "") is fix.endswith(PARTLY), (fix, self.text, way.text)
                checked = True
            if (added := ADDED.fullmatch(fix)) and added["count"]:
                less = self._wider(int(added["count"]) - 1, added["cpu"])
                assert less.text or not less.decided, fix
        return checked

    def check_smallest(self) -> bool:
        """So many channels fit as the first line says; if that is proved, one more does not."""
        first = FIRST.match(self.text.splitlines()[0])
        assert first, self.text
        if not first["fit"]:
            return False
        fit = int(first["fit"])
        assert replace(self, width=fit).text == "", self.text
        assert not first["proved"] or fit < self.made or replace(self, width=fit + 1).text, self.text
        return True

    def followed(self) -> list[Tried]:
        """The region after the first fix that can be made and is enough."""
        for fix in self.fixes:
            if ways := [*self.done(fix)]:
                return [*ways]
        return []

    def done(self, fix: str) -> Iterator["TriedRegion"]:
        """The region after the fix; a clause of an operator is one of all its channels."""
        if to := re.fullmatch(r"scale to (\d+)", fix):
            yield replace(self, width=int(to[1]))
        elif added := ADDED.fullmatch(fix):
            yield self._wider(int(added["count"] or 1), added["cpu"])
        elif fix == NO_TYPE:
            yield self._with_fusion(type="noChannelInfluence")
        elif fix == OTHER_SCHEME:
            yield self._with_fusion(legacy=None)
        elif dropped := DROPPED.fullmatch(fix):
            yield self._without(dropped["operator"], dropped["clause"])
        else:
            assert fix.endswith(PARTLY) or fix == "no single change helps", fix

    def _wider(self, count: int, cpu: str | None) -> "TriedRegion":
        offered = millicores(cores(cpu or "0"))
        return replace(self, nodes={**self.nodes, **{f"new-{at}": offered for at in range(count)}})

    def _with_fusion(self, **changed: str | None) -> "TriedRegion":
        fusion = {key: value for key, value in {**self.job["fusion"], **changed}.items() if value is not None}
        return replace(self, job={**self.job, "fusion": fusion})

    def _without(self, name: str, clause: str) -> "TriedRegion":
        job = copy.deepcopy(self.job)
        operator = next(one for one in job["operators"] if one["name"] == name)
        option, _, stated = clause.partition(": ")
        if stated:
            operator.pop(option)
        elif clause.startswith("cost "):
            operator.pop("cost")
        else:
            said = operator.pop("placement").split(", ")
            kept = [one for one in said if one != clause]
            operator.update({"placement": ", ".join(kept)} if kept else {})
            assert len(kept) < len(said), (clause, said)
        return replace(self, job=job)


def random_region(seed: int) -> TriedRegion:
    """The region of that number, of a Job that runs; with a width of no more channels if the Job cannot."""
    job, nodes = with_regions(seed)
    chance = random.Random(f"width {seed}")  # noqa: S311 -- the same cases each time
    nodes = {name: cpu + chance.choice((0, 300, 600)) for name, cpu in nodes.items()}
    used = {one["region"] for one in job["operators"] if "region" in one}
    region = chance.choice([one["name"] for one in job["parallelRegions"] if one["name"] in used])
    model = fused_job(job, cluster([node(name, cpu=cpu) for name, cpu in nodes.items()]))
    group, answer = model.verdict.group, model.verdict.answer
    tried = TriedRegion(job, nodes, (), region, 1)
    if model.verdict.refused or not (model.fusion and group and answer and answer.placed):
        return replace(tried, width=tried.made)
    names, running = [*nodes], {}
    for member, slots in zip(group.members, answer.placed.slots, strict=True):
        cpu = max((demand.requests.get("cpu", 0) for demand in member.conditions), default=0)
        running.update({name: (names[slot], cpu) for name, slot in zip(member.names, slots, strict=True)})
    elements = tuple(Running(one, *running[one.name]) for one in model.fusion.processing_elements)
    return replace(tried, running=elements, width=tried.made + chance.choice((1, 1, 2, 3)))
