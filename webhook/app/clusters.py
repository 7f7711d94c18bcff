"""``clusters``: reads several clusters in parallel, and decides which of them can take which apps.

Each cluster is read and examined in a thread of its own, and then forgotten: as many are in memory as are read at the
same time. One that does not answer in time, or cannot be read, is reported, and no app goes there.
"""

import asyncio
import math
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from kubeapi.client.connection import Connection
from kubeapi.client.decoding import inspect_types
from kubeapi.client.errors import ApiError
from kubeapi.client.kubeconfig import servers_of_contexts
from kubeapi.client.object_client import ObjectClient
from webhook.admission.checks.templates import is_job, origin_of
from webhook.admission.unstructured import Unstructured, mapping
from webhook.app.cluster_source import configuration_of
from webhook.app.explain import explaining
from webhook.app.references import referenced_kinds
from webhook.cluster.objects import custom_resources, wire
from webhook.cluster.objects.metadata import NAMESPACE
from webhook.cluster.queries.cluster_profiles import ClusterProfile, read_profiles
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.clusters.answer import ClustersAnswer, answer
from webhook.placement.clusters.application import AppWorkload, ClusterApp, apps_of
from webhook.placement.clusters.examination import ExaminedCluster, examine
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.pod import Pod
from webhook.placement.objects.intent import Intent
from webhook.placement.planning.search.solver import finished
from webhook.placement.text.api_kinds import HPA_INTENT
from webhook.placement.text.decoder_words import unreadable
from webhook.placement.text.defaults import CLUSTER_TIMEOUT, CLUSTERS_AT_ONCE
from webhook.placement.text.problem import quote
from webhook.placementreview.submission import Manifests, Step, applied, own_pods, silent
from webhook.server.fatal_error import FatalError
from webhook.settings import Settings

SECONDS: Final = 10.0
"""Seconds for the questions about one cluster, and for sharing all clusters.

Those about one cluster are counted on the processor, as long as its time-out allows: while other threads examine
theirs, the time of this one stands still, so that an answer does not depend on how many clusters are read together.
"""

_GRACE: Final = 5.0
"""Seconds after its time-out in which the thread of a cluster may still say what it waits for."""

UNASKED: Final = "was not queried: other clusters used up the time limit"
"""The trouble of a cluster whose turn did not come."""

STUCK: Final = "has not answered the previous query yet"
"""The trouble of a cluster that still keeps a thread from an earlier time."""

_PART_OF: Final = "app.kubernetes.io/part-of"
"""Label of a workload with the name of its app (Kubernetes, recommended labels)."""

Warn = Callable[[str], object]


class ClusterSource(Struct, frozen=True):
    """Where one cluster is read from: its name in answers, and the settings with its folder or context.

    ``trouble`` says why it cannot be read, if that is known without trying.
    """

    name: str
    settings: Settings
    trouble: str = ""


def folders(parent: Path, settings: Settings) -> list[ClusterSource]:
    """The clusters whose snapshots are the folders in ``parent``, by their names; ``ValueError`` if there is none."""
    try:
        paths = sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise ValueError(f"the folder {parent} cannot be listed: {error.strerror}") from error
    if not paths:
        raise ValueError(f"the folder {parent} has no folders: one with the snapshot of each cluster is needed")
    return [ClusterSource(path.name, settings.model_copy(update={"snapshot": path, "context": None})) for path in paths]


def contexts(text: str, settings: Settings) -> list[ClusterSource]:
    """The clusters of contexts of the kubeconfig, such as ``edge-1,lab=kind-lab``; ``ValueError`` for a wrong text."""
    sources: dict[str, ClusterSource] = {}
    for word in text.split(","):
        name, is_named, context = word.strip().partition("=")
        context = context if is_named else name
        if not name or not context:
            raise ValueError(f"{quote(text)} is not a list of contexts, such as edge-1,edge-2 or name=context")
        if name in sources:
            raise ValueError(f"{quote(text)} names {quote(name)} twice")
        sources[name] = ClusterSource(name, settings.model_copy(update={"snapshot": None, "context": context}))
    return list(sources.values())


async def profiles(namespace: str, settings: Settings) -> list[ClusterSource]:
    """The clusters of the ClusterProfile objects in a namespace, or in all of them, of the hub that settings name.

    Their credentials are those of the context of the kubeconfig that has the cluster's name, or else its server. Raises
    :class:`FatalError` if the hub cannot be asked, ``ValueError`` if it has no profiles.
    """
    configuration = await asyncio.to_thread(configuration_of, settings)
    try:
        async with Connection(configuration) as connection:
            read = await read_profiles(ObjectClient(connection), namespace)
    except (ApiError, msgspec.ValidationError) as failure:
        raise FatalError(f"the ClusterProfiles could not be read: {failure}") from failure
    if not read:
        raise ValueError("there is no ClusterProfile" + (f" in namespace {namespace}" if namespace else ""))
    servers = await asyncio.to_thread(servers_of_contexts)
    names = Counter(profile.name for profile in read)
    return [
        _of_profile(
            profile.name if names[profile.name] == 1 else f"{profile.namespace}/{profile.name}",
            profile,
            servers,
            settings,
        )
        for profile in read
    ]


def _of_profile(name: str, profile: ClusterProfile, servers: Mapping[str, str], settings: Settings) -> ClusterSource:
    context = profile.name if profile.name in servers else ""
    context = context or next((one for one, server in servers.items() if server in profile.servers), "")
    if context:
        return ClusterSource(name, settings.model_copy(update={"snapshot": None, "context": context}))
    where = f" or its server {profile.servers[0]}" if profile.servers else ""
    return ClusterSource(name, settings, f"no context of the kubeconfig has its name{where}")


def read_apps(manifests: Manifests, warn: Warn) -> tuple[ClusterApp, ...]:
    """The apps of manifests: HPAIntents with the workloads that they name, and other workloads.

    Raises ``ValueError`` for a manifest that cannot be used.
    """
    applied(manifests, Inventory(), referenced_kinds())
    intents: list[Intent] = []
    workloads: list[tuple[str, AppWorkload]] = []
    for file, document in manifests:
        try:
            if (document.get("apiVersion"), document.get("kind")) == (HPA_INTENT.api_version, HPA_INTENT.name):
                intents.append(custom_resources.intent(msgspec.convert(document, wire.HPAIntentObject))[0])
            elif is_job(document):
                raise ValueError(f"{file}: {origin_of(document)} is planned in one cluster: streams-placement plan")
            else:
                workloads += _workloads(document)
        except msgspec.ValidationError as error:
            raise ValueError(unreadable(file, document, error)) from error
    apps = apps_of(workloads, intents)
    for app in apps:
        for assumed in (workload for workload in app.workloads if workload.assumed):
            pods = "one pod is" if assumed.count == 1 else f"{assumed.count} pods are"
            what = f"is not among the manifests: {pods} judged, with the hardware that the HPAIntent names"
            warn(f"app {app.name}: {assumed.origin} {what}")
    return apps


def _workloads(document: Unstructured) -> Iterator[tuple[str, AppWorkload]]:
    """The workload of an object, with the name of the app that it would be part of; nothing for other objects."""
    metadata = mapping(document, "metadata")
    name = str(metadata.get("name") or metadata.get("generateName") or "")
    for described in own_pods(document, referenced_kinds()):
        app = str(mapping(metadata, "labels").get(_PART_OF) or name)
        count = 0 if described.replicas.idle else described.replicas.needed
        pod = msgspec.convert(described.pod, Pod)
        namespace = str(metadata.get("namespace") or NAMESPACE)
        version, kind = str(document.get("apiVersion")), str(document.get("kind"))
        yield app, AppWorkload(namespace, version, kind, name, pod, count)


class ClusterReading(Struct, frozen=True):
    """Limits on reading clusters: seconds for each one and for all, and the number that are read concurrently.

    ``step`` is called whenever one is ready.
    """

    timeout: float = CLUSTER_TIMEOUT
    parallel: int = CLUSTERS_AT_ONCE
    total: float = math.inf
    step: Step = silent


def placed(
    sources: Sequence[ClusterSource],
    apps: Sequence[ClusterApp],
    manifests: Manifests,
    reading: ClusterReading,
    warn: Warn,
    busy: set[str] | None = None,
) -> ClustersAnswer:
    """The lists of the apps over these clusters, in which the manifests count as applied.

    ``busy``, kept from call to call, has the names of clusters whose threads have been left behind and still run.
    """

    def look(source: ClusterSource) -> ExaminedCluster:
        return _examined(source, apps, manifests, reading.timeout, warn)

    examined = Readers(look, reading, busy).run(sources)
    return finished(answer(apps, examined, AtOnce(SECONDS)))


def _examined(
    source: ClusterSource, apps: Sequence[ClusterApp], manifests: Manifests, timeout: float, warn: Warn
) -> ExaminedCluster:
    """Read the cluster and examine it; raises any exception if it cannot be read."""
    if source.trouble:
        return ExaminedCluster(source.name, trouble=source.trouble)
    remarks: list[str] = []
    begun = time.monotonic()
    world = explaining(source.settings, manifests, remarks.append, timeout)
    for line in remarks:
        warn(f"cluster {source.name}: {line.removeprefix('cluster: ')}")
    for app in apps:
        if app.intents:
            # An intent among the manifests is meant to count, as it does once the namespace has its label there.
            world.inventory.intents.enable(app.namespace)
    solving = _OwnTime(SECONDS, max(begun + timeout, time.monotonic() + SECONDS))
    return finished(examine(source.name, apps, world, solving))


class _OwnTime(AtOnce):
    """Searches of one thread among others: so many ``seconds`` on the processor, until the clock reaches ``latest``."""

    def __init__(self, seconds: float, latest: float) -> None:
        super().__init__(seconds, time.thread_time)
        self._latest = latest

    def left(self) -> float:
        """Seconds that are left, by whichever bound is reached first."""
        return min(super().left(), self._latest - time.monotonic())


class Readers:
    """Runs ``look`` for every source, a bounded number at the same time, each in a thread.

    A thread that takes too long is left behind: it ends with the program, and its cluster counts as not read. As long
    as it runs, the name of the cluster is ``busy``, and no other thread is started for it.
    """

    def __init__(
        self,
        look: Callable[[ClusterSource], ExaminedCluster],
        reading: ClusterReading,
        busy: set[str] | None = None,
    ) -> None:
        self._look = look
        self._reading = reading
        self._busy = set() if busy is None else busy
        self._done: queue.SimpleQueue[ExaminedCluster] = queue.SimpleQueue()
        self._ends: dict[str, float] = {}

    def run(self, sources: Iterable[ClusterSource]) -> list[ExaminedCluster]:
        """The examined clusters, in the order in which they are ready."""
        inspect_types()  # before several threads decode objects
        waiting, examined = deque(sources), list[ExaminedCluster]()
        end = time.monotonic() + self._reading.total
        while waiting or self._ends:
            while waiting and len(self._ends) < self._reading.parallel and time.monotonic() < end:
                self._start(waiting.popleft(), end)
            if not self._ends:
                return examined + [ExaminedCluster(source.name, trouble=UNASKED) for source in waiting]
            self._reading.step("reading clusters", len(examined), len(examined) + len(self._ends) + len(waiting))
            examined += self._ready() or self._overdue()
        return examined

    def _start(self, source: ClusterSource, end: float) -> None:
        self._ends[source.name] = min(end, time.monotonic() + self._reading.timeout + _GRACE)
        if source.name in self._busy:
            self._done.put(ExaminedCluster(source.name, trouble=STUCK))
            return
        self._busy.add(source.name)
        threading.Thread(target=self._work, args=(source,), name=f"read {source.name}", daemon=True).start()

    def _work(self, source: ClusterSource) -> None:
        try:
            examined = self._look(source)
        except Exception as error:  # noqa: BLE001 -- one cluster must not keep the others from being read
            first = str(error).partition("; ")[0]
            examined = ExaminedCluster(source.name, trouble=first or type(error).__name__)
        # First of all: the caller that gets the answer may ask again at once.
        self._busy.discard(source.name)
        self._done.put(examined)

    def _ready(self) -> list[ExaminedCluster]:
        """The next cluster that is ready before any other is overdue."""
        patience = max(0.0, min(self._ends.values()) - time.monotonic())
        try:
            ready = self._done.get(timeout=patience)
        except queue.Empty:
            return []
        return [ready] if self._ends.pop(ready.name, None) is not None else []

    def _overdue(self) -> list[ExaminedCluster]:
        """The clusters whose time is over."""
        now = time.monotonic()
        late = [name for name, end in self._ends.items() if end <= now]
        for name in late:
            del self._ends[name]
        seconds = min(self._reading.timeout, self._reading.total)
        return [ExaminedCluster(name, trouble=f"did not answer within {seconds:g} s") for name in late]
