"""Pods as the API server completes them by LimitRanges, RuntimeClasses and PriorityClasses, and whom they preempt.

Written from the admission plugins of Kubernetes 1.36 (``LimitRanger``, ``RuntimeClass``, ``Priority``), and from
``SetDefaults_LimitRangeItem``. A class that contradicts the pod adds nothing: the API server refuses such a pod.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from tests.scheduling.amounts import completed
from tests.scheduling.scheduler import objection
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]
Object = dict[str, Any]


def with_defaults(pod: Json, cluster: Cluster) -> Object:
    """The pod as webhooks see it."""
    found = completed(pod)
    if not cluster.defaults:
        return found
    found = copy.deepcopy(found)
    spec = found["spec"]
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in cluster.defaults}
    for one in cluster.defaults:
        if one["kind"] == "LimitRange" and one["metadata"]["namespace"] == cluster.namespace(pod):
            for item in one["spec"]["limits"]:
                _limited(spec, item)
    runtime = by_name.get(("RuntimeClass", spec.get("runtimeClassName", "")))
    if runtime is not None:
        _run_by(spec, runtime)
    ranked = by_name.get(("PriorityClass", spec.get("priorityClassName", "")))
    if ranked is not None:
        spec |= {
            "priority": ranked["value"],
            "preemptionPolicy": ranked.get("preemptionPolicy", "PreemptLowerPriority"),
        }
    return found


def _limited(spec: Object, item: Json) -> None:
    """Requests and limits of containers that state none."""
    if item["type"] != "Container":
        return
    limits = {**item.get("max", {}), **item.get("default", {})}
    requests = {**item.get("min", {}), **limits, **item.get("defaultRequest", {})}
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        stated = container.get("resources") or {}
        given = {
            "limits": {**limits, **stated.get("limits", {})},
            "requests": {**requests, **stated.get("requests", {})},
        }
        container["resources"] = {**stated, **{field: amounts for field, amounts in given.items() if amounts}}


def _run_by(spec: Object, runtime: Json) -> None:
    """Overhead, node labels and tolerations."""
    if "overhead" in runtime:
        spec["overhead"] = dict(runtime["overhead"]["podFixed"])
    scheduling = runtime.get("scheduling", {})
    stated = spec.get("nodeSelector") or {}
    added = scheduling.get("nodeSelector", {})
    if not any(stated.get(key, value) != value for key, value in added.items()):
        spec["nodeSelector"] = {**stated, **added}
    own = spec.get("tolerations") or []
    spec["tolerations"] = [*own, *(one for one in scheduling.get("tolerations", ()) if one not in own)]


def preempting(pod: Json, cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """Nodes where the pod can be once all pods of lower priority are gone from them, each with that cluster."""
    spec = pod["spec"]
    rank = spec.get("priority") or 0
    if spec.get("preemptionPolicy") == "Never":
        return
    for node in cluster.nodes:
        name = node["metadata"]["name"]
        lower = [
            one["metadata"]["uid"]
            for one in cluster.pods
            if one["spec"].get("nodeName") == name and (one["spec"].get("priority") or 0) < rank
        ]
        left = cluster.only(lambda one, gone=frozenset(lower): one["metadata"]["uid"] not in gone)  # type: ignore[misc]
        if lower and not objection(pod, node, left):
            yield name, left
