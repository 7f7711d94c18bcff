"""HostPools that were stored before there were rules, and unusual nodes that the API server accepts."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from bench.generated.topology import Scale
from tests.e2e.chart.rendering import CHART
from tests.e2e.client.api import Object
from tests.e2e.client.paths import item
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.live.bare_plane import ACCOUNT, HOSTPOOLS, BarePlane, allow_reading, served
from tests.e2e.live.many_objects import fill, store
from tests.e2e.nodes import node

SPACE: Final = "oddities"

POOLS: Final[Mapping[str, tuple[Any, str]]] = {
    "spec-text": ("anything", "spec: expected `object | null`, got `str`"),
    "size-text": ({"size": "three"}, "spec.size: expected `int | null`, got `str`"),
    "size-negative": ({"size": -1}, "spec.size: -1 is not between 1 and 5000"),
    "size-huge": ({"name": "Huge", "size": 2**53}, "spec.size: 9007199254740992 is not between 1 and 5000"),
    "tags-text": ({"tags": "blue"}, "spec.tags: expected `array | null`, got `str`"),
    "tags-twice": ({"tags": ["a", "a"]}, 'spec.tags[1]: "a" is also spec.tags[0]'),
    "tags-no-value": ({"tags": ["not a value"]}, 'spec.tags[0]: "not a value" is not a label value'),
    "hosts-numbers": ({"hosts": [1, 2]}, "spec.hosts[0]: expected `str`, got `int`"),
    "hosts-none": ({"hosts": []}, "spec.hosts: must name at least one host"),
    "hosts-and-size": ({"hosts": ["worker-00100"], "size": 1}, "spec.hosts: excludes size"),
    "mode-odd": ({"mode": "Open"}, 'spec.mode: "Open" is not one of Shared, Exclusive'),
    "exclusive-unsized": (
        {"mode": "Exclusive"},
        "spec.size: missing, an Exclusive pool must state how many hosts it takes",
    ),
}
"""By name: a spec that is of no use, and what is said about it."""

USABLE: Final[Mapping[str, Any]] = {
    "unknown-field": {"name": "Useful", "tags": ["kind-1"], "tgas": ["kind-2"]},
    "nothing": None,
}
"""What the API server makes right when it reads it: fields that the definition does not know are gone."""

NODES: Final[tuple[Object, ...]] = (
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd-empty"}},
    node("odd-addresses", addresses=[{"type": "Carrier pigeon", "address": "not an address"}]),
    node("odd-hostname", {"kubernetes.io/hostname": "ODD_Host.Name"}),
    node("odd-nameless", {"kubernetes.io/hostname": ""}),
    node("odd-twin", {"kubernetes.io/hostname": "odd-labels"}),
    node("odd-labels", {f"label-{number}.example/{'k' * 63}": "v" * 63 for number in range(300)}),
    node("odd-taints", taints=[{"key": f"t-{n}.example/x", "effect": "PreferNoSchedule"} for n in range(50)]),
    node("odd-exponent", capacity={"cpu": "1e3", "memory": "1E"}),
    node("odd-milli", capacity={"cpu": "500m", "memory": "1500m"}),
    node("odd-binary", capacity={"cpu": "0.5Ki", "memory": "2Ti", "example.com/gpu": "3"}),
    node("odd-tiny", capacity={"cpu": "100n", "memory": "0"}),
)
"""All that say something have room for 110 pods."""


@contextlib.contextmanager
def odd_plane(folder: Path, scale: Scale) -> Iterator[BarePlane]:
    """A plane of that size in which some nodes are odd, and some host pools are of no use."""
    with BarePlane(folder, service_accounts=(ACCOUNT,)) as running:
        allow_reading(running.admin)
        store_poison(running)
        fill(running, scale)
        store(running, NODES)
        yield running


def store_poison(plane: ControlPlane) -> None:
    """HostPools under a definition that lets everything pass, then the chart's own."""
    definition = yaml.safe_load((CHART / "crds" / "streamshostpools.yaml").read_text())
    lenient = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    (version,) = definition["spec"]["versions"]
    spec = {**definition["spec"], "versions": [{**version, "schema": {"openAPIV3Schema": lenient}}]}
    plane.admin.create({**definition, "spec": spec})
    served(plane)
    plane.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    path = HOSTPOOLS.replace("/v1/", f"/v1/namespaces/{SPACE}/")
    for name, stated in {**{name: spec for name, (spec, _) in POOLS.items()}, **USABLE}.items():
        pool = {"apiVersion": "streams.ibm.com/v1", "kind": "HostPool", "metadata": {"name": name}}
        plane.admin.call("POST", path, {**pool, **({} if stated is None else {"spec": stated})})
    stored = plane.admin.get(item(definition))
    plane.admin.call("PUT", item(definition), {**stored, "spec": definition["spec"]})
    served(plane)
