"""The containers of a pod: which one is meant, and what it asks for."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from webhook.placement.kube.pod import Amount, Container, PodSpec, Resources
from webhook.placement.text.problem import enumerated, quote

_LISTED: Final = 10
"""Names listed in a message; more would drown the point."""

NO_RESOURCES: Final = Resources()


class Place(NamedTuple):
    """Where a container stands in a pod's spec."""

    init: bool
    at: int

    @property
    def pointer(self) -> str:
        """As a JSON patch names it."""
        return f"/spec/{'initContainers' if self.init else 'containers'}/{self.at}"

    @property
    def path(self) -> str:
        """As messages name it."""
        return f"spec.{'initContainers' if self.init else 'containers'}[{self.at}]"


def places(spec: PodSpec) -> Iterator[tuple[Place, Container]]:
    """Every container with its place, those that start the pod last."""
    for init, containers in ((False, spec.containers), (True, spec.init_containers)):
        for at, container in enumerate(containers or ()):
            yield Place(init, at), container


def at(spec: PodSpec, place: Place) -> Container:
    """The container in that place, which must be there."""
    return ((spec.init_containers if place.init else spec.containers) or ())[place.at]


def named(spec: PodSpec, name: str) -> Place | None:
    """The container of that name."""
    return next((place for place, container in places(spec) if container.name == name), None)


def only(spec: PodSpec) -> Place | None:
    """The container of a pod that has no other, whatever starts it."""
    return Place(init=False, at=0) if len(spec.containers or ()) == 1 else None


def called(spec: PodSpec, place: Place) -> str:
    """The container in that place, as messages name it."""
    return f"container {quote(at(spec, place).name)}"


def listed(spec: PodSpec) -> str:
    """The names of all containers, quoted."""
    return enumerated([container.name for _, container in places(spec)], _LISTED, quote) or "none"


def missing(name: str, spec: PodSpec) -> str:
    """That the pod has no container of that name, and which it has."""
    return f"there is no container {quote(name)}; the containers: {listed(spec)}"


def resources_at(spec: PodSpec, place: Place) -> Resources:
    """What the container asks for."""
    return at(spec, place).resources or NO_RESOURCES


def asking(spec: PodSpec, place: Place, requests: dict[str, Amount], limits: dict[str, Amount]) -> PodSpec:
    """The pod, its container asking for these amounts too, in place of others of the same resources."""
    own = resources_at(spec, place)
    return _with(spec, place, Resources({**(own.requests or {}), **requests}, {**(own.limits or {}), **limits}))


def forgoing(spec: PodSpec, place: Place, resource: str) -> PodSpec:
    """The pod, its container asking for nothing of the resource."""
    own = resources_at(spec, place)
    parts = (dict(part or {}) for part in (own.requests, own.limits))
    left = ({name: amount for name, amount in part.items() if name != resource} for part in parts)
    return _with(spec, place, Resources(*left))


def _with(spec: PodSpec, place: Place, resources: Resources) -> PodSpec:
    there = (spec.init_containers if place.init else spec.containers) or ()
    changed = replace(there[place.at], resources=resources)
    containers = (*there[: place.at], changed, *there[place.at + 1 :])
    return replace(spec, init_containers=containers) if place.init else replace(spec, containers=containers)


def host_ports(spec: PodSpec) -> Iterator[int]:
    """Ports of the node that the pod takes: all of its containers' ports where it shares the node's network."""
    for _, container in places(spec):
        for port in container.ports or ():
            number = port.host_port or (port.container_port if spec.host_network else None)
            if number:
                yield number
