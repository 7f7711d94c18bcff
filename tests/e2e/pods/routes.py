"""The targets of a cluster address: Services joined with their EndpointSlices."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tests.e2e.client.api import Object
from tests.e2e.pods.addresses import loopback

Address: TypeAlias = tuple[str, int]
Routes: TypeAlias = dict[Address, tuple[Address, ...]]


def routes(services: Iterable[Object], slices: Iterable[Object]) -> Routes:
    """Cluster address and port of each Service with endpoints, and where the processes behind it listen."""
    slices = list(slices)
    found: Routes = {}
    for service in services:
        cluster_address = service["spec"].get("clusterIP", "None")
        if cluster_address == "None":
            continue  # headless
        own = [one for one in slices if _service_of(one) == _name(service)]
        for port in service["spec"].get("ports", ()):
            targets = _targets(own, port.get("name", ""))
            if targets:
                found[cluster_address, port["port"]] = targets
    return found


def _targets(slices: Iterable[Object], port_name: str) -> tuple[Address, ...]:
    """The ready endpoints of a port; without any, those that are shutting down and still serve."""
    endpoints = list(_endpoints(slices, port_name))
    ready = sorted(address for address, conditions in endpoints if conditions.get("ready", True))
    leaving = (address for address, one in endpoints if one.get("terminating") and one.get("serving"))
    return tuple(ready or sorted(leaving))


def _endpoints(slices: Iterable[Object], port_name: str) -> Iterator[tuple[Address, dict[str, bool]]]:
    for one in slices:
        numbers = [port["port"] for port in one.get("ports") or () if (port.get("name") or "") == port_name]
        for endpoint in one.get("endpoints") or ():
            for number in numbers:
                yield (loopback(endpoint["addresses"][0]), number), endpoint.get("conditions", {})


def _name(service: Object) -> tuple[str, str]:
    return service["metadata"]["namespace"], service["metadata"]["name"]


def _service_of(one: Object) -> tuple[str, str]:
    labels = one["metadata"].get("labels", {})
    return one["metadata"]["namespace"], labels.get("kubernetes.io/service-name", "")
