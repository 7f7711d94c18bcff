"""One pod explained: verdict, patch, candidate nodes with their costs, and the nodes that each constraint rules out.

Names of nodes appear: the user reads the cluster, or a snapshot of it, with rights of their own.
"""

from collections.abc import Iterator
from typing import Any

import jsonpatch
import msgspec
from msgspec import Struct

from webhook.admission.daemon_sets import RIGHT, tolerates_exclusive
from webhook.admission.opt_in import concerned
from webhook.admission.patch import encode, operations
from webhook.admission.templates import DescribedPod, pod_metadata, with_misplaced
from webhook.admission.unstructured import Unstructured, mapping
from webhook.placement.annotations.stray_keys import stray_keys
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.workload.ranking import Ranked, rank
from webhook.placement.workload.workload import decide_replicas, guard_replicas

NAMESPACE = "default"
"""Where a manifest without a namespace goes, as for kubectl."""

_UNREAD = "the pod asks for no placement: on a cluster it is let through all the same, and waits for a node"
"""Warning for a pod that no node can run, and that nobody refuses."""


_RIGHT = f"its pods tolerate exclusive hosts: on a cluster, creating it takes {RIGHT}"
"""Warning for a DaemonSet that only some users may create: who will is not known here."""


class Removed(Struct, frozen=True):
    """Nodes that one constraint is the first to rule out; ``clause`` is empty where the user wrote none (taints)."""

    clause: str
    reason: str
    nodes: list[str]


class Explanation(Struct, frozen=True):
    """What would become of an object; ``after`` is it with the patch applied, ``None`` for a refused one."""

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
    before: Unstructured
    after: Unstructured | None

    @property
    def refused(self) -> bool:
        """Whether the pod would be refused."""
        return self.after is None


class PodExplanation(Explanation, frozen=True):
    """What would become of a pod.

    ``ranking`` are the candidates, cheapest first, with their shares of replicas; ``asks`` is whether the pod asks for
    placement: one that does not is judged in the same way, but admission lets it through as it is.
    """

    ranking: list[Ranked]
    asks: bool


def explain(file: str, document: Unstructured, found: DescribedPod, world: World) -> PodExplanation:
    """Decide the pod of the document as admission would if it asks for placement, and say why.

    Raises ``msgspec.ValidationError`` for an object that is no pod.
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
    # Where it was decided: the live pods of a workload that is being changed are no neighbours to its new ones.
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


def _objectionable(pod: Pod, namespace: str, found: DescribedPod, world: World) -> bool:
    """Whether a pod that asks for nothing is refused all the same, or its workload for what it says itself."""
    decision = guard_replicas(pod, namespace, world, found.replicas)
    return with_misplaced(decision, found.misplaced, world.policy).refused


def _doubts(document: Unstructured, found: DescribedPod) -> Iterator[str]:
    """Warnings of what admission does not check: an unknown kind, and keys that were probably meant to be ours."""
    if found.note:
        yield found.note
    where = pod_metadata(document)
    written = [(found.pod, "metadata")] if document is found.pod else [(document, "metadata"), (found.pod, where)]
    for holder, place in written:
        annotations, labels = (
            list(map(str, mapping(holder, "metadata", field))) for field in ("annotations", "labels")
        )
        yield from stray_keys(annotations, labels, place=place, pods=where)


def names(nodes: Bits, world: World) -> list[str]:
    """The names of the nodes, sorted."""
    return sorted(world.inventory.nodes.names[slot] for slot in slots(nodes))
