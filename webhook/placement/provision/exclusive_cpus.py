"""Exclusive CPUs: how many a container gets from the kubelet, and what in a pod keeps the kubelet from giving any.

A kubelet with the static CPU manager policy gives a container cores of its own if the container asks for a whole number
of cores and the pod is of QoS class Guaranteed. Sources: ``ComputePodQOS`` of Kubernetes
(``component-helpers/resource``), and ``guaranteedCPUs`` of the kubelet's static policy.
"""

from collections.abc import Iterator

from webhook.placement.kube.containers import NO_RESOURCES, places
from webhook.placement.kube.pod import Container, PodSpec, Resources
from webhook.placement.kube.quantity import NANO, parse_quantity
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.text.problem import quote

_COUNTED = (CPU, MEMORY)
"""Resources that determine the QoS class of a pod."""


def amounts(resources: Resources, name: str) -> tuple[int, int]:
    """Request and limit of a resource in billionths of a unit; a request that is absent equals the limit."""
    limit = parse_quantity((resources.limits or {}).get(name, 0)) or 0
    asked = (resources.requests or {}).get(name)
    return limit if asked is None else parse_quantity(asked) or 0, limit


def exclusive(container: Container) -> int:
    """How many cores the container gets for itself if its pod is of class Guaranteed; 0 if it shares cores."""
    resources = container.resources or NO_RESOURCES
    cpu, _ = amounts(resources, CPU)
    return cpu // NANO if cpu % NANO == 0 and not any(_flaws(resources)) else 0


def flaw(spec: PodSpec) -> str:
    """The first thing that keeps the pod from class Guaranteed, or its cores from being exclusive; empty if nothing."""
    if spec.resources is not None:
        return "the pod has resources at pod level, which the CPU manager does not count"
    for place, container in places(spec):
        for text in _flaws(container.resources or NO_RESOURCES):
            return f"{'init container' if place.init else 'container'} {quote(container.name)} has {text}"
    return ""


def _flaws(resources: Resources) -> Iterator[str]:
    """What in these resources of a container keeps its pod from class Guaranteed."""
    for name in _COUNTED:
        asked, limit = amounts(resources, name)
        if limit <= 0:
            yield f"no {name} limit"
        elif asked != limit:
            yield f"a {name} request that differs from its limit"
