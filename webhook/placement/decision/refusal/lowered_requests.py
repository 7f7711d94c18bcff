"""The largest requests with which what is refused would fit: to what a clause has to be lowered.

See ``docs/refusals.md``, "Words".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from webhook.placement.constraints.constraint import Constraint
from webhook.placement.decision.refusal.conflict import Search, answered
from webhook.placement.decision.replica_fit import ReplicaFit
from webhook.placement.decision.verdict import Judged
from webhook.placement.inventory.capacity import Row
from webhook.placement.kube.amounts import Tally, amount, ordered
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import LOWER
from webhook.placement.text.rule import Rule

_SHARES: Final = 16
"""A node is divided among at most so many pods: with more on one node amounts differ by little."""

_RESOURCES: Final = 8
"""Maximum number of resources for which lower amounts are searched: each takes some evaluations."""

_STEPS: Final = 4096
"""So many amounts below a request are told apart in twelve questions."""

_COARSE: Final[Mapping[str, tuple[int, ...]]] = {CPU: (1000, 10), MEMORY: (1 << 30, 1 << 20)}
"""Amounts are rounded down to multiples of the first of these that is requested in multiples: cores, GiB."""


def largest(requested: Tally, offered: Mapping[str, Iterable[int]]) -> Search[Tally, Tally | None]:
    """Find the largest amounts that do not fail, resource by resource; ``None`` if even nothing fails.

    ``offered`` are the amounts of each resource worth trying, in any order.
    """
    lowered: dict[str, int] = dict.fromkeys(requested, 0)
    if (yield lowered):
        return None
    for resource in ordered(requested):
        most = requested[resource]
        steps = sorted({0, most, *(each for each in offered[resource] if 0 < each < most)})
        low, high = 0, len(steps) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (low, middle - 1) if (yield {**lowered, resource: steps[middle]}) else (middle, high)
        lowered[resource] = steps[low]
    return lowered


def shares(amounts: Iterable[int], resource: str, requested: int, count: int) -> set[int]:
    """The amounts that up to ``count`` pods on one node could each have of it, rounded down as ``requested`` is."""
    units = _units(resource, requested)
    divided = {each // pods for each in {*amounts} for pods in range(1, min(count, _SHARES) + 1)}
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


def _rounded(amount: int, units: Sequence[int]) -> int:
    """The largest multiple of the first unit of which there is one, that is no more than the amount."""
    unit = next((unit for unit in units if unit <= amount), 1)
    return amount - amount % unit


def said(requested: Tally, lowered: Tally | None) -> str:
    """To what the requests are lowered, in words; empty if there are no such amounts, or next to nothing of one."""
    lower = [one for one in ordered(requested) if lowered is not None and lowered[one] < requested[one]]
    if lowered is None or not all(lowered[one] for one in lower):
        return ""
    return ", ".join(f"{one} {amount(one, lowered[one])}" for one in lower)


def lowered_of_pod(
    hard: Sequence[Judged], dropped: Collection[Clause], remaining: Sequence[Judged], ask: Ask, world: World
) -> tuple[str, int]:
    """To what requests among the ``dropped`` clauses have to be lowered for one pod, and how many nodes then fit.

    ``remaining`` are the constraints of the pod without these clauses: they may mean something else then, such as a
    spread constraint that counts pods on other nodes. Empty and 0 if no requests are among the clauses, or lower
    requests alone are not known to be enough.
    """
    constraint = _requests(hard, ask, dropped)
    if constraint is None:
        return "", 0
    # What hardware requirements ask for together with the requests is judged as if these were not lowered.
    sums = (judged for judged in hard if judged.constraint.requests and judged.constraint.clause not in dropped)
    nodes: Bits = world.everything
    for judged in (*remaining, *sums):
        nodes &= judged.nodes
    slots = to_slots(nodes)
    rows = {one: world.inventory.nodes.capacity.rows(one)[0][slots] for one in constraint.requests}
    for judged in remaining:
        if beside := judged.constraint.beside(ask, world):
            _take_out(rows, slots, beside)

    def fitting(amounts: Tally) -> int:
        enough = np.ones(len(slots), np.bool_)
        for one, wanted in amounts.items():
            enough &= rows[one] >= wanted
        return int(np.count_nonzero(enough))

    offered = {one: shares(row.tolist(), one, constraint.requests[one], 1) for one, row in rows.items()}
    lowered = answered(largest(constraint.requests, offered), lambda amounts: not fitting(amounts))
    text = said(constraint.requests, lowered)
    return text, fitting(lowered) if lowered and text else 0


def _take_out(rows: Mapping[str, Row], slots: Row, beside: Mapping[int, Sequence[Tally]]) -> None:
    """Take out of the amounts of each node what pods request that share it with the pod."""
    for at in np.flatnonzero(np.isin(slots, [*beside])):
        for tally in beside[int(slots[at])]:
            for one, row in rows.items():
                row[at] = max(0, row[at] - tally.get(one, 0))


def lowered_of_replicas(fit: ReplicaFit, ask: Ask, dropped: Collection[Clause], count: int, world: World) -> str:
    """To what requests among the ``dropped`` clauses have to be lowered for ``count`` pods; empty if unknown."""
    constraint = _requests(fit.hard, ask, dropped)
    if constraint is None or len(dropped) > 1:
        return ""
    slots = to_slots(world.everything)
    capacity = world.inventory.nodes.capacity
    offered = {
        one: shares(capacity.rows(one)[0][slots].tolist(), one, asked, count)
        for one, asked in constraint.requests.items()
    }

    def too_few(amounts: Tally) -> bool:
        asked = {one: wanted for one, wanted in amounts.items() if wanted}
        lower: Constraint = replace(constraint, requests=asked)  # type: ignore[type-var]
        hard = [Judged(lower, lower.filter(world)) if each.constraint is constraint else each for each in fit.hard]
        return ReplicaFit(replace(ask, requests={**ask.requests, **amounts}), hard, world).room(count) < count

    return said(constraint.requests, answered(largest(constraint.requests, offered), too_few))


def _requests(hard: Iterable[Judged], ask: Ask, dropped: Collection[Clause]) -> Constraint | None:
    """The constraint of requests that can be lowered, if its clause is among these and no other rule bounds them."""
    if ask.provision.cpu_bound:
        return None  # a bound core is a whole one
    candidates = (judged.constraint for judged in hard if judged.constraint.clause in dropped)
    own = next((one for one in candidates if one.clause and one.rule == Rule.REQUESTS and one.verb == LOWER), None)
    return own if own and not own.pinned and len(own.requests) <= _RESOURCES else None
