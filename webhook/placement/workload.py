"""A workload as a whole: one pod of it, and whether there is room for all at a time (``docs/workloads.md``)."""

from collections.abc import Iterator

from msgspec.structs import replace

from webhook.placement import keys
from webhook.placement.additions import NOTHING
from webhook.placement.ask import Ask
from webhook.placement.clauses import ClauseName
from webhook.placement.constraints.mapping import SOFT
from webhook.placement.crowd import Crowd, Replicas
from webhook.placement.crowding import crowding
from webhook.placement.decision import Decision, anew, decide, words_of
from webhook.placement.inventory import Inventory
from webhook.placement.placement_text import annotation, without
from webhook.placement.pod import Pod
from webhook.placement.policy import Policy
from webhook.placement.problem import Fault, Problem
from webhook.placement.verdict import judge
from webhook.placement.whole_group import first_of_group
from webhook.placement.world import World


def decide_replicas(pod: Pod, namespace: str, cluster: Inventory, policy: Policy, replicas: Replicas) -> Decision:
    """Decide about one pod of the template, as for that pod, and then about all of them."""
    world = World(cluster, policy, leaving=replicas.owner)
    decision = decide(pod, namespace, world)
    if replicas.everywhere and (wrong := tuple(_chosen(decision.ask))):
        return replace(decision, problems=(*wrong, *decision.problems), additions=None)
    if decision.refused and not replicas.count and decision.fault is Fault.FORBIDDEN:
        # Nobody is to run yet, and until then the cluster may change.
        doubts = (*decision.warnings, f"not yet: {decision.headline}")
        return replace(decision, problems=(), additions=NOTHING, warnings=doubts)
    if decision.refusal or decision.refused or decision.verdict is None:
        return decision
    crowd = Crowd(decision.ask, decision.verdict.hard, world)
    # Nobody is promised what he only wants, so every node counts that can run one of them.
    verdict = replace(decision.verdict, candidates=crowd.candidates, granted=())
    if crowd.room(replicas.count) >= replicas.count:
        first = first_of_group(judged.constraint for judged in decision.verdict.hard)
        return decide(pod, namespace, world, replicas.count) if first else decision

    said = words_of(pod)

    def lacking(text: str) -> int:
        found = anew(pod, decision.ask, world, without(said, (text,)))
        return Crowd(found[0], judge(found[1], world).hard, world).room(replicas.count) if found else 0

    refusal = crowding(crowd, verdict, decision.ask, world, replicas, lacking)
    if decision.ask.elastic and refusal.fault is Fault.FORBIDDEN:
        return replace(decision, warnings=(*decision.warnings, f"no room yet: {refusal.headline}"))
    return replace(decision, refusal=refusal, additions=None)


def _chosen(ask: Ask) -> Iterator[Problem]:
    """A problem for each clause that chooses among the nodes of a DaemonSet, whose pods are bound node by node."""
    hosts = ask.of(ClauseName.HOST) if ClauseName.HOST not in ask.soft else ()
    mapped = ask.mapping.expressions if SOFT not in ask.soft else ()
    chosen = [(keys.PLACEMENT, str(clause)) for clause in hosts]
    chosen += [(keys.MAPPED, expression.clause) for expression in mapped]
    fields = [(annotation(key), clause) for key, clause in chosen]
    fields += [(label.field, label.clause) for label in ask.provision.labels if label.mandatory]
    for field, clause in fields:
        message = "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment"
        yield Problem(field, f"{clause}: {message}")
