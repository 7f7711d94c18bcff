"""Small random Jobs on clusters with node groups, and every way to place them on nodes there are and new ones."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.placement.planning.exhaustive import Instance, Node, Pool, all_hosts, all_places
from tests.placement.planning.random_jobs import Case, Part, random_case
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.nodegroups.label_values import LabelValues
from webhook.placement.nodegroups.node_group import NodeGroup

UNKNOWN = 10**6
"""Cores of a node whose size is not known."""


@dataclass(frozen=True)
class Maker:
    """A node group: values that its label ``disk`` may have, cores of a node, number of nodes, cores of its limits."""

    name: str
    disks: tuple[str, ...] = ()
    cpu: int | None = None
    count: int | None = None
    left: int | None = None

    def group(self) -> NodeGroup:
        """The group of the product."""
        return NodeGroup(
            "NodePool", self.name,
            labels={"disk": LabelValues.one_of(*self.disks)} if self.disks else {},
            offers={} if self.cpu is None else {"cpu": 1000 * self.cpu},
            count=self.count,
            remaining={} if self.left is None else {"cpu": 1000 * self.left},
        )  # fmt: skip

    def made(self, most: int) -> Iterator[tuple[tuple[str, str], ...]]:
        """Every choice of labels for as many nodes as it makes, ``most`` at most: names and values."""
        count = most if self.count is None else min(self.count, most)
        for chosen in itertools.combinations_with_replacement(self.disks or ("",), count):
            yield tuple((f"{self.name}-{at}", disk) for at, disk in enumerate(chosen))


@dataclass(frozen=True)
class ScaledCase:
    """A cluster with node groups, and a Job."""

    case: Case
    makers: tuple[Maker, ...]

    def inventory(self) -> Inventory:
        """The cluster with its groups."""
        inventory = self.case.inventory()
        for maker in self.makers:
            inventory.node_groups.put(maker.group())
        return inventory

    def ways(self) -> Iterator[dict[str, str]]:
        """Every way to place the Job on nodes there are and new ones, within the limits of the groups."""
        instance = self.case.instance()
        for made in itertools.product(*(maker.made(len(self.case.parts)) for maker in self.makers)):
            wider = self._wider(instance, made)
            for hosts in all_hosts(wider):
                yield from (places for places in all_places(wider, hosts) if self._within_limits(places))

    def _wider(self, instance: Instance, made: tuple[tuple[tuple[str, str], ...], ...]) -> Instance:
        disks = dict(itertools.chain.from_iterable(made))
        new = [
            Node(name, {"cpu": _size(maker)})
            for maker, names in zip(self.makers, made, strict=True)
            for name, _ in names
        ]
        members = [
            replace(member, allowed=member.allowed | {name for name, disk in disks.items() if _suits(part, disk)})
            for part, member in zip(self.case.parts, instance.members, strict=True)
        ]
        pools: tuple[Pool, ...] = instance.pools
        return Instance((*instance.nodes, *new), tuple(members), pools)

    def _within_limits(self, places: dict[str, str]) -> bool:
        asked = {part.name: part.cpu for part in self.case.parts}
        return all(
            sum(asked[member] for member, node in places.items() if node.startswith(f"{maker.name}-")) <= maker.left
            for maker in self.makers
            if maker.left is not None
        )


def _size(maker: Maker) -> int:
    return UNKNOWN if maker.cpu is None else maker.cpu


def _suits(part: Part, disk: str) -> bool:
    """Whether the element may run on a new node: hosts by name, and those of pools, are nodes that exist."""
    return part.disk in ("", disk) and not any(clause.startswith("host(") for clause in part.clauses)


def random_scaled_case(seed: int) -> ScaledCase:
    """The case of that number."""
    chance = random.Random(seed)  # noqa: S311 -- the same cases each time
    case = random_case(seed)
    parts = tuple(replace(part, disk=chance.choice(("", "", "ssd", "hdd"))) for part in case.parts[:4])
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
    return ScaledCase(replace(case, machines=case.machines[:2], parts=parts), makers)
