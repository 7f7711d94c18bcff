"""The tools that ask for reviews and plans: what they are given, and what they answer.

They ask an API server for PlacementReviews, or judge against a snapshot; nothing is created or changed. Names are
camelCase in JSON, as those of a PlacementReview.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from webhook.admission.unstructured import Unstructured
from webhook.app.review_requests import RejectedReviewError, Reviewer, admitted, reviewed
from webhook.cluster.snapshot.manifests import ManifestError, read_text
from webhook.placementreview.bounds import MANIFESTS
from webhook.placementreview.review import (
    EvictedElsewhere,
    EvictedPod,
    ReviewResult,
    ReviewSpec,
    ReviewStatus,
    WhatIf,
)

TEXT_LIMIT: Final = 1 << 20
"""Characters of the manifests of one call: those of a large application have some ten thousand."""

NAMED: Final = 20
"""Names of nodes that an answer lists at most for one rule: an assistant reads all of it, and counts are complete."""

_GIVEN: Final = "manifests"
"""The name of the manifests in messages."""

_NOTHING_ASKED: Final = "manifests has no object: give one, or nodes to drain in whatIf"
_NOTHING_TO_PLAN: Final = "manifests has no object to plan: give one"

Reviewers = Callable[[], AbstractAsyncContextManager[Reviewer]]
"""Connects to what answers reviews, for one call."""


class ReviewArguments(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What ``review_placement`` and ``plan_placement`` are given."""

    manifests: Annotated[
        str,
        Meta(
            max_length=TEXT_LIMIT,
            description="Kubernetes manifests as YAML documents or JSON, at most 100 objects. May be empty if whatIf "
            "asks about a drain.",
        ),
    ] = ""
    namespace: Annotated[str, Meta(max_length=63, description="Namespace of objects that state none.")] = ""
    what_if: Annotated[
        WhatIf | None, Meta(description="Changes that the answer assumes; the cluster itself stays as it is.")
    ] = None


class ReviewAnswer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What admission would answer: a result for each object, or for each component of one, and what a drain evicts.

    ``admitted`` is whether no object is refused, and each pod that a drain evicts has a node again, or needs none.
    """

    admitted: bool
    results: tuple[ReviewResult, ...]
    evicted: tuple[EvictedPod, ...] = ()
    evicted_elsewhere: EvictedElsewhere | None = None


class ElementPlace(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An element and its node; ``placed`` has the replicas by node if they are on several. Without a node neither."""

    name: str
    node: str = ""
    replicas: int = 1
    placed: dict[str, int] = {}


class SubjectPlan(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An object, its verdict, and where its elements go."""

    origin: str
    namespace: str
    verdict: str
    message: str = ""
    warnings: tuple[str, ...] = ()
    elements: tuple[ElementPlace, ...] = ()


class PlanAnswer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The plan of all objects together: ``totalCost`` is absent without a plan.

    ``cheapest`` is whether no cheaper plan exists, ``undecided`` whether the time ran out before all was decided.
    """

    subjects: tuple[SubjectPlan, ...] = ()
    total_cost: int | None = None
    cheapest: bool = False
    undecided: bool = False


class ReviewTools:
    """The two tools. ``namespace`` is that of objects where neither they nor the call state one."""

    def __init__(self, reviewers: Reviewers, namespace: str) -> None:
        self._reviewers = reviewers
        self._namespace = namespace

    async def review_placement(self, asked: ReviewArguments) -> ReviewAnswer:
        """The verdicts; raises RejectedReviewError for arguments that cannot be used, FatalError without an answer."""
        status = await self._status(asked, plan=False)
        return ReviewAnswer(
            admitted=admitted(status),
            results=tuple(map(_brief, status.results)),
            evicted=status.evicted,
            evicted_elsewhere=status.evicted_elsewhere,
        )

    async def plan_placement(self, asked: ReviewArguments) -> PlanAnswer:
        """Where everything would go; raises as :meth:`review_placement`."""
        status = await self._status(asked, plan=True)
        return msgspec.convert(status.plan or {}, PlanAnswer)

    async def _status(self, asked: ReviewArguments, *, plan: bool) -> ReviewStatus:
        manifests = await asyncio.to_thread(_objects, asked.manifests)
        if not manifests and (plan or not (asked.what_if and asked.what_if.drain)):
            # Of nothing, nothing is refused: an assistant that forgot the manifests would read that they are admitted.
            raise RejectedReviewError(_NOTHING_TO_PLAN if plan else _NOTHING_ASKED)
        async with self._reviewers() as reviewer:
            spec = ReviewSpec(plan=plan, what_if=asked.what_if)
            return await reviewed(reviewer, manifests, asked.namespace or self._namespace, spec)


def _objects(text: str) -> list[Unstructured]:
    try:
        objects = list(read_text(_GIVEN, text.encode("utf-8", "replace")))
    except ManifestError as error:
        raise RejectedReviewError(str(error)) from error
    if len(objects) > MANIFESTS:
        raise RejectedReviewError(f"manifests has {len(objects)} objects: ask about at most {MANIFESTS} at a time")
    return objects


def _brief(result: ReviewResult) -> ReviewResult:
    """The result with at most :data:`NAMED` names of nodes in each list."""
    candidates = result.candidates
    return replace(
        result,
        candidates=replace(candidates, nodes=_cut(candidates.nodes)) if candidates else None,
        closed=tuple(replace(rule, nodes=_cut(rule.nodes)) for rule in result.closed),
    )


def _cut(names: tuple[str, ...] | UnsetType) -> tuple[str, ...] | UnsetType:
    return UNSET if names is UNSET else names[:NAMED]
