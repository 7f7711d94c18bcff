"""The number of pods of one template that a cluster can run at the same time (``docs/workloads.md``).

Room is what nodes have to give, free or not: a pod may wait until others finish, but must not wait forever.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct

from webhook.placement.constraints.constraint import Constraint, Spread
from webhook.placement.constraints.shared_room import copies_beside
from webhook.placement.constraints.topology_limit import Limit, Places, fitting, on_one
from webhook.placement.decision.verdict import Judged
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.bits import Bits, from_mask, to_slots
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.problem import counted


class ClaimTemplates(Struct, frozen=True):
    """The claims that a StatefulSet makes for each pod: the names and StorageClasses of their templates.

    ``name`` is that of the set, ``start`` the ordinal of its first pod. A class is ``None`` for the default one.
    """

    name: str
    named: tuple[tuple[str, str | None], ...]
    start: int = 0

    def pod(self, at: int) -> str:
        """The name of the pod at that place."""
        return f"{self.name}-{self.start + at}"

    def claim(self, template: str, at: int) -> str:
        """The name of the claim of the pod at that place."""
        return f"{template}-{self.pod(at)}"


class Replicas(Struct, frozen=True):
    """How many pods a workload wants at the same time.

    ``count`` is that number, ``field`` the field of the object that states it, ``said`` its text in messages
    (``replicas 5``). ``spare`` tells that one of the pods is there only while a rollout replaces the others. ``owner``
    is the workload whose live pods make room for these, such as ``Deployment/pipeline``. ``everywhere`` stands for a
    DaemonSet: one pod on every node that its template selects.
    ``in_turn`` tells that one pod may wait until another has finished, so that room for one is enough, ``suspended``
    that no pod is to run yet. ``selector`` are the ``matchLabels`` by which a DaemonSet knows its pods,
    ``claims`` the claims that a StatefulSet makes for its pods. Nodes that groups can make have room for ``new`` pods.
    """

    count: int = 1
    said: str = ""
    spare: bool = False
    owner: str = ""
    everywhere: bool = False
    in_turn: bool = False
    suspended: bool = False
    selector: Mapping[str, str] = {}
    claims: ClaimTemplates | None = None
    field: str = "replicas"
    new: int = 0

    @classmethod
    def of_component(cls, count: int) -> "Replicas":
        """So many pods of a component of an application, which each operator counts in a field of its own."""
        return cls(count, counted(count, "pod"), field="the number of pods")

    @property
    def needed(self) -> int:
        """How many of the pods must be able to run at the same time."""
        return min(self.count, 1) if self.in_turn else self.count

    @property
    def idle(self) -> bool:
        """Whether no pod is to run yet."""
        return self.suspended or not self.count


class _Kept(NamedTuple):
    """What some of the constraints leave to the pods: nodes, and how these are spread.

    ``needs`` are the amounts of one pod; of several amounts of one resource the largest. On the ``pinned`` nodes they
    are compared with what is free. ``together`` are the constraints that put the pods onto one node.
    """

    nodes: Bits
    together: list[Constraint]
    spreads: list[Spread]
    limits: list[Limit]
    needs: dict[str, int]
    pinned: Bits


_Chosen: TypeAlias = frozenset[int] | None
"""Positions of the hard constraints that count; ``None`` for all."""


class ReplicaFit:
    """Answers how many pods like one pod fit, by that pod's hard constraints.

    The parameter ``chosen`` of its methods is a set of positions in ``hard``: only these constraints count, and those
    that no user wrote (without a ``clause``). ``None`` stands for all. ``bounds`` has for each slot how many of the
    pods may be there at most.
    """

    def __init__(self, ask: Ask, hard: Sequence[Judged], world: World, bounds: Row | None = None) -> None:
        self._bounds = bounds
        self.hard = tuple(map(_reachable, hard))
        self._ask = ask
        self._world = world
        self._known: dict[_Chosen, _Kept] = {}
        self._rows: dict[object, Row] = {}
        self._rooms: dict[tuple[int, _Chosen], int] = {}
        self._single: dict[_Chosen, tuple[Places, Row]] = {}

    @property
    def candidates(self) -> Bits:
        """The nodes that can run one of the pods."""
        return self._kept(None).nodes

    def holding(self, count: int) -> Bits:
        """The nodes each of which could run so many of the pods."""
        places, room = self._on_one(None)
        able = np.zeros(int(places.max(initial=-1)) + 1, np.bool_)
        able[places] = room >= count
        return from_mask(able)

    def spreads(self) -> set[Spread]:
        """How the pods must be spread over nodes, by all constraints without a limit by domain."""
        return {*self._kept(None).spreads}

    def limits(self, chosen: Collection[int] | None = None) -> list[Limit]:
        """The limits on the number of pods in each domain of a topology key."""
        return self._kept(chosen).limits

    def room(self, most: int, chosen: Collection[int] | None = None) -> int:
        """How many pods there is room for, at most ``most``."""
        key = most, None if chosen is None else frozenset(chosen)
        if key not in self._rooms:
            self._rooms[key] = self._room(*key)
        return self._rooms[key]

    def _room(self, most: int, chosen: _Chosen) -> int:
        """Count the pods that there is room for, at most ``most``."""
        kept = self._kept(chosen)
        alone = 1 if Spread.APART in kept.spreads else most
        if Spread.TOGETHER not in kept.spreads:
            places = to_slots(kept.nodes)
            return min(most, fitting(np.minimum(self.copies(chosen)[places], alone), places, kept.limits))
        return max(0, min(most, alone, int(self._on_one(chosen)[1].max(initial=0))))

    def _on_one(self, chosen: _Chosen) -> tuple[Places, Row]:
        """The slots of the nodes that meet the constraints, and how many of the pods each node alone can run."""
        if chosen not in self._single:
            kept = self._kept(chosen)
            places = to_slots(kept.nodes)
            room = on_one(self.copies(chosen)[places], places, kept.limits)
            for constraint in kept.together:
                for slot, others in constraint.beside(self._ask, self._world).items():
                    beside = copies_beside(slot, self._ask.requests, others, self._world)
                    room[places == slot] = np.minimum(room[places == slot], beside)
            self._single[chosen] = places, room
        return self._single[chosen]

    def each_new(self, limit: Limit) -> int:
        """How many of the pods a new domain surely takes by the limit; 0 if the pods cannot go to a new domain."""
        places = to_slots(self.candidates)
        return limit.each_new(limit.domains.sums(places, self.copies()[places]))

    def copies(self, chosen: Collection[int] | None = None) -> Row:
        """How many of the pods each slot has room for: in what the node offers, for pods bound to it in what is free.

        Callers must not write.
        """
        kept = self._kept(chosen)
        key = *kept.needs.items(), kept.pinned
        if key not in self._rows:
            row = self._world.inventory.nodes.capacity.copies(kept.needs, free=kept.pinned)
            self._rows[key] = row if self._bounds is None else np.minimum(row, self._bounds)
        return self._rows[key]

    def _kept(self, chosen: Collection[int] | None) -> _Kept:
        """What the constraints that count leave."""
        key = None if chosen is None else frozenset(chosen)
        if key in self._known:
            return self._known[key]
        nodes, pinned, needs = self._world.everything, 0, dict[str, int]()
        together, spreads, limits = list[Constraint](), list[Spread](), list[Limit]()
        for at, judged in enumerate(self.hard):
            constraint = judged.constraint
            if key is not None and at not in key and constraint.clause:
                continue
            spread = constraint.spread
            nodes &= judged.nodes
            pinned |= constraint.pinned
            for resource, amount in constraint.requests.items():
                needs[resource] = max(amount, needs.get(resource, 0))
            if not isinstance(spread, Spread):
                limits.append(spread)
                continue
            spreads.append(spread)
            if spread is Spread.TOGETHER:
                together.append(constraint)
        self._known[key] = _Kept(nodes, together, spreads, limits, needs, pinned)
        return self._known[key]


def _reachable(judged: Judged) -> Judged:
    """The constraint with all nodes that it leaves to some of the pods, which may have to come one after another."""
    spread = judged.constraint.spread
    return judged if isinstance(spread, Spread) else Judged(judged.constraint, spread.reach)
