"""Plans, and pods judged together, as a :class:`PlanDocument`: for ``-o json``, ``-o yaml`` and the page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.kube.amounts import PODS, amount, ordered
from webhook.placement.kube.bits import Bits, slots, to_slots
from webhook.placement.kube.selection.selector import matching_all
from webhook.placement.objects.pool import Pool
from webhook.placement.objects.pool_labels import labels_of
from webhook.placement.planning.group import Group
from webhook.placement.planning.members import Member, requests_of
from webhook.placement.planning.plan import Plan
from webhook.placement.planning.refusal.shortages import shortages
from webhook.placement.text.rule import Rule
from webhook.placementreview.plans.document import (
    ClosedNodes,
    Conflict,
    NodeResource,
    PlanDocument,
    PlannedElement,
    PlannedNewNodes,
    PlannedNode,
    PlannedPool,
    PoolHostNode,
    Relation,
    RelationKind,
    RuleTable,
    Subject,
    pool_titles,
    ranges,
)
from webhook.placementreview.plans.natural_order import in_natural_order, natural
from webhook.placementreview.plans.operator_plan import OperatorPlan
from webhook.placementreview.plans.plan import Planned, PlannedObject, warning_of

ALWAYS: Final = ("cpu", "memory", PODS)
"""Resources that are shown of every node."""

_ZONE: Final = "topology.kubernetes.io/zone"
_RACK: Final = "rack"
"""The name of labels that say in which rack a node is, behind any prefix: Kubernetes defines none."""


def document_of(planned: Planned, title: str, cluster: str) -> PlanDocument:
    """The plan as a document."""
    return _Writer(planned).document(title, cluster)


class _Writer:
    """Collects what elements share: rules, pools and positions of nodes."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._group = planned.group
        self._world = planned.group.world
        nodes = self._world.inventory.nodes
        self._slots = sorted(slots(self._world.everything), key=lambda slot: natural(nodes.names[slot]))
        self._names = nodes.names
        self._place = {slot: place for place, slot in enumerate(self._slots)}
        self._rules = RuleTable()
        self._pools: dict[tuple[str, str], int] = {}
        self._listed: list[PlannedPool] = []
        self._places = {id(member): at for at, member in enumerate(self._group.members)}

    def document(self, title: str, cluster: str) -> PlanDocument:
        """All subjects, nodes, pools and rules."""
        subjects = tuple(self._subject(planned_object) for planned_object in self._planned.objects)
        plan = self._planned.plan
        return PlanDocument(
            title=title,
            cluster=cluster,
            subjects=subjects,
            nodes=tuple(self._nodes()),
            pools=tuple(self._listed),
            rules=self._rules.rules,
            total_cost=plan.total if plan else None,
            undecided=any(planned_object.undecided for planned_object in self._planned.objects),
            cheapest=plan is None or plan.proved,
        )

    def _subject(self, planned_object: PlannedObject) -> Subject:
        verdict = "refused" if planned_object.text else "undecided" if planned_object.undecided else "admitted"
        named = {(pool.namespace, pool.name): pool for member in planned_object.members for _, pool in member.ask.pools}
        named |= {(pool.namespace, pool.name): pool for pool in planned_object.pools}
        elements = sorted(self._elements_of(planned_object), key=lambda element: natural(element.name))
        fused, fusion = planned_object.fused, None
        if fused is not None and fused.stated is not None and fused.fusion is not None:
            operators = OperatorPlan(fused.stated, fused.fusion, {element.name: element.node for element in elements})
            fusion, of_element = operators.fusion(), operators.operators()
            elements = [replace(element, operators=of_element[element.name]) for element in elements]
        return Subject(
            file=planned_object.file,
            origin=planned_object.origin,
            namespace=planned_object.namespace,
            verdict=verdict,  # type: ignore[arg-type]
            message=planned_object.text,
            warnings=(*(fused.warnings if fused is not None else ()), *warning_of(planned_object)),
            elements=tuple(elements),
            pools=tuple(self._pool(pool) for pool in named.values()),
            relations=tuple(_relations(planned_object.members)),
            conflicts=tuple(self._conflict(planned_object, refusal) for refusal in planned_object.refusals),
            fusion=fusion,
            waiting=tuple(dict.fromkeys(planned_object.scale_up.waiting)) if planned_object.scale_up else (),
            new_nodes=tuple(_new_nodes(planned_object)),
        )

    def _conflict(self, planned_object: PlannedObject, refusal: Refusal) -> Conflict:
        rules = dict.fromkeys(self._closing(planned_object, refusal))
        return Conflict(refusal.clauses, in_natural_order(refusal.names), refusal.fix, tuple(rules))

    def _closing(self, planned_object: PlannedObject, refusal: Refusal) -> Iterator[int]:
        """The rules of the conflict with all nodes that each of them closes: those of its clauses, and of no clause."""
        group = self._group.with_members(planned_object.members)
        wanted = {"", *refusal.clauses}
        for member in group.members:
            if wanted.isdisjoint(_clauses(member)) or {*refusal.names}.isdisjoint(member.names):
                continue
            for condition in member.conditions:
                out = self._world.everything & ~condition.nodes
                if out and str(condition.clause or "") in wanted:
                    for reason in condition.constraint.explain(self._world, out):
                        yield self._rule(str(condition.clause or ""), reason.one, reason.nodes)
            asking = [str(condition.clause or "") for condition in member.conditions if condition.requests]
            if asking and asking[0] in wanted:
                for reason in shortages(group, member, self._world.everything):
                    yield self._rule(asking[0], reason.one, reason.nodes)
            wanted -= _clauses(member)

    def _elements_of(self, planned_object: PlannedObject) -> Iterator[PlannedElement]:
        for member in planned_object.members:
            yield from self._elements(member)

    def _elements(self, member: Member) -> Iterator[PlannedElement]:
        """The elements of a member: one for each name, with its pods."""
        at = self._places.get(id(member))
        plan = self._planned.plan
        where = plan.placed.slots[at] if plan is not None and at is not None else ()
        costs = plan.own[at] if plan is not None and at is not None else ()
        needs = requests_of(member.conditions)
        requests = {name: amount(name, needs[name]) for name in ordered(needs) if name != PODS}
        closed = tuple(self._closed(member))
        pools = tuple(dict.fromkeys(self._pool(pool) for _, pool in member.ask.pools))
        each = member.count // len(member.names)
        for number, name in enumerate(member.names):
            mine = where[number * each : (number + 1) * each]
            spent = costs[number * each : (number + 1) * each]
            counts = Counter(self._names[slot] for slot in mine)
            one = next(iter(counts)) if len(counts) == 1 else ""
            yield PlannedElement(
                name=name,
                clauses=tuple(map(str, member.clauses)),
                requests=requests,
                node=one,
                cost=sum(spent) if spent else None,
                replicas=each,
                placed={} if one else {node: counts[node] for node in in_natural_order(counts)},
                closed=closed,
                pools=pools,
            )

    def _closed(self, member: Member) -> Iterator[int]:
        """The rules that close nodes to the member, each node under the first of them; the last is about free room."""
        open_nodes = member.verdict.everything
        for condition in member.conditions:
            out = open_nodes & ~condition.nodes
            open_nodes &= condition.nodes
            for reason in condition.constraint.explain(self._world, out) if out else ():
                yield self._rule(str(condition.clause or ""), reason.one, reason.nodes)
        for reason in shortages(self._group, member, open_nodes):
            yield self._rule("", reason.one, reason.nodes)

    def _rule(self, clause: str, reason: str, nodes: Bits) -> int:
        return self._rules.add(ClosedNodes(clause, reason, self._ranges(nodes)))

    def _ranges(self, nodes: Bits) -> tuple[tuple[int, int], ...]:
        """The places of these nodes."""
        return ranges(sorted(self._place[int(slot)] for slot in to_slots(nodes) if int(slot) in self._place))

    def _pool(self, pool: Pool) -> int:
        name = pool.namespace, pool.name
        if name not in self._pools:
            self._pools[name] = len(self._listed)
            hosts = tuple(PoolHostNode(index, self._names[slot]) for index, slot in self._hosts(pool).items())
            size = pool.size if pool.hosts is None else len(pool.hosts)
            able = self._group.eligible(pool) if pool.sized else matching_all(self._world, labels_of(pool))
            self._listed.append(
                PlannedPool(
                    pool.namespace, pool.spl_name, pool.mode, size, hosts, self._ranges(able), job=pool.job or ""
                )
            )
        return self._pools[name]

    def _hosts(self, pool: Pool) -> Mapping[int, int]:
        plan: Plan | None = self._planned.plan
        if plan is not None and (pool.namespace, pool.name) in plan.hosts:
            return plan.hosts[pool.namespace, pool.name]
        hosts = self._world.hosts(pool) if pool.sized else {}
        return {index: nodes.bit_length() - 1 for index, nodes in sorted(hosts.items()) if nodes}

    def _nodes(self) -> Iterator[PlannedNode]:
        """Every node with what is used, planned and free."""
        planned = _planned_amounts(self._group, self._planned.plan)
        capacity = self._world.inventory.nodes.capacity
        shown = [*ALWAYS, *sorted({name for amounts in planned.values() for name in amounts}.difference(ALWAYS))]
        pools: dict[int, list[str]] = {}
        shown_as = pool_titles(self._listed)
        for pool, at in self._pools.items():
            for index, slot in self._hosts(self._world.inventory.pools[pool]).items():
                pools.setdefault(slot, []).append(f"{shown_as[at]}[{index}]")
        for slot in self._slots:
            resources = []
            for name in shown:
                offers, free = capacity.allocatable(name, slot), self._free(name, slot)
                if offers:
                    resources.append(_resource(name, offers, offers - free, planned.get(slot, Counter()).get(name, 0)))
            node = self._world.inventory.nodes.nodes[slot]
            taints, placed = tuple(map(str, node.taints)), _whereabouts(node.labels)
            yield PlannedNode(node.name, tuple(resources), taints, tuple(pools.get(slot, ())), placed)

    def _free(self, resource: str, slot: int) -> int:
        if resource in self._group.resources:
            return int(self._group.free(resource)[np.searchsorted(self._group.slots, slot)])
        return self._world.inventory.nodes.capacity.free(resource, slot)


def _resource(name: str, offers: int, used: int, planned: int) -> NodeResource:
    return NodeResource(
        name,
        amount(name, offers),
        amount(name, used),
        amount(name, planned),
        amount(name, offers - used - planned),
        max(0, min(1000, used * 1000 // offers)),
        max(0, min(1000, planned * 1000 // offers)),
    )


def _clauses(member: Member) -> set[str]:
    """The clauses of the member as texts; the empty text stands for all conditions without a clause."""
    return {"", *map(str, member.clauses)}


def _whereabouts(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that say where a node is."""
    return {key: value for key, value in sorted(labels.items()) if key == _ZONE or key.rpartition("/")[2] == _RACK}


def _planned_amounts(group: Group, plan: Plan | None) -> dict[int, Counter[str]]:
    """What the pods of the plan request on each node."""
    amounts: dict[int, Counter[str]] = {}
    for member, where in zip(group.members, plan.placed.slots if plan else (), strict=False):
        needs = requests_of(member.conditions)
        for slot in where:
            amounts.setdefault(slot, Counter()).update(needs)
    return amounts


def _new_nodes(planned_object: PlannedObject) -> Iterator[PlannedNewNodes]:
    """The nodes of node groups that the object waits for."""
    for one in planned_object.scale_up.made if planned_object.scale_up else ():
        yield PlannedNewNodes(str(one.group), one.count, one.unknown)


def _relations(members: Sequence[Member]) -> Iterator[Relation]:
    """The clauses that tie elements to each other."""
    tied: dict[tuple[RelationKind, str, str], list[str]] = {}
    for member in members:
        for condition in member.conditions:
            if not condition.clause:
                continue
            alone = condition.constraint.rule == Rule.ISOLATION
            kind: RelationKind = "alone" if alone else "together" if condition.together else "apart"
            for key in (*condition.together, *condition.avoids):
                tied.setdefault((kind, condition.clause.text, key), []).extend(member.names)
    for (kind, clause, _), names in tied.items():
        if len(names) > 1 or kind == "alone":
            yield Relation(kind, clause, in_natural_order(names))
