"""Explanation of one pod: verdict, patch, candidate nodes with their costs, and what removed each other node.

Explanations name nodes, which refusals of the webhook do not: the user of the command line reads the cluster, or a
snapshot, with rights of their own.
"""

from collections.abc import Iterator
from typing import Any

import jsonpatch
import msgspec
from msgspec import Struct

from webhook.admission.daemons import RIGHT, tolerates_exclusive
from webhook.admission.document import Document, mapping
from webhook.admission.misplaced import with_misplaced
from webhook.admission.mutate import concerned
from webhook.admission.patch import encode, operations
from webhook.admission.workloads import Found, pod_metadata
from webhook.placement.annotations.stray_keys import stray_keys
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.workload.ranking import Ranked, rank
from webhook.placement.workload.workload import decide_replicas, guard_replicas

NAMESPACE = "default"
"""The namespace of a manifest that states none, as for kubectl."""

_UNREAD = "the pod asks for no placement: on a cluster it is let through all the same, and waits for a node"
"""Warning for a pod that no node can run, and that admission lets through."""

_RIGHT = f"its pods tolerate exclusive hosts: on a cluster, creating it takes {RIGHT}"
"""Warning for a DaemonSet that only some users may create: ``explain`` does not know which user will create it."""


class Removed(Struct, frozen=True):
    """Nodes that one constraint is the first to rule out; ``clause`` is empty if no user wrote it (taints)."""

    clause: str
    reason: str
    nodes: list[str]


class Explanation(Struct, frozen=True):
    """What would become of an object; ``after`` is the object with the patch applied, ``None`` if it is refused."""

    file: str
    origin: str
    namespace: str
    verdict: str
    code: int
    message: str
    warnings: list[str]
    candidates: list[str]
    removed: list[Removed]
    patch: list[dict[str, Any]]
    before: Document
    after: Document | None

    @property
    def refused(self) -> bool:
        """Whether the object would be refused."""
        return self.after is None


class PodExplanation(Explanation, frozen=True):
    """What would become of a pod.

    ``ranking`` are the candidates, cheapest first, with their shares of replicas. ``asks`` is whether the pod asks for
    placement: a pod that does not is judged in the same way, but admission lets it through unchanged.
    """

    ranking: list[Ranked]
    asks: bool


def explain(file: str, document: Document, found: Found, world: World) -> PodExplanation:
    """Decide about the pod as admission would if the pod asked for placement, and explain the decision.

    ``found`` is the pod, or pod template, in ``document``. Raises ``msgspec.ValidationError`` if it is no pod.
    """
    pod = msgspec.convert(found.pod, Pod)
    namespace = (pod.metadata.namespace if pod.metadata else None) or NAMESPACE
    decision = decide_replicas(pod, namespace, world.inventory, world.policy, found.replicas)
    decision = with_misplaced(decision, found.misplaced, world.policy)
    asks = concerned(pod, namespace, world.inventory)
    unread = decision.refused and not asks and not _objectionable(pod, namespace, found, world)
    steps = operations(pod, decision.additions) if decision.additions and asks else []
    patch = msgspec.json.decode(encode(steps))
    verdict = decision.verdict
    # The world of the decision: when a workload is changed, its live pods are going to leave their nodes.
    now = World(world.inventory, world.policy, leaving=found.replicas.owner)
    decided_in = (now.recovered() if decision.recovered else None) or now
    return PodExplanation(
        file=file,
        origin=found.origin,
        namespace=namespace,
        verdict="refused" if decision.refused else "admitted",
        code=decision.fault.value if decision.refused else 200,
        message=decision.message,
        warnings=[
            *_doubts(document, found),
            *([_UNREAD] if unread else []),
            *([_RIGHT] if found.replicas.everywhere and tolerates_exclusive(decision.ask, world) else []),
            *decision.warnings,
        ],
        candidates=names(verdict.candidates, world) if verdict else [],
        removed=[
            Removed(judged.constraint.clause, reason.one, names(reason.nodes, world))
            for judged, out in (verdict.removed() if verdict else ())
            for reason in judged.constraint.explain(decided_in, out)
        ],
        patch=patch,
        before=found.pod,
        after=None if decision.refused else jsonpatch.apply_patch(found.pod, patch),
        ranking=rank(decision.ask, verdict, decided_in, found.replicas.count) if verdict else [],
        asks=asks,
    )


def _objectionable(pod: Pod, namespace: str, found: Found, world: World) -> bool:
    """Whether a pod that asks for no placement is refused all the same, or its workload for misplaced annotations."""
    decision = guard_replicas(pod, namespace, world, found.replicas)
    return with_misplaced(decision, found.misplaced, world.policy).refused


def _doubts(document: Document, found: Found) -> Iterator[str]:
    """Warnings that admission does not give: of unknown kinds, and of misspelt annotation and label keys."""
    if found.note:
        yield found.note
    where = pod_metadata(document)
    written = [(found.pod, "metadata")] if document is found.pod else [(document, "metadata"), (found.pod, where)]
    for document_part, place in written:
        annotations, labels = (
            list(map(str, mapping(document_part, "metadata", field))) for field in ("annotations", "labels")
        )
        yield from stray_keys(annotations, labels, place=place, pods=where)


def names(nodes: Bits, world: World) -> list[str]:
    """The names of the nodes, sorted."""
    return sorted(world.inventory.nodes.names[slot] for slot in slots(nodes))
