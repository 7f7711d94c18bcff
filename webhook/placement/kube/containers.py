"""The containers of a pod spec: finding one by name or place, and its resources and host ports.

Init containers and sidecars are containers here, too.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.pod import Amount, Container, ContainerClaim, PodClaim, PodSpec, Resources
from webhook.placement.text.problem import enumerated, quote

_LISTED: Final = 10
"""Names of containers listed in one message; more make it hard to read."""

NO_RESOURCES: Final = Resources()
"""The resources of a container that requests nothing."""


_EVERY_ADDRESS: Final = "0.0.0.0"  # noqa: S104  # what a port of a pod may say; nothing is bound to it here


class Place(NamedTuple):
    """The position of a container in a pod's spec: in ``initContainers`` or in ``containers``, and at which index."""

    init: bool
    at: int

    @property
    def pointer(self) -> str:
        """The JSON pointer of the container: ``/spec/containers/0``."""
        return f"/spec/{'initContainers' if self.init else 'containers'}/{self.at}"

    @property
    def path(self) -> str:
        """The path of the container in messages: ``spec.containers[0]``."""
        return f"spec.{'initContainers' if self.init else 'containers'}[{self.at}]"


_FIRST: Final = Place(init=False, at=0)


def places(spec: PodSpec) -> Iterator[tuple[Place, Container]]:
    """Every container with its place; init containers come last."""
    for init, containers in ((False, spec.containers), (True, spec.init_containers)):
        for at, container in enumerate(containers or ()):
            yield Place(init, at), container


def at(spec: PodSpec, place: Place) -> Container:
    """The container at that place, which must exist."""
    return ((spec.init_containers if place.init else spec.containers) or ())[place.at]


def named(spec: PodSpec, name: str) -> Place | None:
    """The place of the container with that name; ``None`` if the pod has no such container."""
    for init, containers in ((False, spec.containers), (True, spec.init_containers)):
        for at, container in enumerate(containers or ()):
            if container.name == name:
                return Place(init, at)
    return None


def only(spec: PodSpec) -> Place | None:
    """The place of the only container, not counting init containers; ``None`` if there is not exactly one."""
    return _FIRST if len(spec.containers or ()) == 1 else None


def called(spec: PodSpec, place: Place) -> str:
    """The container at that place in a message: ``container "worker"``."""
    return f"container {quote(at(spec, place).name)}"


def listed(spec: PodSpec) -> str:
    """The names of all containers in a message, quoted, at most ten of them; ``none`` for a pod without containers."""
    return enumerated([container.name for _, container in places(spec)], _LISTED, quote) or "none"


def missing(name: str, spec: PodSpec) -> str:
    """The message that the pod has no container of that name, with the names of its containers."""
    return f"there is no container {quote(name)}; the containers: {listed(spec)}"


def resources_at(spec: PodSpec, place: Place) -> Resources:
    """The requests and limits of the container at that place."""
    return ((spec.init_containers if place.init else spec.containers) or ())[place.at].resources or NO_RESOURCES


def asking(spec: PodSpec, place: Place, requests: dict[str, Amount], limits: dict[str, Amount]) -> PodSpec:
    """The pod spec with these requests and limits set on the container; its other resources stay."""
    own = resources_at(spec, place)
    requests, limits = {**(own.requests or {}), **requests}, {**(own.limits or {}), **limits}
    return _with(spec, place, Resources(requests, limits, own.claims))


def forgoing(spec: PodSpec, place: Place, resource: str) -> PodSpec:
    """The pod spec without the container's request and limit for that resource."""
    own = resources_at(spec, place)
    parts = (dict(part or {}) for part in (own.requests, own.limits))
    requests, limits = ({name: amount for name, amount in part.items() if name != resource} for part in parts)
    return _with(spec, place, Resources(requests, limits, own.claims))


def claiming(spec: PodSpec, place: Place, claim: PodClaim) -> PodSpec:
    """The pod spec in which the container uses that claim of the pod."""
    there, own = spec.resource_claims or (), resources_at(spec, place)
    if claim not in there:
        spec = replace(spec, resource_claims=(*there, claim))
    if any(one.name == claim.name for one in own.claims or ()):
        return spec
    return _with(spec, place, replace(own, claims=(*(own.claims or ()), ContainerClaim(claim.name))))


def _with(spec: PodSpec, place: Place, resources: Resources) -> PodSpec:
    old = (spec.init_containers if place.init else spec.containers) or ()
    changed = replace(old[place.at], resources=resources)
    containers = (*old[: place.at], changed, *old[place.at + 1 :])
    return replace(spec, init_containers=containers) if place.init else replace(spec, containers=containers)


class HostPort(Struct, frozen=True, gc=False):
    """A port of its node that a pod takes; ``ip`` is empty if the pod takes it on all addresses of the node."""

    protocol: str
    number: int
    ip: str = ""

    def conflicts(self, other: "HostPort") -> bool:
        """Whether a node cannot give both (Kubernetes' scheduler, ``HostPortInfo``)."""
        same = self.protocol == other.protocol and self.number == other.number
        return same and (self.ip == other.ip or not self.ip or not other.ip)


def host_ports(spec: PodSpec) -> Iterator[HostPort]:
    """Ports of the node that the pod takes: its ``hostPort``s, and with ``hostNetwork`` all ports of containers.

    Those of init containers count if they are sidecars, as for the scheduler's plugin ``NodePorts``.
    """
    sidecars = (one for one in spec.init_containers or () if one.restart_policy == "Always")
    for container in (*(spec.containers or ()), *sidecars):
        for port in container.ports or ():
            number = port.host_port or (port.container_port if spec.host_network else None)
            if number:
                ip = port.host_ip or ""
                yield HostPort(port.protocol or "TCP", number, "" if ip == _EVERY_ADDRESS else ip)
