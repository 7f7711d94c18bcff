"""What one decision is made against."""

import pytest

from tests.builders import JOB, NAMESPACE, cluster, node, nodes, pool
from tests.workload_templates import replica
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.request.world import World
from webhook.placement.text import keys

MEMBER = keys.membership(NAMESPACE, "mypool")


def world(found: Pool, count: int = 3) -> World:
    """A world of equal nodes and one pool."""
    return World(cluster(nodes(count), pools=[found]), Policy())


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            pool(size=2, assigned=["node-c", "node-b"]), {0: 0b100, 1: 0b010}, id="a ready pool has its hosts"
        ),
        pytest.param(
            pool(size=2, assigned=["gone", "node-b"]), {0: 0b001, 1: 0b010}, id="a vanished host will be replaced"
        ),
        pytest.param(pool(size=2, phase=Phase.PENDING), {0: 0b001, 1: 0b010}, id="a pending pool will have hosts"),
        pytest.param(pool(size=4, phase=Phase.PENDING), {}, id="a pool that cannot be completed has none"),
        pytest.param(
            pool(size=4, phase=Phase.PENDING, elastic=True),
            {0: 0b001, 1: 0b010, 2: 0b100},
            id="an elastic one has what there is",
        ),
        pytest.param(pool(hosts=["node-b"], phase=Phase.PENDING), {0: 0b010}, id="a literal pool has its list"),
    ],
)
def test_a_pool_has_its_hosts_or_those_it_would_get(found: Pool, expected: dict[int, int]) -> None:
    assert world(found).hosts(found) == expected


def test_the_labels_of_a_pools_hosts_are_seen_before_they_are_written() -> None:
    pending = world(pool(size=2, phase=Phase.PENDING))
    seen = pending.with_key(MEMBER), pending.with_label(MEMBER, ["1", "7"]), pending.with_label(MEMBER, [])
    assert seen == (0b011, 0b010, 0)


def test_a_label_of_a_pool_that_is_not_there_is_read_from_the_nodes() -> None:
    stale = keys.membership(NAMESPACE, "gone")
    found = World(cluster([node(labels={stale: "0"})]), Policy())
    assert (found.with_key(stale), found.with_label(stale, ["0"])) == (1, 1)


def test_every_other_question_is_answered_by_the_nodes() -> None:
    found = World(cluster([node(labels={"size": "5"})]), Policy())
    answers = (
        found.everything, found.named("node-a"), found.with_key("size"), found.with_label("size", ["5"]),
        found.beyond("size", 4, above=True),
    )  # fmt: skip
    assert answers == (1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("leaving", "expected"), [("", 0b11), ("Deployment/w", 0b10)], ids=["everyone stays", "a workload leaves"]
)
def test_live_pods_of_a_workload_may_be_about_to_leave(leaving: str, expected: int) -> None:
    pods = [replica("node-a"), replica("node-b", "Deployment/other")]
    found = World(cluster(nodes(2), pods=pods), Policy(), leaving=leaving)
    assert found.job_pods(NAMESPACE, JOB).everyone.nodes == expected
