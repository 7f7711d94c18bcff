"""Members of a group: equal pods with what their clauses demand of nodes, of each other, and of HostPools.

What a constraint demands of other pods is read from its type, because a group has no live pods yet: two members with
one token of ``hostExlocation`` are apart wherever they go.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.constraints.colocation import Colocated
from webhook.placement.constraints.constraint import Constraint, NodeSet, Spread
from webhook.placement.constraints.exlocation import Exlocated
from webhook.placement.constraints.host_ports import TakenPorts
from webhook.placement.constraints.hostpool import PoolHosts
from webhook.placement.constraints.isolation import OwnHost
from webhook.placement.constraints.resources import Room
from webhook.placement.constraints.topology_limit import Limit
from webhook.placement.constraints.uniform import SameNode, SeparateNodes
from webhook.placement.decision.verdict import Judged, Verdict, constraints_of, judge
from webhook.placement.inventory.objects import Tally
from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.bits import Bits, union
from webhook.placement.kube.containers import HostPort
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.selector import matching_all
from webhook.placement.kube.size_limits import oversized
from webhook.placement.planning.assignment import Key
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem, enumerated

_SAID: Final = 2
"""Equal elements that a clause names."""


class VacantNodes(NodeSet, frozen=True, gc=False):
    """Nodes that run none of certain pods; a node that is added runs none."""


class Demand(Struct, frozen=True, eq=False):
    """One demand of a member, with the ``clause`` that makes it; the clause is empty if nobody wrote it.

    ``nodes`` meet it as far as nodes do. ``requests`` are amounts of one pod. Members with a common key in ``together``
    share a node; a member that ``avoids`` a key shares no node with another one that ``marks`` it. ``host`` is a
    HostPool whose hosts are yet to be chosen, and the index in it. ``limit`` is that on the pods of the member itself.
    Without the clause the nodes in ``shut``, hosts of an exclusive HostPool, are closed.
    """

    clause: str
    nodes: Bits
    constraint: Constraint
    requests: Tally = {}
    together: tuple[Key, ...] = ()
    marks: tuple[Key, ...] = ()
    avoids: tuple[Key, ...] = ()
    host: tuple[Name, int | None] | None = None
    limit: Limit | None = None
    shut: Bits = 0

    def new_nodes(self, everything: Bits) -> Bits:
        """The nodes that would meet the demand if they were added now, and ran no pods yet."""
        return everything if isinstance(self.constraint, VacantNodes) else self.nodes

    @property
    def exclusive(self) -> bool:
        """Whether the condition is that of an exclusive HostPool."""
        return isinstance(self.constraint, PoolHosts) and self.constraint.pool.exclusive


class Member(Struct, frozen=True, eq=False):
    """``count`` equal pods of a group: a processing element, several equal ones, or the pods of a workload.

    ``names`` are those of the pods' elements, or one name for all. ``kin`` is not empty if the pods are one processing
    element, so that they may share a host although it is isolated. ``verdict`` is that on one of the pods alone.
    """

    names: tuple[str, ...]
    count: int
    pod: Pod
    ask: Ask
    verdict: Verdict
    conditions: tuple[Demand, ...]
    kin: str = ""

    @property
    def clauses(self) -> list[str]:
        """The texts of its clauses, each once, in the order of the families."""
        return list(dict.fromkeys(condition.clause for condition in self.conditions if condition.clause))

    def open(self, dropped: Collection[str] = ()) -> Bits:
        """The nodes that meet every condition but those of the ``dropped`` clauses."""
        found = self.verdict.everything
        for condition in self.conditions:
            if condition.clause not in dropped or not condition.clause:
                found &= condition.nodes
        return found

    def open_new(self) -> Bits:
        """The nodes that meet every condition, whatever runs on them: those that a new one could be like."""
        found = self.verdict.everything
        for condition in self.conditions:
            found &= condition.new_nodes(self.verdict.everything)
        return found


def member_of(
    names: Sequence[str], count: int, pod: Pod, namespace: str, world: World, choices: Collection[Name]
) -> Member | tuple[Problem, ...]:
    """The member of these equal pods, or what is wrong with one of them.

    ``choices`` are HostPools whose hosts are chosen together with the nodes of the pods.
    """
    if too_much := oversized(pod):
        return too_much
    ask, problems = read(pod, namespace, world)
    parsed = constraints_of(ask, world)
    if problems or parsed.problems:
        return (*problems, *parsed.problems)
    taken = (*_taken(parsed.constraints, ask, world), *_repelled(names, pod, ask, world))
    verdict = judge((*parsed.constraints, *taken), world)
    conditions = [_condition(judged, ask, names, count, world, choices) for judged in verdict.hard]
    if ask.job:
        marks = (_all_of(ask), *_marked(verdict.soft, ask))
        standing = next(judged.constraint for judged in verdict.hard if isinstance(judged.constraint, Room))
        conditions.append(Demand("", world.everything, standing, marks=marks))
    # Kin may share an isolated host, and nothing else that they avoid.
    lenient = all(key == _all_of(ask) for found in conditions for key in found.avoids)
    kin = f"{ask.namespace}/{ask.job}/{ask.pe}" if ask.pe and count > len(names) and lenient else ""
    return Member(tuple(names), count, pod, ask, verdict, tuple(conditions), kin)


def _taken(constraints: Iterable[Constraint], ask: Ask, world: World) -> Iterator[Constraint]:
    """That no pod that runs has taken one of its host ports."""
    for found in constraints:
        if isinstance(found, TakenPorts):
            restarting = world.leavers(ask.namespace, ask.job)
            nodes = world.inventory.without_ports(found.ports, restarting.pods.keys() if restarting else ())
            if nodes:
                what = f"{found.clause} taken"
                yield VacantNodes(found.clause, world.everything & ~nodes, f"has {what}", f"have {what}")


def _repelled(names: Sequence[str], pod: Pod, ask: Ask, world: World) -> Iterator[Constraint]:
    """The standing condition that no pod that runs keeps away this one, whose label ``pe`` differs among several."""
    stated = (pod.metadata and pod.metadata.labels) or {}
    labels = {key: value for key, value in stated.items() if key != keys.PE or len(names) == 1}
    restarting = world.leavers(ask.namespace, ask.job)
    closed = world.inventory.repelled(ask.namespace, labels, restarting.pods.keys() if restarting else ())
    for key, nodes in closed.items():
        what, open_nodes = "whose podAntiAffinity keeps this one away", world.everything & ~nodes
        if key == keys.HOSTNAME:
            yield VacantNodes("", open_nodes, f"runs a pod {what}", f"run pods {what}")
        else:
            place = f"in the {key} of a pod {what}"
            yield NodeSet("", open_nodes, f"is {place}", f"are {place}")


def _condition(
    judged: Judged, ask: Ask, names: Sequence[str], count: int, world: World, choices: Collection[Name]
) -> Demand:
    """What the constraint demands, of a group that has no live pods; ``names`` are those of the member."""
    constraint = judged.constraint
    plain = Demand(constraint.clause, judged.nodes, constraint)
    match constraint:
        case Room():
            clause = _of_all(plain.clause, names)
            found = replace(plain, clause=clause, nodes=world.everything, requests=constraint.requests)
        case PoolHosts():
            found = _hosted(plain, constraint, world, choices)
        case Colocated() | Exlocated() | OwnHost() | SameNode() | SeparateNodes() | TakenPorts():
            found = _among_pods(plain, constraint, ask)
        case _ if count > 1 and constraint.spread is Spread.APART:
            found = _apart(plain, f"{constraint.clause} {ask.namespace}/{ask.job} {names[0]}")
        case _ if count > 1 and not isinstance(constraint.spread, Spread):
            found = replace(plain, nodes=constraint.spread.reach, limit=constraint.spread)
        case _:
            found = plain
    return found


def _among_pods(
    plain: Demand, constraint: Colocated | Exlocated | OwnHost | SameNode | SeparateNodes | TakenPorts, ask: Ask
) -> Demand:
    """The condition for pods that share a node with some pods, or with none."""
    job = f"{ask.namespace}/{ask.job}"
    match constraint:
        case Colocated():
            return replace(plain, together=tuple(f"colocation {job} {token}" for token in constraint.tokens))
        case Exlocated():
            return _apart(plain, _exlocated(job, constraint))
        case OwnHost():
            return replace(plain, avoids=(_all_of(ask),))
        case SameNode():
            return replace(plain, together=(_workers(job),), marks=(_workers(job),))
        case SeparateNodes():
            return _apart(plain, _workers(job))
    return _on_own_ports(plain, constraint.ports)


def _of_all(clause: str, names: Sequence[str]) -> str:
    """The clause of equal elements in place of that of the first one, which says whose resources are meant."""
    if len(names) == 1:
        return clause
    return clause.replace(f"processing element {names[0]})", f"processing elements {enumerated(names, _SAID)})")


def _hosted(condition: Demand, constraint: PoolHosts, world: World, choices: Collection[Name]) -> Demand:
    """The condition for pods on hosts of a pool."""
    pool = constraint.pool.namespace, constraint.pool.name
    if pool in choices:
        return replace(condition, nodes=matching_all(world, constraint.tags), host=(pool, constraint.index))
    shut = union(world.hosts(constraint.pool).values()) if constraint.pool.exclusive else 0
    return replace(condition, shut=shut)


def _apart(condition: Demand, key: Key) -> Demand:
    """The condition for pods that both mark and avoid the key."""
    return replace(condition, marks=(key,), avoids=(key,))


def _on_own_ports(condition: Demand, ports: Iterable[HostPort]) -> Demand:
    """The condition for pods that take these ports of their nodes, on one address or on all."""
    marks: list[Key] = []
    avoids: list[Key] = []
    for port in ports:
        key = f"host port {port.protocol} {port.number}"
        marks += [key, f"{key} {port.ip}"]
        avoids += [f"{key} {port.ip}", f"{key} "] if port.ip else [key]
    return replace(condition, marks=tuple(dict.fromkeys(marks)), avoids=tuple(dict.fromkeys(avoids)))


def _marked(soft: Iterable[Judged], ask: Ask) -> Iterator[Key]:
    """What the pod marks by preferences: other pods keep away from its labels although itself it need not."""
    job = f"{ask.namespace}/{ask.job}"
    for judged in soft:
        if isinstance(judged.constraint, Exlocated):
            yield _exlocated(job, judged.constraint)
        elif isinstance(judged.constraint, SameNode | SeparateNodes):
            yield _workers(job)


def _exlocated(job: str, constraint: Exlocated) -> Key:
    return f"exlocation {job} {constraint.token}"


def _workers(job: str) -> Key:
    return f"workers {job}"


def _all_of(ask: Ask) -> Key:
    """The key that every pod of the job marks, and that isolated ones avoid."""
    return f"element {ask.namespace}/{ask.job}"


def requests_of(conditions: Iterable[Demand]) -> Mapping[str, int]:
    """What one pod requests by these conditions: of two amounts of one resource the larger one counts."""
    found: dict[str, int] = {}
    for condition in conditions:
        for resource, amount in condition.requests.items():
            found[resource] = max(amount, found.get(resource, 0))
    return found
