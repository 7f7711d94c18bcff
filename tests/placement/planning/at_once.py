"""``AtOnce``: integer programs solved on the spot, and verdicts on Jobs that are got with it."""

from collections.abc import Callable
from typing import Any

import msgspec

from tests.builders import NAMESPACE
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.planning.search.solver import finished, taken
from webhook.placement.planning.search.steps import Result, Steps


class AtOnce:
    """Solves programs where it is asked. There are ``seconds`` for each question, however many are asked."""

    def __init__(self, seconds: float = 20.0) -> None:
        self.seconds = seconds
        self.programs = 0

    def left(self) -> float:
        """The time for the next question."""
        return self.seconds

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do the work now."""
        self.programs += 1
        return work()

    async def rest(self) -> None:
        """Nobody else works."""


class Ending(AtOnce):
    """There is time for so many looks at the clock."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks

    def left(self) -> float:
        """The time for the next question."""
        self._looks -= 1
        return float(self._looks >= 0)


def all_of(steps: Steps[Result]) -> Result:
    """The result of all steps."""
    return finished(taken(steps, AtOnce()))


def element(placement: str = "", cpu: str | None = None, *, disk: str = "", name: str = "") -> dict[str, Any]:
    """An entry of ``processingElements``: with a placement, a request for cpu, and a nodeSelector ``disk``."""
    found: dict[str, Any] = {"name": name} if name else {}
    if placement:
        found["operators"] = [{"name": "Op", "placement": placement}]
    if cpu is not None:
        found["resources"] = {"requests": {"cpu": cpu}}
    if disk:
        container = {"name": "worker", "image": "worker:1"}
        found["template"] = {"spec": {"nodeSelector": {"disk": disk}, "containers": [container]}}
    return found


def job_spec(*elements: dict[str, Any], pools: tuple[dict[str, Any], ...] = (), **more: Any) -> JobSpec:
    """The spec of a Job."""
    stated = {"bundle": {"name": "app.sab"}, "processingElements": elements, "hostPools": pools, **more}
    return msgspec.convert(stated, JobSpec)


def judged(
    spec: JobSpec,
    inventory: Inventory,
    solving: AtOnce | None = None,
    name: str = "app",
    *,
    policy: Policy | None = None,
) -> JobVerdict:
    """The verdict on a Job in the default namespace."""
    return finished(judge_job(NAMESPACE, name, spec, inventory, policy or Policy(), solving or AtOnce()))
