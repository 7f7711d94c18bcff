"""DaemonSets: one pod on every node that the template selects, so no clause may leave nodes to only some of them.

The DaemonSet controller makes a pod for each node and ties it to that node. A clause that chooses among nodes, gathers
the pods in one place, or allows one pod in a larger domain leaves pods that wait forever (``docs/workloads.md``).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.annotations.worker_mapping import PREFERRED
from webhook.placement.constraints.constraint import Spread
from webhook.placement.constraints.topology_limit import OnePerDomain, fitting
from webhook.placement.decision.refusal.refusal import Refusal, cannot_hold
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.decision.verdict import Judged, Verdict, judge
from webhook.placement.kube.bits import Bits, to_slots
from webhook.placement.kube.pod import Pod, PodSpec, PodTerm, Requirement, Toleration
from webhook.placement.kube.selection.selector import requirements_of
from webhook.placement.objects.template_pods import applies
from webhook.placement.request.ask import Ask
from webhook.placement.request.pod_text import pod_affinity
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Advice, Drop
from webhook.placement.text.problem import CLAUSE_LIMIT, Fault, Problem, shorten
from webhook.placement.text.rule import Rule

ON_EVERY_NODE: Final = "one pod on every node"
"""What every DaemonSet asks for, as refusals name it beside the clauses of the template."""

_TOLERATED: Final = tuple(
    Toleration(key=f"node.kubernetes.io/{name}", operator="Exists", effect=effect)
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
"""Tolerations that the DaemonSet controller adds to its pods (Kubernetes, ``AddOrUpdateDaemonPodTolerations``)."""

_OF_HOST_NETWORK: Final = Toleration(
    key="node.kubernetes.io/network-unavailable", operator="Exists", effect="NoSchedule"
)
"""The toleration that pods in the network of their node get beside those."""


def daemon_pod(pod: Pod) -> Pod:
    """The pod of a DaemonSet's template with the tolerations that its controller adds."""
    spec = pod.spec or PodSpec()
    added = (*_TOLERATED, _OF_HOST_NETWORK) if spec.host_network else _TOLERATED
    return replace(pod, spec=replace(spec, tolerations=(*(spec.tolerations or ()), *added)))


def node_choices(ask: Ask) -> Iterator[Problem]:
    """A problem for each clause of a DaemonSet that chooses among nodes: it has one pod for every node it selects."""
    hosts = ask.of(ClauseName.HOST) if ClauseName.HOST not in ask.soft else ()
    mapped = ask.mapping.expressions if PREFERRED not in ask.soft else ()
    chosen = [(keys.PLACEMENT, str(clause)) for clause in hosts]
    chosen += [(keys.MAPPED, expression.clause.text) for expression in mapped]
    fields = [(annotation(key), clause) for key, clause in chosen]
    fields += [(label.field, label.text) for label in ask.provision.labels if label.mandatory]
    for field, clause in fields:
        message = "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment"
        yield Problem(field, f"{clause}: {message}")


class _Crowd(Struct, frozen=True):
    """A clause that only ``fit`` of the DaemonSet's ``count`` pods can keep; ``gathers`` them in one place.

    ``key`` is that of a label which a node of that place has, and not every node; empty if every node may be the place.
    """

    clause: Clause
    fit: int
    count: int
    gathers: bool
    rule: str
    key: str = ""


def refuse_daemon_set(ask: Ask, verdict: Verdict, world: World, replicas: Replicas) -> Refusal | None:
    """The refusal of a DaemonSet some of whose pods could never run for a clause of the template; ``None`` without one.

    Nodes count that could run one of its pods but for that clause, also those that only have to recover.
    """
    world = world.recovered() or world
    hard = judge([judged.constraint for judged in verdict.hard], world).hard
    crowds = [*_spread(hard, world), *_beside_itself(ask, hard, world, replicas)]
    if not crowds:
        return None
    worst = min(crowds, key=lambda crowd: crowd.fit)
    said = (worst.clause.text, ON_EVERY_NODE)
    first = f"{cannot_hold(said)}: {worst.fit} of {worst.count} pods can run."
    clauses = dict.fromkeys(crowd.clause for crowd in crowds)
    drop = Drop(tuple(("drop", clause) for clause in clauses))
    fixes = (_other_ways(crowds), drop) if worst.fit else (drop,)  # no node is a place where a pod can be
    return Refusal.of(first, said, Fault.INVALID, (worst.rule, Rule.REPLICAS), fixes)


def _other_ways(crowds: Sequence[_Crowd]) -> Advice:
    """What helps without another template: fewer pods, or a single node if that is where the clauses gather them."""
    labels = dict.fromkeys(shorten(crowd.key, CLAUSE_LIMIT) for crowd in crowds if crowd.key)
    having = f" with the label{'s' * (len(labels) > 1)} {' and '.join(labels)}" if labels else ""
    one = f", add a nodeSelector that one node{having} meets" if any(crowd.gathers for crowd in crowds) else ""
    return Advice(f"use a Deployment{one}")


def left_out(verdict: Verdict, world: World) -> Iterator[str]:
    """A warning for each clause about other pods that rules out nodes of the DaemonSet, where its pods wait.

    These nodes run pods that the clause is about, or have no host name of their own.
    """
    world = world.recovered() or world
    hard = judge([judged.constraint for judged in verdict.hard], world).hard
    for at, judged in enumerate(hard):
        out = _without(hard, at, world) & ~judged.nodes
        if out and judged.constraint.spread is Spread.APART:
            why = ", ".join(map(str, judged.constraint.explain(world, out)))
            yield f"{shorten(str(judged.constraint.clause), CLAUSE_LIMIT)}: {why}; the pods there wait"


def _spread(hard: Sequence[Judged], world: World) -> Iterator[_Crowd]:
    """Clauses of the product, and the pod's own anti-affinity, that not all of the pods can keep.

    Host names are left out: pods that are apart by these are what a DaemonSet makes. Spread constraints are left out
    as well: the scheduler compares only nodes that the pod may run on, and each of the pods may run on one.
    """
    for at, judged in enumerate(hard):
        constraint, clause = judged.constraint, judged.constraint.clause
        nodes = _without(hard, at, world)
        count, spread = nodes.bit_count(), constraint.spread
        if clause and spread is Spread.TOGETHER and count > 1:
            yield _Crowd(clause, 1, count, gathers=True, rule=constraint.rule)
        elif clause and isinstance(spread, OnePerDomain) and spread.key != keys.HOSTNAME:
            places = to_slots(nodes)
            fit = fitting(np.ones(len(places), np.int64), places, [spread])
            if fit < count:
                yield _Crowd(clause, fit, count, gathers=False, rule=constraint.rule)


def _without(hard: Sequence[Judged], at: int, world: World) -> Bits:
    """The nodes that could run one of the pods but for the constraint at that position."""
    nodes = world.everything
    for other, judged in enumerate(hard):
        nodes &= judged.nodes if other != at else -1
    return nodes


def _beside_itself(ask: Ask, hard: Sequence[Judged], world: World, replicas: Replicas) -> Iterator[_Crowd]:
    """Clauses that put the pods beside pods which only the DaemonSet itself has: those that its selector selects."""
    nodes = _without(hard, -1, world)
    places = to_slots(nodes)
    for clause, key, needs, rule in _wanted(ask):
        if not replicas.selector or not _only_own(needs, replicas):
            continue
        domains = world.inventory.nodes.domains_of(key)
        within = domains.counts(places)
        fit = int(within.max(initial=0))
        if fit < nodes.bit_count():
            label = key if nodes & ~world.inventory.nodes.with_key(key) else ""
            yield _Crowd(clause, fit, nodes.bit_count(), gathers=True, rule=rule, key=label)


def _wanted(ask: Ask) -> Iterator[tuple[Clause, str, Sequence[Requirement], Rule]]:
    """Pods of the namespace that the pod must be beside: the clause, topology key, labels, and rule."""
    for selection in ask.mapping.pod_selections:
        if selection.near:
            yield selection.clause, keys.HOSTNAME, selection.needs, Rule.MAPPING
    affinity = ask.spec.affinity.pod_affinity if ask.spec.affinity else None
    for term in (affinity and affinity.required) or ():
        if term.label_selector is not None and _of_own_namespace(term, ask.namespace):
            yield (
                pod_affinity(term.topology_key),
                term.topology_key,
                requirements_of(term.label_selector),
                Rule.OWN_SPREAD,
            )


def _of_own_namespace(term: PodTerm, namespace: str) -> bool:
    """Whether the term is about pods of that namespace and of no other."""
    alone = term.namespace_selector is None and not {*(term.namespaces or ())} - {namespace}
    return alone and applies(term, namespace, namespace)


def _only_own(needs: Iterable[Requirement], replicas: Replicas) -> bool:
    """Whether every pod with such labels is selected by the DaemonSet, so that it is one of its own pods."""
    stated = {(need.key, *(need.values or ())) for need in needs if need.operator == "In"}
    return stated.issuperset(replicas.selector.items())
