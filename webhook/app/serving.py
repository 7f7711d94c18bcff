"""``serve``: reviews, answered by what is known of a cluster."""

import asyncio
import time
from collections.abc import Awaitable

from kubeapi.client.object_client import ObjectClient
from webhook.admission.answer import Answer, Outcome
from webhook.admission.daemons import guard_daemons
from webhook.admission.mutate import Known, mutate
from webhook.admission.pool_use import use_of
from webhook.admission.validate import validate
from webhook.app.clusters import Cluster, cluster_of
from webhook.app.policy import policy_of
from webhook.cluster.queries.authorization import Authorization
from webhook.cluster.queries.review_queries import authorized, met
from webhook.cluster.queries.unseen_pods import SECONDS as LOOK_SECONDS
from webhook.cluster.queries.unseen_pods import Newcomers
from webhook.cluster.queries.workload_sizes import SECONDS, WorkloadSizes
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.assumed_pods import AssumedPods
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.memo import Memo
from webhook.server.fatal_error import FatalError
from webhook.server.lifecycle import Announce, Service, run_server
from webhook.server.metrics import Metrics
from webhook.server.reviews import Reviewer
from webhook.settings import Settings


async def serve(settings: Settings, announce: Announce) -> None:
    """Serve reviews until a signal says stop; :class:`FatalError` where there is no cluster."""
    policy, metrics = policy_of(settings), Metrics()
    cluster = await asyncio.to_thread(cluster_of, settings)
    authorization = authorization_of(cluster) if settings.authorize_pools else None
    _watch(cluster, metrics)
    newcomers = newcomers_of(cluster) if policy.guard_bindings else None
    reviewers: dict[str, Reviewer] = {
        "/mutate": mutator(cluster, policy),
        "/validate": validator(cluster, policy, authorization, newcomers),
        "/guard": lambda body: guard_daemons(body, cluster.inventory, policy),
    }
    service = Service(reviewers, cluster.reason, (cluster.run,))
    await run_server(service, settings, metrics=metrics, announce=announce)


def mutator(cluster: Cluster, policy: Policy) -> Reviewer:
    """The reviewer of new pods; with an API server it asks how many pods a workload wants, where that matters."""
    sizes = None
    if isinstance(cluster, LiveCluster):
        sizes = WorkloadSizes(ObjectClient(cluster.connection, seconds=SECONDS))
    known = Known(Memo(), AssumedPods(time.monotonic), sizes.count if sizes else lambda _: None)

    def mutating(body: bytes) -> Answer | Awaitable[Answer]:
        answer = mutate(body, cluster.inventory, policy, known)
        return _once_known(answer, body, sizes) if answer.depends and sizes else answer

    async def _once_known(answer: Answer, body: bytes, sizes: WorkloadSizes) -> Answer:
        learnt = answer.depends is not None and await sizes.learn(answer.depends)
        return mutate(body, cluster.inventory, policy, known) if learnt else answer

    return mutating


def validator(
    cluster: Cluster, policy: Policy, authorization: Authorization | None = None, newcomers: Newcomers | None = None
) -> Reviewer:
    """The reviewer of what is finished.

    With an ``authorization`` it asks whether pools may be used, with ``newcomers`` about pods that are bound unseen.
    """

    def validating(body: bytes) -> Answer | Awaitable[Answer]:
        answer = validate(body, cluster.inventory, policy)
        if answer.unseen is not None:
            unseen = answer.unseen
            return met(answer, body, unseen, newcomers, cluster.inventory, policy) if newcomers else answer
        if authorization is None or answer.outcome is not Outcome.ALLOWED:
            return answer
        use = use_of(body, cluster.inventory, policy)
        return answer if use is None else authorized(answer, use, authorization, policy)

    return validating


def authorization_of(cluster: Cluster) -> Authorization:
    """Who may use which pool is known by an API server only."""
    if not isinstance(cluster, LiveCluster):
        raise FatalError("--authorize-pools asks an API server about rights, and a snapshot has none")
    return Authorization(ObjectClient(cluster.connection))


def newcomers_of(cluster: Cluster) -> Newcomers | None:
    """Pods that are not known can be looked at where there is an API server."""
    if not isinstance(cluster, LiveCluster):
        return None
    return Newcomers(ObjectClient(cluster.connection, seconds=LOOK_SECONDS))


def _watch(cluster: Cluster, metrics: Metrics) -> None:
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
        "Since the API server last said how it stands with a resource, for the longest silent one.",
        lambda: max(cluster.ages().values(), default=0.0),
    )
