"""The largest requests with which what is refused would fit: to what a clause has to be lowered.

See ``docs/refusals.md``, "Words".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.refusal.conflict import Search, answered
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged, Verdict, zoned
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.amounts import Tally, amount, ordered
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.requests import lowered, pod_requests
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import LOWER, Drop
from webhook.placement.text.rule import Rule

SHARES: Final = 16
"""A node is divided among at most so many pods: with more on one node amounts differ by little."""

_RESOURCES: Final = 8
"""Maximum number of short resources for which lower amounts are searched: each takes some evaluations."""

_REQUESTED: Final = 32
"""Maximum number of resources of requests that are lowered to amounts: each is tried, and costs a look at all nodes."""

_CORE: Final = 1000
"""Milli-units of cpu of a whole core."""

_STEPS: Final = 4096
"""So many amounts below a request are told apart in twelve questions."""

_COARSE: Final[Mapping[str, tuple[int, ...]]] = {CPU: (1000, 10), MEMORY: (1 << 30, 1 << 20)}
"""Amounts are rounded down to multiples of the first of these that is requested in multiples: cores, GiB."""


class Lowerable(Struct, frozen=True):
    """The requests by a ``constraint`` of a pod, as far as they can be lowered; ``clause`` is what messages call them.

    The amounts in ``least`` have to stay. With ``whole``, cpu is lowered by whole cores. Requests of which nothing may
    be left are dropped if they are ``droppable``; else an amount of 0 has to be written, since an operator, or the
    default of a namespace, may give an amount where none is written.
    """

    constraint: Constraint
    clause: Clause
    least: Tally = {}
    whole: bool = False
    droppable: bool = False

    @classmethod
    def of(cls, constraint: Constraint, ask: Ask, *, droppable: bool = False) -> "Lowerable | None":
        """The requests by a constraint of a pod; ``None`` if they are none, or have to be dropped, or are too many."""
        clause = constraint.clause
        if clause is None or not lowers(constraint) or not 0 < len(constraint.requests) <= _REQUESTED:
            return None
        bound = ask.provision.cpu_bound
        fixed = bound or ask.fixed or ask.spec.overhead
        kept = pod_requests(lowered(ask.spec, whole=bound, fixed=ask.fixed))[0] if fixed else {}
        least = {one: min(kept.get(one, 0), asked) for one, asked in constraint.requests.items()}
        return cls(constraint, clause, least, bound, droppable)

    @property
    def requested(self) -> Tally:
        """The amounts that are requested."""
        return self.constraint.requests

    def steps(self, resource: str, free: Iterable[int], count: int, *, every: bool = False) -> set[int]:
        """The amounts of the resource worth trying for ``count`` pods if nodes have so much of it ``free``.

        These are all amounts if ``every`` one is asked for and they are few, else the shares of a node.
        """
        asked = self.requested[resource]
        if self.whole and resource == CPU:
            return {*range(asked, self.least[CPU], -_CORE)}
        return (steps_below(resource, asked) if every else None) or shares(free, resource, asked, count)

    def largest(self, offered: Mapping[str, Iterable[int]]) -> Search[Tally, Tally | None]:
        """Find the largest amounts that do not fail, resource by resource; ``None`` if even the least fail.

        ``offered`` are the amounts of each resource worth trying, in any order. Of the resources that are short only
        the first ``_RESOURCES`` are searched, and of the others the least is left.
        """
        amounts = dict(self.least)
        if (yield amounts):
            return None
        short = 0
        for resource in ordered(amounts):
            lowest, most = amounts[resource], self.requested[resource]
            if not (yield {**amounts, resource: most}):
                amounts[resource] = most
                continue
            short += 1
            between = (each for each in offered[resource] if lowest < each < most)
            steps = [lowest, *(sorted(between) if short <= _RESOURCES else ())]
            low, high = 0, len(steps) - 1
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (low, middle - 1) if (yield {**amounts, resource: steps[middle]}) else (middle, high)
            amounts[resource] = steps[low]
        return amounts

    def fix(self, dropped: Iterable[Clause], verbs: Mapping[Clause, str], gain: str, amounts: Tally) -> Drop:
        """The fix that drops these clauses and lowers this one of them to the amounts; with nothing left, drops it."""
        if self.droppable and not any(amounts.values()):
            return Drop.of(dropped, {**verbs, self.clause: "drop"}, gain)
        lower = (one for one in ordered(amounts) if amounts[one] < self.requested[one])
        return Drop.of(dropped, verbs, gain, ", ".join(f"{one} {amount(one, amounts[one])}" for one in lower))


def lowers(constraint: Constraint) -> bool:
    """Whether the constraint is about requests that can be lowered."""
    return constraint.rule == Rule.REQUESTS and constraint.verb == LOWER


def shares(amounts: Iterable[int], resource: str, requested: int, count: int) -> set[int]:
    """The amounts that up to ``count`` pods on one node could each have of it, rounded down as ``requested`` is."""
    units = _units(resource, requested)
    divided = {each // pods for each in {*amounts} for pods in range(1, min(count, SHARES) + 1)}
    return {_rounded(each, units) for each in divided}


def steps_below(resource: str, requested: int) -> set[int] | None:
    """All amounts below the request that are rounded as it is; ``None`` if there are too many to be tried."""
    coarse, *finer = _units(resource, requested)
    if requested // coarse > _STEPS:
        return None
    return {*range(coarse, requested, coarse)}.union(*(range(unit, coarse, unit) for unit in finer))


def _units(resource: str, requested: int) -> list[int]:
    """The units of which lower amounts are multiples, the largest first."""
    return [unit for unit in _COARSE.get(resource, ()) if requested % unit == 0] or [1]


def rounded_as(resource: str, amount: int, requested: int) -> int:
    """The amount rounded down in the units in which so much of the resource is requested."""
    return _rounded(amount, _units(resource, requested))


def _rounded(amount: int, units: Sequence[int]) -> int:
    """The largest multiple of the first unit of which there is one, that is no more than the amount."""
    unit = next((unit for unit in units if unit <= amount), 1)
    return amount - amount % unit


def lowered_for_pod(
    verdict: Verdict, dropped: Sequence[Clause], remaining: Sequence[Judged], ask: Ask, world: World
) -> tuple[Lowerable, Tally, int] | None:
    """To what requests among the ``dropped`` clauses have to be lowered for one pod, and how many nodes then fit.

    ``remaining`` are the constraints of the pod without these clauses: they may mean something else then, such as a
    spread constraint that counts pods on other nodes. ``None`` if no such requests are among the clauses, or lower
    requests alone are not known to be enough, as where kubelets have to align them.
    """
    lowerable = _lowerable(verdict.hard, ask, dropped)
    if lowerable is None:
        return None
    if world.inventory.topologies.by_node and zoned(verdict.hard) and not zoned(remaining):
        return None
    # What hardware requirements ask for together with the requests is judged as if these were not lowered.
    sums = (judged for judged in verdict.hard if judged.constraint.requests and judged.constraint.clause not in dropped)
    nodes: Bits = world.everything
    for judged in (*remaining, *sums):
        nodes &= judged.nodes
    slots = to_slots(nodes)
    rows = {one: _offered(one, lowerable.constraint.pinned, world)[slots] for one in lowerable.requested}
    for judged in remaining:
        if beside := judged.constraint.beside(ask, world):
            _take_out(rows, slots, beside)

    def fitting(amounts: Tally) -> int:
        enough = np.ones(len(slots), np.bool_)
        for one, wanted in amounts.items():
            enough &= rows[one] >= wanted
        return int(np.count_nonzero(enough))

    offered = {one: lowerable.steps(one, row.tolist(), 1) for one, row in rows.items()}
    amounts = answered(lowerable.largest(offered), lambda amounts: not fitting(amounts))
    return None if amounts is None else (lowerable, amounts, fitting(amounts))


def _offered(resource: str, pinned: Bits, world: World) -> Row:
    """What each node has of the resource for one pod: all that it offers, and on ``pinned`` nodes what is free."""
    allocatable, used = world.inventory.nodes.capacity.rows(resource)
    bound = to_slots(pinned)
    offered = allocatable.copy()
    offered[bound] = np.maximum(0, allocatable[bound] - used[bound])
    return offered


def _take_out(rows: Mapping[str, Row], slots: Row, beside: Mapping[int, Sequence[Tally]]) -> None:
    """Take out of the amounts of each node what pods request that share it with the pod."""
    for at in np.flatnonzero(np.isin(slots, [*beside])):
        for tally in beside[int(slots[at])]:
            for one, row in rows.items():
                row[at] = max(0, row[at] - tally.get(one, 0))


def lowered_for_replicas(
    fit: ReplicaFit, ask: Ask, dropped: Clause, count: int, world: World
) -> tuple[Lowerable, Tally] | None:
    """To what the requests of the ``dropped`` clause have to be lowered for ``count`` pods; ``None`` if unknown."""
    lowerable = _lowerable(fit.hard, ask, (dropped,))
    if lowerable is None:
        return None
    constraint = lowerable.constraint
    slots = to_slots(world.everything)
    offered = {
        one: lowerable.steps(one, _offered(one, constraint.pinned, world)[slots].tolist(), count)
        for one in lowerable.requested
    }

    def too_few(amounts: Tally) -> bool:
        asked = {one: wanted for one, wanted in amounts.items() if wanted}
        lower: Constraint = replace(constraint, requests=asked)  # type: ignore[type-var]
        hard = [Judged(lower, lower.filter(world)) if each.constraint is constraint else each for each in fit.hard]
        return ReplicaFit(replace(ask, requests={**ask.requests, **amounts}), hard, world).room(count) < count

    amounts = answered(lowerable.largest(offered), too_few)
    return None if amounts is None else (lowerable, amounts)


def _lowerable(hard: Iterable[Judged], ask: Ask, dropped: Collection[Clause]) -> Lowerable | None:
    """What can be lowered of these clauses; ``None`` if all of them can only be dropped.

    The pod has been judged without its requests, with all defaults, so these can be dropped.
    """
    own = (judged.constraint for judged in hard if judged.constraint.clause in dropped)
    return next(filter(None, (Lowerable.of(constraint, ask, droppable=True) for constraint in own)), None)
