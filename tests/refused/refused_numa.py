"""Random pods that no kubelet can align with NUMA zones, and what their refusals advise."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from tests.builders import Json, cluster, decided, node, pod
from tests.refused.census import Tried
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope
from webhook.placement.text.problem import Fault

NIC: Final = "a.com/nic"
AMOUNTS: Final = re.compile(r"(cpu|a\.com/nic) (\d+)")
LABEL: Final = r"(?: and the label disk=(?P<disk>\w+))?"
ZONES: Final = re.compile(rf"add a node with NUMA zones for (?P<amounts>\S+ \d+(?:(?:,| and) \S+ \d+)*?){LABEL}")
ROOM: Final = re.compile(r"add a node with (?P<amounts>.*) to offer" + LABEL)
LABELLED: Final = re.compile(r"label one more node disk=ssd(?: \(only (?P<help>\d+) of (?P<of>\d+) nodes helps?\))?")
GIVEN_UP: Final = re.compile(r"(?P<steps>(?:drop|lower) .*) \((?P<nodes>\d+) nodes? would fit\)")
LEFT: Final = re.compile(r"(?P<total>[^()]+?)(?: \((?P<each>.*)\))?")
"""What is left of requests: in all, and of each container that is lowered."""

OWN: Final = re.compile(r"c(\d): (.*?)(?=, c\d: |$)")
NOTHING: Final = "no single change helps; the pod needs a node that meets all of it"

Amounts = tuple[int, int]
"""Cores, and devices."""


@dataclass(frozen=True)
class Machine:
    """A node and its zones; without an agent, nothing is known of these.

    It may have less to give than its zones, by so many cores that are ``reserved``.
    """

    zones: tuple[Amounts, ...]
    disk: str
    known: bool = True
    whole: bool = False
    reserved: int = 0

    @property
    def total(self) -> Amounts:
        """What it has to give."""
        return sum(zone[0] for zone in self.zones) - self.reserved, sum(zone[1] for zone in self.zones)


@dataclass(frozen=True)
class TriedAlignment:
    """A pod of containers with exclusive cores, perhaps on one kind of disk; kubelets use one zone for each container.

    On a node that is ``whole``, one zone serves all containers.
    """

    machines: tuple[Machine, ...]
    containers: tuple[Amounts, ...]
    disk: str

    def fitting(self) -> list[Machine]:
        """The nodes that can run it."""
        return [one for one in self.machines if self.disk in ("", one.disk) and self._fits(one)]

    def _fits(self, machine: Machine) -> bool:
        wanted = self.asked
        if any(want > has for want, has in zip(wanted, machine.total, strict=True)):
            return False
        if not machine.known or not any(wanted):
            return True
        if machine.whole:
            return any(_enough(zone, [wanted]) for zone in machine.zones)
        return any(
            all(
                _enough(zone, [one for one, at in zip(self.containers, places, strict=True) if at == number])
                for number, zone in enumerate(machine.zones)
            )
            for places in itertools.product(range(len(machine.zones)), repeat=len(self.containers))
        )

    @cached_property
    def decision(self) -> Decision:
        """The decision about it."""
        containers = [container(at, one) for at, one in enumerate(self.containers)]
        selected = {"disk": self.disk} if self.disk else {}
        decision = decided(pod(containers=containers, nodeSelector=selected), inventory_of(self.machines))
        assert decision.refused is not bool(self.fitting()), (self, decision.message)
        return decision

    def refused(self) -> bool:
        """Whether no node can run it."""
        return self.decision.refused

    @property
    def fixes(self) -> list[str]:
        """What is advised."""
        assert self.decision.refusal
        return [*map(str, self.decision.refusal.fixes)]

    def check_fixes(self) -> bool:
        """Each fix opens as many nodes as it says."""
        for fix in self.fixes:
            ways = [*self.done(fix)]
            assert ways or fix == NOTHING, (fix, self.decision.message)
            helped = max((len(way.fitting()) for way in ways), default=0)
            assert helped or not ways, (fix, self.decision.message)
            if said := GIVEN_UP.fullmatch(fix):
                assert helped == int(said["nodes"]), (fix, helped, self.decision.message)
            elif said := LABELLED.fullmatch(fix):
                helping = sum(bool(way.fitting()) for way in ways)
                assert helping == int(said["help"] or len(ways)), (fix, self.decision.message)
            for less in self._smaller(fix):
                assert not less.fitting(), ("less is enough", fix, self.decision.message)
        return self.fixes != [NOTHING]

    def check_smallest(self) -> bool:
        """The refusal is for the cluster, not for the request."""
        return self.decision.fault is Fault.FORBIDDEN

    def followed(self) -> list[Tried]:
        """The pod after the first fix."""
        for fix in self.fixes:
            ways = [*self.done(fix)]
            if ways:
                return [way for way in ways if way.fitting()] or [*ways]
        return []

    def done(self, fix: str) -> Iterator["TriedAlignment"]:
        """The case after the fix, in every way to do it."""
        if said := ZONES.fullmatch(fix) or ROOM.fullmatch(fix):
            new = Machine((amounts_in(said["amounts"], self.asked),), said["disk"] or "")
            yield replace(self, machines=(*self.machines, new))
        elif LABELLED.fullmatch(fix):
            for one in self.machines:
                if one.disk != "ssd":
                    others = (replace(each, disk="ssd") if each is one else each for each in self.machines)
                    yield replace(self, machines=tuple(others))
        elif said := GIVEN_UP.fullmatch(fix):
            disk = "" if "nodeSelector disk=" in said["steps"] else self.disk
            if "requests " not in said["steps"]:
                yield replace(self, disk=disk)
            elif " to " not in said["steps"]:
                yield replace(self, disk=disk, containers=((0, 0),) * len(self.containers))
            else:
                yield from self._left(said["steps"].rpartition(" to ")[2], disk)
        else:
            assert fix == NOTHING, fix

    @property
    def asked(self) -> Amounts:
        """What all containers want together."""
        return sum(one[0] for one in self.containers), sum(one[1] for one in self.containers)

    def _left(self, text: str, disk: str) -> Iterator["TriedAlignment"]:
        """The case in which so much is left: of each container as it is said, else however they share it."""
        left = LEFT.fullmatch(text)
        assert left, text
        total = amounts_in(left["total"], self.asked)
        if not left["each"]:
            yield from self._lowered(total, disk)
            return
        containers = [*self.containers]
        for number, amounts in OWN.findall(left["each"]):
            containers[int(number)] = amounts_in(amounts, self.containers[int(number)])
        way = replace(self, disk=disk, containers=tuple(containers))
        assert way.asked == total, text
        yield way

    def _lowered(self, total: Amounts, disk: str) -> Iterator["TriedAlignment"]:
        """The case with these amounts in all, however they are shared by the containers."""
        each = [[*itertools.product(range(cpu + 1), range(nics + 1))] for cpu, nics in self.containers]
        for containers in itertools.product(*each):
            way = replace(self, disk=disk, containers=containers)
            if way.asked == total:
                yield way

    def _smaller(self, fix: str) -> Iterator["TriedAlignment"]:
        """The next smaller changes of that kind: one less of what a new node has, or of what is given up."""
        if said := ZONES.fullmatch(fix) or ROOM.fullmatch(fix):
            for name, amount in AMOUNTS.findall(said["amounts"]):
                yield from self.done(fix.replace(f"{name} {amount}", f"{name} {int(amount) - 1}"))
        elif (said := GIVEN_UP.fullmatch(fix)) and " to " in said["steps"]:
            disk = "" if "nodeSelector disk=" in said["steps"] else self.disk
            left = LEFT.fullmatch(said["steps"].rpartition(" to ")[2])
            assert left, fix
            lowered = amounts_in(left["total"], self.asked)
            for at in (0, 1):
                if lowered[at] < self.asked[at]:
                    more = (lowered[0] + 1, lowered[1]) if at == 0 else (lowered[0], lowered[1] + 1)
                    ways = self._lowered(more, disk)
                    # A container without a core is aligned with nothing: by zone, each keeps one.
                    yield from (
                        way for way in ways if "by NUMA zone" not in fix or all(cpu for cpu, _ in way.containers)
                    )


def inventory_of(machines: Sequence[Machine]) -> Inventory:
    """A cluster of these nodes."""
    inventory = cluster(
        node(f"node-{at}", labels={"disk": one.disk}, cpu=1000 * one.total[0], **{NIC: one.total[1]})
        for at, one in enumerate(machines)
    )
    for at, one in enumerate(machines):
        if one.known:
            scope = TopologyScope.POD if one.whole else TopologyScope.CONTAINER
            zones = tuple(_zone(zone) for zone in one.zones)
            inventory.topologies.put(f"node-{at}", NodeTopology(TopologyPolicy.SINGLE, scope, zones))
    return inventory


def _enough(zone: Amounts, wanted: list[Amounts]) -> bool:
    return all(sum(one[at] for one in wanted) <= zone[at] for at in (0, 1))


def amounts_in(text: str, others: Amounts) -> Amounts:
    """Amounts as messages write them, and the others where one is not named."""
    said = {name: int(amount) for name, amount in AMOUNTS.findall(text)}
    return said.get("cpu", others[0]), said.get(NIC, others[1])


def _zone(zone: Amounts) -> NumaZone:
    amounts = tuple(sorted({"cpu": zone[0] * NANO, NIC: zone[1] * NANO}.items()))
    return NumaZone(amounts, amounts)


def container(at: int, wanted: Amounts) -> Json:
    """A container with exclusive cores, if it has any."""
    cpu, nics = wanted
    amounts = ({"cpu": str(cpu), "memory": "1Mi"} if cpu else {}) | ({NIC: str(nics)} if nics else {})
    return {"name": f"c{at}", "resources": {"requests": amounts, "limits": amounts}}


def random_alignment(seed: int) -> TriedAlignment:
    """The pod of that number and its cluster."""
    chance = random.Random(f"numa {seed}")  # noqa: S311 -- the same cases each time
    machines = tuple(
        Machine(
            tuple((chance.randint(1, 4), chance.choice((0, 0, 1, 2))) for _ in range(chance.choice((1, 2, 2, 3)))),
            chance.choice(("ssd", "ssd", "hdd")),
            known=chance.random() < 0.85,
            whole=chance.random() < 0.3,
            reserved=chance.choice((0, 0, 0, 1)),
        )
        for _ in range(chance.randint(1, 4))
    )
    containers = tuple((chance.randint(1, 5), chance.choice((0, 0, 1, 2))) for _ in range(chance.choice((1, 1, 2))))
    return TriedAlignment(machines, containers, chance.choice(("", "", "ssd")))
