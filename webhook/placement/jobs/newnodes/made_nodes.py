"""The new nodes that the plan of a search uses, by node group, and which pods are there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from webhook.placement.decision.scale_up import unknown_amounts
from webhook.placement.kube.amounts import SAID
from webhook.placement.nodegroups.group_reasons import named
from webhook.placement.nodegroups.new_node import NewNode
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.planning.group import Placed
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.search.assignment import Key
from webhook.placement.planning.wider_group import WiderGroup
from webhook.placement.text.problem import counted, enumerated


class GroupNodes(Struct, frozen=True):
    """How many nodes a group would make for a Job; ``unknown`` is what the pods need and the group does not state."""

    group: NodeGroup
    count: int
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The text for warnings: ``2 nodes of NodePool fast (if each has cpu 8)``."""
        least = "at least " if self.unknown else ""
        doubt = f" (if each has {enumerated(self.unknown, SAID)})" if self.unknown else ""
        return f"{least}{counted(self.count, 'node')} of {named(self.group)}{doubt}"


def made_nodes(
    wider: WiderGroup, placed: Placed, groups: Sequence[NodeGroup], nodes: Sequence[NewNode]
) -> tuple[Iterator[GroupNodes], list[str]]:
    """The new nodes that the plan uses by group, and the names of the elements there."""
    waiting: list[str] = []
    used: dict[int, dict[int, list[Member]]] = {}
    unknown: dict[int, dict[str, None]] = {}
    for member, places in zip(wider.members, placed.slots, strict=False):
        names = member.names if len(member.names) == len(places) else member.names * len(places)
        for name, slot in zip(names, places, strict=True):
            if (new := wider.new_at(slot)) is None:
                continue
            waiting.append(name)
            used.setdefault(new.of, {}).setdefault(slot, []).append(member)
            for key in nodes[wider.new.index(new)].unknown:
                unknown.setdefault(new.of, {})[f"the label {key}"] = None
    made = (
        GroupNodes(groups[of], len(here), (*_doubts(groups[of], here), *unknown.get(of, ())))
        for of, here in sorted(used.items())
    )
    return made, waiting


def _doubts(group: NodeGroup, here: Mapping[int, Sequence[Member]]) -> Iterator[str]:
    """What a node needs for the largest pods on it, or for the largest set that shares it, and is not known."""
    most: dict[str, int] = {}
    for members in here.values():
        for asked in _together(members):
            for resource, needed in asked.items():
                most[resource] = max(needed, most.get(resource, 0))
    yield from unknown_amounts(group, most, (member.ask for members in here.values() for member in members))


def _together(members: Sequence[Member]) -> Iterator[Mapping[str, int]]:
    """What each pod of these members requests, or each set of pods that have to share a node."""
    sets: list[tuple[set[Key], Counter[str]]] = []
    for member in members:
        keys = {key for condition in member.conditions for key in condition.together}
        asked = Counter(requests_of(member.conditions))
        if not keys:
            yield asked
            continue
        others = []
        for known, requested in sets:
            if keys.isdisjoint(known):
                others.append((known, requested))
            else:
                keys |= known
                asked.update(requested)
        sets = [*others, (keys, asked)]
    yield from (asked for _, asked in sets)
