"""Rules of the API server for the resources of a pod, as far as amounts that its containers are given can break them.

What breaks them would be refused after all, with a path that the user never wrote. Sources:
``validateResourceRequirements`` and ``validatePodResourceConsistency`` of Kubernetes' core validation, and the defaults
of ``pkg/apis/core/v1/defaults.go``, which are set before a pod is reviewed and again before it is validated.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from webhook.placement.kube.containers import called, resources_at
from webhook.placement.kube.pod import Amount, PodSpec, Resources
from webhook.placement.kube.quantity import format_quantity, parse_quantity
from webhook.placement.kube.requests import container_requests, is_pod_level
from webhook.placement.kube.resource_name import CPU, MEMORY, page_size
from webhook.placement.provision.effects import SetResources
from webhook.placement.text.problem import Problem, quote


def completed(spec: PodSpec) -> PodSpec:
    """The pod with the pod-level resources that the API server sets where only some are written.

    Requests are what the containers request, else the limit; limits of huge pages are what the containers request.
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


def broken(spec: PodSpec, given: Iterable[SetResources]) -> Iterator[Problem]:
    """A problem for each rule that the pod, given these amounts, breaks for their sake."""
    by_resource: dict[str, list[SetResources]] = {}
    for grant in given:
        by_resource.setdefault(grant.resource, []).append(grant)
        yield from _alone(spec, grant)
    if spec.resources is not None:
        totals = container_requests(spec)
        for resource, grants in by_resource.items():
            yield from _beyond(spec, spec.resources, grants, totals[resource])


def _alone(spec: PodSpec, grant: SetResources) -> Iterator[Problem]:
    """Huge pages are only for containers that ask for cpu or memory, too."""
    own = resources_at(spec, grant.place)
    named = (own.requests or {}).keys() | (own.limits or {}).keys()
    if page_size(grant.resource) and named.isdisjoint({CPU, MEMORY}):
        whose = called(spec, grant.place)
        message = f"{whose} asks for neither cpu nor memory, without which Kubernetes refuses huge pages: {grant.cause}"
        yield Problem(f"{grant.place.path}.resources", message)


def _beyond(spec: PodSpec, level: Resources, grants: Sequence[SetResources], total: int) -> Iterator[Problem]:
    """No container's limit is above that of the whole pod, nor is what all request above what the whole pod requests.

    A request of the whole pod that nobody wrote is its limit, and rises with it: then only the limit is told.
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
    message = f"{quote(format_quantity(there))} is less than {what}; {format_quantity(least)} or more is needed"
    return Problem(f"spec.resources.{part}[{resource}]", message)


def _amount(part: dict[str, Amount] | None, resource: str) -> int | None:
    there = (part or {}).get(resource)
    return None if there is None else parse_quantity(there)
