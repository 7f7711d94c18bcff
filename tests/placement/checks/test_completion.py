"""A pool that has hosts already, and whether it could have the others."""

from typing import Final

import pytest

from tests.builders import cluster, node, nodes, pool, selector
from webhook.placement.checks.completion import complete
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.request.world import World
from webhook.placement.text import keys

TAINTED: Final = node("node-z", taints=[Taint("dedicated", "infra", "NoSchedule")])
IB: Final = {keys.TAG: "ib"}


def refusal(wanted: Pool, policy: Policy | None = None) -> str:
    """Why the pool, which the cluster knows, cannot be completed."""
    found = complete(wanted, World(cluster([*nodes(2, labels=IB), TAINTED], [wanted]), policy or Policy()))
    return found.refusal.text if found.refusal else ""


def test_a_host_that_a_pool_has_is_never_counted_out() -> None:
    assert refusal(pool(size=4, tags=["ib"], assigned=["node-z"], phase=Phase.PENDING)) == (
        "HostPool MyPool cannot be completed: it needs 4 hosts and 3 nodes are eligible.\n"
        "Nearest fix: add a node with the label streams.ibm.com/hostpool=ib, or lower size to 3."
    )


def test_a_smaller_pool_gives_up_its_last_hosts() -> None:
    """The first host belongs to another pool by now, and the second one stays only as long as the pool has two."""
    wanted = pool(size=2, tags=["ib"], assigned=["node-a", "node-b"], phase=Phase.PENDING)
    other = pool("Other", size=1, mode="Exclusive", assigned=["node-a"])
    found = complete(wanted, World(cluster(nodes(2), [wanted, other]), Policy()))
    assert found.refusal
    assert found.refusal.text.splitlines()[-1] == "Nearest fix: add a node with the label streams.ibm.com/hostpool=ib."


def test_a_host_beyond_the_size_is_none_of_its_own() -> None:
    """Anyone may have edited the status."""
    wanted = pool(size=1, tags=["ib"], assigned=["gone", "node-z"], phase=Phase.PENDING)
    found = complete(wanted, World(cluster([TAINTED], [wanted]), Policy()))
    assert [str(reason) for reason in found.reasons] == ["1 node lacks the tag ib"]


@pytest.mark.parametrize(
    ("given", "refused"), [(["node-a", "node-b"], False), (["node-a", "gone"], True)], ids=["all", "all but one"]
)
def test_a_quota_that_was_lowered_does_not_matter_to_a_pool_that_has(given: list[str], refused: bool) -> None:  # noqa: FBT001 -- of a table
    assert bool(refusal(pool(size=2, mode="Exclusive", assigned=given), Policy(quota=Quota(1)))) is refused


def test_of_nodes_to_label_those_count_that_lack_the_label() -> None:
    """One node has the label already, and fails the selector."""
    old = {"old": "yes"}
    there = cluster([node("node-a", labels={keys.TAG: "red", **old}), node("node-b"), node("node-c", labels=old)])
    wanted = pool("Red", size=1, tags=["red"], selector=selector("old", "DoesNotExist"), phase=Phase.PENDING)
    found = complete(wanted, World(there, Policy())).refusal
    assert found is not None
    assert f"label one more node {keys.TAG}=red (only 1 of 2 nodes helps)" in found.text
