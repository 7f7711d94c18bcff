"""Explanation of one pod: verdict, patch, candidate nodes with their costs, and the nodes that constraints rule out.

Explanations name nodes, which refusals of the webhook do not: the user of the command line reads the cluster, or a
snapshot, with rights of their own.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

import jsonpatch
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.checks.daemon_sets import RIGHT, tolerates_exclusive
from webhook.admission.checks.templates import DescribedPod, pod_metadata, with_misplaced
from webhook.admission.opt_in import concerned
from webhook.admission.patch import encode, operations
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.annotations.stray_keys import stray_keys
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.verdict import Verdict
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.workload.ranking import Ranked, rank
from webhook.placement.workload.workload import decide_replicas, guard_replicas

NAMESPACE = "default"
"""The namespace of a manifest that states none, as for kubectl."""

UNREAD: Final = "the pod asks for no placement: a cluster would admit it nevertheless, and it would wait for a node"
"""Warning for a pod that no node can run, and that admission lets through."""

_RIGHT = f"its pods tolerate exclusive hosts: on a cluster, creating it takes {RIGHT}"
"""Warning for a DaemonSet that only some users may create: ``explain`` does not know which user will create it."""


class Removed(Struct, frozen=True):
    """Nodes that one constraint is the first to rule out; ``clause`` is empty if no user wrote it (taints)."""

    clause: str
    reason: str
    nodes: list[str]


class Explanation(Struct, frozen=True):
    """The outcome of submitting an object; ``after`` is the patched object, ``None`` if it is refused."""

    file: str
    origin: str
    namespace: str
    verdict: Literal["admitted", "refused"]
    code: int
    message: str
    warnings: list[str]
    candidates: list[str]
    removed: list[Removed]
    patch: list[dict[str, Any]]
    before: Unstructured
    after: Unstructured | None

    @property
    def refused(self) -> bool:
        """Whether the object would be refused."""
        return self.after is None


class PodExplanation(Explanation, frozen=True):
    """The outcome of submitting a pod.

    ``ranking`` are the candidates, cheapest first, with their shares of replicas. ``asks`` is whether the pod asks for
    placement: a pod that does not is judged in the same way, but admission lets it through unchanged.
    """

    ranking: list[Ranked]
    asks: bool


def explain(file: str, document: Unstructured, described: DescribedPod, world: World) -> PodExplanation:
    """Decide about the pod as admission would if the pod asked for placement, and explain the decision.

    ``described`` is the pod, or pod template, in ``document``. Raises ``msgspec.ValidationError`` if it is not a pod.
    """
    pod = msgspec.convert(described.pod, Pod)
    namespace = (pod.metadata.namespace if pod.metadata else None) or NAMESPACE
    decision = decide_replicas(pod, namespace, world.inventory, world.policy, described.replicas)
    decision = with_misplaced(decision, described.misplaced, world.policy)
    asks = concerned(pod, namespace, world.inventory)
    steps = operations(pod, decision.additions) if decision.additions and asks else []
    patch = msgspec.json.decode(encode(steps))
    verdict = decision.verdict
    # The world of the decision: without the live pods of a workload that is being changed, which its new pods replace.
    now = World(world.inventory, world.policy, leaving=described.replicas.owner)
    decided_in = (now.recovered() if decision.recovered else None) or now
    unread = decision.refused and not asks and not _objectionable(pod, namespace, described, world)
    return PodExplanation(
        file=file,
        origin=described.origin,
        namespace=namespace,
        verdict="refused" if decision.refused else "admitted",
        code=decision.fault.value if decision.refused else 200,
        message=decision.message,
        warnings=[*_doubts(document, described), *([UNREAD] if unread else []), *_warnings(decision, described, world)],
        candidates=names(verdict.candidates, world) if verdict else [],
        removed=list(_removed(verdict, decided_in)) if verdict else [],
        patch=patch,
        before=described.pod,
        after=None if decision.refused else jsonpatch.apply_patch(described.pod, patch),
        ranking=rank(decision.ask, verdict, decided_in, described.replicas.count) if verdict else [],
        asks=asks,
    )


def beside(alone: PodExplanation, verdict: JobVerdict) -> PodExplanation:
    """The explanation of a workload that could run by itself, with the verdict on it beside others of its job."""
    said = replace(alone, warnings=[*alone.warnings, *verdict.warnings])
    if not verdict.refused:
        return said
    return replace(said, verdict="refused", code=verdict.fault.value, message=verdict.text, patch=[], after=None)


def _warnings(decision: Decision, described: DescribedPod, world: World) -> Iterator[str]:
    """The warnings of the decision, after that for a DaemonSet which takes a right to be created."""
    if described.replicas.everywhere and tolerates_exclusive(decision.ask, world):
        yield _RIGHT
    yield from decision.warnings


def _removed(verdict: Verdict, world: World) -> Iterator[Removed]:
    """The nodes that each constraint is the first to rule out, by reason; ``world`` is that of the verdict."""
    for judged, out in verdict.removed():
        for reason in judged.constraint.explain(world, out):
            yield Removed(str(judged.constraint.clause or ""), reason.one, names(reason.nodes, world))


def _objectionable(pod: Pod, namespace: str, described: DescribedPod, world: World) -> bool:
    """Whether a pod that asks for no placement is still refused, or its workload for misplaced annotations."""
    decision = guard_replicas(pod, namespace, world, described.replicas)
    return with_misplaced(decision, described.misplaced, world.policy).refused


def _doubts(document: Unstructured, described: DescribedPod) -> Iterator[str]:
    """Warnings that admission does not give: of unknown kinds, and of misspelt annotation and label keys."""
    if described.note:
        yield described.note
    where = described.metadata or pod_metadata(document)
    written = (
        [(described.pod, "metadata")] if document is described.pod else [(document, "metadata"), (described.pod, where)]
    )
    for document_part, place in written:
        annotations, labels = (
            list(map(str, mapping(document_part, "metadata", field))) for field in ("annotations", "labels")
        )
        yield from stray_keys(annotations, labels, place=place, pods=where)


def names(nodes: Bits, world: World) -> list[str]:
    """The names of the nodes, sorted."""
    return sorted(world.inventory.nodes.names[slot] for slot in slots(nodes))
