"""Pods as the API server completes them, made of one container's resources and the objects of a cluster."""

from collections.abc import Mapping
from typing import Any

import msgspec

from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.containers import places
from webhook.placement.kube.pod import Pod
from webhook.placement.pod_defaults.completed_pod import CompletedPod
from webhook.placement.pod_defaults.limit_range import LimitRange, LimitRangeItem, limit_range_of
from webhook.placement.pod_defaults.pod_defaults import PodDefaults
from webhook.placement.pod_defaults.priority_class import PriorityClass
from webhook.placement.pod_defaults.runtime_class import RuntimeClass


def limits(name: str = "l", kind: str = "Container", **item: Any) -> LimitRange:
    """A LimitRange of one item."""
    return limit_range_of("default", name, [msgspec.convert({"type": kind, **item}, LimitRangeItem)])


def known(*objects: LimitRange | RuntimeClass | PriorityClass, closed: bool = False) -> PodDefaults:
    """These objects as a cluster has them."""
    found = PodDefaults(classes=[one for one in objects if not isinstance(one, LimitRange)])
    for one in objects:
        if isinstance(one, LimitRange):
            found.put_limit_range(one)
    found.closed = closed
    return found


def having(inventory: Inventory, *objects: LimitRange | RuntimeClass | PriorityClass) -> Inventory:
    """The inventory with these objects."""
    inventory.pod_defaults = known(*objects)
    return inventory


def completed(
    stated: Mapping[str, Any], *objects: LimitRange | RuntimeClass | PriorityClass, **spec: Any
) -> CompletedPod:
    """The pod of one container with these resources, completed."""
    body = {"spec": {"containers": [{"name": "c", "resources": stated}], **spec}}
    return known(*objects, closed=True).completed(msgspec.convert(body, Pod), "default")


def resources(pod: CompletedPod) -> list[tuple[Any, Any]]:
    """Requests and limits of each container, init containers last."""
    assert pod.spec
    found = [container.resources for _, container in places(pod.spec)]
    return [(one.requests or {}, one.limits or {}) if one else ({}, {}) for one in found]


def messages(pod: CompletedPod) -> list[str]:
    """Why the API server would refuse the pod."""
    assert pod.spec
    return [f"{one.field}: {one.message}" for one in (*pod.problems, *pod.out_of_bounds(pod.spec))]
