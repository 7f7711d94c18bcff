"""``ReviewServer``: the port on which PlacementReviews are answered, beside that for AdmissionReviews.

It has a port of its own because it asks clients for another certificate: the front proxy's.
"""

import asyncio
import functools
import logging
from collections.abc import Callable

from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from webhook.aggregated.front_proxy_watch import FrontProxyWatch
from webhook.aggregated.review_api import ReviewApi
from webhook.aggregated.review_creation import LIMITS, ReviewCreation, ReviewSource, answered
from webhook.aggregated.review_metrics import PlacementReviewMetrics
from webhook.aggregated.review_process import ReviewProcess
from webhook.aggregated.review_rights import ReviewRights
from webhook.aggregated.review_template import ReviewedState
from webhook.server.certificate import Files
from webhook.server.http.connection import Connections
from webhook.server.http.limits import Limits
from webhook.server.http.listener import Listener, bind
from webhook.server.metrics import Metrics

_log = logging.getLogger(__name__)


class ReviewAddress(Struct, frozen=True):
    """Where the server listens, with which pair."""

    host: str
    port: int
    files: Files


class ReviewServer:
    """Answers reviews from the ``source``, by the rights that the API server behind ``connection`` knows of.

    ``ready`` says why no review can be answered now; documents about the API are served in any case, since discovery of
    the whole cluster would be incomplete without them.
    """

    def __init__(
        self,
        connection: Connection,
        address: ReviewAddress,
        source: ReviewSource,
        ready: Callable[[], str | None],
        *,
        metrics: Metrics,
        limits: Limits = LIMITS,
    ) -> None:
        client = ObjectClient(connection)
        self.watch = FrontProxyWatch(client, address.files)
        """Who may speak for users, as far as it is known."""
        counting = PlacementReviewMetrics(metrics, lambda: creation.waiting)
        work = functools.partial(answered, answering=source.answering)
        self._process = ReviewProcess(ReviewedState(source.inventory, source.changes, work), counting.copied)
        self._address = address
        creation = ReviewCreation(ReviewRights(client), self._process, ready, limits)
        self.api = ReviewApi(self.watch, creation, counting)
        """What answers."""
        self._connections = Connections(self.api, limits, metrics)
        self.url = ""
        """The URL of the port, as soon as it listens."""

    async def run(self) -> None:
        """Serve until cancelled; raises :class:`FatalError` if the port cannot be bound."""
        listener = Listener(bind(self._address.host, self._address.port), self._connections, self.watch.context)
        watching = asyncio.create_task(self.watch.watch())
        try:
            listener.start()
            self.url = listener.url
            _log.info("placement reviews are answered at %s", self.url)
            await watching
        finally:
            listener.release()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await listener.stop(0)
            await self._process.close()

    def retire(self) -> None:
        """Ask clients to connect elsewhere, with each answer: the server is about to stop."""
        self._connections.draining = True
