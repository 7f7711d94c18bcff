"""Random workloads whose pods no kubelet of some nodes can align with NUMA zones, and what their refusals advise."""

import functools
import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.refused.census import Tried
from tests.refused.refused_numa import OWN, Amounts, Machine, TriedAlignment, amounts_in, container, inventory_of
from tests.workload_templates import crowded
from webhook.placement.decision.decision import Decision
from webhook.placement.text.problem import Fault

FEWER: Final = re.compile(r"lower replicas to (\d+)")
GIVEN_UP: Final = re.compile(r"(?P<steps>.*?) \((?P<fit>\d+) of \d+ would fit\)")
LOWERED: Final = re.compile(
    r"lower requests .* to (?P<total>(?:cpu|a\.com/nic) \d+(?:, a\.com/nic \d+)?)(?: \((?P<each>.*)\))?"
)
APART: Final = 'hostExlocation("x")'


@dataclass(frozen=True)
class TriedReplicas:
    """So many pods of containers with exclusive cores, perhaps each on a node of its own."""

    machines: tuple[Machine, ...]
    containers: tuple[Amounts, ...]
    count: int
    apart: bool

    def room(self) -> int:
        """How many of the pods are judged to fit: zones are taken as free, so only the room of nodes is shared."""
        able = (one for one in self.machines if TriedAlignment((one,), self.containers, "").fitting())
        each = (min((has // want for has, want in zip(one.total, self._asked, strict=True) if want)) for one in able)
        return min(self.count, sum(min(1, copies) if self.apart else copies for copies in each))

    def zoned_room(self) -> int:
        """How many of them have zones beside each other."""
        each = (self._in_zones(one) for one in self.machines)
        return min(self.count, sum(min(1, copies) if self.apart else copies for copies in each))

    @property
    def _asked(self) -> Amounts:
        return sum(one[0] for one in self.containers), sum(one[1] for one in self.containers)

    def _in_zones(self, machine: Machine) -> int:
        zones = machine.zones if machine.known else (machine.total,)
        together = machine.whole or not machine.known
        packed = _packed(tuple(sorted(zones)), (self._asked,) if together else self.containers)
        return min(packed, *(has // want for has, want in zip(machine.total, self._asked, strict=True) if want))

    @cached_property
    def decision(self) -> Decision:
        """The decision about them."""
        containers = [container(at, one) for at, one in enumerate(self.containers)]
        tweaks = {"containers": containers, "labels": {}}
        decision = crowded(APART if self.apart else None, self.count, inventory_of(self.machines), **tweaks)
        assert decision.refused is (self.room() < self.count), (self, decision.message)
        return decision

    def refused(self) -> bool:
        """Whether one of them could run, but not all; what a single pod is told is tried elsewhere."""
        return self.decision.refused and self.room() > 0

    @property
    def fixes(self) -> list[str]:
        """What is advised."""
        assert self.decision.refusal
        return [*map(str, self.decision.refusal.fixes)]

    def check_fixes(self) -> bool:
        """With each fix as many pods fit as it says, in zones beside each other, and with more of its amounts fewer."""
        checked = False
        for fix in self.fixes:
            if (way := self.done(fix)) is None:
                continue
            checked = True
            said = GIVEN_UP.fullmatch(fix)
            fit = int(said["fit"]) if said else way.count
            assert way.room() >= fit, (fix, way.room(), self.decision.message)
            if LOWERED.fullmatch(fix.partition(" (")[0]) and "by NUMA zone" in fix:
                assert way.zoned_room() >= fit, (fix, way.zoned_room(), self.decision.message)
                assert not any(more.zoned_room() >= fit for more in self._more(way)), (fix, self.decision.message)
        return checked

    def check_smallest(self) -> bool:
        """The refusal is for the cluster, not for the request."""
        return self.decision.fault is Fault.FORBIDDEN

    def followed(self) -> list[Tried]:
        """The workload after the first fix that is made in it."""
        return [way for fix in self.fixes if (way := self.done(fix)) is not None][:1]

    def done(self, fix: str) -> "TriedReplicas | None":
        """The workload after the fix; none for one of the cluster, and for amounts that are not said."""
        if fewer := FEWER.fullmatch(fix):
            return replace(self, count=int(fewer[1]))
        said = GIVEN_UP.fullmatch(fix)
        steps = said["steps"] if said else ""
        if steps == f"drop {APART}":
            return replace(self, apart=False)
        left = LOWERED.fullmatch(steps)
        if left is None:
            return None
        containers = [*self.containers]
        if left["each"]:
            for number, amounts in OWN.findall(left["each"]):
                containers[int(number)] = amounts_in(amounts, containers[int(number)])
        elif len(containers) > 1:
            return None
        else:
            containers[0] = amounts_in(left["total"], containers[0])
        return replace(self, containers=tuple(containers))

    def _more(self, way: "TriedReplicas") -> Iterator["TriedReplicas"]:
        """The workload with one core more than after the fix, of one container of which cores alone are lowered."""
        (cores, nics), *others = way.containers
        if not others and nics == self.containers[0][1] and cores < self.containers[0][0]:
            yield replace(way, containers=((cores + 1, nics),))


@functools.cache
def _packed(zones: tuple[Amounts, ...], containers: tuple[Amounts, ...]) -> int:
    """How many pods of these containers have zones beside each other."""
    best = 0
    for places in itertools.product(range(len(zones)), repeat=len(containers)):
        remaining = [*zones]
        for wanted, at in zip(containers, places, strict=True):
            remaining[at] = remaining[at][0] - wanted[0], remaining[at][1] - wanted[1]
        if all(amount >= 0 for zone in remaining for amount in zone):
            best = max(best, 1 + _packed(tuple(sorted(remaining)), containers))
    return best


def random_replicas(seed: int) -> TriedReplicas:
    """The workload of that number and its cluster."""
    chance = random.Random(f"aligned replicas {seed}")  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(
            tuple((chance.randint(1, 8), chance.choice((0, 0, 2))) for _ in range(chance.choice((1, 2, 2, 3)))),
            "ssd",
            known=chance.random() < 0.9,
            whole=chance.random() < 0.3,
            reserved=chance.choice((0, 0, 0, 1)),
        )
        for _ in range(chance.randint(1, 5))
    )
    containers = tuple((chance.randint(1, 8), chance.choice((0, 0, 0, 1))) for _ in range(chance.choice((1, 1, 2))))
    return TriedReplicas(machines, containers, chance.randint(2, 6), chance.random() < 0.6)
