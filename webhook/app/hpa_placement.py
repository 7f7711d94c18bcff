"""``HpaPlacement``: answers the query ``hpa-placement`` about a deployment intent group (``docs/rest.md``, Placement).

The apps are those of the group's HPA intents. Workloads are not stored: each consumer is judged as one pod, or as many
as its ``replicas`` say, with the hardware that its requirements ask for.
"""

import asyncio
import functools
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import replace
from pydantic import Field

from kubeapi.client.decoding import inspect_types
from webhook.admission.unstructured import Unstructured
from webhook.app.clusters import ClusterReading, ClusterSource, contexts, folders, placed, read_apps
from webhook.placement.clusters.answer import ClustersAnswer
from webhook.placement.clusters.application import ClusterApp
from webhook.placement.objects.intent import REPLICATION_LIMIT
from webhook.placement.text.nearest import unknown
from webhook.rest.api import GroupQuery
from webhook.rest.bodies import StrictBody
from webhook.rest.intents import ConsumerEntity, HardwareWish
from webhook.rest.request_error import RequestError, refused
from webhook.rest.rest_settings import RestSettings
from webhook.rest.routes import IntentGroup
from webhook.rest.storage.cluster_store import NamespaceMap
from webhook.rest.storage.intent_objects import object_of
from webhook.rest.storage.store import IntentStore, StorageError

QUERY: Final = "hpa-placement"
"""The last segment of the path."""

APP_LIMIT: Final = 64
"""Apps of a group that are placed at a time."""

SECONDS: Final = 8.0
"""Seconds for reading all clusters: less than a request has, so that the answer says which ones did not answer."""

_COUNT: Final = "replicationCount"
_COUNTS: Final = re.compile(r"[0-9]{1,4}|[^:,]+:[0-9]{1,4}(,[^:,]+:[0-9]{1,4})*", re.ASCII)
_PAGE: Final = 100

_log = logging.getLogger(__name__)


class AppListAnswer(StrictBody):
    """The clusters of an app: those in allow, or all but those in deny; just one of the two is there."""

    replication_count: Annotated[int, Field(ge=1, le=REPLICATION_LIMIT)] = Field(alias="replicationCount")
    allow: list[str] | None = None
    deny: list[str] | None = None
    best: list[str] = Field(default_factory=list)
    weights: dict[str, int] = Field(default_factory=dict)


class ContentionAnswer(StrictBody):
    """Apps that cannot all run on any one of these clusters."""

    apps: list[str]
    clusters: list[str]


class HpaPlacementAnswer(StrictBody):
    """Lists of all apps by name; why others have none, and why clusters were not read."""

    apps: dict[str, AppListAnswer]
    clusters: list[str]
    refused: dict[str, str] = Field(default_factory=dict)
    unread: dict[str, str] = Field(default_factory=dict)
    contention: list[ContentionAnswer] = Field(default_factory=list)


_OPERATION: Final[dict[str, Any]] = {
    "operationId": f"read-{QUERY}",
    "summary": "Which clusters can take the apps of the group",
    "parameters": [
        {
            "name": _COUNT,
            "in": "query",
            "description": "On how many clusters apps are to run: a number for all of them, or app:number,app:number.",
            "schema": {"type": "string", "maxLength": 2048},
        }
    ],
    "responses": {
        "200": {
            "description": "The lists.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/HpaPlacementAnswer"}}},
        }
    },
}


def cluster_sources(settings: RestSettings) -> Callable[[], list[ClusterSource]] | None:
    """Finds the clusters that the settings name, for each query; ``None`` without any.

    Raises ``ValueError`` for settings that name none.
    """
    if settings.clusters is not None:
        folders(settings.clusters, settings)
        return functools.partial(folders, settings.clusters, settings)
    if settings.contexts:
        sources = contexts(settings.contexts, settings)
        return lambda: sources
    return None


class HpaPlacement:
    """Answers the query for one storage; one query is worked on at a time, and others wait for it."""

    def __init__(
        self, store: IntentStore, settings: RestSettings, sources: Callable[[], list[ClusterSource]] | None
    ) -> None:
        self._store = store
        self._sources = sources
        self._namespaces = NamespaceMap(settings.namespace)
        self._reading = ClusterReading(settings.cluster_timeout, settings.cluster_parallel, SECONDS)
        self._busy: set[str] = set()
        inspect_types()  # before the thread decodes objects beside the event loop
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=QUERY)

    @property
    def query(self) -> GroupQuery:
        """The query, as the interface takes it."""
        return GroupQuery(self.answer, _OPERATION, (HpaPlacementAnswer, AppListAnswer, ContentionAnswer))

    def close(self) -> None:
        """Begin no further query."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def answer(self, group: IntentGroup, parameters: Mapping[str, str]) -> bytes:
        """The lists of the group's apps as JSON; raises :class:`RequestError` and :class:`StorageError`."""
        if self._sources is None:
            raise refused(501, QUERY, "no clusters are configured: start hpa-api with --clusters or --contexts")
        for name in parameters:
            if name != _COUNT:
                raise refused(400, "query", unknown("parameter", name, (_COUNT,)))
        manifests = await self._intents(group)
        loop = asyncio.get_running_loop()
        work = functools.partial(self._placed, self._sources, manifests, parameters.get(_COUNT, ""))
        answer = await loop.run_in_executor(self._thread, work)
        return msgspec.json.encode(answer)

    async def _intents(self, group: IntentGroup) -> list[tuple[str, Unstructured]]:
        """The HPAIntent objects of the group."""
        namespace, intents, token = self._namespaces.of(group), list[tuple[str, Unstructured]](), ""
        while True:
            page = await self._store.page(group, _PAGE, token)
            for entity in page.intents:
                consumers = _apart(entity.consumers)
                one = object_of(group, replace(entity, app=entity.app or entity.metadata.name, consumers=consumers))
                one["metadata"]["namespace"] = namespace
                intents.append((entity.metadata.name, msgspec.to_builtins(one)))
            if len(intents) > APP_LIMIT:
                raise refused(409, "hpa-intents", f"the group has more than {APP_LIMIT} HPA intents")
            if not page.following:
                return intents
            token = page.following

    def _placed(
        self,
        sources: Callable[[], list[ClusterSource]],
        manifests: Sequence[tuple[str, Unstructured]],
        counts: str,
    ) -> ClustersAnswer:
        """The answer, in a thread."""
        try:
            apps = _with_counts(read_apps(manifests, _log.debug), counts)
        except ValueError as error:
            raise refused(409, "hpa-intents", str(error)) from error
        try:
            clusters = sources()
        except ValueError as error:
            raise StorageError(str(error)) from error
        return placed(clusters, apps, manifests, self._reading, _log.warning, self._busy)


def _apart(consumers: Sequence[ConsumerEntity]) -> tuple[ConsumerEntity, ...]:
    """The consumers, one pod each where one pod cannot be several of them.

    Consumers of one workload are one pod, unless they give a container two amounts of one resource, as consumers of
    EMCO's examples do. Such a consumer gets a workload of its own, whose name has that of the consumer behind it.
    """
    given: dict[tuple[object, ...], HardwareWish] = {}
    pairs = []
    for consumer in consumers:
        workload = consumer.consumer
        pod = workload.kind, workload.name
        wishes: dict[tuple[object, ...], HardwareWish] = {
            (*pod, one.spec.container or workload.container, one.spec.name, one.spec.device): one.spec
            for one in consumer.requirements
        }
        if all(_amounts(given.get(key, wish)) == _amounts(wish) for key, wish in wishes.items()):
            given |= wishes
            pairs.append(consumer)
        else:
            name = f"{workload.name}.{consumer.metadata.name.lower()}"
            pairs.append(replace(consumer, consumer=replace(workload, name=name)))
    return tuple(pairs)


def _amounts(wish: HardwareWish) -> tuple[object, ...]:
    return wish.requests, wish.limits, wish.units, wish.value


def _with_counts(apps: Sequence[ClusterApp], text: str) -> list[ClusterApp]:
    """The apps with the numbers of clusters of the parameter; raises :class:`RequestError` if it is wrong."""
    if not text:
        return list(apps)
    if not _COUNTS.fullmatch(text):
        raise _wrong_count(text)
    words = {app: count for app, _, count in (word.rpartition(":") for word in text.split(","))}
    names = [app.name for app in apps]
    for name in words.keys() - {""}:
        if name not in names:
            raise refused(400, f"query {_COUNT}", unknown("app", name, names))
    if any(not 1 <= int(count) <= REPLICATION_LIMIT for count in words.values()):
        raise _wrong_count(text)
    return [replace(app, replication=int(words.get(app.name, words.get("", app.replication)))) for app in apps]


def _wrong_count(text: str) -> RequestError:
    rule = f"is neither a number from 1 to {REPLICATION_LIMIT} nor app:number,app:number"
    return refused(400, f"query {_COUNT}", rule, text)
