"""PlacementReviews as a part of ``serve``: the server that answers them, if the settings want one."""

import sys
from collections.abc import Callable

from kubeapi.client.connection import Connection
from webhook.aggregated.review_answer import ReviewAnswering
from webhook.aggregated.review_creation import ReviewSource
from webhook.aggregated.review_server import ReviewAddress, ReviewServer
from webhook.app.cluster_source import Cluster, configuration_of
from webhook.cluster.judging.changes import ChangeLog
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.cluster.watch.live import LiveCluster
from webhook.placement.inventory.policy import Policy
from webhook.server.certificate import Files
from webhook.server.fatal_error import FatalError
from webhook.server.metrics import Metrics
from webhook.settings import Settings


def review_server_of(
    settings: Settings,
    cluster: Cluster,
    policy: Policy,
    changes: ChangeLog,
    queries: Callable[[Connection], ReviewQueries],
    metrics: Metrics,
) -> ReviewServer | None:
    """The server of PlacementReviews; ``None`` where it is not wanted.

    ``changes`` has every change of the cluster, and ``queries`` makes what asks the API server for one review.
    :class:`FatalError` where there can be none.
    """
    if not settings.placement_review:
        return None
    if not isinstance(cluster, LiveCluster):
        raise FatalError("--placement-review asks an API server about its users, and a snapshot has none")
    if sys.platform != "linux":
        raise FatalError("--placement-review answers each review in a process of its own, which needs Linux")
    if settings.tls_cert is None or settings.tls_key is None:
        raise FatalError("a server needs a certificate and its key")
    answering = ReviewAnswering(configuration_of(settings), lambda: cluster.inventory, policy, queries)
    return ReviewServer(
        cluster.connection,
        ReviewAddress(settings.host, settings.placement_review_port, Files(settings.tls_cert, settings.tls_key)),
        ReviewSource(answering, cluster.inventory, changes),
        cluster.reason,
        metrics=metrics,
    )
