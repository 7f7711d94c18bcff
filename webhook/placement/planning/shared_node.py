"""Members of a group whose pods have to share a node: which ones these are, and whether they may."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from webhook.placement.inventory.pool_index import Name
from webhook.placement.planning.members import Demand, Member
from webhook.placement.planning.search.assignment import Key

Kept = Sequence[Sequence[Demand]]
"""The conditions of each member that are not dropped."""


def united(members: Sequence[int], kept: Kept) -> Iterator[list[int]]:
    """The members in sets that have to share a node."""
    of_key: dict[Key, int] = {}
    leader = {at: at for at in members}

    def find(at: int) -> int:
        while leader[at] != at:
            at = leader[at]
        return at

    for at in members:
        for demand in kept[at]:
            for key in demand.together:
                leader[find(at)] = find(of_key.setdefault(key, at))
    sets: dict[int, list[int]] = {}
    for at in members:
        sets.setdefault(find(at), []).append(at)
    yield from sets.values()


def named(conditions: Kept, members: Iterable[int]) -> frozenset[Name]:
    """The exclusive pools of the group that conditions of these members name."""
    return frozenset(demand.host[0] for at in members for demand in conditions[at] if demand.host and demand.exclusive)


def split(together: Sequence[tuple[Member, int, Sequence[Demand]]], isolated: Mapping[Key, frozenset[Key]]) -> bool:
    """Whether pods that have to share a node must not share one; of each member the number and the conditions.

    ``isolated`` are the kins of which pods are isolated, by the key of all pods of their job.
    """
    marked = [member.marked(kept, isolated) for member, _, kept in together]
    for member, count, kept in together:
        avoided = member.avoided(kept)
        for (other, _, _), marks in zip(together, marked, strict=True):
            if not (member is other and count == 1) and not avoided.isdisjoint(marks):
                return True
    return False
