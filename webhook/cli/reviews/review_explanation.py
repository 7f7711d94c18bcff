"""The answer of a PlacementReview as ``explain`` writes it: an explanation of each object, and of each evicted pod.

An explanation has the fields of an explanation against a snapshot. Where the user may not list nodes, nodes are counted
and not named.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import jsonpatch
from msgspec import UNSET, Struct

from webhook.admission.checks.templates import origin_of
from webhook.admission.unstructured import Unstructured
from webhook.app.references import referenced_kinds
from webhook.app.review_requests import UNPLACED
from webhook.cli.arguments.manifests import Manifests
from webhook.placementreview.review import ClosedByRule, EvictedPod, EvictionVerdict, ReviewResult
from webhook.placementreview.submission import own_pods


class ReviewRemoved(Struct, frozen=True):
    """Nodes that one constraint is the first to rule out; ``clause`` is empty if no user wrote it (taints).

    ``count`` is how many these are; ``nodes`` is empty if the user may not list nodes.
    """

    clause: str
    reason: str
    nodes: tuple[str, ...]
    count: int


class ReviewExplanation(Struct, frozen=True, rename="camel"):
    """The outcome of submitting an object, or of one component of it, as a PlacementReview tells it.

    ``after`` is the patched object, ``None`` if it is refused, or if the ``patch`` is about what the API server adds to
    the object before admission. ``asks`` is whether the object asks for placement,
    ``waits`` whether it is admitted to wait for a node that there is not yet. ``candidateCount`` is the number of
    candidates, also if the user may not list nodes, ``None`` if no nodes were judged. ``fit`` is how many of the
    ``replicas`` can run at the same time.
    """

    file: str
    origin: str
    namespace: str
    verdict: Literal["admitted", "refused"]
    message: str
    warnings: tuple[str, ...]
    candidates: tuple[str, ...]
    removed: tuple[ReviewRemoved, ...]
    patch: tuple[dict[str, Any], ...]
    before: Unstructured
    after: Unstructured | None
    asks: bool
    waits: bool
    candidate_count: int | None
    replicas: int | None
    fit: int | None
    smallest_set: tuple[str, ...]
    nearest_fix: str

    @property
    def refused(self) -> bool:
        """Whether the object would be refused."""
        return self.verdict == "refused"


class EvictionExplanation(Struct, frozen=True, rename="camel"):
    """A pod that a drain evicts: ``refused`` is one whose successor finds no node.

    ``outcome`` says which: its successor has a ``node``, is refused, has no node, or there is none.
    """

    origin: str
    namespace: str
    verdict: Literal["admitted", "refused"]
    outcome: EvictionVerdict
    message: str
    node: str

    @property
    def refused(self) -> bool:
        """Whether the successor of the pod finds no node."""
        return self.verdict == "refused"


def explanations_of(given: Manifests, results: Sequence[ReviewResult]) -> list[ReviewExplanation]:
    """The explanations of the objects that these results are about."""
    return [_explanation(*given[result.manifest], result) for result in results]


def judged(given: Manifests, result: ReviewResult) -> bool:
    """Whether there is something to tell: an object without pods, such as a Service, asks for no placement."""
    _, document = given[result.manifest]
    return result.verdict != "NotJudged" or result.candidates is not None or any(own_pods(document, referenced_kinds()))


def _explanation(file: str, document: Unstructured, result: ReviewResult) -> ReviewExplanation:
    origin = origin_of(document) + (f", {result.component}" if result.component else "")
    refused = result.verdict == "Refused"
    nodes = result.candidates.nodes if result.candidates else UNSET
    return ReviewExplanation(
        file=file,
        origin=origin,
        namespace=result.namespace,
        verdict="refused" if refused else "admitted",
        message=result.message,
        warnings=result.warnings,
        candidates=() if nodes is UNSET else nodes,
        removed=tuple(map(_removed, result.closed)),
        patch=result.patch,
        before=document,
        after=None if refused else _after(document, result),
        asks=result.verdict != "NotJudged",
        waits=result.verdict == "Waiting",
        candidate_count=result.candidates.count if result.candidates else None,
        replicas=result.replicas,
        fit=result.fit,
        smallest_set=result.smallest_set,
        nearest_fix=result.nearest_fix,
    )


def _removed(closed: ClosedByRule) -> ReviewRemoved:
    clause = "" if closed.rule == closed.reason else closed.rule
    return ReviewRemoved(clause, closed.reason, () if closed.nodes is UNSET else closed.nodes, closed.count)


def _after(document: Unstructured, result: ReviewResult) -> Unstructured | None:
    try:
        after: Unstructured = jsonpatch.apply_patch(document, list(result.patch))
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
        return None
    return after


def evictions_of(evicted: Sequence[EvictedPod]) -> Iterator[EvictionExplanation]:
    """The explanations of the pods that a drain evicts."""
    for pod in evicted:
        yield EvictionExplanation(
            origin=f"Pod {pod.name}",
            namespace=pod.namespace,
            verdict="refused" if pod.verdict in UNPLACED else "admitted",
            outcome=pod.verdict,
            message=pod.message,
            node=pod.node,
        )
