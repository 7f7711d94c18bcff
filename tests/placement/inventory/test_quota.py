"""How many exclusive hosts a namespace may have."""

import pytest

from tests.builders import cluster, decided, node, nodes, pod, pool
from webhook.placement.checks.completion import complete
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota, excess, parse_quota, wanted
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.allocation import MORE, allocate
from webhook.placement.request.world import World
from webhook.placement.text import keys

ALPHABET = [node(f"node-{chr(ord('a') + at)}") for at in range(26)]


def exclusive(name: str, size: int, *given: str, **tweaks: object) -> Pool:
    """An exclusive pool, pending until it has been given something."""
    phase = Phase.READY if given else Phase.PENDING
    return pool(name, size=size, mode="Exclusive", assigned=given, **{"phase": phase} | tweaks)  # type: ignore[arg-type]  # of pool()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", Quota(), id="nothing"),
        pytest.param("  ", Quota(), id="blanks"),
        pytest.param("20", Quota(20), id="a default"),
        pytest.param("0", Quota(0), id="a default of none"),
        pytest.param("team-a=40", Quota(None, {"team-a": 40}), id="one namespace"),
        pytest.param("20,team-a=40,team-b=0", Quota(20, {"team-a": 40, "team-b": 0}), id="a default and two more"),
        pytest.param("team-a = 40 , 20", Quota(20, {"team-a": 40}), id="blanks, and the default last"),
        pytest.param(f"{'x' * 63}=999999", Quota(None, {"x" * 63: 999_999}), id="the longest and the largest"),
    ],
)
def test_a_quota_is_read(text: str, expected: Quota) -> None:
    assert parse_quota(text) == expected


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param("many", '"many" is not a quota such as "20" or "team-a=40"', id="no number"),
        pytest.param("-1", '"-1" is not a quota such as "20" or "team-a=40"', id="a negative number"),
        pytest.param("1000000", '"1000000" is not a quota such as "20" or "team-a=40"', id="too large a number"),
        pytest.param("٣", '"\\u0663" is not a quota such as "20" or "team-a=40"', id="digits of others"),
        pytest.param("20,", '"" is not a quota such as "20" or "team-a=40"', id="a comma too many"),
        pytest.param("Team=1", '"Team=1" is not a quota such as "20" or "team-a=40"', id="no namespace"),
        pytest.param("a=1,a=2", '"a=2" is a second quota of a', id="a namespace twice"),
        pytest.param("1,2", '"2" is a second default', id="two defaults"),
        pytest.param(
            "1,x y,2,a=1,a=1",
            '"x y" is not a quota such as "20" or "team-a=40"; "2" is a second default; "a=1" is a second quota of a',
            id="all faults at once",
        ),
    ],
)
def test_a_text_that_is_not_a_quota_is_told_all_that_is_wrong(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match="quota|default") as caught:
        parse_quota(text)
    assert str(caught.value) == wrong


@pytest.mark.parametrize(
    ("namespace", "expected"), [("team-a", 40), ("team-b", 0), ("team-c", 20)], ids=["more", "none", "the default"]
)
def test_a_namespace_has_its_own_bound_or_the_default(namespace: str, expected: int) -> None:
    assert Quota(20, {"team-a": 40, "team-b": 0}).of(namespace) == expected


TAKING: dict[str, tuple[Pool, int]] = {
    "a pool that is pending": (exclusive("Other", 18), 18),
    "a pool that has its hosts": (exclusive("Other", 2, "node-a", "node-b"), 2),
    "a pool that is being released": (exclusive("Other", 3, phase=Phase.RELEASING), 3),
    "a pool that failed": (exclusive("Other", 18, phase=Phase.FAILED), 0),
    "a pool that failed and has a host": (exclusive("Other", 18, "node-a", phase=Phase.FAILED), 1),
    "a shared pool": (pool("Other", size=18), 0),
    "a pool of another namespace": (exclusive("Other", 18, namespace="other"), 0),
    "the pool itself, as it was": (exclusive("Mine", 18), 0),
}


@pytest.mark.parametrize(("other", "taken"), TAKING.values(), ids=TAKING.keys())
def test_what_is_asked_for_counts_at_submission(other: Pool, taken: int) -> None:
    found = excess(exclusive("Mine", 100), cluster(ALPHABET, [other]), Quota(5), wanted)
    assert found is not None
    assert found.used == taken


def test_a_host_counts_once_its_taint_is_written() -> None:
    """The controller publishes it only later, and another pool must not slip in between."""
    tainted = node("node-z", taints=[Taint(keys.EXCLUSIVE, "default.other", "NoSchedule")])
    strange = node("node-y", taints=[Taint(keys.EXCLUSIVE, "default.third", "NoSchedule")])
    found = excess(exclusive("Mine", 5), cluster([tainted, strange], [exclusive("Other", 18)]), Quota(5))
    assert found is not None
    assert found.used == 1


@pytest.mark.parametrize(
    ("mine", "limit"),
    [
        pytest.param(exclusive("Mine", 2), 20, id="exactly what is left"),
        pytest.param(pool("Mine", size=50), 20, id="shared"),
        pytest.param(exclusive("Mine", 50), None, id="no bound"),
    ],
)
def test_within_its_quota_a_pool_is_fine(mine: Pool, limit: int | None) -> None:
    assert excess(mine, cluster(ALPHABET, [exclusive("Other", 18)]), Quota(limit), wanted) is None


@pytest.mark.parametrize(
    ("size", "others", "limit", "expected"),
    [
        pytest.param(
            5, 18, 20,
            "namespace default may have 20 exclusive hosts, its HostPools have 18 already, and this one asks for 5",
            id="some are taken",
        ),
        pytest.param(5, 0, 1, "namespace default may have 1 exclusive host and this HostPool asks for 5", id="one"),
        pytest.param(1, 0, 0, "namespace default may have 0 exclusive hosts and this HostPool asks for 1", id="none"),
    ],
)  # fmt: skip
def test_the_reason_names_the_namespace_and_the_figures(size: int, others: int, limit: int, expected: str) -> None:
    there = [exclusive("Other", others)] if others else []
    assert str(excess(exclusive("Mine", size), cluster(pools=there), Quota(limit), wanted)) == expected


# What the controller makes of it


QUOTA = Policy(quota=Quota(3))
TAKEN = exclusive("Other", 2, "node-a", "node-b")


def outcome(mine: Pool, inventory: Inventory, policy: Policy = QUOTA) -> tuple[list[str], str, str]:
    found = allocate(mine, inventory, policy)
    return [host.name for host in found.hosts], found.reason, found.remedy


OVER = "namespace default may have 3 exclusive hosts, its HostPools have 2 already, and this one asks for 2"


def test_a_pool_over_quota_gets_no_host() -> None:
    assert outcome(exclusive("Mine", 2), cluster(nodes(8), [TAKEN])) == ([], OVER, MORE)


def test_a_pool_within_its_quota_is_completed() -> None:
    assert outcome(exclusive("Mine", 1), cluster(nodes(8), [TAKEN])) == (["node-c"], "", None)


def test_what_others_only_ask_for_does_not_keep_a_pool_from_its_hosts() -> None:
    """First come, first served: the one that is given its hosts first has them."""
    assert outcome(exclusive("Mine", 2), cluster(nodes(8), [exclusive("Other", 2)]))[2] is None


def test_a_quota_that_is_lowered_takes_no_host_away() -> None:
    mine = exclusive("Mine", 2, "node-c", "node-d")
    assert outcome(mine, cluster(nodes(8), [TAKEN, mine])) == (["node-c", "node-d"], "", None)


def test_a_quota_that_is_lowered_gives_no_new_host() -> None:
    mine = exclusive("Mine", 2, "gone", "node-d")
    assert outcome(mine, cluster(nodes(8), [TAKEN, mine])) == (["node-d"], OVER, MORE)


def test_a_pod_that_names_a_pool_over_quota_is_told_why() -> None:
    decision = decided(pod("host(Mine)"), cluster(nodes(4), [TAKEN, exclusive("Mine", 2)]), QUOTA)
    assert decision.message == (
        "host(Mine) cannot hold: 0 of 4 nodes can run this pod.\n"
        f"  4 nodes are not in HostPool Mine, which cannot be completed: {OVER}\n"
        "Nearest fix: ask for a larger quota of exclusive hosts, or use a smaller HostPool, "
        "or drop host(Mine) (2 nodes would fit)."
    )


@pytest.mark.parametrize(
    ("count", "limit", "fix"),
    [
        (4, 0, "ask for a larger quota of exclusive hosts, or drop host(Mine) (4 nodes would fit)"),
        (1, 0, "drop host(Mine) (1 node would fit)"),
        (1, 1, "drop host(Mine) (1 node would fit)"),
    ],
    ids=["a quota of none", "too few nodes, too", "too few nodes, and a quota of some"],
)
def test_a_pod_is_told_of_a_larger_quota_if_that_is_enough(count: int, limit: int, fix: str) -> None:
    inventory = cluster(nodes(count), [exclusive("Mine", 2)])
    decision = decided(pod("host(Mine)"), inventory, Policy(quota=Quota(limit)))
    assert decision.message.splitlines()[-1] == f"Nearest fix: {fix}."


@pytest.mark.parametrize(
    ("count", "fix"),
    [
        (5, "ask for a larger quota of exclusive hosts, or lower size to 3"),
        (2, "ask for a larger quota of exclusive hosts (2 of 5 would be eligible), or lower size to 2"),
        (0, "ask for a larger quota of exclusive hosts (0 of 5 would be eligible)"),
    ],
    ids=["enough nodes", "fewer nodes than the quota", "no nodes"],
)
def test_a_size_within_the_quota_needs_nodes_as_well(count: int, fix: str) -> None:
    refusal = complete(exclusive("Mine", 5), World(cluster(nodes(count)), Policy(quota=Quota(3)))).refusal
    assert refusal
    assert refusal.fix == fix
