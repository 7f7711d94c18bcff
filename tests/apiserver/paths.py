"""Paths of the API: collections by resource, paths of objects, and what a path says."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

NODES: Final = "/api/v1/nodes"
PODS: Final = "/api/v1/pods"
POOLS: Final = "/apis/streams.ibm.com/v1/streamshostpools"
JOBS: Final = "/apis/streams.ibm.com/v1/streamsjobs"
ELEMENTS: Final = "/apis/streams.ibm.com/v1/streamspes"
REGIONS: Final = "/apis/streams.ibm.com/v1/streamsparallelregions"

PATHS: Final = {
    "nodes": NODES,
    "pods": PODS,
    "streamshostpools": POOLS,
    "streamsjobs": JOBS,
    "streamshpaintents": "/apis/streams.ibm.com/v1/streamshpaintents",
    "namespaces": "/api/v1/namespaces",
    "deviceclasses": "/apis/resource.k8s.io/v1/deviceclasses",
    "resourceslices": "/apis/resource.k8s.io/v1/resourceslices",
    "resourceclaims": "/apis/resource.k8s.io/v1/resourceclaims",
    "resourceclaimtemplates": "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "devicetaintrules": "/apis/resource.k8s.io/v1/devicetaintrules",
    "noderesourcetopologies": "/apis/topology.node.k8s.io/v1/noderesourcetopologies",
    "limitranges": "/api/v1/limitranges",
    "runtimeclasses": "/apis/node.k8s.io/v1/runtimeclasses",
    "priorityclasses": "/apis/scheduling.k8s.io/v1/priorityclasses",
}
"""The collections that a live cluster watches, by resource."""

_SUBRESOURCES: Final = {"status", "finalize"}


class ApiPath(NamedTuple):
    """What a path says. ``collection`` is the path of all objects of the kind, in all namespaces."""

    collection: str
    namespace: str
    name: str
    subresource: str

    @property
    def resource(self) -> str:
        """The plural name of the kind, such as ``pods``."""
        return self.collection.rpartition("/")[2]


@lru_cache(maxsize=4096)
def api_path(path: str) -> ApiPath | None:
    """What the path says; ``None`` if it is no path of the API."""
    parts = path.removeprefix("/").split("/")
    length = {"api": 2, "apis": 3}.get(parts[0], len(parts))
    group, rest = parts[:length], parts[length:]
    if not rest:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, *subresource = rest if len(rest) > 1 else (*rest, "")
    return ApiPath("/".join(["", *group, resource]), namespace, name, "/".join(subresource))


def path_of(collection: str, name: str, namespace: str = "") -> str:
    """The path of an object; ``namespace`` is empty if its kind has none."""
    parent, _, resource = collection.rpartition("/")
    return f"{parent}/namespaces/{namespace}/{resource}/{name}" if namespace else f"{collection}/{name}"


def pool_path(name: str, namespace: str = "default") -> str:
    return path_of(POOLS, name, namespace)


def node_path(name: str) -> str:
    return path_of(NODES, name)


def pod_path(name: str, namespace: str = "default") -> str:
    return path_of(PODS, name, namespace)


def job_path(name: str, namespace: str = "default") -> str:
    return path_of(JOBS, name, namespace)


def region_path(name: str, namespace: str = "default") -> str:
    return path_of(REGIONS, name, namespace)


def element_path(name: str, namespace: str = "default") -> str:
    return path_of(ELEMENTS, name, namespace)
