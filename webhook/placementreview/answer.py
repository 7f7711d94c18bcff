"""``answer``: the spec of a PlacementReview and a cluster in, its status out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from webhook.admission.checks.templates import pods_of
from webhook.admission.review import User
from webhook.admission.unstructured import Unstructured
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Pod
from webhook.placement.request.world import World
from webhook.placement.text.problem import Problem, counted, render
from webhook.placementreview.bounds import problems_of_spec
from webhook.placementreview.evictions import successors
from webhook.placementreview.hidden_names import HiddenNames
from webhook.placementreview.plans.plan import planned
from webhook.placementreview.plans.plan_document import document_of
from webhook.placementreview.results import Results, submitted_form, with_applied
from webhook.placementreview.review import (
    EvictedElsewhere,
    EvictedPod,
    ReviewResult,
    ReviewSpec,
    ReviewStatus,
    Visible,
    WhatIf,
)
from webhook.placementreview.submitter import Submitter
from webhook.placementreview.what_if import change

SECONDS: Final = 10.0
"""Seconds for searches beside those of admission: smallest sets of refused Jobs, and the plan."""


NOBODY: Final = User()
"""A user without a name or a right."""


class UnanswerableReviewError(Exception):
    """The review asks for what cannot be answered: its ``problems`` say why, each with the field."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(render(problems))
        self.problems = tuple(problems)


class ReviewedCluster(Struct, frozen=True, eq=False):
    """What a review is answered from.

    ``pods`` are those that :func:`~webhook.placementreview.what_if.needed_pods` names, as the API server has them.
    What-ifs change the ``inventory``, so a review with what-ifs needs a copy of its own.
    """

    inventory: Inventory
    policy: Policy
    pods: tuple[Unstructured, ...] = ()


async def answer(  # noqa: PLR0913 -- the review, who asks, and what it is answered with
    spec: ReviewSpec,
    namespace: str,
    cluster: ReviewedCluster,
    visible: Visible,
    *,
    user: User = NOBODY,
    queries: ReviewQueries | None = None,
    seconds: float = SECONDS,
) -> ReviewStatus:
    """The answer to a review in that namespace by a ``user`` who may list what is ``visible``.

    ``queries`` ask the API server what the answers of admission depend on; without them these stand as they are. Whole
    Jobs are searched, and plans made, without a pause: a server answers reviews in a process beside that for admission.
    Raises :class:`UnanswerableReviewError`.
    """
    queries = queries or ReviewQueries()
    inventory, policy = cluster.inventory, cluster.policy
    if problems := list(problems_of_spec(spec, namespace, visible)):
        raise UnanswerableReviewError(problems)
    evicted = await _what_if(spec.what_if, namespace, cluster, queries) if spec.what_if is not None else []
    hidden, searches = HiddenNames(inventory, visible=visible.nodes), AtOnce(seconds)
    manifests = [submitted_form(manifest, namespace) for manifest in spec.manifests]
    judged = Results(Submitter(user, policy, queries), inventory, policy, hidden, searches)
    results: list[ReviewResult] = []
    for place, manifest in enumerate(manifests):
        results += await judged.of_manifest(place, manifest)
    return ReviewStatus(
        results=tuple(results),
        plan=_plan(manifests, inventory, policy, hidden, searches) if spec.plan else None,
        evicted=tuple(one for one in evicted if visible.pods(one.namespace)),
        evicted_elsewhere=_counted(one for one in evicted if not visible.pods(one.namespace)),
    )


async def _what_if(
    what_if: WhatIf, namespace: str, cluster: ReviewedCluster, queries: ReviewQueries
) -> list[EvictedPod]:
    """Change the cluster as the review says; where the pods that are evicted go.

    Raises :class:`UnanswerableReviewError`.
    """
    inventory, policy = cluster.inventory, cluster.policy
    changed = change(what_if, namespace, cluster.pods, inventory)
    if changed.problems:
        raise UnanswerableReviewError(changed.problems)
    gone = successors(changed.evicted, inventory, policy, lambda maker: Submitter(maker, policy, queries))
    return [one async for one in gone]


def _counted(evicted: Iterable[EvictedPod]) -> EvictedElsewhere | None:
    """How many pods there are, by verdict; ``None`` if there are none."""
    verdicts = Counter(one.verdict.lower() for one in evicted)
    return EvictedElsewhere(verdicts.total(), **verdicts) if verdicts else None


def _plan(
    manifests: Sequence[Unstructured], inventory: Inventory, policy: Policy, hidden: HiddenNames, searches: AtOnce
) -> dict[str, Any]:
    """The plan of all manifests together; those that cannot be read are not in it.

    Each object gets its part of the time that is left, and so does the search for the cheapest plan.
    """
    for manifest in manifests:
        inventory = with_applied(manifest, inventory, policy)
    given = [(f"manifests[{place}]", one) for place, one in enumerate(manifests) if _readable(one)]
    each = max(searches.left(), 0.0) / (len(given) + 1)
    plan = planned(given, World(inventory, policy), each)
    nodes = counted(len(inventory.nodes.nodes), "node")
    return hidden.plan(document_of(plan, "PlacementReview", f"{nodes}, the cluster as it is now"))


def _readable(manifest: Unstructured) -> bool:
    """Whether the pods of the object can be read."""
    try:
        for described in pods_of(manifest):
            msgspec.convert(described.pod, Pod)
    except msgspec.ValidationError:
        return False
    return True
