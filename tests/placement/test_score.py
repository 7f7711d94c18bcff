"""The cost of a node."""

import pytest

from tests.builders import GIB, bound_pod, cluster, node
from webhook.placement.score import base


@pytest.mark.parametrize(
    ("used", "asked", "expected"),
    [
        pytest.param({}, {}, 1000, id="empty node"),
        pytest.param({"cpu": 8000, "memory": 32 * GIB}, {}, 2000, id="full node"),
        pytest.param({"cpu": 4000}, {}, 1250, id="half of one resource of two"),
        pytest.param({"cpu": 4000}, {"cpu": 4000}, 1500, id="the pod to place counts"),
        pytest.param({}, {"memory": 16 * GIB}, 1250, id="memory weighs as much as cpu"),
    ],
)
def test_a_node_costs_more_the_fuller_it_would_be(used: dict[str, int], asked: dict[str, int], expected: int) -> None:
    inventory = cluster([node()], pods=[bound_pod(requests=used)])
    assert base(inventory.nodes.capacity, asked)[0] == expected


def test_a_resource_that_a_node_does_not_offer_counts_as_full() -> None:
    inventory = cluster([node(memory=0)])
    assert base(inventory.nodes.capacity, {})[0] == 1500
