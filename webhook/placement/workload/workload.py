"""The decision about a workload: about one pod of its template, and about room for all its pods at a time.

See ``docs/workloads.md``.
"""

from collections.abc import Collection

from msgspec.structs import replace

from webhook.placement.decision.decision import Decision, decide, decide_again, forged_seal, guard
from webhook.placement.decision.merge import NOTHING
from webhook.placement.decision.refusal.partial_pod import PartialPods
from webhook.placement.decision.refusal.refusal import Refusal
from webhook.placement.decision.refusal.relaxation import REFUSED
from webhook.placement.decision.replica_fit import ClaimTemplates, ReplicaFit, Replicas
from webhook.placement.decision.scale_up import scale_up
from webhook.placement.decision.verdict import Verdict
from webhook.placement.decision.wait import blocking_conditions
from webhook.placement.decision.whole_group import first_of_group
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.text.fix import Lower
from webhook.placement.text.problem import Fault
from webhook.placement.workload.daemon_set import daemon_pod, left_out, node_choices, refuse_daemon_set
from webhook.placement.workload.ordinal_claims import pods_of_set, refuse_claims, tied_elsewhere
from webhook.placement.workload.replica_refusal import refuse_replicas, waiting_notice


def decide_replicas(pod: Pod, namespace: str, inventory: Inventory, policy: Policy, replicas: Replicas) -> Decision:
    """Decide about one pod of the template as about a single pod, and then about all pods of the workload."""
    world = World(inventory, policy, leaving=replicas.owner)
    if replicas.everywhere:
        daemon = inventory.pod_defaults.completed(daemon_pod(pod), namespace)
        return _decide_everywhere(daemon, namespace, world, replicas)
    pod = inventory.pod_defaults.completed(pod, namespace)
    if replicas.claims and not replicas.idle:
        return _decide_set(pod, namespace, world, replicas, replicas.claims)
    return decide_together(pod, namespace, world, replicas)


def decide_together(pod: Pod, namespace: str, world: World, replicas: Replicas) -> Decision:
    """Decide about so many pods like one that has its defaults, beside nothing but what stays in the world."""
    return _decide_all(pod, decide(pod, namespace, world), world, replicas)


def _decide_set(pod: Pod, namespace: str, world: World, replicas: Replicas, templates: ClaimTemplates) -> Decision:
    """The decision about a StatefulSet whose pods have claims of their own.

    Pods without a volume yet are all alike; those with one are tied to its nodes.
    """
    pods = pods_of_set(pod, templates, replicas.count, namespace, world.inventory.volumes)
    if all(each == pods[0] for each in pods):
        return decide_together(pods[0], namespace, world, replicas)
    decision = decide_together(pod, namespace, world, replicas)
    if decision.refused or decision.verdict is None or decision.refusal:
        return decision
    fit = ReplicaFit(decision.ask, decision.verdict.hard, (world.recovered() or world) if decision.recovered else world)
    if alone := tied_elsewhere(pods, fit.candidates, namespace, world):
        decided = decide(alone, namespace, world)
        return replace(decided, warnings=(*decision.warnings, *decided.warnings)) if decided.refused else decision
    refusal = refuse_claims(fit, pods, templates, namespace, world)
    if refusal and not decision.ask.elastic:
        return replace(decision, refusal=refusal, additions=None)
    return decision


def _decide_everywhere(pod: Pod, namespace: str, world: World, replicas: Replicas) -> Decision:
    """The decision about a DaemonSet: one pod runs on each of the nodes that it selects."""
    decision = decide(pod, namespace, world)
    if wrong := tuple(node_choices(decision.ask)):
        return replace(decision, problems=(*wrong, *decision.problems), additions=None)
    if decision.problems or decision.verdict is None:
        return decision
    refusal = refuse_daemon_set(decision.ask, decision.verdict, world, replicas)
    if refusal:
        return replace(decision, refusal=refusal, additions=None)
    return replace(decision, warnings=(*decision.warnings, *left_out(decision.verdict, world)))


def _decide_all(pod: Pod, decision: Decision, now: World, replicas: Replicas) -> Decision:
    """The decision about the workload in the world ``now``, by the one about a single pod."""
    world = (now.recovered() or now) if decision.recovered else now
    if decision.refused:
        return _unless_idle(decision, replicas)
    if decision.scale_up and decision.refusal:
        room, short = decision.scale_up.room(replicas.needed, 0)
        fewer = (Lower(replicas.field, room - replicas.spare),) if room > replicas.spare else ()
        refusal = decision.refusal.with_reasons(short, (*fewer, *decision.refusal.fixes))
        return _too_many(decision, refusal, replicas) if short else decision
    if decision.refusal or decision.verdict is None:
        return decision
    fit = ReplicaFit(decision.ask, decision.verdict.hard, world)
    # Optional hardware is promised to no pod, so every node counts that can run a pod without it.
    verdict = replace(decision.verdict, hard=fit.hard, candidates=fit.candidates, granted=())
    if fit.room(replicas.count) >= replicas.needed and first_of_group(judged.constraint for judged in fit.hard):
        decision = decide_again(decision.ask, pod, now, replicas.count)
    if fit.room(replicas.count) >= replicas.count:
        return decision
    return _short(pod, decision, fit, verdict, world, replicas)


def _short(
    pod: Pod, decision: Decision, fit: ReplicaFit, verdict: Verdict, world: World, replicas: Replicas
) -> Decision:
    """The decision about a workload with more pods than there is room for at the same time; one pod alone could run."""
    ask = decision.ask
    if fit.room(replicas.count) < replicas.needed and (later := world.recovered()):
        return _in_time(_decide_all(pod, decide_again(ask, pod, later), later, replicas), fit, world, replicas)
    partial = PartialPods(pod, ask, fit.hard, world, fit)

    def fitting(dropped: Collection[Clause]) -> int:
        """How many of the pods would fit without these clauses."""
        remaining = partial.without(dropped)
        return remaining.stated.replicas.room(replicas.count, remaining.kept) if remaining else REFUSED

    if fit.room(replicas.count) >= replicas.needed:
        text = waiting_notice(fit, verdict, ask, world, replicas, fitting)
        return replace(decision, warnings=(*decision.warnings, text))
    refusal = refuse_replicas(fit, verdict, ask, world, replicas, fitting)
    if ask.elastic and refusal.fault is Fault.FORBIDDEN:
        return replace(decision, warnings=(*decision.warnings, f"no room yet: {refusal.headline}"))
    able = world.policy.scale_up != "off" and refusal.fault is Fault.FORBIDDEN
    if able and (new := scale_up(decision.ask, tuple(verdict.constraints), world)):
        here = fit.room(replicas.count)
        room, short = new.room(replicas.needed, here)
        if not short:
            return replace(decision, scale_up=new, warnings=(*decision.warnings, f"no room yet: {new.notice}"))
        refusal = refuse_replicas(fit, verdict, ask, world, replace(replicas, new=room - here), fitting)
        refusal = refusal.with_reasons(short)
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
    why = blocking_conditions(later.ask, later.verdict.candidates, world) or "nodes have not recovered yet"
    doubt = f"no room now: {fit}; the others wait as long as {why}"
    return replace(later, warnings=(*later.warnings, doubt))


def guard_replicas(pod: Pod, namespace: str, world: World, replicas: Replicas) -> Decision:
    """Decide about the pods of a workload that asks for no placement."""
    decision = guard(world.inventory.pod_defaults.completed(pod, namespace), namespace, world)
    if forged := tuple(forged_seal(pod)):
        return replace(decision, problems=forged, additions=None)
    return _unless_idle(decision, replicas) if decision.refused else decision


def _too_many(waits: Decision, refusal: Refusal, replicas: Replicas) -> Decision:
    """The refusal of pods of which one could wait for a new node, but not all; it is not said to wait as well."""
    verdict = _unless_idle(replace(waits, refusal=refusal, additions=None), replicas)
    said = tuple(warning for warning in verdict.warnings if waits.wait is None or warning != waits.wait.headline)
    return replace(verdict, warnings=said, wait=None) if verdict.refused else verdict


def _unless_idle(refused: Decision, replicas: Replicas) -> Decision:
    """The refusal; for a workload of which no pod is to run yet only a warning, as the cluster may change until then.

    A refusal for a fault of the request itself stays a refusal.
    """
    if refused.fault is Fault.INVALID or not replicas.idle:
        return refused
    doubts = (*refused.warnings, f"not yet: {refused.headline}")
    return replace(refused, problems=(), additions=NOTHING, warnings=doubts)
