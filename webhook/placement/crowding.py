"""The text of a refusal of replicas: each of them could run alone, but not all at a time (``docs/workloads.md``)."""

import functools
from collections.abc import Callable, Collection, Iterator, Sequence

from webhook.placement.ask import Ask
from webhook.placement.conflict import fewest
from webhook.placement.constraint import Constraint, Spread
from webhook.placement.constraints.colocation import Together
from webhook.placement.constraints.host import NamedHost
from webhook.placement.constraints.hostpool import PoolHosts
from webhook.placement.constraints.uniform import SameNode
from webhook.placement.crowd import Crowd, Replicas
from webhook.placement.problem import Fault, counted, enumerated, shorten
from webhook.placement.refusal import Refusal, as_written, cannot_hold, within_limit
from webhook.placement.remedy import CLAUSE_LIMIT, REASON_LIMIT, mends, placed, without_each
from webhook.placement.verdict import Verdict
from webhook.placement.world import World

_TRIES = 300
"""Choices of clauses tried for a smaller conflict: all pairs of 24 clauses, at some 20 microseconds each."""

_NAMED = 3
"""Clauses that a warning names: more are cut off with the rest of a long one."""

_HOW = {Spread.APART: ", one on each of ", Spread.TOGETHER: ", all on one of "}
_CONTRARY = _HOW.keys()

Without = Callable[[str], int]
"""Given a clause of the placement: how many of the pods there would be room for if it were not there."""


def crowding(crowd: Crowd, verdict: Verdict, ask: Ask, world: World, replicas: Replicas, without: Without) -> Refusal:
    """The refusal of a workload that there is not enough room for."""
    count, room, never = replicas.count, crowd.room(replicas.count), _never(crowd)
    without = functools.cache(without)
    clauses = (*_limiting(crowd, ask, count, never, without), replicas.said)
    fitting = f"{room} of {count} pods {'fits' if room == 1 else 'fit'}"
    first = f"{cannot_hold(clauses)}: {fitting}{_where(crowd, verdict)}."
    lines = [f"  {shorten(str(reason), REASON_LIMIT)}" for reason in verdict.reasons(world)]
    options = [*_cluster(crowd, verdict, world, count - room), *_own(crowd, ask, replicas, room, without)]
    fault = Fault.INVALID if never else Fault.FORBIDDEN
    return Refusal(within_limit(first, lines, f"Nearest fix: {', or '.join(options)}."), clauses, fault)


def queueing(crowd: Crowd, verdict: Verdict, ask: Ask, replicas: Replicas, without: Without) -> str:
    """The warning about pods that there is not room for at a time, and that run one after the other."""
    room = crowd.room(replicas.count)
    clauses = _limiting(crowd, ask, replicas.count, _never(crowd), functools.cache(without))
    why = enumerated(clauses, _NAMED, lambda clause: shorten(clause, CLAUSE_LIMIT)) + _where(crowd, verdict)
    running = f"{room} of {replicas.count} pods {'runs' if room == 1 else 'run'} at a time"
    return f"{replicas.said}: {running} ({why.lstrip(', ')})"


def _limiting(crowd: Crowd, ask: Ask, count: int, never: Collection[str], without: Without) -> list[str]:
    """The clauses that leave too little room, in the order in which they are written."""
    said = [at for at in range(len(crowd.hard)) if crowd.hard[at].constraint.clause]
    chosen = never or _conflict(crowd, ask, said, count, without)
    written = (judged.constraint.clause for judged in as_written([crowd.hard[at] for at in said], ask))
    return list(dict.fromkeys(clause for clause in written if clause in chosen))


def _never(crowd: Crowd) -> set[str]:
    """Two clauses that no cluster could keep for two such pods: apart, and yet all on one node."""
    constraints = [judged.constraint for judged in crowd.hard]
    apart = next((found.clause for found in constraints if found.spread is Spread.APART), "")
    one = next((found.clause for found in constraints if found.spread is Spread.TOGETHER or _single(found)), "")
    return {apart, one} if apart and one else set()


def _conflict(crowd: Crowd, ask: Ask, said: Sequence[int], count: int, without: Without) -> set[str]:
    """The clauses of a smallest choice that leaves too little room."""
    positions = fewest(said, lambda chosen: crowd.room(count, chosen) >= count, _TRIES)
    # Clauses may change what others mean, as for one pod: whatever makes room by going belongs to the conflict too.
    redone = {text for text in placed(ask) if without(text) >= count}
    return redone | {crowd.hard[at].constraint.clause for at in positions}


def _where(crowd: Crowd, verdict: Verdict) -> str:
    """Where the pods that there is room for can run, and how they lie there."""
    found, total = verdict.candidates.bit_count(), verdict.everything.bit_count()
    spreads = crowd.spreads()
    # Pods that must be both apart and together are at most one, wherever that is.
    how = " on " if found == 1 else next((said for spread, said in _HOW.items() if spread in spreads), " on ")
    return "" if spreads >= _CONTRARY else f"{how}{found} of {counted(total, 'node')}"


def _cluster(crowd: Crowd, verdict: Verdict, world: World, missing: int) -> Iterator[str]:
    """What would help in the cluster, where anything would."""
    spreads = crowd.spreads()
    fixed = [judged.constraint for judged in crowd.hard if _fixed(judged.constraint)]
    if fixed or spreads >= _CONTRARY:
        if not spreads & {Spread.TOGETHER} and len(fixed) == 1 and isinstance(fixed[0], PoolHosts):
            yield from _larger(fixed[0])
        return
    if Spread.TOGETHER in spreads:
        yield "add a node with room for all of them"
        return
    opened = without_each(verdict.everything, [judged.nodes for judged in crowd.hard])
    found = next(mends(crowd.hard, [nodes & ~verdict.candidates for nodes in opened], world), "")
    if Spread.APART in spreads and found:
        yield f"{found} ({missing} more nodes are needed)" if missing > 1 else found
    else:
        more = f"nodes with room for {missing} more" if missing > 1 else "a node with room for one more"
        yield f"add {more} of them"


def _fixed(constraint: Constraint) -> bool:
    """Whether no further node can meet it: it says which they are, or the pods that are there hold it to theirs."""
    if isinstance(constraint, PoolHosts):
        return constraint.pool.sized
    return _single(constraint) or (isinstance(constraint, Together | SameNode) and bool(constraint.held))


def _single(constraint: Constraint) -> bool:
    """Whether it says which node it is."""
    if isinstance(constraint, PoolHosts):
        return constraint.index is not None
    return bool(constraint.node) or isinstance(constraint, NamedHost)


def _larger(hosts: PoolHosts) -> Iterator[str]:
    if hosts.index is None:
        yield f"use a larger HostPool than {hosts.pool.spl_name}"


def _own(crowd: Crowd, ask: Ask, replicas: Replicas, room: int, without: Without) -> Iterator[str]:
    """What the user could change: the number of pods, or a clause."""
    number = replicas.said.partition(" ")[0]
    if replicas.spare and room == replicas.count - 1:
        yield "set maxUnavailable to 1, so that a rollout needs no room to spare"
    elif room > replicas.spare:
        yield f"lower {number} to {room - replicas.spare}"
    else:
        yield f"set maxUnavailable to 1 and lower {number} to {room}"
    count, verb, text = max(_drops(crowd, ask, replicas, without), key=lambda option: option[0], default=(0, "", ""))
    if count > room:
        yield f"{verb} {shorten(text, CLAUSE_LIMIT)} ({count} of {replicas.count} would fit)"


def _drops(crowd: Crowd, ask: Ask, replicas: Replicas, without: Without) -> Iterator[tuple[int, str, str]]:
    """For each of the user's words, how many pods would fit if it were not there, and what to do with it."""
    texts = placed(ask)
    yield from ((without(text), "drop", text) for text in texts)
    positions = set(range(len(crowd.hard)))
    for at, judged in enumerate(crowd.hard):
        clause = judged.constraint.clause
        if clause and clause not in texts:
            yield crowd.room(replicas.count, positions - {at}), judged.constraint.verb, clause
