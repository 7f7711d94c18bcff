"""``DecidedPod``: one pod, or pod template, judged as admission would if it asked for placement."""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.checks.templates import DescribedPod, pod_metadata, with_misplaced
from webhook.admission.opt_in import concerned
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.annotations.stray_keys import stray_keys
from webhook.placement.constraints.constraint import Reason
from webhook.placement.decision.decision import Decision, forged_seal
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.text.clause import Clause
from webhook.placement.workload.workload import decide_replicas, guard_replicas

NAMESPACE = "default"
"""The namespace of a manifest that states none, as for kubectl."""

UNREAD: Final = "the pod does not ask for placement: a cluster would admit it, and it would wait for a node"
"""Warning for a pod that no node can run, and that admission lets through."""


class DecidedPod(Struct, frozen=True, eq=False):
    """A pod and the decision about it, in the ``world`` in which that was made.

    ``asks`` is whether the pod asks for placement: a pod that does not is judged in the same way, but admission lets it
    through unchanged. ``unread`` is whether it does so although no node can run the pod.
    """

    described: DescribedPod
    pod: Pod
    namespace: str
    decision: Decision
    asks: bool
    unread: bool
    world: World

    def removed(self) -> Iterator[tuple[Clause | None, Reason]]:
        """The nodes that each constraint is the first to rule out, by reason, with the clause that a user wrote."""
        for judged, out in self.decision.verdict.removed() if self.decision.verdict else ():
            for reason in judged.constraint.explain(self.world, out):
                yield judged.constraint.clause, reason

    def doubts(self, document: Unstructured) -> Iterator[str]:
        """Warnings that admission does not give: of unknown kinds, misspelt keys, and a pod that no node can run."""
        described = self.described
        if described.note:
            yield described.note
        where = described.metadata or pod_metadata(document)
        written = (
            [(described.pod, "metadata")]
            if document is described.pod
            else [(document, "metadata"), (described.pod, where)]
        )
        for document_part, place in written:
            annotations, labels = (
                list(map(str, mapping(document_part, "metadata", field))) for field in ("annotations", "labels")
            )
            yield from stray_keys(annotations, labels, place=place, pods=where)
        if self.unread:
            yield UNREAD


def judge_described(described: DescribedPod, world: World) -> DecidedPod:
    """Decide about the pod, or pod template. Raises ``msgspec.ValidationError`` if it is not a pod."""
    pod = msgspec.convert(described.pod, Pod)
    namespace = (pod.metadata.namespace if pod.metadata else None) or NAMESPACE
    decision = decide_replicas(pod, namespace, world.inventory, world.policy, described.replicas)
    asks = concerned(pod, namespace, world.inventory)
    if not asks and (forged := tuple(forged_seal(pod))):
        decision = replace(decision, problems=forged, additions=None)
    decision = with_misplaced(decision, described.misplaced, world.policy)
    # The world of the decision: without the live pods of a workload that is being changed, which its new pods replace.
    now = World(world.inventory, world.policy, leaving=described.replicas.owner)
    decided_in = (now.recovered() if decision.recovered else None) or now
    unread = decision.refused and not asks and not _objectionable(pod, namespace, described, world)
    return DecidedPod(described, pod, namespace, decision, asks, unread, decided_in)


def _objectionable(pod: Pod, namespace: str, described: DescribedPod, world: World) -> bool:
    """Whether a pod that asks for no placement is still refused, or its workload for misplaced annotations."""
    decision = guard_replicas(pod, namespace, world, described.replicas)
    return with_misplaced(decision, described.misplaced, world.policy).refused
