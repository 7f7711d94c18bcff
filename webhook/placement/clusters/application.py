"""An app: workloads that are deployed together, and on how many clusters a copy of all of them is to run.

The words are those of the HPA design of EMCO: an app, and its replication count (``docs/clusters.md``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from webhook.placement.inventory.pool_index import Name
from webhook.placement.kube.pod import Container, Metadata, OwnerReference, Pod, PodSpec
from webhook.placement.objects.intent import Intent

UNNAMED: Final = "workload"
"""Name of the container of an assumed pod whose intent names no container."""

WorkloadKey: TypeAlias = tuple[str, str, str]
"""Namespace, API group, and kind with name, such as ``Deployment/api-server``: what a consumer of an intent names."""


class AppWorkload(Struct, frozen=True, eq=False):
    """A workload of an app: ``count`` pods like ``pod`` run at the same time; ``name`` is that of the object.

    An ``assumed`` workload is not known as an object: only an HPAIntent names it, and ``pod`` has nothing but the
    containers that the intent names.
    """

    namespace: str
    api_version: str
    kind: str
    name: str
    pod: Pod
    count: int = 1
    assumed: bool = False

    @property
    def key(self) -> WorkloadKey:
        """What a consumer of an HPAIntent has to name, so that it is this workload."""
        return self.namespace, self.api_version.rpartition("/")[0], f"{self.kind}/{self.name}"

    @property
    def origin(self) -> str:
        """Kind and name, for messages."""
        return f"{self.kind} {self.name}"


class ClusterApp(Struct, frozen=True, eq=False):
    """An app: on ``replication`` different clusters all its ``workloads`` are to run at the same time.

    ``intents`` are the names of its HPAIntents. ``flaw`` says why no cluster can take it whatever the cluster has.
    """

    namespace: str
    name: str
    replication: int
    workloads: tuple[AppWorkload, ...]
    intents: tuple[str, ...] = ()
    flaw: str = ""


def apps_of(workloads: Iterable[tuple[str, AppWorkload]], intents: Sequence[Intent]) -> tuple[ClusterApp, ...]:
    """The apps, sorted by name: those that intents name, and for workloads of no intent the app that is named with it.

    A consumer without its workload counts as its replicas, or one pod, with the containers that the intent names. If
    two namespaces have an app of one name, the names of both begin with the namespace.
    """
    workloads = list(workloads)
    named = {workload.key: workload for _, workload in workloads}
    parts: dict[Name, dict[WorkloadKey, AppWorkload]] = {}
    owners: dict[WorkloadKey, Name] = {}
    flaws: dict[Name, str] = {}
    for intent in intents:
        app = _app_of(intent)
        mine = parts.setdefault(app, {})
        for key, assumed in _consumed(intent).items():
            if (other := owners.setdefault(key, app)) != app:
                flaws[app] = f"{assumed.origin} is part of app {other[1]} as well, by another HPAIntent"
            known = mine.get(key)
            mine[key] = named.get(key) or (assumed if known is None else _joined(known, assumed))
    for own, workload in workloads:
        if workload.key not in owners:
            parts.setdefault((workload.namespace, own), {})[workload.key] = workload
    shown = _shown(parts)
    apps = [
        _app(shown[name], tuple(parts[name].values()), [one for one in intents if _app_of(one) == name], name, flaws)
        for name in parts
    ]
    return tuple(sorted(apps, key=lambda app: app.name))


def _app_of(intent: Intent) -> Name:
    """Namespace and name of the intent's app; an intent that names none is an app of its own."""
    return intent.namespace, intent.app or intent.name


def _shown(apps: Iterable[Name]) -> Mapping[Name, str]:
    """The name of each app in answers."""
    apps = list(apps)
    names = [name for _, name in apps]
    return {app: app[1] if names.count(app[1]) == 1 else "/".join(app) for app in apps}


def _app(
    shown: str,
    workloads: tuple[AppWorkload, ...],
    intents: Sequence[Intent],
    name: Name,
    flaws: Mapping[Name, str],
) -> ClusterApp:
    stated = {intent.replication_count for intent in intents if intent.replication_count is not None}
    flaw = flaws.get(name, "")
    if problem := next((problem for intent in intents for problem in intent.problems), None):
        flaw = f"{problem.field}: {problem.message}"
    if len(stated) > 1:
        flaw = f"its HPAIntents state different replication counts: {', '.join(map(str, sorted(stated)))}"
    return ClusterApp(name[0], shown, max(stated, default=1), workloads, tuple(intent.name for intent in intents), flaw)


def _consumed(intent: Intent) -> dict[WorkloadKey, AppWorkload]:
    """The workloads that the intent names, whose pods have all containers that the intent names for them."""
    containers: dict[WorkloadKey, list[str]] = {}
    counts: dict[WorkloadKey, int] = {}
    for consumer in intent.consumers:
        key = (intent.namespace, consumer.group, consumer.owner)
        listed = containers.setdefault(key, [])
        listed += [one.container for one in consumer.hardware if one.container]
        counts[key] = max(counts.get(key, 1), consumer.replicas or 1)
    return {key: _assumed(key, names, counts[key]) for key, names in containers.items()}


def _assumed(key: WorkloadKey, containers: Iterable[str], count: int) -> AppWorkload:
    namespace, group, owner = key
    kind, _, name = owner.partition("/")
    version = f"{group}/v1" if group else "v1"
    spec = PodSpec(containers=tuple(Container(name=one) for one in dict.fromkeys(containers) or (UNNAMED,)))
    reference = OwnerReference(api_version=version, kind=kind, name=name, controller=True)
    pod = Pod(Metadata(generate_name=f"{name}-", namespace=namespace, owner_references=(reference,)), spec)
    return AppWorkload(namespace, version, kind, name, pod, count, assumed=True)


def _joined(one: AppWorkload, other: AppWorkload) -> AppWorkload:
    """A workload that several intents name and that is not known as an object, with the containers of all of them."""
    named = [container.name for each in (one, other) for container in (each.pod.spec or PodSpec()).containers or ()]
    return _assumed(one.key, [name for name in named if name != UNNAMED], max(one.count, other.count))
