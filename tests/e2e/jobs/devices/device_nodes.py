"""Nodes with devices: ``a`` and ``c`` have four each, ``b`` has one and so much cpu that the scheduler prefers it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tests.e2e.client.api import Api, Object
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until

DEVICE: Final = "nvidia.com/gpu"

_FOUR: Final = {"cpu": "8", "memory": "64Gi", DEVICE: "4"}
_NODES: Final[Mapping[str, Mapping[str, str]]] = {
    "a": _FOUR,
    "b": {"cpu": "64", "memory": "256Gi", DEVICE: "1"},
    "c": _FOUR,
}


@contextmanager
def device_nodes(api: Api) -> Iterator[None]:
    """The three nodes, which are deleted in the end."""
    create_nodes(api, [made(name) for name in _NODES])
    try:
        yield
    finally:
        for name in _NODES:
            if api.find(f"/api/v1/nodes/{name}"):
                api.delete(f"/api/v1/nodes/{name}")
        until(lambda: not any(api.find(f"/api/v1/nodes/{name}") for name in _NODES), "the nodes are gone")


def made(name: str) -> Object:
    """One of these nodes, to be created."""
    return node(name, capacity=_NODES[name])


def cordon(api: Api, name: str, *, closed: bool = True) -> None:
    """Cordon the node, or let pods onto it again."""
    api.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": closed or None}})


def holder(name: str, placement: str = "", devices: int = 1, **template: object) -> Object:
    """A processing element whose pod requests so many devices."""
    amounts = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {DEVICE: str(devices)}}
    container = {"name": "main", "image": "example.invalid/main", "resources": amounts}
    operators = [{"name": f"Op_{name.replace('-', '_')}", "placement": placement}] if placement else []
    return {"name": name, "operators": operators, "template": {"spec": {"containers": [container]}, **template}}
