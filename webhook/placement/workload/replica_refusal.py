"""The text of the refusal of a workload: each of its pods could run alone, but not all at the same time.

See ``docs/workloads.md``. ``waiting_notice`` writes the warning about pods that run one after another.
"""

from collections.abc import Collection, Iterator, Sequence

from webhook.placement.constraints.constraint import Constraint, Spread, Tie
from webhook.placement.constraints.topology_limit import OnePerDomain
from webhook.placement.decision.refusal.clause_nodes import verbs_of, without_each
from webhook.placement.decision.refusal.cluster_change import joinable, proposed_fixes
from webhook.placement.decision.refusal.conflict import answered, smallest_failing
from webhook.placement.decision.refusal.lowered_requests import lowered_for_replicas
from webhook.placement.decision.refusal.lowered_zones import replicas_lowered_to_zones
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.decision.refusal.relaxation import Fitting, Relaxation
from webhook.placement.decision.replica_fit import ReplicaFit, Replicas
from webhook.placement.decision.verdict import Verdict
from webhook.placement.kube.bits import union
from webhook.placement.pools.allocation import eligible
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause, outermost
from webhook.placement.text.fix import AddDomain, AddNode, Advice, Drop, EnlargePool, Fix, Lower, Partly
from webhook.placement.text.keys import HOSTNAME
from webhook.placement.text.problem import CLAUSE_LIMIT, Fault, counted, enumerated, shorten
from webhook.placement.text.rule import Rule

_TRIES = 300
"""Maximum number of sets of clauses tried for a smaller conflict: all pairs of 24, at some 20 microseconds each."""

_NAMED = 3
"""Maximum number of clauses named in a warning: the API server cuts off long ones."""

_HOW = {Spread.APART: ", one on each of ", Spread.TOGETHER: ", all on one of "}
"""How messages say that the pods are spread over nodes."""

_CONTRARY = _HOW.keys()
"""Spreads that at most one pod can keep at once."""


def refuse_replicas(
    fit: ReplicaFit, verdict: Verdict, ask: Ask, world: World, replicas: Replicas, fitting: Fitting[Clause]
) -> Refusal:
    """The refusal of a workload that there is not enough room for; ``fitting`` counts pods without some clauses."""
    count, room, never = replicas.count, fit.room(replicas.count), _never(fit)
    relaxation = _relaxation(fit, ask, count, fitting)
    limiting = _limiting(fit, relaxation, count, never)
    clauses = (*map(str, limiting), replicas.said)
    fits = f"{room} of {count} pods {'fits' if room == 1 else 'fit'}"
    first = f"{cannot_hold(clauses)}: {fits}{_where(fit, verdict, world)}."
    fixes = (
        *_cluster_changes(fit, verdict, ask, world, count - room - replicas.new),
        *_user_changes(fit, ask, world, replicas, relaxation),
    )
    fault = Fault.INVALID if never else Fault.FORBIDDEN
    rules = (*(verdict.rules(limiting) if limiting else ()), Rule.REPLICAS)
    return Refusal.of(first, clauses, fault, rules, fixes, verdict.reasons(world))


def waiting_notice(
    fit: ReplicaFit, verdict: Verdict, ask: Ask, world: World, replicas: Replicas, fitting: Fitting[Clause]
) -> str:
    """The warning about pods that there is no room for at the same time, and that run one after another."""
    count, room = replicas.count, fit.room(replicas.count)
    clauses = _limiting(fit, _relaxation(fit, ask, count, fitting), count, _never(fit))
    why = enumerated(clauses, _NAMED, lambda clause: shorten(clause.text, CLAUSE_LIMIT)) + _where(fit, verdict, world)
    running = f"{room} of {count} pods {'runs' if room == 1 else 'run'} at a time"
    return f"{replicas.said}: {running} ({why.lstrip(', ')})"


def _relaxation(fit: ReplicaFit, ask: Ask, count: int, fitting: Fitting[Clause]) -> Relaxation[Clause]:
    """The pods decided anew without some of their clauses; of many clauses those without which most seem to fit."""
    verbs = verbs_of(fit.hard, ask)
    clauses = [judged.constraint.clause for judged in fit.hard]

    def likely() -> dict[Clause, int]:
        others = {clause: {at for at, other in enumerate(clauses) if other != clause} for clause in verbs}
        return {clause: fit.room(count, others[clause]) for clause in verbs}

    return Relaxation(verbs, fitting, count, likely=likely)


def _limiting(fit: ReplicaFit, relaxation: Relaxation[Clause], count: int, never: Collection[Clause]) -> list[Clause]:
    """The clauses that leave too little room, in the order in which they are written."""
    chosen = never or outermost(relaxation.conflict(_guess(fit, count)))
    return [clause for clause in relaxation.verbs if clause in chosen]


def _guess(fit: ReplicaFit, count: int) -> list[Clause]:
    """The clauses of a smallest set that leaves too little room, found by constraints without deciding anew."""
    stated = {at: clause for at, judged in enumerate(fit.hard) if (clause := judged.constraint.clause)}
    positions = answered(smallest_failing([*stated], _TRIES), lambda chosen: fit.room(count, chosen) < count)
    return [*map(stated.__getitem__, positions)]


def _never(fit: ReplicaFit) -> set[Clause]:
    """Two clauses that two such pods keep on no cluster: one puts them apart, one onto one node; empty without such."""
    constraints = [judged.constraint for judged in fit.hard]
    apart = next((constraint.clause for constraint in constraints if constraint.spread is Spread.APART), None)
    together = next((constraint.clause for constraint in constraints if constraint.spread is Spread.TOGETHER), None)
    if together and not apart:
        apart = next((constraint.clause for constraint in constraints if apart_by_host(constraint)), None)
    one = together or next((constraint.clause for constraint in constraints if constraint.tie is Tie.HOST), None)
    return {apart, one} if apart and one else set()


def _where(fit: ReplicaFit, verdict: Verdict, world: World) -> str:
    """On how many nodes the pods that there is room for can run, and how they are spread over these."""
    open_nodes, total = verdict.candidates.bit_count(), verdict.everything.bit_count()
    spreads = fit.spreads()
    how = " on " if open_nodes == 1 else next((text for spread, text in _HOW.items() if spread in spreads), " on ")
    alone = "" if open_nodes == 1 or how != " on " else alone_in(fit, world)
    if alone == HOSTNAME:
        how, alone = _HOW[Spread.APART], ""
    # Of pods that must be both apart and together only one can run, so no nodes are named.
    where = "" if spreads >= _CONTRARY else f"{how}{open_nodes} of {counted(total, 'node')}"
    return f"{where}, one in each {shorten(alone, CLAUSE_LIMIT)}" if alone else where


def _cluster_changes(fit: ReplicaFit, verdict: Verdict, ask: Ask, world: World, missing: int) -> Iterator[Fix]:
    """Changes of the cluster that would help, if any would; ``missing`` is how many pods do not fit."""
    spreads = fit.spreads()
    constraints = [judged.constraint for judged in fit.hard]
    nodewise = by_node(fit, world)
    if spreads >= _CONTRARY or not joinable(constraints, ask):
        if Spread.TOGETHER not in spreads and nodewise:
            yield from _larger(constraints, ask, world)
        return
    if Spread.TOGETHER in spreads:
        yield from () if fit.limits() else (AddNode(having="room for all of them"),)
        return
    if not nodewise:
        yield from new_domains(fit, missing) if Spread.APART not in spreads else ()
        return
    opened = without_each(verdict.everything, [judged.nodes for judged in fit.hard])
    fix = next(proposed_fixes(fit.hard, [nodes & ~verdict.candidates for nodes in opened], ask, world), None)
    if (Spread.APART in spreads or fit.limits()) and fix:
        yield Partly(fix, f"{missing} more nodes are needed in all") if missing > 1 else fix
    else:
        yield AddNode(count=int(missing == 1), having=f"room for {missing if missing > 1 else 'one'} more of them")


def _larger(constraints: Sequence[Constraint], ask: Ask, world: World) -> Iterator[Fix]:
    """A larger pool, if only the hosts of one pool tie the pods to the nodes there are.

    A pool with a host that is no longer eligible would lose that host when its size changes.
    """
    tied = [constraint for constraint in constraints if constraint.tie is not Tie.NONE]
    others = [constraint for constraint in constraints if constraint.tie is Tie.NONE]
    pool = tied[0].pool if len(tied) == 1 and tied[0].tie is Tie.HOSTS else None
    if pool is None or not joinable(others, ask):
        return
    if pool.hosts is not None or not union(world.hosts(pool).values()) & ~eligible(pool, world.inventory, world.policy):
        yield EnlargePool(pool.spl_name)


def _user_changes(
    fit: ReplicaFit, ask: Ask, world: World, replicas: Replicas, relaxation: Relaxation[Clause]
) -> Iterator[Fix]:
    """What the user could change: the number of pods, or a clause."""
    room = fit.room(replicas.count) + replicas.new
    if replicas.spare and room == replicas.count - 1:
        yield Advice("set maxUnavailable to 1, so that a rollout needs no room to spare")
    elif room > replicas.spare:
        yield Lower(replicas.field, room - replicas.spare)
    else:
        yield Advice(f"set maxUnavailable to 1 and {Lower(replicas.field, room)}")
    if relaxation.best()[0] > room:
        yield _given_up(fit, ask, world, replicas, relaxation)


def _given_up(fit: ReplicaFit, ask: Ask, world: World, replicas: Replicas, relaxation: Relaxation[Clause]) -> Drop:
    """The clause without which most pods fit: dropped, or lowered to the largest amounts with which as many do."""
    verbs = relaxation.verbs
    count, best = relaxation.best()
    zones = replicas_lowered_to_zones(fit, best[0], ask, world, least=count, most=replicas.count)
    if zones:
        return Drop.of(best, verbs, _gain(zones.fitting, replicas), zones.to)
    lowered = lowered_for_replicas(fit, ask, best[0], count, world)
    if lowered:
        lowerable, amounts = lowered
        return lowerable.fix(best, verbs, _gain(count, replicas), amounts)
    return Drop.of(best, verbs, _gain(count, replicas))


def _gain(count: int, replicas: Replicas) -> str:
    return f"{count} of {replicas.count} would fit"


def alone_in(fit: ReplicaFit, world: World) -> str:
    """The topology key whose domains take one pod each, if all nodes that can run a pod are in such a domain."""
    limits = fit.limits()
    others = {limit.key for limit in limits if limit.key != HOSTNAME}
    if not limits or len(others) > 1 or not all(isinstance(limit, OnePerDomain) for limit in limits):
        return ""
    nodes = world.inventory.nodes
    within = nodes.with_key(next(iter(others))) if others else nodes.own_hostname
    return "" if fit.candidates & ~within else next(iter(others), HOSTNAME)


def apart_by_host(constraint: Constraint) -> bool:
    """Whether the constraint allows one pod for each host name, so that no two pods can share a node."""
    return isinstance(constraint.spread, OnePerDomain) and constraint.spread.key == HOSTNAME


def by_node(fit: ReplicaFit, world: World) -> bool:
    """Whether every limit by domain is one pod for each host name, and every node has a host name of its own."""
    by_host = [isinstance(limit, OnePerDomain) and limit.key == HOSTNAME for limit in fit.limits()]
    return not by_host or (all(by_host) and world.inventory.nodes.own_hostname == world.everything)


def new_domains(fit: ReplicaFit, missing: int) -> Iterator[Fix]:
    """The change to add nodes in new domains, if that surely helps: a new domain has none of the pods yet.

    With limits on several topology keys only if all keys but one are the host name, which is new with every node.
    """
    limits = fit.limits()
    one = [limit for limit in limits if limit.key != HOSTNAME or len(limits) == 1]
    single = len(limits) == 1 or all(isinstance(limit, OnePerDomain) for limit in limits)
    each = fit.each_new(one[0]) if len(one) == 1 and single else 0
    if each:
        yield AddDomain(one[0].key, -(-missing // each), each)
