"""Random workloads of one job beside each other, judged, and judged again by trying every way."""

import itertools
import random
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.builders import bound_pod, cluster, node
from tests.placement.jobs.test_job_workloads import APART, judged, own, pods
from tests.suite.example_count import some_of
from webhook.placement.objects.pod import PodInfo
from webhook.placement.text import keys

PAIRS = some_of(400, every_day=40)

pytestmark = pytest.mark.examples


@dataclass(frozen=True)
class Part:
    """A workload: how many pods, their cores, whether each is on a node of its own, and where some run already."""

    name: str
    count: int
    cpu: int
    apart: bool
    runs_on: tuple[int, ...] = ()

    @property
    def missing(self) -> int:
        return max(self.count - len(self.runs_on), 0)


@dataclass(frozen=True)
class Case:
    """Cores of the nodes, how many are used by another job, and the workloads; the last one is submitted."""

    cores: tuple[int, ...]
    used: tuple[int, ...]
    parts: tuple[Part, ...]


def made(dice: random.Random) -> Case:
    size = dice.randint(1, 3)
    cores = tuple(dice.randint(2, 6) for _ in range(size))
    used = tuple(dice.choice((0, 0, 1, 2)) for _ in range(size))
    parts = []
    for name in ("one", "two", "sink")[dice.randint(0, 1) :]:
        part = Part(name, dice.randint(1, 3), dice.randint(1, 3), dice.random() < 0.4)
        if name != "sink" and dice.random() < 0.4:
            part = Part(name, part.count, part.cpu, part.apart, (dice.randrange(size),))
        parts.append(part)
    return Case(cores, used, tuple(parts))


def fits(case: Case, new: list[Part], running: list[Part]) -> bool:
    """Whether so many missing pods of ``new`` can be put beside the pods that run, by trying every way."""
    there = [(at, part) for part in running for at in part.runs_on]
    waiting = [part for part in new for _ in range(part.missing)]
    return any(
        _holds(case, [*there, *zip(places, waiting, strict=True)])
        for places in itertools.product(range(len(case.cores)), repeat=len(waiting))
    )


def _holds(case: Case, placed: list[tuple[int, Part]]) -> bool:
    taken, alone = Counter(dict(enumerate(case.used))), Counter[int]()
    for at, part in placed:
        taken[at] += part.cpu
        alone[at] += part.apart
    return all(taken[at] <= cores for at, cores in enumerate(case.cores)) and max(alone.values(), default=0) < 2


def _guests(case: Case) -> list[PodInfo]:
    found = [
        bound_pod(f"node-{at}", job="", pe="", uid=f"guest-{at}", requests={"cpu": 1000 * used})
        for at, used in enumerate(case.used)
    ]
    for part in case.parts:
        token = {keys.EXLOCATION + keys.digest("a"): "a"} if part.apart else {}
        found += (
            bound_pod(
                f"node-{at}", pe="", uid=f"{part.name}-{at}", owner=f"Deployment/{part.name}",
                requests={"cpu": 1000 * part.cpu}, labels=token,
            )
            for at in part.runs_on
        )  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_workload_is_refused_if_and_only_if_the_others_leave_it_no_room(seed: int) -> None:
    dice, refused = random.Random(seed), 0  # noqa: S311 -- no secret
    for _ in range(PAIRS // 4):
        case = made(dice)
        if not _holds(case, [(at, part) for part in case.parts for at in part.runs_on]):
            continue
        *others, sink = case.parts
        able = [part for part in others if part.missing and _open(case, part)]
        if not _open(case, sink):
            continue
        blamed = fits(case, able, others) and fits(case, [sink], []) and not fits(case, [*able, sink], others)
        inventory = cluster(
            [node(f"node-{at}", cpu=1000 * cores) for at, cores in enumerate(case.cores)], pods=_guests(case)
        )
        verdict = judged(
            own(sink.name, APART if sink.apart else None, sink.count, requests={"cpu": str(sink.cpu)}),
            *(
                pods(part.name, APART if part.apart else None, part.count, requests={"cpu": str(part.cpu)})
                for part in others
            ),
            inventory=inventory,
        )
        assert verdict.refused == blamed, case
        refused += blamed
    assert refused > 0.03 * (PAIRS // 4)


def _open(case: Case, part: Part) -> bool:
    """Whether some node could run a pod of the workload by what it offers, and by the pods apart that run there."""
    closed = {at for other in case.parts if other.apart and part.apart for at in other.runs_on}
    return any(cores >= part.cpu and at not in closed for at, cores in enumerate(case.cores))
