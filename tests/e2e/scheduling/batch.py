"""Many small random clusters side by side in one control plane, and where its scheduler binds their pods.

The names of a cluster's nodes, zones, namespaces and labels start with its mark, and its pods select its nodes, so
clusters do not affect one another. Only ``nodeAffinityPolicy: Ignore`` looks at nodes that a pod does not select.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Self, TypeVar

from tests.e2e.client.api import Answer, Api, Object
from tests.e2e.client.paths import collection, item
from tests.e2e.client.watch_cache import Watching
from tests.e2e.nodes import node as ready_node
from tests.e2e.nodes import wait_for_nodes
from tests.e2e.polling import until
from tests.scheduling.state import FINISHED, Cluster, phase

Json = Mapping[str, Any]
Found = TypeVar("Found")
Made = TypeVar("Made")

PATIENCE: Final = 10.0
"""Seconds in which the scheduler tries a pod again that it may have tried before it knew of everything."""

_AT_ONCE: Final = 12
"""Requests in flight; the API server shares two cores with us."""

_PAUSE: Final = 0.2
"""Seconds between two looks at pods that could be bound."""

_STAY: Final = "example.com/stay"
"""Finalizer of pods that are to be seen while they are being deleted."""

_LIMITED: Final = "kubernetes.io/limit-ranger"
"""Annotation of pods whose containers have got defaults."""

_SERVERS_OWN: Final = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


class Batch:
    """``with Batch(api, clusters) as batch``: the clusters are there, by mark; afterwards they are gone."""

    def __init__(self, api: Api, clusters: Mapping[str, Cluster]) -> None:
        self._api = api
        self._clusters = clusters
        self._nodes: dict[str, tuple[Object, ...]] = {}
        self._pods = Watching(api, "/api/v1/pods", lambda: None)

    def __enter__(self) -> Self:
        api, clusters = self._api, self._clusters.values()
        spaces = sorted({space for cluster in clusters for space in cluster.namespaces})
        labels = {space: dict(own) for cluster in clusters for space, own in cluster.namespaces.items()}
        self._each(lambda space: api.send("POST", "/api/v1/namespaces", _space(space, labels[space])), spaces)
        self._each(api.create, [_fresh_node(node) for cluster in clusters for node in cluster.nodes])
        self._each(api.create, [dict(one) for one in self._volumes()])
        self._each(api.create, [one for one in self._defaults() if one["kind"] != "LimitRange"])
        self._each(self._completes, [one for one in self._defaults() if one["kind"] == "PriorityClass"])
        self._each(self._published, self._devices())
        names = [node["metadata"]["name"] for cluster in clusters for node in cluster.nodes]
        wait_for_nodes(api, names)
        self._each(self._bound, [path for cluster in clusters for path in _claims(cluster)])
        self._pods.start()
        self._each(
            self._settled_pod, [pod for cluster in clusters for pod in cluster.pods if phase(pod) not in FINISHED]
        )
        limits = [one for one in self._defaults() if one["kind"] == "LimitRange"]
        self._each(api.create, limits)  # later than pods that are there, about which nobody asks
        self._each(self._completes, limits)
        self._read_nodes()
        return self

    def __exit__(self, *_: object) -> None:
        spaces = sorted({space for cluster in self._clusters.values() for space in cluster.namespaces})
        self._each(self._emptied, spaces)
        self._api.delete("/api/v1/nodes", labelSelector="case")
        until(lambda: not self._api.get("/api/v1/nodes")["items"], "the nodes are gone")
        until(lambda: not self._in(spaces), "the pods are gone", 60)
        self._each(self._api.delete, [item(one) for one in self._defaults()])
        volumes = [item(dict(one)) for one in reversed(self._volumes())]
        self._each(self._api.delete, volumes)
        until(lambda: not any(map(self._api.find, volumes)), "the volumes are gone", 60)
        self._each(self._api.delete, [item(one) for one in self._devices()])
        self._pods.stop()

    def cluster(self, mark: str) -> Cluster:
        """The cluster as the API server shows it now; pools and jobs are not known to it."""
        stated = self._clusters[mark]
        pods = tuple(one for one in self._in(stated.namespaces) if one["spec"].get("nodeName"))
        return Cluster(
            self._nodes[mark], pods, stated.pools, stated.jobs, stated.namespaces, stated.volumes, stated.defaults,
            stated.devices,
        )  # fmt: skip

    def pods(self, mark: str) -> list[Object]:
        """All pods of the cluster, bound or not."""
        return self._in(self._clusters[mark].namespaces)

    def pause(self) -> None:
        """Let the scheduler try again."""
        time.sleep(_PAUSE)

    def completed(self, pods: Sequence[Json]) -> list[Object | None]:
        """The pods as the API server completes them before it asks anybody; ``None`` for what it refuses itself."""
        answers = self._each(lambda pod: self._post(pod, "?dryRun=All"), pods)
        return [
            _as_reviewed(pod, answer.body) if answer.code == 201 else None
            for pod, answer in zip(pods, answers, strict=True)
        ]

    def create(self, pods: Sequence[Json]) -> list[Answer]:
        """Create pods of different clusters, at once."""
        return self._each(self._post, pods)

    def decided(self, expected: Sequence[tuple[Json, bool]]) -> list[Object]:
        """The pods once the scheduler has bound them, or given up on them.

        Those that are expected to be bound have some time for it even if it gave up at first.
        """
        names = [_name(pod) for pod, _ in expected]
        until(lambda: all(map(self._is_decided, names)), f"the scheduler has tried {names}", 60)
        late = [name for name, (_, bound) in zip(names, expected, strict=True) if bound]
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not all(self._pod(name)["spec"].get("nodeName") for name in late):
            time.sleep(0.05)
        return [self._pod(name) for name in names]

    def forget(self, pods: Iterable[Json]) -> None:
        """Delete pods that nobody bound."""
        names = [_name(pod) for pod in pods]
        self._each(lambda name: self._api.delete(_path(name), gracePeriodSeconds="0"), names)
        until(lambda: not any(name in self._pods.objects for name in names), "the pods are gone")

    def _pod(self, name: str) -> Object:
        return self._pods.objects[name]

    def _is_decided(self, name: str) -> bool:
        pod = self._pods.objects.get(name)
        if pod is None:
            return False
        conditions = pod["status"].get("conditions") or ()
        refused = [one for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"]
        return bool(pod["spec"].get("nodeName") or refused)

    def _in(self, spaces: Iterable[str]) -> list[Object]:
        wanted = set(spaces)
        return [one for name, one in self._pods.objects.items() if name.partition("/")[0] in wanted]

    def _settled_pod(self, pod: Json) -> None:
        """A pod that is bound already, and seen; deleted, if it is to be, but held."""
        going = pod["metadata"].get("deletionTimestamp")
        made = _fresh(pod)
        if going:
            made["metadata"]["finalizers"] = [_STAY]
        answer = self._post(made)
        assert answer.code == 201, answer.message
        name = _name(pod)
        if going:
            self._api.delete(_path(name))
        until(lambda: self._is_there(name, going=bool(going)), f"pod {name} is seen")

    def _volumes(self) -> list[Json]:
        return [one for cluster in self._clusters.values() for one in cluster.volumes]

    def _defaults(self) -> list[Object]:
        return [dict(one) for cluster in self._clusters.values() for one in cluster.defaults]

    def _devices(self) -> list[Object]:
        return [dict(one) for cluster in self._clusters.values() for one in cluster.devices]

    def _published(self, thing: Object) -> None:
        """Something about devices; a claim with what is allocated to it."""
        self._api.create(thing)
        if "status" in thing:
            self._api.patch(f"{item(thing)}/status", {"status": thing["status"]})

    def _completes(self, thing: Object) -> None:
        """Wait until the API server's plugins know of a LimitRange or a PriorityClass, which they watch."""
        name, space = thing["metadata"]["name"], thing["metadata"].get("namespace", "default")
        spec: Object = {"containers": [{"name": "main", "image": "example.invalid/main"}]}
        if thing["kind"] == "PriorityClass":
            spec["priorityClassName"] = name
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-probe", "namespace": space},
            "spec": spec,
        }

        def known() -> bool:
            answer = self._post(pod, "?dryRun=All")
            if thing["kind"] == "PriorityClass":
                return answer.code == 201
            return answer.code != 201 or _LIMITED in answer.body["metadata"].get("annotations", {})

        until(known, f"{name} is known to the API server", 60)

    def _bound(self, claim: str) -> None:
        until(lambda: self._api.get(claim)["status"].get("phase") == "Bound", f"{claim} is bound", 60)

    def _is_there(self, name: str, *, going: bool) -> bool:
        pod = self._pods.objects.get(name)
        return pod is not None and bool(pod["metadata"].get("deletionTimestamp")) == going

    def _read_nodes(self) -> None:
        listed = self._api.get("/api/v1/nodes")["items"]
        for mark in self._clusters:
            self._nodes[mark] = tuple(one for one in listed if one["metadata"]["labels"].get("case") == mark)

    def _emptied(self, space: str) -> None:
        for name, pod in self._pods.objects.items():
            if name.startswith(f"{space}/") and pod["metadata"].get("finalizers"):
                self._api.patch(_path(name), {"metadata": {"finalizers": None}})
        self._api.delete(f"/api/v1/namespaces/{space}/pods", gracePeriodSeconds="0")

    def _post(self, pod: Json, query: str = "") -> Answer:
        return self._api.send("POST", collection(dict(pod)) + query, _fresh(pod))

    @staticmethod
    def _each(do: Callable[[Made], Found], things: Iterable[Made]) -> list[Found]:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(do, things))


def chunks(things: Sequence[Made], size: int) -> Iterator[Sequence[Made]]:
    """So many at a time."""
    for at in range(0, len(things), size):
        yield things[at : at + size]


def _claims(cluster: Cluster) -> Iterator[str]:
    """The paths of the claims."""
    return (item(dict(one)) for one in cluster.volumes if one["kind"] == "PersistentVolumeClaim")


def _space(name: str, labels: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _fresh_node(node: Json) -> Object:
    """The node as the API server takes it: ready now."""
    made = ready_node(node["metadata"]["name"], capacity=node["status"]["allocatable"])
    room = node["status"]["allocatable"]
    return {
        **made,
        "metadata": {"name": node["metadata"]["name"], "labels": dict(node["metadata"]["labels"])},
        "spec": dict(node["spec"]),
        "status": {**made["status"], "addresses": node["status"]["addresses"], "allocatable": room, "capacity": room},
    }


def _fresh(pod: Json) -> Object:
    """The pod as a client writes it, without an owner: there is none, and the API server would delete the pod."""
    own = (*_SERVERS_OWN, "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences")
    metadata = {key: value for key, value in pod["metadata"].items() if key not in own}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]}


def _as_reviewed(pod: Json, completed: Json) -> Object:
    """The completed pod as webhooks see it: ``matchLabelKeys`` become part of selectors only after them."""
    found = _fresh(completed)
    later = {field: pod["spec"][field] for field in ("affinity", "topologySpreadConstraints") if field in pod["spec"]}
    owners = {field: pod["metadata"][field] for field in ("ownerReferences",) if field in pod["metadata"]}
    return {**found, "metadata": {**found["metadata"], **owners}, "spec": {**found["spec"], **later}}


def _name(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _path(name: str) -> str:
    space, _, own = name.partition("/")
    return f"/api/v1/namespaces/{space}/pods/{own}"
