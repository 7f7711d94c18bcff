"""Explanation of one pod: verdict, patch, candidate nodes with their costs, and the nodes that constraints rule out.

Explanations name nodes, which refusals of the webhook do not: the user of the command line reads the cluster, or a
snapshot, with rights of their own.
"""

from collections.abc import Iterator
from typing import Any, Literal

import jsonpatch
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webhook.admission.checks.daemon_sets import RIGHT, tolerates_exclusive
from webhook.admission.checks.templates import DescribedPod
from webhook.admission.patch import encode, operations
from webhook.admission.unstructured import Unstructured
from webhook.placement.decision.decision import Decision
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.kube.bits import Bits, slots
from webhook.placement.request.world import World
from webhook.placement.workload.ranking import Ranked, rank
from webhook.placementreview.explanations.decided_pod import judge_described

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
    judged = judge_described(described, world)
    decision, verdict = judged.decision, judged.decision.verdict
    steps = operations(judged.pod, decision.additions) if decision.additions and judged.asks else []
    patch = msgspec.json.decode(encode(steps))
    return PodExplanation(
        file=file,
        origin=described.origin,
        namespace=judged.namespace,
        verdict="refused" if decision.refused else "admitted",
        code=decision.fault.value if decision.refused else 200,
        message=decision.message,
        warnings=[*judged.doubts(document), *_warnings(decision, described, world)],
        candidates=names(verdict.candidates, world) if verdict else [],
        removed=[
            Removed(str(clause or ""), reason.one, names(reason.nodes, world)) for clause, reason in judged.removed()
        ],
        patch=patch,
        before=described.pod,
        after=None if decision.refused else jsonpatch.apply_patch(described.pod, patch),
        ranking=rank(decision.ask, verdict, judged.world, described.replicas.count) if verdict else [],
        asks=judged.asks,
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


def names(nodes: Bits, world: World) -> list[str]:
    """The names of the nodes, sorted."""
    return sorted(world.inventory.nodes.names[slot] for slot in slots(nodes))
