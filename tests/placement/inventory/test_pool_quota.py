"""How many HostPools a namespace may have."""

import pytest
from msgspec.structs import replace

from tests.builders import cluster, decided, nodes, pod, pool
from webhook.placement.checks.completion import complete
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota, surplus
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.pools.allocation import allocate
from webhook.placement.request.world import World

TWO = Quota(2, {"many": 5})
POLICY = Policy(pool_quota=TWO)
TOO_MANY = "namespace default may have 2 HostPools, and already has that many besides this one"


def made(name: str, created: str = "2026-01-01T00:00:00Z", **tweaks: object) -> Pool:
    """A pool without hosts that was created then."""
    return replace(pool(name, **{"size": 1, "phase": Phase.PENDING} | tweaks), created=created)  # type: ignore[arg-type]  # of pool()


def beyond(*pools: Pool, quota: Quota = TWO) -> list[str]:
    """The names of those that are too many."""
    inventory = cluster(nodes(9), pools)
    return [found.spl_name for found in pools if surplus(found, inventory, quota)]


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        pytest.param([made("a"), made("b")], [], id="as many as there may be"),
        pytest.param([made("a", LATE), made("b", EARLY), made("c", EARLY)], ["a"], id="who was created last"),
        pytest.param([made("c"), made("b"), made("a")], ["c"], id="of one second, by name"),
        pytest.param(
            [made("a", EARLY), made("b", EARLY), made("c", LATE, assigned=["node-a"])], ["b"], id="who has hosts"
        ),
        pytest.param(
            [made("a", EARLY), made("b", EARLY), made("c", LATE, size=None, phase=Phase.READY)],
            ["b"],
            id="who is ready without hosts of its own",
        ),
        pytest.param(
            [made("a", EARLY), made("b", EARLY), made("c", LATE, phase=Phase.RELEASING)], ["b"], id="who is leaving"
        ),
        pytest.param([made(name, phase=Phase.READY) for name in "abc"], [], id="nobody who is served"),
        pytest.param([made(name, phase=Phase.FAILED) for name in "abc"], ["c"], id="a failed one"),
        pytest.param([made(name, size=None, tags=["x"]) for name in "abc"], ["c"], id="an unsized one"),
        pytest.param([made(name, namespace=name) for name in "abc"], [], id="each in its namespace"),
        pytest.param([made(name, namespace="many") for name in "abcde"], [], id="a namespace that may have more"),
    ],
)
def test_too_many_are(pools: list[Pool], expected: list[str]) -> None:
    assert beyond(*pools) == expected


def test_without_a_quota_none_is() -> None:
    assert beyond(*map(made, "abc"), quota=Quota()) == []


def test_who_goes_makes_room() -> None:
    first, second, third = made("a"), made("b"), made("c")
    inventory = cluster(nodes(9), [first, second, third])
    before = bool(surplus(third, inventory, TWO))
    inventory.remove_pool("default", "a")
    assert (before, surplus(third, inventory, TWO)) == (True, None)


def test_a_pool_that_is_to_be_created_is_the_last_one() -> None:
    inventory = cluster(nodes(9), [made("b"), made("c")])
    assert str(surplus(made("a", ""), inventory, TWO)) == TOO_MANY


def refused(new: Pool, inventory: Inventory, policy: Policy = POLICY) -> str:
    found = complete(new, World(inventory, policy)).refusal
    return found.text if found else ""


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("tweaks", [{}, {"size": None}, {"size": None, "hosts": ["node-a"]}], ids=str)
def test_one_more_is_refused_whatever_it_is(tweaks: dict[str, object], *, elastic: bool) -> None:
    new = replace(made("new", "", **tweaks), elastic=elastic)
    assert refused(new, cluster(nodes(9), [made("a"), made("b")])) == (
        f"HostPool new cannot be completed: {TOO_MANY}.\n"
        "Nearest fix: delete a HostPool that is not needed, or ask for a larger quota of HostPools."
    )


def test_all_that_are_too_many_are_to_be_deleted() -> None:
    """The quota was lowered since the others were created."""
    others = [made(name, phase=Phase.READY) for name in "abc"]
    assert refused(made("new", ""), cluster(nodes(9), others)) == (
        "HostPool new cannot be completed: namespace default may have 2 HostPools, and already has 3 besides this "
        "one.\nNearest fix: delete 2 HostPools that are not needed, or ask for a larger quota of HostPools."
    )
    assert refused(made("new", ""), cluster(nodes(9), others[:1])) == ""


def test_the_advice_works() -> None:
    assert refused(made("new", ""), cluster(nodes(9), [made("a")])) == ""
    larger = Policy(pool_quota=Quota(3))
    assert refused(made("new", ""), cluster(nodes(9), [made("a"), made("b")]), larger) == ""


def test_where_none_are_allowed_there_is_none_to_delete() -> None:
    assert refused(made("new", ""), cluster(nodes(9)), Policy(pool_quota=Quota(0))) == (
        "HostPool new cannot be completed: namespace default may have 0 HostPools.\n"
        "Nearest fix: ask for a larger quota of HostPools."
    )


def test_one_too_many_is_given_nothing() -> None:
    pools = [made("a"), made("b"), made("c")]
    found = allocate(pools[2], cluster(nodes(9), pools), POLICY)
    assert (found.hosts, found.reason) == ((), TOO_MANY)


def test_a_pod_that_names_it_is_told_why() -> None:
    decision = decided(pod("host(c)"), cluster(nodes(4), [made("a"), made("b"), made("c")]), POLICY)
    assert decision.message == (
        "host(c) cannot hold: 0 of 4 nodes can run this pod.\n"
        f"  4 nodes are not in HostPool c, which cannot be completed: {TOO_MANY}\n"
        "Nearest fix: delete a HostPool that is not needed, or ask for a larger quota of HostPools, "
        "or drop host(c) (4 nodes would fit)."
    )
