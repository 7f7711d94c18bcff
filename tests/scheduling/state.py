"""A cluster at one moment: full Node, Pod, HostPool and Job objects, as kubectl prints them."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import yaml

Json = Mapping[str, Any]

FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True, repr=False)
class Cluster:
    """Nodes, pods (bound, waiting, going and finished ones), our own objects, and namespaces with their labels."""

    nodes: tuple[Json, ...]
    pods: tuple[Json, ...] = ()
    pools: tuple[Json, ...] = ()
    jobs: tuple[Json, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    volumes: tuple[Json, ...] = ()
    """PersistentVolumes, and the claims that are bound to them."""
    defaults: tuple[Json, ...] = ()
    """LimitRanges, RuntimeClasses and PriorityClasses."""
    devices: tuple[Json, ...] = ()
    """DeviceClasses, ResourceSlices, claims and their templates; the model of the scheduler knows none."""

    def __repr__(self) -> str:
        """Its objects, as ``explain --snapshot`` reads them."""
        own = [*self.defaults, *self.volumes, *self.devices, *self.pools, *self.jobs]
        return manifests([*self.nodes, *own, *self.pods])

    @functools.cached_property
    def by_name(self) -> Mapping[str, Json]:
        """The nodes by name."""
        return {node["metadata"]["name"]: node for node in self.nodes}

    @functools.cached_property
    def claims(self) -> Mapping[tuple[str, str], Json]:
        """The volume of each bound claim, by its namespace and name."""
        by_name = {one["metadata"]["name"]: one for one in self.volumes if one["kind"] == "PersistentVolume"}
        return {
            (one["metadata"]["namespace"], one["metadata"]["name"]): by_name[one["spec"]["volumeName"]]
            for one in self.volumes
            if one["kind"] == "PersistentVolumeClaim"
        }

    @functools.cached_property
    def _standing(self) -> tuple[tuple[Json, Json], ...]:
        return tuple(
            (pod, self.by_name[place])
            for pod in self.pods
            if (place := pod["spec"].get("nodeName")) in self.by_name and phase(pod) not in FINISHED
        )

    def standing(self) -> tuple[tuple[Json, Json], ...]:
        """The pods that the scheduler counts, each with its node: bound, and not finished. Those being deleted are."""
        return self._standing

    def live(self) -> list[tuple[Json, Json]]:
        """Those of them that are not being deleted."""
        return [(pod, node) for pod, node in self.standing() if not pod["metadata"].get("deletionTimestamp")]

    def namespace(self, pod: Json) -> str:
        """The pod's namespace."""
        return str(pod["metadata"].get("namespace") or "default")

    def plus(self, pod: Json, node: str) -> Self:
        """With the pod bound to the node."""
        bound = {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": {"phase": "Running"}}
        return replace(self, pods=(*self.pods, bound))

    def only(self, stays: Callable[[Json], bool]) -> Self:
        """Without the pods that do not stay."""
        return replace(self, pods=tuple(filter(stays, self.pods)))


def phase(pod: Json) -> str:
    """The pod's phase."""
    return str((pod.get("status") or {}).get("phase", ""))


def manifests(objects: Iterable[Json]) -> str:
    """The objects in YAML, so that a failure can be saved and tried by hand."""
    return "\n" + yaml.safe_dump_all(map(dict, objects), sort_keys=False, default_flow_style=None, width=160)
