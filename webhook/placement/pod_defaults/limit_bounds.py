"""The minima, maxima and ratios of LimitRanges, which the API server checks once webhooks have changed a pod.

Source: ``PodValidateLimitFunc`` in ``plugin/pkg/admission/limitranger`` of Kubernetes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from webhook.placement.kube.containers import NO_RESOURCES, places
from webhook.placement.kube.pod import Amount, PodSpec
from webhook.placement.kube.quantity import INT64, format_quantity, milli, parse_quantity, whole
from webhook.placement.kube.requests import Nanos, container_limits, container_requests
from webhook.placement.kube.resource_name import CPU, MEMORY
from webhook.placement.pod_defaults.limit_range import CONTAINER, POD, LimitRange, LimitRangeItem
from webhook.placement.text.problem import Fault, Problem

_OVERRIDABLE: Final = (CPU, MEMORY)
"""Resources whose pod-level amounts count for bounds on whole pods."""

_MILLI_LIMIT: Final = INT64 // 1000
"""Whole units above which Kubernetes compares whole units, and milli-units otherwise (``MaxMilliValue``)."""


class _Bounded(Struct, frozen=True, gc=False):
    """What a container, or a whole pod, requests and is limited to.

    ``paths`` say where problems of requests and of limits are.
    """

    what: str
    requests: Nanos
    limits: Nanos
    paths: tuple[str, str]


def out_of_bounds(spec: PodSpec, ranges: Sequence[LimitRange]) -> Iterator[Problem]:
    """A problem for each bound of the LimitRanges that the spec, with all defaults in it, does not keep."""
    for limits in ranges:
        for item in limits.of_type(CONTAINER):
            for bounded in _containers(spec):
                yield from _checked(bounded, item, limits.name)
        for item in limits.of_type(POD):
            yield from _checked(_pod(spec), item, limits.name)


def _containers(spec: PodSpec) -> Iterator[_Bounded]:
    for place, container in places(spec):
        own, path = container.resources or NO_RESOURCES, f"{place.path}.resources"
        paths = f"{path}.requests", f"{path}.limits"
        yield _Bounded("container", _nanos(own.requests), _nanos(own.limits), paths)


def _pod(spec: PodSpec) -> _Bounded:
    """The whole pod, without its overhead."""
    requests, limits = container_requests(spec), container_limits(spec)
    if spec.resources:
        requests |= {name: nano for name, nano in _nanos(spec.resources.requests).items() if name in _OVERRIDABLE}
        limits |= {name: nano for name, nano in _nanos(spec.resources.limits).items() if name in _OVERRIDABLE}
    return _Bounded("pod", requests, limits, ("spec.containers: requests", "spec.containers: limits"))


def _nanos(amounts: dict[str, Amount] | None) -> Nanos:
    return {name: nano for name, amount in (amounts or {}).items() if (nano := parse_quantity(amount)) is not None}


def _checked(bounded: _Bounded, item: LimitRangeItem, name: str) -> Iterator[Problem]:
    """What of one container or pod is beyond the bounds of the item."""
    checks = ((_below, item.min), (_above, item.max), (_stretched, item.max_limit_request_ratio))
    for check, bounds in checks:
        for resource, bound in sorted(_nanos(bounds).items()):
            for at, message in check(bounded, resource, bound):
                text = f"{message} ({bounded.what} bounds of LimitRange {name})"
                yield Problem(f"{bounded.paths[at]}[{resource}]", text, fault=Fault.FORBIDDEN)


_REQUESTS: Final = 0
_LIMITS: Final = 1

_Check = Callable[[_Bounded, str, int], Iterable[tuple[int, str]]]


def _below(bounded: _Bounded, resource: str, bound: int) -> Iterator[tuple[int, str]]:
    """The request, or a limit if there is one, is less than the minimum."""
    request, limit, least = bounded.requests.get(resource), bounded.limits.get(resource), format_quantity(bound)
    if request is None:
        yield _REQUESTS, f"nothing is requested, the minimum is {least}"
        return
    for at, amount in ((_REQUESTS, request), (_LIMITS, limit)):
        if amount is not None and _less(amount, bound, request, limit or 0, bound):
            yield at, f"{format_quantity(amount)} is less than {least}"


def _above(bounded: _Bounded, resource: str, bound: int) -> Iterator[tuple[int, str]]:
    """The limit, or the request, is more than the maximum; a maximum asks for a limit."""
    request, limit, most = bounded.requests.get(resource), bounded.limits.get(resource), format_quantity(bound)
    if limit is None:
        yield _LIMITS, f"no limit is stated, the maximum is {most}"
        return
    for at, amount in ((_LIMITS, limit), (_REQUESTS, request)):
        if amount is not None and _less(bound, amount, request or 0, limit, bound):
            yield at, f"{format_quantity(amount)} is more than {most}"


def _stretched(bounded: _Bounded, resource: str, bound: int) -> Iterator[tuple[int, str]]:
    """The limit is more than so many times the request; a ratio asks for both."""
    request, limit, most = bounded.requests.get(resource, 0), bounded.limits.get(resource, 0), format_quantity(bound)
    if not request or not limit:
        missing = _LIMITS if request else _REQUESTS
        yield missing, f"the limit may be at most {most} times the request, so both must be stated"
        return
    if _scaled(limit, request, limit, bound) / _scaled(request, request, limit, bound) > milli(bound) / 1000:
        amounts = f"{format_quantity(limit)} is more than {most} times the request of {format_quantity(request)}"
        yield _LIMITS, amounts


def _less(one: int, other: int, *compared: int) -> bool:
    """Whether one amount is less than another, in the units in which Kubernetes compares all of these."""
    return _scaled(one, *compared) < _scaled(other, *compared)


def _scaled(nano: int, *compared: int) -> int:
    """The amount in milli-units, or in whole units if one of the compared amounts is very large; rounded up."""
    return milli(nano) if all(whole(amount) <= _MILLI_LIMIT for amount in compared) else whole(nano)
