"""The HostPool that ``host(P)`` names: that of the pod's job, or else one of the namespace that belongs to no job."""

from typing import Final

from msgspec import Struct

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.allocation import pool_of
from webhook.placement.request.annotated_pod import AnnotatedPod
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import DEFAULT_POOL, ClauseName, PlacementClause, PoolName
from webhook.placement.text import keys
from webhook.placement.text.nearest import nearest
from webhook.placement.text.problem import Fault, Problem, counted, enumerated, quote

_LISTED = 10
"""Maximum number of names listed in a message."""

_COMPARED = 100
"""A mistyped name is compared with at most so many names: one comparison takes some 20 microseconds."""

_CLOSED: Final = frozenset({Phase.FAILED, Phase.RELEASING})


class NamedPools(Struct, frozen=True, gc=False):
    """The pool of each clause ``host(P)`` that can be used, a problem for each other clause, and the ``closed`` pools.

    Clauses that are only preferred have ``warnings`` in place of problems. A closed pool has failed or is being
    deleted. A pod that was admitted before, or may wait, tolerates its taint.
    """

    pools: tuple[tuple[PlacementClause, Pool], ...]
    problems: tuple[Problem, ...]
    closed: tuple[tuple[PlacementClause, Pool], ...]
    warnings: tuple[str, ...]


def look_up(pod: AnnotatedPod, namespace: str, world: World) -> NamedPools:
    """The pool of every clause ``host(P)`` of the pod, and a problem for each that has no usable pool.

    Only pools of the pod's own namespace and job are found, or listed in messages.
    """
    pools: list[tuple[PlacementClause, Pool]] = []
    problems: list[Problem] = []
    closed: list[tuple[PlacementClause, Pool]] = []
    for clause in pod.placement.by_name.get(ClauseName.HOST, ()):
        if not isinstance(clause.argument, PoolName):
            continue
        if clause.argument.name == DEFAULT_POOL and clause.argument.index is None:
            continue
        pool = _named(clause.argument, namespace, pod.job, world.inventory, listing=not problems)
        wrong = pool if isinstance(pool, str) else _unusable(pool, clause.argument, world)
        if isinstance(pool, Pool) and not wrong:
            pools.append((clause, pool))
            continue
        problems.append(_problem(clause, wrong, pod.annotations.get(keys.PLACEMENT, "")))
        if isinstance(pool, Pool) and pool.phase in _CLOSED:
            closed.append((clause, pool))
    if problems and ClauseName.HOST in pod.placement.soft:
        return NamedPools(tuple(pools), (), tuple(closed), tuple(problem.message for problem in problems))
    return NamedPools(tuple(pools), tuple(problems), tuple(closed), ())


def _problem(clause: PlacementClause, message: str, text: str) -> Problem:
    field = f"metadata.annotations[{keys.PLACEMENT}]"
    return Problem(field, f"{clause}: {message}", text, clause.offset, Fault.FORBIDDEN)


def _named(name: PoolName, namespace: str, job: str, inventory: Inventory, *, listing: bool) -> Pool | str:
    """The pool of that name, or why it is not found; with ``listing`` that text lists the pools that exist."""
    chosen = pool_of(name.name, namespace, job, inventory)
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        return f"{len(chosen)} HostPools have that name: {enumerated(sorted(pool.name for pool in chosen), _LISTED)}"
    missing = f"this namespace has no HostPool {quote(name.name)} that the pod may use"
    if not listing:
        return missing
    usable = {pool.spl_name for pool in inventory.pools.values() if _usable(pool, namespace, job)}
    near = nearest(name.name, sorted(usable)) if len(usable) <= _COMPARED else ""
    hint = f", did you mean {near}?" if near else ""
    there_are = f"known HostPools: {enumerated(sorted(usable), _LISTED)}" if usable else "there are none"
    return f"{missing}{hint or ';'} {there_are}"


def _usable(pool: Pool, namespace: str, job: str) -> bool:
    """Whether a pod of that namespace and job may name the pool."""
    return pool.namespace == namespace and (pool.job is None or pool.job == job)


def _unusable(pool: Pool, name: PoolName, world: World) -> str:
    """Why a pod cannot use the pool that it names, or nothing.

    A pool that has failed gets its hosts when nodes come, so a pod that may wait waits for these by the pool's label.
    """
    if pool.phase is Phase.FAILED and not world.patient:
        return f"HostPool {pool.spl_name} failed: {pool.reason or 'its controller gave no reason'}"
    if pool.phase is Phase.RELEASING:
        return f"HostPool {pool.spl_name} is being deleted"
    if name.index is None:
        return ""
    if not pool.sized:
        return f"HostPool {pool.spl_name} has no size, so its hosts have no index"
    size = len(pool.hosts) if pool.hosts is not None else pool.size or 0
    if name.index >= size:
        last = f"0 to {size - 1}" if size > 1 else "0 only"
        return f"HostPool {pool.spl_name} has {counted(size, 'host')}, index {last}"
    return ""
