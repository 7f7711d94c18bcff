"""Room on a node that pods share with others of their group."""

import pytest

from tests.builders import cluster, nodes
from webhook.placement.constraints.shared_room import copies_beside
from webhook.placement.constraints.topology_limit import UNLIMITED
from webhook.placement.inventory.policy import Policy
from webhook.placement.request.world import World

CPU = 1000


@pytest.mark.parametrize(
    ("requests", "others", "expected"),
    [
        pytest.param({"cpu": CPU}, [{"cpu": CPU}], 1, id="beside one"),
        pytest.param({"cpu": CPU}, [{"cpu": CPU}, {"cpu": CPU}], 0, id="beside two"),
        pytest.param({"cpu": CPU, "memory": 1}, [{"cpu": CPU}], 1, id="what only they request does not count"),
        pytest.param({"cpu": 0}, [{"cpu": CPU}], UNLIMITED, id="nothing is requested"),
    ],
)
def test_copies_beside_others_are_bounded_by_what_both_request(
    requests: dict[str, int], others: list[dict[str, int]], expected: int
) -> None:
    assert copies_beside(0, requests, others, World(cluster(nodes(1, cpu=2 * CPU)), Policy())) == expected
