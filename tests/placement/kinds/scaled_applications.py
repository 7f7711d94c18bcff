"""Small random applications in clusters with node groups, and every way to place their pods, on new nodes as well."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.builders import NAMESPACE, cluster
from tests.placement.jobs.scaled_cases import UNKNOWN, Maker
from tests.placement.kinds.application_verdict import node_of
from tests.placement.kinds.random_applications import Case, Part, millicores, random_application
from tests.placement.planning.at_once import AtOnce
from tests.placement.planning.exhaustive import Instance, Member, Node, all_places
from webhook.app.application_kinds import application_kinds
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_application import judge_application, read_pods
from webhook.placement.kinds.application import expanded
from webhook.placement.planning.search.solver import finished

PODS: Final = 4
"""Pods that are placed at a time, at most: every way to place them is tried."""


@dataclass(frozen=True)
class ScaledApplication:
    """An application, a cluster, and its node groups."""

    case: Case
    makers: tuple[Maker, ...]

    def inventory(self) -> Inventory:
        """The cluster with its groups."""
        made = cluster(map(node_of, self.case.machines))
        for maker in self.makers:
            made.node_groups.put(maker.group())
        return made

    def verdict(self) -> JobVerdict:
        """The verdict of the product."""
        application = expanded(application_kinds()[self.case.kind], self.case.document, self.case.runtime)
        pods = read_pods(application)
        assert isinstance(pods, list)
        policy = Policy(scale_up="auto")
        return finished(judge_application(pods, NAMESPACE, self.inventory(), policy, AtOnce()))

    def ways(self, instance: Instance) -> Iterator[dict[str, str]]:
        """Every way to place the instance on nodes there are and new ones, within the limits of the groups."""
        for made in itertools.product(*(maker.made(len(instance.members)) for maker in self.makers)):
            wider = self._wider(instance, made)
            yield from (places for places in all_places(wider, {}) if self._within_limits(instance, places))

    def _wider(self, instance: Instance, made: tuple[tuple[tuple[str, str], ...], ...]) -> Instance:
        new = [
            Node(name, {"cpu": UNKNOWN if maker.cpu is None else millicores(maker.cpu)})
            for maker, names in zip(self.makers, made, strict=True)
            for name, _ in names
        ]
        disks = dict(itertools.chain.from_iterable(made))
        members = [
            replace(one, allowed=one.allowed | {name for name, disk in disks.items() if _suits(self._part(one), disk)})
            for one in instance.members
        ]
        return Instance((*instance.nodes, *new), tuple(members))

    def _part(self, member: Member) -> Part:
        """The part of the case that the member is a pod of: its name is ``part-0-2``."""
        return self.case.parts[int(member.name.split("-")[1])]

    def _within_limits(self, instance: Instance, places: dict[str, str]) -> bool:
        asked = {member.name: member.requests["cpu"] for member in instance.members}
        return all(
            sum(asked[member] for member, node in places.items() if node.startswith(f"{maker.name}-"))
            <= millicores(maker.left)
            for maker in self.makers
            if maker.left is not None
        )


def _suits(part: Part, disk: str) -> bool:
    """Whether the pods may run on a new node: a host by name is a node that exists."""
    return part.disk in ("", disk) and not any(clause.startswith("host(") for clause in part.clauses)


def random_scaled_application(seed: int) -> ScaledApplication | None:
    """The case of that number; ``None`` if it has too many pods for every way to be tried."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    case = random_application(seed)
    machines = case.machines[: chance.choice((1, 1, 2))]
    case = replace(case, machines=tuple(replace(one, cpu=min(one.cpu, 3)) for one in machines))
    if any(len(instance.members) > PODS for instance in case.instances()):
        return None
    makers = tuple(
        Maker(
            f"new{letter}",
            chance.choice(((), ("ssd",), ("hdd",), ("ssd", "hdd"))),
            chance.choice((None, 2, 4, 6)),
            chance.choice((None, 1, 1, 2)),
            chance.choice((None, None, 3, 5)),
        )
        for letter in "ab"[: chance.choice((1, 1, 2))]
    )
    return ScaledApplication(case, makers)
