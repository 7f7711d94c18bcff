"""Members of a group: equal pods with what their clauses demand of nodes, of each other, and of HostPools.

What a constraint demands of other pods is its ``company``, because a group has no live pods yet: two members with one
token of ``hostExlocation`` are apart wherever they go.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.company import ALL_OF, ANY_COMPANY, Company
from webhook.placement.constraints.constraint import Constraint, NodeSet, Spread, StandingConstraint, VacantNodes
from webhook.placement.constraints.topology_limit import Limit
from webhook.placement.decision.verdict import Judged, Verdict, constraints_of, judge
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.amounts import Tally
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.requests import lowered, pod_requests
from webhook.placement.kube.selection.selector import matching_all
from webhook.placement.kube.size_limits import oversized
from webhook.placement.objects.pool import Pool
from webhook.placement.planning.search.assignment import Key
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause, Source
from webhook.placement.text.problem import Problem, enumerated

_SAID: Final = 2
"""Equal elements that a clause names."""

_OTHERS: Final = "others than "
"""Begins the key that pods avoid which are one isolated processing element, and all others of their job mark."""


class Demand(Struct, frozen=True, eq=False):
    """One demand of a member, with the ``clause`` that makes it, ``None`` for a standing condition.

    ``nodes`` meet it as far as nodes do. ``requests`` are amounts of one pod. Members with a common key in ``together``
    share a node; a member that ``avoids`` a key shares no node with another one that ``marks`` it. ``host`` is a
    HostPool whose hosts are yet to be chosen, and the index in it. ``limit`` is that on the pods of the member itself.
    Without the clause the nodes in ``shut``, hosts of an exclusive HostPool, are closed. ``alone`` are the nodes that
    meet the demand if no other HostPool with other tags is named; ``None`` if they are the same. ``devices`` says how
    many devices one pod takes, by names that its group gives these.
    """

    clause: Clause | None
    nodes: Bits
    constraint: Constraint
    requests: Tally = {}
    devices: Tally = {}
    together: tuple[Key, ...] = ()
    marks: tuple[Key, ...] = ()
    avoids: tuple[Key, ...] = ()
    host: tuple[Name, int | None] | None = None
    limit: Limit | None = None
    shut: Bits = 0
    alone: Bits | None = None

    def new_nodes(self, everything: Bits) -> Bits:
        """The nodes that would meet the demand if they were added now, and ran no pods yet."""
        return everything if isinstance(self.constraint, VacantNodes) else self.nodes

    @property
    def exclusive(self) -> bool:
        """Whether the condition is that of an exclusive HostPool."""
        return self.constraint.pool is not None and self.constraint.pool.exclusive


class Member(Struct, frozen=True, eq=False):
    """``count`` equal pods of a group: a processing element, several equal ones, or the pods of a workload.

    ``names`` are those of the pods' elements, or one name for all. ``kin`` is not empty if the pods are one processing
    element, so that they may share a host although it is isolated: the key that all others of the job mark then.
    ``verdict`` is that on one of the pods alone.
    ``welcome`` are exclusive pools that the pods only prefer, and indices in them: the pods tolerate their hosts.
    ``warnings`` are what one of the pods is warned of that is true of all together, too. ``stays`` tells that the pods
    run already and stay where they are.
    """

    names: tuple[str, ...]
    count: int
    pod: Pod
    ask: Ask
    verdict: Verdict
    conditions: tuple[Demand, ...]
    kin: str = ""
    welcome: frozenset[tuple[Name, int | None]] = frozenset()
    warnings: tuple[str, ...] = ()
    stays: bool = False

    @property
    def clauses(self) -> list[Clause]:
        """The member's clauses, each once, in the order of the families."""
        return list(dict.fromkeys(condition.clause for condition in self.conditions if condition.clause))

    def avoided(self, kept: Iterable[Demand]) -> frozenset[Key]:
        """What its pods avoid by the conditions that are ``kept``: one element leaves its own pods together."""
        keys = frozenset(key for demand in kept for key in demand.avoids)
        every = _all_of(self.ask)
        return keys - {every} | {self.kin} if self.kin and every in keys else keys

    def marked(self, kept: Iterable[Demand], isolated: Mapping[Key, frozenset[Key]]) -> frozenset[Key]:
        """What its pods mark by the conditions that are ``kept``.

        ``isolated`` are the kins of which pods are isolated, by the key of all pods of their job.
        """
        keys = frozenset(key for demand in kept for key in demand.marks)
        return keys | isolated.get(_all_of(self.ask), frozenset()) - {self.kin}

    @property
    def priority(self) -> int:
        """The priority of its pods."""
        return self.ask.priority

    @property
    def preempts(self) -> int | None:
        """The priority below which its pods preempt others; ``None`` if they preempt none."""
        return self.ask.preempts

    def open(self, dropped: Collection[Clause] = ()) -> Bits:
        """The nodes that meet every condition but those of the ``dropped`` clauses."""
        nodes = self.verdict.everything
        for condition in self.conditions:
            if condition.clause not in dropped or not condition.clause:
                nodes &= condition.nodes
        return nodes

    def open_new(self) -> Bits:
        """The nodes that meet every condition, whatever runs on them: those that a new one could be like."""
        nodes = self.verdict.everything
        for condition in self.conditions:
            nodes &= condition.new_nodes(self.verdict.everything)
        return nodes


def member_of(
    names: Sequence[str], count: int, pod: Pod, namespace: str, world: World, choices: Collection[Name]
) -> Member | tuple[Problem, ...]:
    """The member of these equal pods, completed as the API server does it, or what is wrong with one of them.

    ``choices`` are HostPools whose hosts are chosen together with the nodes of the pods.
    """
    if too_much := oversized(pod):
        return too_much
    pod = world.inventory.pod_defaults.completed(pod, namespace)
    ask, problems = read(pod, namespace, world)
    if ask.devices:
        world.device_budget.renew()
    parsed = constraints_of(ask, world)
    if problems or parsed.problems:
        return (*problems, *parsed.problems)
    at_once = [further for constraint in parsed.constraints for further in constraint.at_once(ask, world)]
    mutual = (*at_once, *_repelled(names, pod, ask, world))
    verdict = judge((*parsed.constraints, *mutual), world)
    conditions = [demand for judged in verdict.hard for demand in _demands(judged, ask, names, count, world, choices)]
    if ask.spec.overhead or ask.fixed:
        # Requests include the overhead of the RuntimeClass and containers of an operator, which a user cannot lower.
        least, _ = pod_requests(lowered(ask.spec, whole=False, fixed=ask.fixed))
        conditions.append(Demand(None, world.everything, StandingConstraint(), requests=least))
    if ask.job:
        # Other pods keep away from the labels of a pod that itself need not keep away from them.
        marked = (key for judged in verdict.soft for key in judged.constraint.company(_job(ask)).marks)
        conditions.append(Demand(None, world.everything, StandingConstraint(), marks=(_all_of(ask), *marked)))
    welcome = frozenset(host for host in _preferred_exclusive(verdict.soft) if host[0] in choices)
    # What others say of pods that are yet to come is not true of pods that come together.
    devices = tuple(part.clause.text for part in ask.devices)
    warnings = (*ask.warnings, *(warning for warning in parsed.warnings if devices and warning.startswith(devices)))
    member = Member(tuple(names), count, pod, ask, verdict, tuple(conditions), welcome=welcome, warnings=warnings)
    return kindred(member) if count > len(names) else member


def kindred(member: Member) -> Member:
    """The member as one of those that are the same processing element, which may share a host although it is isolated.

    Whatever else they avoid keeps them apart.
    """
    ask = member.ask
    return replace(member, kin=f"{_OTHERS}{_job(ask)}/{ask.pe}") if ask.pe else member


def _preferred_exclusive(soft: Iterable[Judged]) -> Iterator[tuple[Name, int | None]]:
    """The exclusive pools of preferences: a pod tolerates the taint of an exclusive pool that it only prefers."""
    for judged in soft:
        pool = judged.constraint.pool
        if pool is not None and pool.exclusive:
            yield (pool.namespace, pool.name), judged.constraint.index


def _repelled(names: Sequence[str], pod: Pod, ask: Ask, world: World) -> Iterator[Constraint]:
    """The standing condition that no pod that runs keeps away this one, whose label ``pe`` differs among several."""
    stated = (pod.metadata and pod.metadata.labels) or {}
    labels = {key: value for key, value in stated.items() if key != keys.PE or len(names) == 1}
    closed = world.inventory.repelled(ask.namespace, labels, world.gone(ask.namespace, ask.job, ask.preempts))
    for key, nodes in closed.items():
        what, open_nodes = "whose podAntiAffinity excludes this pod", world.everything & ~nodes
        if key == keys.HOSTNAME:
            yield VacantNodes(None, open_nodes, f"runs a pod {what}", f"run pods {what}")
        else:
            place = f"in the {key} of a pod {what}"
            yield NodeSet(None, open_nodes, f"is {place}", f"are {place}")


def _demands(
    judged: Judged, ask: Ask, names: Sequence[str], count: int, world: World, choices: Collection[Name]
) -> Iterator[Demand]:
    """What the constraint demands, of a group that has no live pods; ``names`` are those of the member."""
    constraint = judged.constraint
    plain = Demand(constraint.clause, judged.nodes, constraint)
    if constraint.requests:
        clause = _of_all(plain.clause, names)
        yield replace(plain, clause=clause, nodes=world.everything, requests=constraint.requests)
    elif constraint.pool:
        yield _hosted(plain, constraint.pool, world, choices)
    elif constraint.company(_job(ask)) != ANY_COMPANY:
        for clause, company in constraint.companies(_job(ask)):
            yield _with(replace(plain, clause=clause), company)
    elif count > 1 and constraint.spread is Spread.APART:
        yield _with(plain, Company.apart(f"{constraint.clause} {_job(ask)} {names[0]}"))
    elif count > 1 and not isinstance(constraint.spread, Spread):
        yield replace(plain, nodes=constraint.spread.reach, limit=constraint.spread)
    else:
        yield plain


def _of_all(clause: Clause | None, names: Sequence[str]) -> Clause | None:
    """The clause of equal elements in place of that of the first one, which says whose resources are meant."""
    if clause is None or clause.source is not Source.STATED or len(names) == 1:
        return clause
    whose = f"processing elements {enumerated(names, _SAID)})"
    return replace(clause, parts=tuple(names), text=clause.text.replace(f"processing element {names[0]})", whose))


def _hosted(condition: Demand, of: Pool, world: World, choices: Collection[Name]) -> Demand:
    """The condition for pods on hosts of the pool ``of``."""
    pool, constraint = (of.namespace, of.name), condition.constraint
    single = constraint.by_itself()
    if pool in choices:
        nodes = matching_all(world, constraint.needs)
        alone = None if single is constraint else matching_all(world, single.needs)
        return replace(condition, nodes=nodes, host=(pool, constraint.index), alone=alone)
    alone = None if single is constraint else single.filter(world)
    return replace(condition, shut=union(world.hosts(of).values()) if of.exclusive else 0, alone=alone)


def _with(condition: Demand, company: Company) -> Demand:
    """The condition for pods that share a node with some pods, or with none."""
    return replace(condition, together=company.together, marks=company.marks, avoids=company.avoids)


def _job(ask: Ask) -> str:
    """The job of the pods, as the keys of :class:`Company` name it."""
    return f"{ask.namespace}/{ask.job}"


def isolated_kins(members: Iterable[Member]) -> dict[Key, frozenset[Key]]:
    """The kins of which pods are isolated, by the key that all pods of their job mark."""
    kins: dict[Key, frozenset[Key]] = {}
    for member in members:
        if member.kin and member.kin in member.avoided(member.conditions):
            every = _all_of(member.ask)
            kins[every] = kins.get(every, frozenset()) | {member.kin}
    return kins


def _all_of(ask: Ask) -> Key:
    """The key that every pod of the job marks, and that isolated ones avoid."""
    return f"{ALL_OF}{_job(ask)}"


def requests_of(conditions: Iterable[Demand]) -> Mapping[str, int]:
    """What one pod requests by these conditions: of two amounts of one resource the larger one counts."""
    amounts: dict[str, int] = {}
    for condition in conditions:
        for resource, amount in condition.requests.items():
            amounts[resource] = max(amount, amounts.get(resource, 0))
    return amounts
