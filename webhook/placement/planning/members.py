"""Members of a group: equal pods with what their clauses demand of nodes, of each other, and of HostPools.

What a constraint demands of other pods is read from its type, because a group has no live pods yet: two members with
one token of ``hostExlocation`` are apart wherever they go.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from webhook.placement.constraints.colocation import Colocated
from webhook.placement.constraints.constraint import Constraint, Spread
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
from webhook.placement.kube.bits import Bits
from webhook.placement.kube.pod import Pod
from webhook.placement.kube.selector import matching_all
from webhook.placement.planning.assignment import Key
from webhook.placement.request.ask import Ask, read
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem


class Condition(Struct, frozen=True, eq=False):
    """One demand of a member, with the ``clause`` that makes it; the clause is empty if nobody wrote it.

    ``nodes`` meet it as far as nodes do. ``requests`` are amounts of one pod. Members with one ``together`` key share a
    node; a member that ``avoids`` a key shares no node with another one that ``marks`` it. ``host`` is a HostPool whose
    hosts are yet to be chosen, and the index in it. ``limit`` is that on the pods of the member itself.
    """

    clause: str
    nodes: Bits
    constraint: Constraint
    requests: Tally = {}
    together: Key = ""
    marks: tuple[Key, ...] = ()
    avoids: tuple[Key, ...] = ()
    host: tuple[Name, int | None] | None = None
    limit: Limit | None = None


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
    conditions: tuple[Condition, ...]
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


def member_of(
    names: Sequence[str], count: int, pod: Pod, namespace: str, world: World, choices: Collection[Name], *,
    dropped: Collection[str] = (),
) -> Member | tuple[Problem, ...]:  # fmt: skip
    """The member of these equal pods, or what is wrong with one of them.

    ``choices`` are HostPools whose hosts are chosen together with the nodes of the pods. The pods are read without the
    ``dropped`` clauses.
    """
    ask, problems = read(pod, namespace, world, dropped)
    parsed = constraints_of(ask, world)
    if problems or parsed.problems:
        return (*problems, *parsed.problems)
    verdict = judge(tuple(found for found in parsed.constraints if found.clause not in dropped), world)
    conditions = [_condition(judged, ask, names[0], count, world, choices) for judged in verdict.hard]
    if ask.job:
        conditions.append(Condition("", world.everything, verdict.hard[0].constraint, marks=(_all_of(ask),)))
    kin = f"{ask.namespace}/{ask.job}/{ask.pe}" if ask.pe and count > len(names) else ""
    return Member(tuple(names), count, pod, ask, verdict, tuple(conditions), kin)


def _condition(judged: Judged, ask: Ask, name: str, count: int, world: World, choices: Collection[Name]) -> Condition:
    """What the constraint demands; of a group that has no live pods."""
    constraint, nodes = judged.constraint, judged.nodes
    job = f"{ask.namespace}/{ask.job}"
    match constraint:
        case Room():
            return Condition(constraint.clause, world.everything, constraint, requests=constraint.requests)
        case PoolHosts() if (constraint.pool.namespace, constraint.pool.name) in choices:
            pool = constraint.pool.namespace, constraint.pool.name
            tagged = matching_all(world, constraint.tags)
            return Condition(constraint.clause, tagged, constraint, host=(pool, constraint.index))
        case Colocated():
            key = f"colocation {job} {' '.join(constraint.group)}"
            return Condition(constraint.clause, nodes, constraint, together=key)
        case Exlocated():
            key = f"exlocation {job} {constraint.token}"
            return Condition(constraint.clause, nodes, constraint, marks=(key,), avoids=(key,))
        case OwnHost():
            return Condition(constraint.clause, nodes, constraint, avoids=(_all_of(ask),))
        case SameNode():
            return Condition(constraint.clause, nodes, constraint, together=f"workers {job}", marks=(f"workers {job}",))
        case SeparateNodes():
            key = f"workers {job}"
            return Condition(constraint.clause, nodes, constraint, marks=(key,), avoids=(key,))
        case TakenPorts() if count > 1:
            key = f"ports {job} {name}"
            return Condition(constraint.clause, nodes, constraint, marks=(key,), avoids=(key,))
    spread = constraint.spread
    if count > 1 and spread is Spread.APART:
        key = f"{constraint.clause} {job} {name}"
        return Condition(constraint.clause, nodes, constraint, marks=(key,), avoids=(key,))
    if count > 1 and not isinstance(spread, Spread):
        return Condition(constraint.clause, spread.reach, constraint, limit=spread)
    return Condition(constraint.clause, nodes, constraint)


def _all_of(ask: Ask) -> Key:
    """The key that every pod of the job marks, and that isolated ones avoid."""
    return f"element {ask.namespace}/{ask.job}"


def requests_of(conditions: Iterator[Condition] | Sequence[Condition]) -> Mapping[str, int]:
    """What one pod requests by these conditions: of two amounts of one resource the larger one counts."""
    found: dict[str, int] = {}
    for condition in conditions:
        for resource, amount in condition.requests.items():
            found[resource] = max(amount, found.get(resource, 0))
    return found
