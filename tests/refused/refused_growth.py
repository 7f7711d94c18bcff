"""Random workloads and elastic HostPools that node groups cannot make enough nodes for, and what is advised."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.builders import cluster, node, pool
from tests.refused.census import Tried
from tests.refused.refused_applications import cores
from tests.workload_templates import crowded
from webhook.placement.checks.completion import complete
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.fix import Partly

AUTO: Final = Policy(scale_up="auto")
APART: Final = 'hostExlocation("t")'

ROOM: Final = re.compile(r"add (?P<many>a node|nodes) with room for (?P<room>one|\d+) more of them")
ADDED: Final = re.compile(
    r"add (?:a|(?P<count>\d+)) nodes?(?: with cpu (?P<cpu>\d+) to offer)?"
    r"(?: (?:with|and) the label \S+=(?P<value>\w+))?"
)
LABELLED: Final = re.compile(r"label (?:one|(?P<count>\d+)) more nodes? \S+=(?P<value>\w+)(?P<note> \(.*\))?")
LOWERED: Final = re.compile(r"lower (?:replicas|size) to (\d+)")
DROPPED: Final = re.compile(r"drop (?P<what>.*) \((?P<fit>\d+) (?:of (?P<of>\d+)|nodes?) would fit\)")
FEWER_CORES: Final = re.compile(
    r"lower requests cpu \d+(?: to cpu (?P<cpu>\w+))? \((?P<fit>\d+) (?:of \d+|nodes?) would fit\)"
)
NEEDED: Final = re.compile(r" \((?:.*; )?(\d+) more nodes are needed in all\)")
NOTHING: Final = "no single change helps; the pod needs a node that meets all of it"


@dataclass(frozen=True)
class Machine:
    """A node: its millicores and the value of its label."""

    cpu: int
    disk: str


@dataclass(frozen=True)
class Maker:
    """A group that can make ``count`` such nodes, or none if it is tainted."""

    machine: Machine
    count: int
    tainted: bool = False


@dataclass(frozen=True)
class TriedGrowth:
    """So many pods of ``cpu`` millicores, perhaps apart and on one kind of disk, beside node groups."""

    machines: tuple[Machine, ...]
    makers: tuple[Maker, ...]
    count: int
    cpu: int
    disk: str
    apart: bool

    def room(self) -> int:
        """How many of the pods there is room for, with all nodes that can be made."""
        new = (one.machine for one in self.makers if not one.tainted for _ in range(one.count))
        return sum(map(self._fit, (*self.machines, *new)))

    def here(self) -> int:
        """How many of the pods there is room for now."""
        return sum(map(self._fit, self.machines))

    def _fit(self, machine: Machine) -> int:
        if self.disk not in ("", machine.disk):
            return 0
        most = machine.cpu // self.cpu if self.cpu else self.count
        return min(most, 1) if self.apart else most

    @cached_property
    def refusal(self) -> Refusal | None:
        """The refusal, which comes if there is room for too few of the pods."""
        inventory = _inventory(self.machines, self.makers, "disk")
        fields = {"nodeSelector": {"disk": self.disk}} if self.disk else {}
        requests = {"cpu": f"{self.cpu}m"} if self.cpu else {}
        decision = crowded(APART if self.apart else None, self.count, inventory, AUTO, requests=requests, **fields)
        assert decision.refused is (self.room() < self.count), (self, decision.message)
        return decision.refusal if decision.refused else None

    def refused(self) -> bool:
        """Whether it is refused."""
        return self.refusal is not None

    @property
    def fixes(self) -> tuple[str, ...]:
        """What is advised."""
        assert self.refusal
        return tuple(map(str, self.refusal.fixes))

    def check_fixes(self) -> bool:
        """Each fix makes as much room as it says, and a smaller one does not help."""
        assert self.refusal
        for fix in self.fixes:
            ways = [*self.done(fix)]
            assert ways or fix == NOTHING, self.refusal.text
            if LOWERED.fullmatch(fix):
                assert ways[0].count == self.room(), self.refusal.text
            elif said := DROPPED.fullmatch(fix) or FEWER_CORES.fullmatch(fix):
                if " of " in fix.rpartition("(")[2]:
                    assert min(ways[0].here(), self.count) == int(said["fit"]), (fix, self.refusal.text)
            elif said := ROOM.fullmatch(fix):
                missing = self.count - self.room()
                assert said["room"] == ("one" if missing == 1 else str(missing)), (fix, self.refusal.text)
                assert (said["many"] == "a node") is (missing == 1), (fix, self.refusal.text)
            elif said := NEEDED.search(fix):
                assert self.apart, self.refusal.text
                assert int(said[1]) == self.count - self.room(), (fix, self.refusal.text)
            assert any(way.room() > self.room() or not way.refused() for way in ways) or not ways, (
                fix,
                self.refusal.text,
            )
        return self.fixes != (NOTHING,)

    def check_smallest(self) -> bool:
        """The number of pods that fit is that of the nodes there are."""
        assert self.refusal
        said = re.search(r": (\d+) of (\d+) pods? fits?", self.refusal.headline)
        if said:
            assert (int(said[1]), int(said[2])) == (self.here(), self.count), self.refusal.text
        return said is not None

    def followed(self) -> list[Tried]:
        """The workload after the first fix that is enough by itself."""
        for fix in self.fixes:
            ways = [*self.done(fix)]
            if NEEDED.search(fix) or not ways:
                continue
            said = DROPPED.fullmatch(fix) or FEWER_CORES.fullmatch(fix)
            if said and " of " in fix.rpartition("(")[2] and int(said["fit"]) < self.count:
                continue
            return [*ways]
        return []

    def done(self, fix: str) -> Iterator["TriedGrowth"]:
        """The case after the fix, in every way to do it."""
        if said := LOWERED.fullmatch(fix):
            yield replace(self, count=int(said[1]))
        elif said := ROOM.fullmatch(fix):
            room = 1 if said["room"] == "one" else int(said["room"])
            each = [Machine(self.cpu, self.disk)] * room
            yield replace(self, machines=(*self.machines, *each))
        elif said := FEWER_CORES.fullmatch(fix):
            yield replace(self, cpu=round(1000 * cores(said["cpu"])) if said["cpu"] else 0)
        elif said := DROPPED.fullmatch(fix):
            yield replace(
                self,
                disk="" if "nodeSelector" in said["what"] else self.disk,
                apart=self.apart and APART not in said["what"],
                cpu=0 if "requests" in said["what"] else self.cpu,
            )
        elif said := LABELLED.fullmatch(fix):
            for at, one in enumerate(self.machines):
                if one.disk != said["value"]:
                    changed = replace(one, disk=said["value"])
                    yield replace(self, machines=(*self.machines[:at], changed, *self.machines[at + 1 :]))
        elif said := ADDED.fullmatch(NEEDED.sub("", fix)):
            cpu = 1000 * int(said["cpu"]) if said["cpu"] else self.cpu
            yield replace(self, machines=(*self.machines, Machine(cpu, said["value"] or "")))
        else:
            assert fix == NOTHING, fix


@dataclass(frozen=True)
class TriedElasticPool:
    """An elastic HostPool of nodes with one kind of disk."""

    machines: tuple[Machine, ...]
    makers: tuple[Maker, ...]
    size: int

    @cached_property
    def refusal(self) -> Refusal | None:
        """The refusal, which comes if there are too few nodes, and groups cannot make the others."""
        wanted = pool(size=self.size, tags=["ssd"], elastic=True)
        refusal = complete(wanted, World(_inventory(self.machines, self.makers, keys.TAG), AUTO)).refusal
        assert (refusal is not None) is (self.eligible() < self.size), self
        return refusal

    def eligible(self) -> int:
        """The nodes that it could have, with all that can be made."""
        new = [one.machine for one in self.makers if not one.tainted for _ in range(one.count)]
        return sum(one.disk == "ssd" for one in (*self.machines, *new))

    def refused(self) -> bool:
        """Whether it is refused."""
        return self.refusal is not None

    def check_fixes(self) -> bool:
        """Each fix is enough, or says how far it goes; a smaller one is not enough."""
        assert self.refusal
        for fix in self.refusal.fixes:
            for less, way in zip((0, 1), self.done(str(fix)), strict=False):
                enough = not less and not isinstance(fix, Partly)
                assert way.refused() is not enough, (fix, self.refusal.text)
                if isinstance(fix, Partly) and not less:
                    assert fix.note == f"{way.eligible()} of {self.size} would be eligible", self.refusal.text
        return True

    def check_smallest(self) -> bool:
        """The number of eligible nodes is that of the nodes there are."""
        assert self.refusal
        said = re.search(r"it needs (\d+) hosts? and (\d+) node", self.refusal.headline)
        assert said, self.refusal.text
        assert (int(said[1]), int(said[2])) == (self.size, sum(one.disk == "ssd" for one in self.machines))
        return True

    def followed(self) -> list[Tried]:
        """The pool after the first fix that is enough by itself."""
        assert self.refusal
        enough = next((fix for fix in self.refusal.fixes if not isinstance(fix, Partly)), None)
        return [next(self.done(str(enough)))] if enough else []

    def done(self, fix: str) -> Iterator["TriedElasticPool"]:
        """The pool after the fix, and after the next smaller one if it has a number."""
        if said := LOWERED.fullmatch(fix):
            yield replace(self, size=int(said[1]))
            yield replace(self, size=int(said[1]) + 1)
        elif said := LABELLED.fullmatch(fix):
            for count in (int(said["count"] or 1), int(said["count"] or 1) - 1):
                without = [one for one in self.machines if one.disk != "ssd"][:count]
                kept = [*self.machines]
                for one in without:
                    kept[kept.index(one)] = replace(one, disk="ssd")
                yield replace(self, machines=tuple(kept))
        else:
            said = ADDED.fullmatch(fix)
            assert said, fix
            for count in (int(said["count"] or 1), int(said["count"] or 1) - 1):
                yield replace(self, machines=(*self.machines, *[Machine(8000, "ssd")] * count))


def _inventory(machines: tuple[Machine, ...], makers: tuple[Maker, ...], key: str) -> Inventory:
    """The nodes and the groups, which state all of their nodes."""
    nodes = [
        node(f"node-{at}", labels={key: one.disk} if one.disk else {}, cpu=one.cpu) for at, one in enumerate(machines)
    ]
    inventory = cluster(nodes)
    for at, one in enumerate(makers):
        taints = (Taint("dedicated", "infra", "NoSchedule"),) if one.tainted else ()
        offers = {"cpu": one.machine.cpu, "memory": 32 << 30, "pods": 110}
        made = {key: LabelValues.one_of(one.machine.disk)}
        group = NodeGroup("NodePool", f"p{at}", labels=made, taints=taints, offers=offers, count=one.count)
        inventory.node_groups.put(group)
    return inventory


def _machine(chance: random.Random) -> Machine:
    return Machine(1000 * chance.choice((4, 6, 8)), chance.choice(("ssd", "ssd", "hdd")))


def random_growth(seed: int) -> TriedGrowth | TriedElasticPool:
    """The workload or the HostPool of that number, with its cluster."""
    chance = random.Random(f"growth {seed}")  # noqa: S311 -- the same cases each time
    machines = tuple(_machine(chance) for _ in range(chance.randint(1, 4)))
    makers = tuple(
        Maker(_machine(chance), chance.randint(0, 3), tainted=chance.random() < 0.2)
        for _ in range(chance.randint(1, 3))
    )
    if chance.random() < 0.3:
        return TriedElasticPool(machines, makers, chance.randint(1, 10))
    disk, apart = chance.choice(("", "ssd")), chance.random() < 0.5
    return TriedGrowth(machines, makers, chance.randint(1, 16), 1000 * chance.choice((2, 3, 5, 7)), disk, apart)
