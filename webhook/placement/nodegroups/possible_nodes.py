"""The nodes that a group would make for pods of several kinds, each of which wants other labels.

One new node can meet what several kinds want, if its labels have values that meet all of it. So there is a node for
each set of kinds that the group can serve with one node; where a single node serves all kinds, it stands for all.
"""

import itertools
from collections.abc import Generator, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.pod import Requirement
from webhook.placement.nodegroups.new_node import LiveValues, Needs, NewNode, needs_of, new_node
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.text.keys import HOSTNAME

SETS: Final = 64
"""Maximum number of sets of kinds examined for one group, some 10 microseconds each; single kinds always are."""


class PossibleNodes(Struct, frozen=True):
    """The different ``nodes`` that the group would make; ``complete`` tells that there are no others."""

    group: NodeGroup
    nodes: tuple[NewNode, ...]
    complete: bool = True


def possible_nodes(
    group: NodeGroup, wanted: Sequence[Needs], resources: Iterable[str], live: LiveValues
) -> Generator[None, None, PossibleNodes]:
    """The nodes for pods that want these labels, in steps; amounts of resources are known or unknown as for a pod."""
    amounts = dict.fromkeys(resources, 0)

    def made(kinds: Iterable[int]) -> NewNode | None:
        node = new_node(group, (_all_of(wanted[at] for at in kinds),), amounts, live)
        return node if isinstance(node, NewNode) else None

    plain, everything = made(()), made(range(len(wanted)))
    if plain and everything and everything.node.allocatable == plain.node.allocatable:
        return PossibleNodes(group, _distinct(group, (everything,)))
    sets: list[tuple[tuple[int, ...], NewNode]] = []
    for at in range(len(wanted)):
        yield
        if node := made((at,)):
            sets.append(((at,), node))
    looks = 0
    for kinds, _ in sets:  # which grows
        for at in range(kinds[-1] + 1, len(wanted)):
            yield
            looks += 1
            if looks > SETS:
                break
            if node := made((*kinds, at)):
                sets.append(((*kinds, at), node))
    nodes = ([plain] if plain else []) + [node for _, node in sets]
    return PossibleNodes(group, _distinct(group, nodes), complete=looks <= SETS)


def _all_of(wanted: Iterable[Needs]) -> dict[str, tuple[Requirement, ...]]:
    """What all of these want."""
    return needs_of(itertools.chain.from_iterable(needs for one in wanted for needs in one.values()))


def _distinct(group: NodeGroup, nodes: Sequence[NewNode]) -> tuple[NewNode, ...]:
    """The nodes, those that are alike once, each with a name and a host name of its own."""
    known: dict[object, NewNode] = {}
    for new in nodes:
        key = tuple(sorted(new.node.labels.items())), tuple(sorted(new.node.allocatable.items()))
        name = f"(new {len(known)} of {group} {group.namespace})"
        labels = {**new.node.labels, HOSTNAME: name}
        known.setdefault(key, replace(new, node=replace(new.node, name=name, uid=name, labels=labels)))
    return tuple(known.values())
