"""``WorkloadJudge``: whether all pods of a Workload can run at the same time, by what is true now.

They are judged as an application of another operator is (``docs/applications.md``). What cannot run now is judged once
more as if no pods ran and no node were cordoned: what does not fit even then will not run unless the cluster or the
Workload is changed.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.queries.lookups.volume_lookups import VolumeLookups
from webhook.controller.turn import Turn
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import PodsToJudge, judge_at_once
from webhook.placement.planning.search.solver import Solving
from webhook.placement.request.claimed_volumes import claims_of, has_claims
from webhook.placement.text.problem import Fault


class WorkloadVerdict(Struct, frozen=True, eq=False):
    """The verdict on a Workload: what is true ``now``, and for one that is refused whether it could run ``later``."""

    now: JobVerdict
    later: bool = True


class WorkloadJudge:
    """Judges by ``inventory``, called for each judgement; ``volumes`` looks up the claims of pods.

    A caller that writes the result of a verdict holds ``turn`` while it judges and writes.
    """

    def __init__(
        self,
        inventory: Callable[[], Inventory],
        policy: Policy,
        volumes: VolumeLookups,
        turn: Turn,
        solving: Callable[[], Solving] = AtOnce,
    ) -> None:
        self.turn = turn
        """Jobs are judged in turn with Workloads."""
        self._inventory = inventory
        self.policy = policy
        self._volumes = volumes
        self._solving = solving

    async def judge(self, pods: Sequence[PodsToJudge], namespace: str) -> WorkloadVerdict:
        """The verdict on these pods in that namespace."""
        inventory = await self._known(pods, namespace)
        now = await self._judged(pods, namespace, inventory)
        if not now.refused:
            return WorkloadVerdict(now)
        if now.fault is Fault.INVALID:
            return WorkloadVerdict(now, later=False)
        later = await self._judged(pods, namespace, inventory.vacated())
        return WorkloadVerdict(later, later=False) if later.refused else WorkloadVerdict(now)

    async def place(self, pods: Sequence[PodsToJudge], namespace: str) -> JobVerdict:
        """The verdict on these pods by what is true now, whatever may be true later."""
        return await self._judged(pods, namespace, await self._known(pods, namespace))

    async def fits(self, pods: Sequence[PodsToJudge], namespace: str) -> bool:
        """Whether it is certain that all of the pods can run now."""
        now = await self.place(pods, namespace)
        return not now.refused and not now.undecided

    async def _judged(self, pods: Sequence[PodsToJudge], namespace: str, inventory: Inventory) -> JobVerdict:
        return await judge_at_once(pods, namespace, inventory, self.policy, self._solving())

    async def _known(self, pods: Sequence[PodsToJudge], namespace: str) -> Inventory:
        """The inventory with the volumes that the claims of the pods are bound to."""
        inventory = self._inventory()
        specs = [one.pod.spec for one in pods if one.pod.spec and has_claims(one.pod.spec)]
        claims = dict.fromkeys(claim for spec in specs for claim in claims_of(spec, namespace))
        return inventory.with_volumes(await self._volumes.find(claims)) if claims else inventory
