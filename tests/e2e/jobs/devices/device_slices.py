"""Devices of nodes, and claims for them, as objects of dynamic resource allocation: nobody runs a driver."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tests.e2e.client.api import Api, Object
from tests.e2e.jobs.streams_jobs import TEMPLATE
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until

DRA: Final = "resource.k8s.io/v1"
DRIVER: Final = "chips.example.org"


@contextmanager
def chip_nodes(api: Api, counts: Mapping[str, int]) -> Iterator[None]:
    """Nodes with so many devices of a class, all of which are gone in the end; nothing may use them any more then."""
    there = len(api.get("/api/v1/nodes")["items"])
    create_nodes(api, [node(name) for name in counts])
    api.create(device("DeviceClass", DRIVER, {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}))
    for name, count in counts.items():
        api.create(chips(name, count))
    try:
        yield
    finally:
        for name in counts:
            api.delete(f"/apis/{DRA}/resourceslices/{name}")
            api.delete(f"/api/v1/nodes/{name}")
        api.delete(f"/apis/{DRA}/deviceclasses/{DRIVER}")
    until(lambda: len(api.get("/api/v1/nodes")["items"]) == there, "the nodes are gone")


def device(kind: str, name: str, spec: Object) -> Object:
    """An object about devices."""
    return {"apiVersion": DRA, "kind": kind, "metadata": {"name": name}, "spec": spec}


def chips(node_name: str, count: int) -> Object:
    """The slice of so many devices of the node."""
    pool = {"name": node_name, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"chip-{at}"} for at in range(count)]
    spec = {"driver": DRIVER, "nodeName": node_name, "pool": pool, "devices": devices}
    return device("ResourceSlice", node_name, spec)


def claim_template(name: str, space: str, count: int) -> Object:
    """A template of claims for so many devices."""
    request = {"name": "chips", "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount", "count": count}}
    made = device("ResourceClaimTemplate", name, {"spec": {"devices": {"requests": [request]}}})
    made["metadata"]["namespace"] = space
    return made


def with_claim(template: str) -> Object:
    """A template of pods that get a claim of that template."""
    spec = copy.deepcopy(TEMPLATE["spec"])
    spec["resourceClaims"] = [{"name": "chips", "resourceClaimTemplateName": template}]
    spec["containers"][0]["resources"] = {"claims": [{"name": "chips"}]}
    return {"spec": spec}
