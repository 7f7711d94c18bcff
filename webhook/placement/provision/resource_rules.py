"""API server rules (huge pages, pod-level resources) that amounts given to containers could break.

The API server would refuse a pod that breaks such a rule, and name a path that the user never wrote; so the rules are
checked here. Sources: ``validateResourceRequirements`` and ``validatePodResourceConsistency`` of Kubernetes' core
validation, and the defaults of ``pkg/apis/core/v1/defaults.go``, which are set before a pod is reviewed and again
before it is validated. Amounts are in billionths of a unit.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from webhook.placement.kube.containers import called, resources_at
from webhook.placement.kube.pod import Amount, PodSpec, Resources
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.kube.requests import container_requests, is_pod_level
from webhook.placement.kube.resource_name import CPU, MEMORY, page_size
from webhook.placement.provision.effects import SetResources
from webhook.placement.text.problem import Problem, quote


def completed(spec: PodSpec) -> PodSpec:
    """The pod's spec with the defaults that the API server sets for pod-level resources where some are written.

    The default request is what the containers request, else the pod-level limit; the default limit of huge pages is
    what the containers request.
    """
    own = spec.resources
    if own is None or not (own.requests or own.limits):
        return spec
    requests, limits = own.requests or {}, own.limits or {}
    asked = {name: format_quantity(nano) for name, nano in container_requests(spec).items() if is_pod_level(name)}
    most: dict[str, Amount] = {name: there for name, there in asked.items() if page_size(name) and name not in requests}
    most |= limits
    if not most:
        return spec
    least: dict[str, Amount] = {name: there for name, there in most.items() if is_pod_level(name)}
    least |= {name: there for name, there in asked.items() if not page_size(name)}
    return replace(spec, resources=Resources(least | requests, most))


def broken(spec: PodSpec, given: Sequence[SetResources]) -> Iterator[Problem]:
    """A problem for each rule that the pod breaks because of these amounts, which ``spec`` includes."""
    for grant in given:
        if page_size(grant.resource):
            yield from _bare_huge_pages(spec, grant)
    if spec.resources is not None:
        by_resource: dict[str, list[SetResources]] = {}
        for grant in given:
            by_resource.setdefault(grant.resource, []).append(grant)
        totals = container_requests(spec)
        for resource, grants in by_resource.items():
            yield from _beyond(spec, spec.resources, grants, totals[resource])


def _bare_huge_pages(spec: PodSpec, grant: SetResources) -> Iterator[Problem]:
    """A problem if the container, which gets huge pages, asks for neither cpu nor memory."""
    own = resources_at(spec, grant.place)
    named = (own.requests or {}).keys() | (own.limits or {}).keys()
    if named.isdisjoint({CPU, MEMORY}):
        container, why = called(spec, grant.place), "without which Kubernetes refuses huge pages"
        message = f"{container} asks for neither cpu nor memory, {why}: {grant.cause}"
        yield Problem(f"{grant.place.path}.resources", message)


def _beyond(spec: PodSpec, level: Resources, grants: Sequence[SetResources], total: int) -> Iterator[Problem]:
    """A problem where ``grants`` of one resource exceed the pod-level resources ``level``.

    No container's limit may exceed the pod-level limit, and the ``total`` that containers request may exceed neither
    the pod-level request nor the limit. A pod-level request that is absent defaults to the limit, and rises with it:
    then the problem is about the limit only.
    """
    resource = grants[0].resource
    requests, limits = _amount(level.requests, resource), _amount(level.limits, resource)
    causes = " + ".join(dict.fromkeys(grant.cause for grant in grants))
    together = f"what the containers request together, {format_quantity(total)} with {causes}"
    if limits is not None:
        over = [grant for grant in grants if not grant.place.init and (grant.limits or 0) > limits]
        for grant in over:
            most = grant.limits or 0
            what = f"the limit of {called(spec, grant.place)}, {format_quantity(most)} by {grant.cause}"
            yield _too_little("limits", resource, limits, what, max(most, total))
        if total > limits and not over:
            yield _too_little("limits", resource, limits, together, total)
    if requests is not None and total > requests and requests != limits:
        yield _too_little("requests", resource, requests, together, total)


def _too_little(part: str, resource: str, there: int, what: str, least: int) -> Problem:
    """The problem of a pod-level amount that must be at least ``least``."""
    message = f"{quote(format_quantity(there))} is less than {what}; {format_quantity(least)} or more is needed"
    return Problem(f"spec.resources.{part}[{resource}]", message)


def _amount(part: dict[str, Amount] | None, resource: str) -> int | None:
    """The amount of the resource in billionths of a unit; ``None`` if it is absent or unreadable."""
    there = (part or {}).get(resource)
    return None if there is None else parse_quantity(there)
