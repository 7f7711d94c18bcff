"""The effective resource requests of a whole pod, computed as the scheduler computes them.

Source: ``component-helpers/resource/helpers.go`` (``PodRequests``) and the defaults of ``core/v1`` (requests default to
limits; pod-level requests default to the containers' sum, then to the pod-level limit). Sums are exact; only the result
is rounded up. Resources in the pod's status, after a resize in place, are not read.
"""

from collections.abc import Callable, Collection, Mapping

from msgspec.structs import replace

from webhook.placement.kube.pod import Amount, Container, PodSpec, Resources
from webhook.placement.kube.quantity import NANO, milli, parse_quantity, whole

Nanos = dict[str, int]
"""Exact amounts by resource name, in nano-units (billionths of a core, byte or piece)."""

Invalid = tuple[str, str]
"""Path and text of an amount that is not a quantity, or is negative."""

_SIDECAR = "Always"
_POD_LEVEL = frozenset({"cpu", "memory"})
_HUGE_PAGES = "hugepages-"


def pod_requests(spec: PodSpec) -> tuple[dict[str, int], tuple[Invalid, ...]]:
    """The pod's effective requests by resource name, and the amounts that are invalid and not counted.

    Requests are milli-units of ``cpu`` and whole units of everything else, rounded up. Zero amounts are left out;
    ``pods`` is always 1.
    """
    invalid: list[Invalid] = []
    total = _aggregated(spec, invalid)
    if spec.resources is not None:
        _override(total, spec.resources, invalid)
    if spec.overhead:
        _add(total, _parsed(spec.overhead, "spec.overhead", invalid))
    requests = {name: milli(nano) if name == "cpu" else whole(nano) for name, nano in total.items() if nano}
    requests["pods"] = 1
    return requests, tuple(invalid)


def container_requests(spec: PodSpec) -> Nanos:
    """Requests of all containers together, without pod-level resources and overhead; invalid amounts are left out."""
    return _aggregated(spec, [])


def container_limits(spec: PodSpec) -> Nanos:
    """Limits of all containers together, added up as requests are; invalid amounts are left out."""

    def limits(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(
            replace(container, resources=container.resources and Resources(container.resources.limits))
            for container in containers
        )

    return _aggregated(
        replace(spec, containers=limits(spec.containers), init_containers=limits(spec.init_containers)), []
    )


def is_pod_level(name: str) -> bool:
    """Whether pod-level resources (``spec.resources``) can contain that resource."""
    return name in _POD_LEVEL or name.startswith(_HUGE_PAGES)


def _aggregated(spec: PodSpec, invalid: list[Invalid]) -> Nanos:
    total: Nanos = {}
    for place, container in enumerate(spec.containers or ()):
        if container.resources is not None:
            _add(total, _asked(container.resources, "spec.containers", place, invalid))
    if spec.init_containers:
        _start(spec, total, invalid)
    return total


def lowered(
    spec: PodSpec, *, whole: bool, kept: Callable[[str], object] | None = None, fixed: Collection[str] = ()
) -> PodSpec:
    """The pod spec with all requests and limits removed or as small as possible; the runtime's overhead stays.

    Resources that are ``kept`` stay as they are, and so do containers with the ``fixed`` names. With ``whole`` the
    containers keep what binding to cpus needs: requests and limits of cpu and memory, at the least amounts, where a
    whole number of cpus becomes one cpu and any other amount ``1m``.
    """

    def least(amounts: Mapping[str, Amount] | None) -> dict[str, Amount]:
        small: dict[str, Amount] = {}
        for name, amount in (amounts or {}).items():
            if kept is not None and kept(name):
                small[name] = amount
            elif whole and name == "cpu":
                small[name] = "1m" if (parse_quantity(amount) or 0) % NANO else 1
            elif whole and name == "memory":
                small[name] = 1
        return small

    def less(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(
            replace(container, resources=Resources(least(asked.requests), least(asked.limits)))
            if (asked := container.resources) and container.name not in fixed
            else container
            for container in containers
        )

    return replace(spec, containers=less(spec.containers), init_containers=less(spec.init_containers), resources=None)


def _start(spec: PodSpec, total: Nanos, invalid: list[Invalid]) -> None:
    """Add the sidecars, and raise the total to what any init container needs beside the sidecars before it."""
    sidecars: Nanos = {}
    peak: Nanos = {}
    for place, container in enumerate(spec.init_containers or ()):
        if container.resources is None:
            asked: Nanos = {}
        else:
            asked = _asked(container.resources, "spec.initContainers", place, invalid)
        if container.restart_policy == _SIDECAR:
            _add(sidecars, asked)
        else:
            _add(asked, sidecars)
            _raise(peak, asked)
    _add(total, sidecars)
    _raise(total, peak)


def _override(total: Nanos, resources: Resources, invalid: list[Invalid]) -> None:
    """Replace the containers' sums by the pod-level amounts."""
    requests = resources.requests or {}
    pod_level = {name: amount for name, amount in requests.items() if is_pod_level(name)}
    total.update(_parsed(pod_level, "spec.resources.requests", invalid))
    limits = {
        name: amount
        for name, amount in (resources.limits or {}).items()
        # Huge pages cannot be overcommitted, so their limit is their request whatever the containers say.
        if is_pod_level(name) and name not in requests and (name not in total or name.startswith(_HUGE_PAGES))
    }
    total.update(_parsed(limits, "spec.resources.limits", invalid))


def _asked(resources: Resources, containers: str, place: int, invalid: list[Invalid]) -> Nanos:
    """The requests of the container at that place; a resource with only a limit requests that limit."""
    requests = resources.requests
    wrong: list[Invalid] = []
    asked = _parsed(requests, "requests", wrong) if requests else {}
    if resources.limits:
        limits = resources.limits
        if requests:
            limits = {name: amount for name, amount in limits.items() if name not in requests}
        if limits:
            asked.update(_parsed(limits, "limits", wrong))
    if wrong:
        invalid += [(f"{containers}[{place}].resources.{path}", amount) for path, amount in wrong]
    return asked


def _parsed(amounts: dict[str, Amount], path: str, invalid: list[Invalid]) -> Nanos:
    parsed: Nanos = {}
    for name, amount in amounts.items():
        nano = parse_quantity(amount)
        if nano is None or nano < 0:
            invalid.append((f"{path}[{name}]", str(amount)))
        else:
            parsed[name] = nano
    return parsed


def _add(total: Nanos, more: Nanos) -> None:
    for name, nano in more.items():
        total[name] = total.get(name, 0) + nano


def _raise(total: Nanos, least: Nanos) -> None:
    for name, nano in least.items():
        if nano > total.get(name, 0):
            total[name] = nano
