"""The decision about a workload: about one pod of its template, and about room for all its pods at a time.

See ``docs/workloads.md``.
"""

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from webhook.placement.annotations.placement_text import annotation
from webhook.placement.constraints.node_label import SOFT
from webhook.placement.decision.decision import Decision, anew, decide, guard
from webhook.placement.decision.merge import NOTHING
from webhook.placement.decision.relaxation import REFUSED
from webhook.placement.decision.replica_fit import ReplicaFit, Replicas
from webhook.placement.decision.verdict import Verdict, judge
from webhook.placement.decision.wait import blocking_conditions
from webhook.placement.decision.whole_group import first_of_group
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.ask import Ask
from webhook.placement.request.world import World
from webhook.placement.spl.clauses import ClauseName
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault, Problem
from webhook.placement.workload.replica_refusal import refuse_replicas, waiting_notice


def decide_replicas(pod: Pod, namespace: str, inventory: Inventory, policy: Policy, replicas: Replicas) -> Decision:
    """Decide about one pod of the template as about a single pod, and then about all pods of the workload."""
    return _decide_all(pod, namespace, World(inventory, policy, leaving=replicas.owner), replicas)


def _decide_all(pod: Pod, namespace: str, now: World, replicas: Replicas) -> Decision:
    """The decision about the workload in the world ``now``."""
    decision = decide(pod, namespace, now)
    world = (now.recovered() or now) if decision.recovered else now
    if replicas.everywhere and (wrong := tuple(_node_choices(decision.ask))):
        return replace(decision, problems=(*wrong, *decision.problems), additions=None)
    if decision.refused:
        return _unless_idle(decision, replicas)
    if decision.refusal or decision.verdict is None:
        return decision
    fit = ReplicaFit(decision.ask, decision.verdict.hard, world)
    # Optional hardware is promised to no pod, so every node counts that can run a pod without it.
    verdict = replace(decision.verdict, hard=fit.hard, candidates=fit.candidates, granted=())
    if fit.room(replicas.count) >= replicas.needed and first_of_group(judged.constraint for judged in fit.hard):
        decision = decide(pod, namespace, now, replicas.count)
    if fit.room(replicas.count) >= replicas.count:
        return decision
    return _short(pod, decision, fit, verdict, world, replicas)


def _short(
    pod: Pod, decision: Decision, fit: ReplicaFit, verdict: Verdict, world: World, replicas: Replicas
) -> Decision:
    """The decision about a workload with more pods than there is room for at a time; one pod alone could run."""

    def fitting(dropped: Collection[str]) -> int:
        """How many of the pods would fit without these clauses."""
        found = anew(pod, decision.ask, world, dropped)
        return ReplicaFit(found[0], judge(found[1], world).hard, world).room(replicas.count) if found else REFUSED

    if fit.room(replicas.count) >= replicas.needed:
        text = waiting_notice(fit, verdict, decision.ask, world, replicas, fitting)
        return replace(decision, warnings=(*decision.warnings, text))
    if later := world.recovered():
        return _in_time(_decide_all(pod, decision.ask.namespace, later, replicas), fit, world, replicas)
    refusal = refuse_replicas(fit, verdict, decision.ask, world, replicas, fitting)
    if decision.ask.elastic and refusal.fault is Fault.FORBIDDEN:
        return replace(decision, warnings=(*decision.warnings, f"no room yet: {refusal.headline}"))
    return _unless_idle(replace(decision, refusal=refusal, additions=None), replicas)


def _in_time(later: Decision, now: ReplicaFit, world: World, replicas: Replicas) -> Decision:
    """The decision ``later``, made as if passing conditions of nodes had ended, for pods with too little room now.

    An admitted workload gets a warning that some of its pods wait.
    """
    later = replace(later, recovered=True)
    if later.refused or later.verdict is None or replicas.idle:
        return later
    room, count = now.room(replicas.count), replicas.count
    fit = f"{room} of {count} pods {'fits' if room == 1 else 'fit'}"
    why = blocking_conditions(later.ask, later.verdict.candidates, world) or "nodes are yet to recover"
    doubt = f"no room now: {fit}; the others wait until it has passed that {why}"
    return replace(later, warnings=(*later.warnings, doubt))


def guard_replicas(pod: Pod, namespace: str, world: World, replicas: Replicas) -> Decision:
    """Decide about the pods of a workload that asks for no placement."""
    decision = guard(pod, namespace, world)
    return _unless_idle(decision, replicas) if decision.refused else decision


def _unless_idle(refused: Decision, replicas: Replicas) -> Decision:
    """The refusal; for a workload of which no pod is to run yet only a warning, as the cluster may change until then.

    A refusal for a fault of the request itself stays a refusal.
    """
    if refused.fault is Fault.INVALID or not replicas.idle:
        return refused
    doubts = (*refused.warnings, f"not yet: {refused.headline}")
    return replace(refused, problems=(), additions=NOTHING, warnings=doubts)


def _node_choices(ask: Ask) -> Iterator[Problem]:
    """A problem for each clause of a DaemonSet that chooses among nodes: it has one pod for every node it selects."""
    hosts = ask.of(ClauseName.HOST) if ClauseName.HOST not in ask.soft else ()
    mapped = ask.mapping.expressions if SOFT not in ask.soft else ()
    chosen = [(keys.PLACEMENT, str(clause)) for clause in hosts]
    chosen += [(keys.MAPPED, expression.clause) for expression in mapped]
    fields = [(annotation(key), clause) for key, clause in chosen]
    fields += [(label.field, label.clause) for label in ask.provision.labels if label.mandatory]
    for field, clause in fields:
        message = "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment"
        yield Problem(field, f"{clause}: {message}")
