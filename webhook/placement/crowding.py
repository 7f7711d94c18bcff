"""The text of a refusal of replicas: each of them could run alone, but not all at a time (``docs/workloads.md``)."""

import functools
from collections.abc import Callable, Iterator, Sequence

from webhook.placement.ask import Ask
from webhook.placement.conflict import fewest
from webhook.placement.constraint import Constraint, Spread
from webhook.placement.constraints.colocation import Together
from webhook.placement.constraints.host import NamedHost
from webhook.placement.constraints.hostpool import PoolHosts
from webhook.placement.constraints.uniform import SameNode
from webhook.placement.crowd import Crowd, Replicas
from webhook.placement.keys import HOSTNAME
from webhook.placement.problem import Fault, counted, shorten
from webhook.placement.refusal import Refusal, as_written, cannot_hold, within_limit
from webhook.placement.remedy import CLAUSE_LIMIT, REASON_LIMIT, mends, placed, without_each
from webhook.placement.topology_limit import OnePerDomain
from webhook.placement.verdict import Verdict
from webhook.placement.world import World

_TRIES = 300
"""Choices of clauses tried for a smaller conflict: all pairs of 24 clauses, at some 20 microseconds each."""

_HOW = {Spread.APART: ", one on each of ", Spread.TOGETHER: ", all on one of "}
_CONTRARY = _HOW.keys()

Without = Callable[[str], int]
"""Given a clause of the placement: how many of the pods there would be room for if it were not there."""


def crowding(crowd: Crowd, verdict: Verdict, ask: Ask, world: World, replicas: Replicas, without: Without) -> Refusal:
    """The refusal of a workload that there is not enough room for."""
    count, room, never = replicas.count, crowd.room(replicas.count), _never(crowd)
    without = functools.cache(without)
    said = [at for at in range(len(crowd.hard)) if crowd.hard[at].constraint.clause]
    chosen = never or _conflict(crowd, ask, said, count, without)
    written = (judged.constraint.clause for judged in as_written([crowd.hard[at] for at in said], ask))
    clauses = (*dict.fromkeys(clause for clause in written if clause in chosen), replicas.said)
    first = f"{cannot_hold(clauses)}: {_fitting(crowd, verdict, world, room, count)}."
    lines = [f"  {shorten(str(reason), REASON_LIMIT)}" for reason in verdict.reasons(world)]
    options = [*_cluster(crowd, verdict, world, count - room), *_own(crowd, ask, replicas, room, without)]
    fault = Fault.INVALID if never else Fault.FORBIDDEN
    return Refusal(within_limit(first, lines, f"Nearest fix: {', or '.join(options)}."), clauses, fault)


def _never(crowd: Crowd) -> set[str]:
    """Two clauses that no cluster could keep for two such pods: apart, and yet all on one node."""
    constraints = [judged.constraint for judged in crowd.hard]
    apart = next((found.clause for found in constraints if found.spread is Spread.APART), "")
    together = next((found.clause for found in constraints if found.spread is Spread.TOGETHER), "")
    one = together or next((found.clause for found in constraints if _single(found)), "")
    if together and not apart:
        # Pods that share a node share its host name, which is there: they are told to be together by it.
        apart = next((found.clause for found in constraints if _by_host(found)), "")
    return {apart, one} if apart and one else set()


def _by_host(constraint: Constraint) -> bool:
    """Whether it lets only one of the pods be on one host."""
    return isinstance(constraint.spread, OnePerDomain) and constraint.spread.key == HOSTNAME


def _conflict(crowd: Crowd, ask: Ask, said: Sequence[int], count: int, without: Without) -> set[str]:
    """The clauses of a smallest choice that leaves too little room."""
    positions = fewest(said, lambda chosen: crowd.room(count, chosen) >= count, _TRIES)
    # Clauses may change what others mean, as for one pod: whatever makes room by going belongs to the conflict too.
    redone = {text for text in placed(ask) if without(text) >= count}
    return redone | {crowd.hard[at].constraint.clause for at in positions}


def _fitting(crowd: Crowd, verdict: Verdict, world: World, room: int, count: int) -> str:
    """How many of the pods can run, and where."""
    found, total = verdict.candidates.bit_count(), verdict.everything.bit_count()
    spreads = crowd.spreads()
    how = " on " if found == 1 else next((said for spread, said in _HOW.items() if spread in spreads), " on ")
    alone = "" if found == 1 or how != " on " else _alone(crowd, world)
    if alone == HOSTNAME:
        how, alone = _HOW[Spread.APART], ""
    # Pods that must be both apart and together are at most one, wherever that is.
    where = "" if spreads >= _CONTRARY else f"{how}{found} of {counted(total, 'node')}"
    within = f", one in each {shorten(alone, CLAUSE_LIMIT)}" if alone else ""
    return f"{room} of {count} pods {'fits' if room == 1 else 'fit'}{where}{within}"


def _alone(crowd: Crowd, world: World) -> str:
    """The topology key whose domains hold one of the pods each, if all nodes that can run one are in such a domain."""
    limits = crowd.limits()
    others = {limit.key for limit in limits if limit.key != HOSTNAME}
    if not limits or len(others) > 1 or not all(isinstance(limit, OnePerDomain) for limit in limits):
        return ""
    key = next(iter(others), HOSTNAME)
    nodes = world.cluster.nodes
    within = nodes.with_key(key) if others else nodes.own_hostname
    return "" if crowd.candidates & ~within else key


def _cluster(crowd: Crowd, verdict: Verdict, world: World, missing: int) -> Iterator[str]:
    """What would help in the cluster, where anything would."""
    spreads = crowd.spreads()
    fixed = [judged.constraint for judged in crowd.hard if _fixed(judged.constraint)]
    limits, by_node = crowd.limits(), _by_node(crowd, world)
    if fixed or spreads >= _CONTRARY:
        if Spread.TOGETHER not in spreads and by_node and len(fixed) == 1 and isinstance(fixed[0], PoolHosts):
            yield from _larger(fixed[0])
        return
    if Spread.TOGETHER in spreads:
        yield from () if limits else ("add a node with room for all of them",)
        return
    if not by_node:
        yield from _domains(crowd, missing) if Spread.APART not in spreads else ()
        return
    opened = without_each(verdict.everything, [judged.nodes for judged in crowd.hard])
    found = next(mends(crowd.hard, [nodes & ~verdict.candidates for nodes in opened], world), "")
    if (Spread.APART in spreads or limits) and found:
        yield f"{found} ({missing} more nodes are needed)" if missing > 1 else found
    else:
        more = f"nodes with room for {missing} more" if missing > 1 else "a node with room for one more"
        yield f"add {more} of them"


def _by_node(crowd: Crowd, world: World) -> bool:
    """Whether all limits by domain are by node: each of the pods on one of its own, with a host name of its own."""
    found = [isinstance(limit, OnePerDomain) and limit.key == HOSTNAME for limit in crowd.limits()]
    return not found or (all(found) and world.cluster.nodes.own_hostname == world.everything)


def _domains(crowd: Crowd, missing: int) -> Iterator[str]:
    """New domains that surely help: none of the pods is there yet, and there is room for all that they may take.

    Of several keys that is said only if all but one are host names, which are new with every node.
    """
    limits = crowd.limits()
    one = [limit for limit in limits if limit.key != HOSTNAME or len(limits) == 1]
    if len(one) != 1 or not (len(limits) == 1 or all(isinstance(limit, OnePerDomain) for limit in limits)):
        return
    each = crowd.each_new(one[0])
    if not each:
        return
    key, room = shorten(one[0].key, CLAUSE_LIMIT), f"room for {'one' if each == 1 else each} of them"
    count = -(-missing // each)
    nodes = "a node" if count == 1 else f"{count} nodes, each"
    yield f"add {nodes} with another {key} and {room}"


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
