"""``serve``: runs the webhook server with reviewers for ``/mutate``, ``/validate``, ``/guard`` and ``/convert``."""

import asyncio
import functools
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Final, cast

from msgspec.structs import replace

from kubeapi.client.connection import Connection
from webhook.admission.answer import Answer, WorkloadsQuestion
from webhook.admission.conversion import convert
from webhook.admission.mutate import Known, mutate
from webhook.admission.validate import guard, validate
from webhook.app.application_kinds import application_kinds
from webhook.app.cluster_source import Cluster, cluster_of, watched_kinds
from webhook.app.placement_reviews import review_server_of
from webhook.cluster.crds.versions import VERSIONS
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.judging.job_worker import FollowedCluster, JobWorker
from webhook.cluster.queries.job_verdicts import JobVerdicts
from webhook.cluster.queries.review_lookups import ReviewLookups
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.memo import Memo
from webhook.server.fatal_error import FatalError
from webhook.server.lifecycle import Announce, Service, run_server
from webhook.server.metrics import Metrics, ReviewMetrics
from webhook.server.reviews import Reviewer
from webhook.settings import Settings, policy_of
from webhook.tracing import traces_of

_ACCOUNTS: Final = "system:serviceaccount:"

_log = logging.getLogger(__name__)


async def serve(settings: Settings, announce: Announce) -> None:
    """Serve reviews until a signal says stop; :class:`FatalError` where there is no cluster."""
    policy = with_kinds(policy_of(settings))
    warn_of_elastic(policy)
    metrics = ReviewMetrics(kind for _, kind in policy.reviewed)
    changes = ChangeLog(watched_kinds(settings))
    cluster = await asyncio.to_thread(cluster_of, settings, metrics.cluster_failures(), changes.kinds())
    verdicts = JobVerdicts(settings.job_seconds, metrics.job_decided)
    queries = queries_of(
        cluster,
        verdicts,
        authorize=settings.authorize_pools,
        unknown=metrics.workloads_unknown,
        account=settings.controller_account,
    )
    cluster_figures(cluster, metrics)
    worker = worker_of(settings, cluster, changes, queries, metrics)
    reviewers: dict[str, Reviewer] = {
        "/mutate": mutator(cluster, policy, queries),
        "/validate": validator(cluster, policy, queries, worker),
        "/guard": lambda body: guard(body, cluster.inventory, policy),
        "/convert": converted,
    }
    placement_reviews = review_server_of(
        settings, cluster, policy, changes, functools.partial(review_queries, settings), metrics
    )
    service = Service(
        reviewers,
        cluster.reason,
        tuple(part.run for part in (cluster, worker, placement_reviews) if part is not None),
        traces_of(settings.traces_endpoint, settings.traces_ratio, "streams-placement-webhook"),
        placement_reviews.retire if placement_reviews else lambda: None,
    )
    await run_server(service, settings, metrics=metrics, announce=announce)


def review_queries(settings: Settings, connection: Connection) -> ReviewQueries:
    """The questions that the answer to a PlacementReview depends on, as that of an AdmissionReview does."""
    namespace = _namespace_of(settings.controller_account)
    lookups = ReviewLookups.of(connection, authorize=settings.authorize_pools, namespace=namespace)
    return ReviewQueries(lookups, JobVerdicts(settings.job_seconds))


def warn_of_elastic(policy: Policy) -> None:
    """Say that node groups decide nothing where ``elastic`` waives every lack of nodes."""
    if policy.elastic and policy.scale_up != "off":
        _log.warning(
            "elastic admits every pod that lacks nodes, so scaleUp: auto refuses none: turn elastic off to have pods "
            "refused for which no node group can make a node"
        )


def with_kinds(policy: Policy) -> Policy:
    """The policy with the kinds of other operators; :class:`FatalError` for a reviewed kind that is none of these."""
    kinds = application_kinds()
    for group, kind in sorted(policy.reviewed - kinds.keys()):
        known = ", ".join(f"{name}.{of}" for of, name in sorted(kinds))
        raise FatalError(f"--reviewed-kinds: {kind}.{group} is none of {known}")
    return replace(policy, kinds=kinds)


def queries_of(
    cluster: Cluster,
    verdicts: JobVerdicts | None = None,
    *,
    authorize: bool = False,
    unknown: Callable[[str], object] = lambda _: None,
    account: str = "",
) -> ReviewQueries:
    """The questions that reviews against this cluster may carry; a snapshot knows no more, and has no rights.

    ``unknown`` is told why the workloads of a job could not be found out. ``account`` is the controller's, whose
    namespace is the product's own.
    """
    if isinstance(cluster, LiveCluster):
        namespace = _namespace_of(account)
        lookups = ReviewLookups.of(cluster.connection, authorize=authorize, unknown=unknown, namespace=namespace)
        return ReviewQueries(lookups, verdicts)
    if authorize:
        raise FatalError("--authorize-pools asks an API server about rights, and a snapshot has none")
    return ReviewQueries(verdicts=verdicts)


def _namespace_of(account: str) -> str:
    """The namespace of a ServiceAccount, given by its user name; empty for any other user."""
    parts = account.removeprefix(_ACCOUNTS).split(":")
    return parts[0] if account.startswith(_ACCOUNTS) and len(parts) == len(("namespace", "name")) else ""


def mutator(cluster: Cluster, policy: Policy, queries: ReviewQueries) -> Reviewer:
    """The reviewer of new pods, which keeps what it knows beside the cluster from one review to the next."""
    sizes = queries.sizes
    known = Known(Memo(), AssumedPods(time.monotonic), sizes.count if sizes else lambda _: None)

    def mutating(body: bytes) -> Answer | Awaitable[Answer]:
        return queries.completed(mutate(body, cluster.inventory, policy, known))

    return mutating


def worker_of(
    settings: Settings, cluster: Cluster, changes: ChangeLog, queries: ReviewQueries, metrics: ReviewMetrics
) -> JobWorker | None:
    """What judges whole Jobs in a process of their own; ``None`` where that is not wanted, or not known to work."""
    if not settings.job_process or sys.platform != "linux":
        return None
    worker = JobWorker(
        FollowedCluster(lambda: cluster.inventory, with_kinds(policy_of(settings)), changes),
        queries,
        metrics.job_process(lambda: worker.pid is not None),
        seconds=settings.job_seconds,
    )
    return worker


def validator(cluster: Cluster, policy: Policy, queries: ReviewQueries, worker: JobWorker | None = None) -> Reviewer:
    """The reviewer of finished pods, workloads, nodes and custom resources; whole Jobs are for the ``worker``."""

    def validating(body: bytes) -> Answer | Awaitable[Answer]:
        if worker is not None and worker.takes(body):
            return worker.answer(body)
        answer = validate(body, cluster.inventory, policy)
        if worker is not None and isinstance(answer.question, WorkloadsQuestion):
            return worker.beside(body, answer, answer.question)
        if worker is not None and worker.concerns(body, answer.question):
            return worker.answer(body)
        return queries.completed(answer)

    return validating


def converted(body: bytes) -> Answer | Awaitable[Answer]:
    """The reviewer of ConversionReviews; while it converts many objects, other reviews are answered."""
    work = convert(body, VERSIONS)
    try:
        next(work)
    except StopIteration as done:
        return cast("Answer", done.value)
    return _converted_later(work)


async def _converted_later(work: Generator[None, None, Answer]) -> Answer:
    while True:
        await asyncio.sleep(0)
        try:
            next(work)
        except StopIteration as done:
            return cast("Answer", done.value)


def cluster_figures(cluster: Cluster, metrics: Metrics) -> None:
    """Gauges of what is known of the cluster."""

    def skipped() -> float:
        report = cluster.report
        return report.skipped_count if report else 0.0

    metrics.gauge("nodes", "Nodes known.", lambda: float(len(cluster.inventory.nodes.nodes)))
    metrics.gauge("host_pools", "Host pools known.", lambda: float(len(cluster.inventory.pools)))
    metrics.gauge("hpa_intents", "HPAIntents known.", lambda: float(len(cluster.inventory.intents)))
    metrics.gauge("skipped_objects", "Objects that could not be used.", skipped)
    metrics.gauge(
        "cache_age_seconds",
        "Seconds since the API server last confirmed the state of a resource, for the stalest one.",
        lambda: max(cluster.ages().values(), default=0.0),
    )
