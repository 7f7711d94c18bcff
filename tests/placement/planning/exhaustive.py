"""Whether the members of a job can all be placed, and at what cost, found by trying every way. For small jobs only.

Nothing of the product is used, so that its answers can be compared with these. An instance says what is left to decide:
which nodes a member may have by itself (``allowed``) and which nodes a pool may take (``eligible``) are given.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations

Hosts = Mapping[str, Sequence[str]]
"""Nodes of each pool by index."""

Places = Mapping[str, str]
"""The node of each member, both by name."""

Cost = Callable[[str, str, int], int]
"""What a member costs on a node as the first (1), second (2), ... member there."""


@dataclass(frozen=True)
class Node:
    """A node and the amounts that are free on it; a resource that is not listed is not there."""

    name: str
    free: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pool:
    """A pool that has its ``hosts``, or is to get ``size`` distinct nodes out of the ``eligible`` ones.

    On hosts of an ``exclusive`` pool run only members that name it, and they are hosts of no other pool.
    """

    name: str
    size: int = 0
    eligible: frozenset[str] = frozenset()
    exclusive: bool = False
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Use:
    """A pool that a member names: any host of it, or the one with this index."""

    pool: str
    index: int | None = None


@dataclass(frozen=True)
class Member:
    """A processing element, or a replica.

    All members with a key of ``together`` have one node. A member that ``avoids`` a key shares its node with no other
    member that ``marks`` it, whichever of the two was there first. Hosts of the pools ``welcome`` may run the member
    even if they are exclusive.
    """

    name: str
    allowed: frozenset[str]
    requests: Mapping[str, int] = field(default_factory=dict)
    together: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    avoids: frozenset[str] = frozenset()
    uses: tuple[Use, ...] = ()
    welcome: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Instance:
    """A job and the cluster that it is to run on."""

    nodes: tuple[Node, ...]
    members: tuple[Member, ...]
    pools: tuple[Pool, ...] = ()


def wrong_hosts(instance: Instance, hosts: Hosts) -> list[str]:
    """What is wrong with the hosts of the pools; empty if they may have them. All pools have to be there."""
    found = []
    for pool in instance.pools:
        own = hosts[pool.name]
        if pool.hosts and tuple(own) != pool.hosts:
            found.append(f"pool {pool.name} loses its hosts")
        if not pool.hosts and (len(own) != pool.size or len(set(own)) != pool.size):
            found.append(f"pool {pool.name} has not {pool.size} distinct hosts")
        if not pool.hosts and not set(own) <= pool.eligible:
            found.append(f"pool {pool.name} has hosts that are not eligible")
        others = {node for other in instance.pools if other is not pool for node in hosts[other.name]}
        if pool.exclusive and set(own) & others:
            found.append(f"exclusive pool {pool.name} shares a host with another pool")
    return found


def wrong_places(instance: Instance, hosts: Hosts, places: Places) -> list[str]:
    """What is wrong with the places of the members that have one; empty if they can all run there."""
    placed = [member for member in instance.members if member.name in places]
    return [
        *_wrong_nodes(instance, hosts, placed, places),
        *_wrong_company(placed, places),
        *_wrong_amounts(instance, placed, places),
    ]


def _wrong_nodes(instance: Instance, hosts: Hosts, placed: Sequence[Member], places: Places) -> Iterator[str]:
    for member in placed:
        node = places[member.name]
        if node not in member.allowed:
            yield f"{member.name} may not run on {node}"
        for use in member.uses:
            own = hosts[use.pool]
            if node not in (own if use.index is None else own[use.index : use.index + 1]):
                yield f"{member.name} is on {node}, which is not its host of pool {use.pool}"
        for pool in instance.pools:
            if (
                pool.exclusive
                and node in hosts[pool.name]
                and pool.name not in {*member.welcome, *(use.pool for use in member.uses)}
            ):
                yield f"{member.name} is on {node}, which is exclusive to pool {pool.name}"


def _wrong_company(placed: Sequence[Member], places: Places) -> Iterator[str]:
    for one in placed:
        for other in placed:
            if one is other:
                continue
            same = places[one.name] == places[other.name]
            if not same and one.together & other.together:
                yield f"{one.name} and {other.name} are not together"
            if same and one.avoids & other.marks:
                yield f"{one.name} is on the node of {other.name}"


def _wrong_amounts(instance: Instance, placed: Sequence[Member], places: Places) -> Iterator[str]:
    for node in instance.nodes:
        used: dict[str, int] = {}
        for member in placed:
            if places[member.name] == node.name:
                for resource, amount in member.requests.items():
                    used[resource] = used.get(resource, 0) + amount
        for resource, amount in used.items():
            if amount > node.free.get(resource, 0):
                yield f"{node.name} has too little {resource}"


def all_hosts(instance: Instance) -> Iterator[dict[str, tuple[str, ...]]]:
    """Every way to give the pools their hosts; their order counts only where a member names an index."""
    indexed = {use.pool for member in instance.members for use in member.uses if use.index is not None}

    def given(pools: Sequence[Pool]) -> Iterator[dict[str, tuple[str, ...]]]:
        if not pools:
            yield {}
            return
        for rest in given(pools[1:]):
            for own in _ways(pools[0], ordered=pools[0].name in indexed):
                yield {pools[0].name: own, **rest}

    return (hosts for hosts in given(instance.pools) if not wrong_hosts(instance, hosts))


def _ways(pool: Pool, *, ordered: bool) -> Iterator[tuple[str, ...]]:
    if pool.hosts:
        return iter((pool.hosts,))
    return (permutations if ordered else combinations)(sorted(pool.eligible), pool.size)


def all_places(instance: Instance, hosts: Hosts) -> Iterator[dict[str, str]]:
    """Every way to place all members, the pools having these hosts.

    What is wrong with some of the members does not get right by more of them, so a way is left as soon as it is wrong.
    """

    def placed(members: Sequence[Member], places: dict[str, str]) -> Iterator[dict[str, str]]:
        if not members:
            yield places
            return
        for node in instance.nodes:
            more = {**places, members[0].name: node.name}
            if not wrong_places(instance, hosts, more):
                yield from placed(members[1:], more)

    return placed(instance.members, {})


def can_be_placed(instance: Instance) -> bool:
    """Whether there is a way for all members at once."""
    return any(True for hosts in all_hosts(instance) for _ in all_places(instance, hosts))


def least_cost(instance: Instance, cost: Cost) -> int | None:
    """The lowest total cost of any way; ``None`` if there is no way."""
    totals = (total_cost(places, cost) for hosts in all_hosts(instance) for places in all_places(instance, hosts))
    return min(totals, default=None)


def total_cost(places: Places, cost: Cost) -> int:
    """The cost of these places, the members of each node being counted in the order that costs least."""
    by_node: dict[str, list[str]] = {}
    for member, node in places.items():
        by_node.setdefault(node, []).append(member)
    return sum(
        min(sum(cost(member, node, at) for at, member in enumerate(order, 1)) for order in permutations(members))
        for node, members in by_node.items()
    )
