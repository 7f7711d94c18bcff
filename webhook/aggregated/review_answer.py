"""``ReviewAnswering``: the whole work of the process that answers a review, with a connection of its own.

Names are told by the rights of the user, which are asked for before anything is read for the review: the nodes and
pods that it names, and the namespaces of the pods that a drain would evict.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote as escaped

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.errors import ApiError, Cause
from kubeapi.client.object_client import ObjectClient
from webhook.admission.review import MALFORMED
from webhook.admission.unstructured import Unstructured, mapping
from webhook.aggregated.review_creation import ReviewOutcome, ReviewQuestion
from webhook.aggregated.review_rights import ReviewRights
from webhook.cluster.queries.review_queries import ReviewQueries
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text.api_kinds import POD
from webhook.placement.text.problem import escape
from webhook.placementreview.answer import ReviewedCluster, UnanswerableReviewError, answer
from webhook.placementreview.bounds import problems_of_spec
from webhook.placementreview.review import ReviewSpec
from webhook.placementreview.what_if import NeededPods, needed_pods

PLAN_SECONDS: Final = 4.0
"""Seconds to judge each object of a plan, and to look for the cheapest one: less than the process has."""

POD_BYTES: Final = 32 * 1024 * 1024
"""Bytes of the pods of one node: 500 pods of 64 KiB each."""

_REQUESTS: Final = 16
"""Requests for pods at a time."""


class _NodePods(Struct, frozen=True):
    items: tuple[Unstructured, ...] = ()


class ReviewAnswering:
    """Answers by the present ``inventory``, which is changed: it has to be a copy, as that of a forked process is."""

    def __init__(
        self,
        configuration: Configuration,
        inventory: Callable[[], Inventory],
        policy: Policy,
        queries: Callable[[Connection], ReviewQueries],
    ) -> None:
        self._configuration = configuration
        self._inventory = inventory
        self._policy = policy
        self._queries = queries

    def __call__(self, question: ReviewQuestion) -> ReviewOutcome:
        """The answer; it takes an event loop of its own."""
        return asyncio.run(self.answered(question))

    async def answered(self, question: ReviewQuestion) -> ReviewOutcome:
        """The answer, or its error."""
        try:
            spec = msgspec.json.decode(question.spec, type=ReviewSpec)
        except MALFORMED as error:
            return ReviewOutcome(code=400, message=f"spec: {escape(str(error))}")
        try:
            async with Connection(self._configuration) as connection:
                return await self._answered(question, spec, connection)
        except UnanswerableReviewError as error:
            return ReviewOutcome(code=422, message=str(error))
        except ApiError as error:
            return ReviewOutcome(code=503, message=f"the API server does not say what the answer depends on: {error}")

    async def _answered(self, question: ReviewQuestion, spec: ReviewSpec, connection: Connection) -> ReviewOutcome:
        client, inventory = ObjectClient(connection, limit=POD_BYTES), self._inventory()
        rights, needed = ReviewRights(client), needed_pods(spec.what_if, question.namespace)
        spaces = dict.fromkeys((question.namespace, *(namespace for namespace, _ in needed.names)))
        visible = await rights.visible(question.user, spaces)
        # Before anything is read: a spec beyond its bounds would make that many requests.
        if problems := list(problems_of_spec(spec, question.namespace, visible)):
            raise UnanswerableReviewError(problems)
        nodes = tuple(node for node in needed.nodes if inventory.nodes.get(node) is not None)
        pods = await _read(client, replace(needed, nodes=nodes))
        evicted = {str(mapping(pod, "metadata").get("namespace")) for pod in pods}
        if not evicted <= spaces.keys():
            visible = await rights.visible(question.user, (*spaces, *sorted(evicted)))
        cluster = ReviewedCluster(inventory, self._policy, pods)
        queries = self._queries(connection)
        status = await answer(
            spec, question.namespace, cluster, visible, user=question.user, queries=queries, seconds=PLAN_SECONDS
        )
        return ReviewOutcome(Raw(msgspec.json.encode(status)))


async def _read(client: ObjectClient, needed: NeededPods) -> tuple[Unstructured, ...]:
    """The pods that the review is about; those that there are not are left out."""
    lists = [f"{POD.path}?fieldSelector=spec.nodeName%3D{escaped(node, safe='')}" for node in needed.nodes]
    paths = [f"{POD.path_in(escaped(namespace, safe=''))}/{escaped(name, safe='')}" for namespace, name in needed.names]
    turns = asyncio.Semaphore(_REQUESTS)

    async def read(path: str) -> bytes:
        async with turns:
            return await client.read(path)

    async def found(path: str) -> bytes | None:
        try:
            return await read(path)
        except ApiError as error:
            if error.cause is Cause.MISSING:
                return None
            raise

    of_nodes = await asyncio.gather(*map(read, lists))
    of_names = await asyncio.gather(*map(found, paths))
    try:
        pods = [pod for body in of_nodes for pod in msgspec.json.decode(body, type=_NodePods).items]
        pods += [msgspec.json.decode(body, type=dict[str, Any]) for body in of_names if body is not None]
    except MALFORMED as error:
        raise ApiError(Cause.UNREADABLE, f"the API server's answer about pods is unreadable: {error}") from None
    return tuple(pods)
