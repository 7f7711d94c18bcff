"""``JobJudge``: whether a Job can run as a whole by what is true now, one Job at a time.

Admission has judged the Job before, by what was true then. The controller judges it again before it makes anything, and
while it runs, with the room counted as taken that other Jobs were promised (``docs/jobs.md``, "What was promised").
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.cluster.queries.job_verdicts import AtOnce, searched
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.controller.jobs.reservations import Reservations
from webhook.controller.jobstore.records import StoredJob
from webhook.controller.turn import Turn
from webhook.placement.elements.plan import PlannedNodes
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.pool_index import Name
from webhook.placement.jobs.applied_job import pools_of_job
from webhook.placement.jobs.element_pods import claims_of_job
from webhook.placement.jobs.job_progress import UNSATISFIABLE
from webhook.placement.jobs.operators.fused_job import judge_model
from webhook.placement.jobs.operators.scaling import NOTHING, EarlierFusion, scaling_of
from webhook.placement.jobs.planned_nodes import planned_nodes, stand_ins
from webhook.placement.jobs.replanning import Replanned, Standing, replan_job
from webhook.placement.jobs.whole_job import members_of_job
from webhook.placement.objects.condition import UNKNOWN, ConditionState
from webhook.placement.objects.jobs.job_fusion import JobFusion
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.planning.members import Member
from webhook.placement.planning.plan import cheapest
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.world import World
from webhook.placement.text.problem import counted

FORGET: Final = 5.0
"""Seconds between two looks at what has been kept for too long."""

SATISFIABLE: Final = "Satisfiable"

_NOT_FUSED: Final = "no fusion of the operators was found in time; try fewer rules or another fusion.manual"
"""Why a Job that is not refused has no processing elements."""


class Judgement(Struct, frozen=True):
    """The verdict on a Job: the condition Satisfiable, and the plan if room is promised to it."""

    satisfiable: ConditionState = UNKNOWN
    plan: PlannedNodes | None = None
    members: tuple[Member, ...] = ()
    spec: JobSpec | None = None
    """The Job with its processing elements; ``None`` if it was not judged."""
    fusion: JobFusion | None = None
    """How the operators of a Job that states such are fused."""
    grows: bool = False
    """Whether it needs nodes that node groups make."""

    @property
    def made(self) -> bool:
        """Whether it has processing elements, wherever they can run."""
        return self.spec is None or self.spec.processing_elements is not None

    @property
    def refused(self) -> bool:
        """Whether the Job cannot run as a whole."""
        return self.satisfiable.reason == UNSATISFIABLE


class JobJudge:
    """Judges Jobs by the inventory.

    A caller that writes the result of a verdict holds ``turn`` while it judges and writes. ``volumes`` looks up the
    claims of a Job; without it the inventory counts.
    """

    def __init__(
        self,
        inventory: Inventory,
        policy: Policy,
        kept: Reservations,
        solving: Callable[[], Solving] = AtOnce,
        volumes: VolumeLookups | None = None,
    ) -> None:
        self.turn = Turn()
        self.audit = policy.audit
        self._inventory = inventory
        self._policy = policy
        self._kept = kept
        self._solving = solving
        self._volumes = volumes

    async def judge(self, job: StoredJob, spec: JobSpec, *, scaled: bool = False) -> Judgement:
        """Decide whether the whole Job could run if all of its pods were restarted.

        If its parallel regions are ``scaled``, what runs and does not change stays where it is.
        """
        return await self.turn.judged(lambda: self._judged(job, spec, scaled=scaled))

    async def _judged(self, job: StoredJob, spec: JobSpec, *, scaled: bool) -> Judgement:
        """The judgement by what is true now."""
        if not self.judges(job) and spec.operators is None:
            return Judgement()  # the webhook changes no pod there, so no constraint holds
        self._kept.expire()
        inventory = await self._known_to(job.key, spec)
        before = job.fusion() if spec.operators is not None else None
        scaling = scaling_of(job.key, job.stated() or spec, inventory) if scaled else NOTHING
        earlier = EarlierFusion(before.processing_elements if before else (), scaling)
        cluster = World(inventory, self._policy)
        model = await judge_model(job.key, spec, cluster, self._solving(), earlier, measured=True)
        verdict, fused = model.verdict, Judgement(spec=model.spec, fusion=model.fusion)
        if not self.judges(job) and fused.made:
            return fused
        if verdict.refused or not fused.made:
            why = verdict.line if verdict.refused else _NOT_FUSED
            return replace(fused, satisfiable=ConditionState(holds=False, reason=UNSATISFIABLE, message=why))
        if verdict.grows:
            said = ConditionState(holds=True, reason=SATISFIABLE, message="; ".join(verdict.warnings))
            return replace(fused, satisfiable=said, grows=True)
        if verdict.group is None or verdict.answer is None or verdict.answer.placed is None:
            return fused
        plan = await cheapest(verdict.group, verdict.answer.placed, exact=False)
        count = sum(verdict.group.counts)
        words = (f"{counted(count, 'processing element')} can run at the same time", *verdict.warnings)
        said = ConditionState(holds=True, reason=SATISFIABLE, message="; ".join(words))
        nodes = planned_nodes(verdict.group, plan.placed, verdict.given)
        return replace(fused, satisfiable=said, plan=nodes, members=verdict.group.members)

    def judges(self, job: StoredJob) -> bool:
        """Whether the webhook changes pods in the Job's namespace; nothing is planned where it does not."""
        return job.namespace not in self._policy.excluded

    async def replan(self, job: StoredJob, spec: JobSpec, standing: Standing) -> Replanned:
        """Find nodes for the elements of the Job that wait."""
        return await self.turn.judged(lambda: self._replanned(job, spec, standing))

    async def _replanned(self, job: StoredJob, spec: JobSpec, standing: Standing) -> Replanned:
        self._kept.expire()
        inventory = await self._known_to(job.key, spec)
        return await replan_job(job.key, spec, inventory, self._policy, self._solving(), standing)

    def keep_replanned(self, job: StoredJob, spec: JobSpec, replanned: Replanned) -> None:
        """Keep the room for elements that wait, by the plan which the Job was stored with."""
        pods = stand_ins(job.key, replanned.members, replanned.plan)
        self._kept.hold(job.key, pods, self._pools(job.key, spec, replanned.plan), job.judged)

    def keep(self, job: StoredJob, spec: JobSpec, judged: Judgement) -> None:
        """Keep the room that the Job is promised by the plan which it was stored with."""
        if judged.plan is not None:
            pods = stand_ins(job.key, judged.members, judged.plan)
            self._kept.hold(job.key, pods, self._pools(job.key, spec, judged.plan), job.judged)

    def promised(self) -> Inventory:
        """The inventory in which the pools of all Jobs have the hosts that they were promised."""
        self._kept.expire()
        return self._promised_to_others(("", ""))

    async def forget(self) -> None:
        """Give up, until cancelled, what has been kept for too long."""
        while True:
            self._kept.expire()
            await asyncio.sleep(FORGET)

    async def resume(self, job: StoredJob) -> None:
        """Keep the room that a former controller has promised the Job."""
        spec = job.stated() if self._kept.lasts(job.judged) else None
        if spec is not None:
            solving = self._solving()
            members = await searched(
                lambda: members_of_job(*job.key, spec, self._inventory, self._policy, solving)
            )  # fmt: skip
            self.keep(job, spec, Judgement(plan=job.planned(), members=members))

    async def _known_to(self, job: Name, spec: JobSpec) -> Inventory:
        """The inventory with what other Jobs are promised, and with what the claims of this one are bound to."""
        claims = await claims_of_job(*job, spec, self._solving()) if self._volumes else None
        if self._volumes is None or claims is None:
            return self._promised_to_others(job)
        volumes = await self._volumes.find(claims)
        return self._promised_to_others(job).with_volumes(volumes)

    def _promised_to_others(self, job: Name) -> Inventory:
        """The inventory in which pools of other Jobs have the hosts that they were promised."""
        pools = list(self._kept.pools_but(job))
        return self._inventory.with_pools(pools) if pools else self._inventory

    def _pools(self, job: Name, spec: JobSpec, plan: PlannedNodes) -> Iterator[Pool]:
        """The pools of the Job whose hosts are planned, as if they had these hosts."""
        for pool in pools_of_job(*job, spec):
            nodes = plan.hosts_of(pool.name)
            if nodes:
                hosts = [PoolHost(at, name, self._uid(name)) for at, name in nodes.items()]
                yield replace(pool, phase=Phase.READY, assigned=tuple(hosts))

    def _uid(self, node: str) -> str:
        indexed = self._inventory.nodes.get(node)
        return indexed.uid if indexed else ""
