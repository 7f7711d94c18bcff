"""NodeResourceTopologies become the zones of nodes."""

from typing import Any

import pytest

from webhook.cluster.objects.items import Item
from webhook.cluster.objects.metadata import MalformedError
from webhook.cluster.objects.node_topologies import read_topology
from webhook.placement.kube.quantity import NANO
from webhook.placement.numa.topology import NodeTopology, NumaZone, TopologyPolicy, TopologyScope

CONTAINER, POD = TopologyScope.CONTAINER, TopologyScope.POD


def published(**fields: Any) -> dict[str, Any]:
    """The object of the node ``n``."""
    return {"metadata": {"name": "n"}, **fields}


def read(found: Item) -> NodeTopology:
    (name, topology), notes = read_topology(found)
    assert (name, notes) == ("n", [])
    return topology


def attributes(**stated: str) -> list[dict[str, str]]:
    return [{"name": f"topologyManager{name}", "value": value} for name, value in stated.items()]


SETTINGS: dict[str, tuple[dict[str, Any], TopologyPolicy, TopologyScope]] = {
    "nothing": ({}, TopologyPolicy.NONE, CONTAINER),
    "one word": ({"topologyPolicies": ["SingleNUMANodePodLevel"]}, TopologyPolicy.SINGLE, POD),
    "restricted": ({"topologyPolicies": ["Restricted"]}, TopologyPolicy.RESTRICTED, CONTAINER),
    "a policy that turns no pod away": ({"topologyPolicies": ["BestEffortPodLevel"]}, TopologyPolicy.NONE, CONTAINER),
    "attributes": (
        {"attributes": attributes(Policy="restricted", Scope="pod")}, TopologyPolicy.RESTRICTED, POD,
    ),
    "attributes beside one word": (
        {
            "topologyPolicies": ["SingleNUMANodePodLevel"],
            "attributes": attributes(Policy="best-effort", Scope="container"),
        },
        TopologyPolicy.BEST_EFFORT, CONTAINER,
    ),
    "an unknown policy": ({"attributes": attributes(Policy="new")}, TopologyPolicy.NONE, CONTAINER),
    "nulls": ({"topologyPolicies": None, "zones": None, "attributes": None}, TopologyPolicy.NONE, CONTAINER),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "policy", "scope"), SETTINGS.values(), ids=SETTINGS)
def test_the_settings_of_the_kubelet(fields: dict[str, Any], policy: TopologyPolicy, scope: TopologyScope) -> None:
    assert read(published(**fields)) == NodeTopology(policy, scope, ())


def test_zones_that_are_numa_nodes_in_the_order_of_their_names() -> None:
    zones = [
        {"name": "node-1", "type": "Node", "resources": None},
        {
            "name": "node-0",
            "type": "Node",
            "resources": [
                {"name": "memory", "capacity": "2Ki", "allocatable": "1Ki", "available": "0"},
                {"name": "cpu", "allocatable": 3},
                {"name": "example.com/nic", "capacity": "2"},
                {"allocatable": "1"},
            ],
        },
        {"name": "socket-0", "type": "Socket"},
    ]
    allocatable = (("cpu", 3 * NANO), ("memory", 1024 * NANO))
    capacity = (("cpu", 3 * NANO), ("memory", 2048 * NANO))
    assert read(published(zones=zones)).zones == (NumaZone(capacity, allocatable), NumaZone())


@pytest.mark.parametrize("part", ["capacity", "allocatable"])
def test_an_amount_that_is_none_makes_the_object_unusable(part: str) -> None:
    resource = {"name": "cpu", "capacity": "1", "allocatable": "1", part: "many"}
    zones = [{"name": "node-0", "type": "Node", "resources": [resource]}]
    with pytest.raises(MalformedError, match=rf'zones\[node-0\].{part}\[cpu\]: "many" is not a quantity'):
        read_topology(published(zones=zones))


def test_one_without_a_name_is_unusable() -> None:
    with pytest.raises(MalformedError, match="metadata.name"):
        read_topology({})
