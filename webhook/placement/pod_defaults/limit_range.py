"""LimitRanges: the requests and limits that the API server gives to containers which state none.

Source: ``plugin/pkg/admission/limitranger`` of Kubernetes, and the defaults of a LimitRange and of a Pod in
``pkg/apis/core/v1/defaults.go``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from webhook.placement.kube.containers import NO_RESOURCES, Place, at, places
from webhook.placement.kube.pod import Amount, Container, PodSpec, Resources
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.kube.requests import Nanos, container_requests, is_pod_level
from webhook.placement.kube.resource_name import indivisible
from webhook.placement.text.problem import Fault, Problem

CONTAINER: Final = "Container"
POD: Final = "Pod"
"""Types of items that are about pods; items about PersistentVolumeClaims are not."""

Amounts = Mapping[str, Amount]
"""Quantities by resource name."""

_NONE: Final[Amounts] = {}


class LimitRangeItem(Struct, frozen=True, gc=False, rename="camel"):
    """One entry of ``spec.limits``: the defaults and bounds of one type."""

    type: str = ""
    default: dict[str, Amount] | None = None
    default_request: dict[str, Amount] | None = None
    min: dict[str, Amount] | None = None
    max: dict[str, Amount] | None = None
    max_limit_request_ratio: dict[str, Amount] | None = None

    @property
    def amounts(self) -> Iterator[tuple[str, Amount]]:
        """Every amount with its path in the item."""
        for field in self.__struct_fields__[1:]:
            for resource, amount in (getattr(self, field) or _NONE).items():
                yield f"{_FIELDS[field]}[{resource}]", amount


_FIELDS: Final = dict(zip(LimitRangeItem.__struct_fields__, LimitRangeItem.__struct_encode_fields__, strict=True))


class LimitRange(Struct, frozen=True, gc=False):
    """A LimitRange object, with the defaults that the API server derives from its bounds."""

    namespace: str
    name: str
    items: tuple[LimitRangeItem, ...] = ()

    def of_type(self, kind: str) -> Iterator[LimitRangeItem]:
        """The items of a type."""
        return (item for item in self.items if item.type == kind)


def limit_range_of(namespace: str, name: str, items: Iterable[LimitRangeItem]) -> LimitRange:
    """The LimitRange with these items, those about containers completed as the API server completes them."""
    return LimitRange(namespace, name, tuple(_derived(item) if item.type == CONTAINER else item for item in items))


def _derived(item: LimitRangeItem) -> LimitRangeItem:
    """A limit defaults to the maximum, a request to the default limit or else to the minimum."""
    limits = {**(item.max or _NONE), **(item.default or _NONE)}
    return replace(
        item, default=limits, default_request={**(item.min or _NONE), **limits, **(item.default_request or _NONE)}
    )


def with_defaults(spec: PodSpec, ranges: Sequence[LimitRange]) -> PodSpec:
    """The spec with the defaults of the LimitRanges, of which the first that states a default counts."""
    spec = _with_pod_level(_each(spec, _requesting_limits))
    for limits in ranges:
        for item in limits.of_type(CONTAINER):
            spec = _each(spec, lambda own, item=item: _defaulted(own, item))  # type: ignore[misc]
    return spec


def _each(spec: PodSpec, change: Callable[[Resources], Resources]) -> PodSpec:
    """The spec with the resources of all containers changed."""

    def changed(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(
            replace(container, resources=change(container.resources or NO_RESOURCES)) for container in containers
        )

    return replace(spec, containers=changed(spec.containers), init_containers=changed(spec.init_containers))


def _requesting_limits(own: Resources) -> Resources:
    """A container requests its limit of a resource that it states no request of."""
    return replace(own, requests={**own.limits, **(own.requests or _NONE)}) if own.limits else own


def _with_pod_level(spec: PodSpec) -> PodSpec:
    """Pod-level requests default to what containers request, and else to the pod-level limit, if there is any limit."""
    if spec.resources is None or not spec.resources.limits:
        return spec
    summed = container_requests(spec)
    requests: dict[str, Amount] = {
        name: format_quantity(nano) for name, nano in summed.items() if is_pod_level(name) and not indivisible(name)
    }
    limits = {name: amount for name, amount in spec.resources.limits.items() if is_pod_level(name)}
    stated = spec.resources.requests or _NONE
    return replace(spec, resources=replace(spec.resources, requests={**limits, **requests, **stated}))


def _defaulted(own: Resources, item: LimitRangeItem) -> Resources:
    """The container's resources with the item's defaults for what is not stated."""
    return Resources(
        {**(item.default_request or _NONE), **(own.requests or _NONE)},
        {**(item.default or _NONE), **(own.limits or _NONE)},
        own.claims,
    )


def sources(spec: PodSpec, ranges: Sequence[LimitRange]) -> dict[str, str]:
    """The LimitRange by resource whose default a container of the spec requests, since it states no amount itself."""
    by_resource: dict[str, str] = {}
    for _, container in places(spec):
        own = container.resources or NO_RESOURCES
        stated = (own.requests or _NONE).keys() | (own.limits or _NONE).keys()
        for limits in ranges:
            for item in limits.of_type(CONTAINER):
                for resource in (item.default_request or _NONE).keys() - stated:
                    by_resource.setdefault(resource, limits.name)
    return by_resource


def differing(ranges: Sequence[LimitRange]) -> Iterator[str]:
    """A warning for each resource of which two LimitRanges state different defaults."""
    seen: dict[tuple[str, str], tuple[str, int | None]] = {}
    for limits in ranges:
        for item in limits.of_type(CONTAINER):
            parts = (("default", item.default), ("defaultRequest", item.default_request))
            for part, resource, amount in ((part, *pair) for part, of in parts for pair in (of or _NONE).items()):
                first, nano = seen.setdefault((part, resource), (limits.name, parse_quantity(amount)))
                if nano != parse_quantity(amount):
                    yield (
                        f"LimitRanges {first} and {limits.name} differ in {part}[{resource}]: a pod may get either, "
                        f"that of {first} is judged"
                    )


def contradictions(before: PodSpec, after: PodSpec, ranges: Sequence[LimitRange]) -> Iterator[Problem]:
    """A problem for each request that does not go with the limit beside it, where one of both is a default.

    The API server checks a template without its defaults, and refuses each pod that is made of it.
    """
    names = ", ".join(limits.name for limits in ranges)
    for place, container in places(after):
        stated = at(before, place).resources or NO_RESOURCES
        own = container.resources or NO_RESOURCES
        for resource, amount in (own.requests or _NONE).items():
            limit = (own.limits or _NONE).get(resource)
            given = resource not in (stated.limits or _NONE)
            if given and (wrong := _unlike(resource, amount, limit)):
                yield _contradiction(place, resource, f"{wrong} (LimitRange {names})")
    if after.resources:
        yield from _beyond_pod_level(after, after.resources, container_requests(before), names)


def _beyond_pod_level(spec: PodSpec, pod_level: Resources, stated: Nanos, names: str) -> Iterator[Problem]:
    """A problem for each pod-level amount that is less than what containers request, or are limited to, by defaults.

    ``stated`` is what the containers request without defaults: whether that fits is checked with the template.
    """
    fault = Fault.FORBIDDEN
    for resource, needed in container_requests(spec).items():
        amount = parse_quantity((pod_level.requests or _NONE).get(resource, ""))
        if amount is not None and amount < needed and needed != stated.get(resource):
            text = (
                f"{format_quantity(amount)} is less than {format_quantity(needed)}, which containers request by default"
            )
            yield Problem(f"spec.resources.requests[{resource}]", f"{text} (LimitRange {names})", fault=fault)
    for place, container in places(spec):
        for resource, limit in ((container.resources or NO_RESOURCES).limits or _NONE).items():
            most, limited = parse_quantity((pod_level.limits or _NONE).get(resource, "")), parse_quantity(limit)
            if most is not None and limited is not None and limited > most:
                text = f"{limit} is more than {format_quantity(most)}, the limit of the pod: state a limit"
                path = f"{place.path}.resources.limits[{resource}]"
                yield Problem(path, f"{text} (LimitRange {names})", fault=fault)


def _unlike(resource: str, amount: Amount, limit: Amount | None) -> str:
    """What is wrong with a request beside a limit that the container does not state itself; empty if nothing is."""
    requested, limited = parse_quantity(amount), None if limit is None else parse_quantity(limit)
    if limit is None:
        return f"{amount} is requested without a limit: state a limit of {amount}" if indivisible(resource) else ""
    if requested is None or limited is None:
        return ""
    if requested > limited:
        return f"{amount} is more than {limit}, the default limit: state a limit of at least {amount}"
    if indivisible(resource) and requested != limited:
        return f"{amount} is not {limit}, the default limit: state a limit of {amount}"
    return ""


def _contradiction(place: Place, resource: str, message: str) -> Problem:
    return Problem(f"{place.path}.resources.requests[{resource}]", message, fault=Fault.FORBIDDEN)
