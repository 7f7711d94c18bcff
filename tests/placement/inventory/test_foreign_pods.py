"""Pods of no job, where they keep exclusive pools off their nodes."""

import pytest

from tests.builders import bound_pod, cluster, nodes, pool
from webhook.placement.checks.completion import complete
from webhook.placement.checks.pool_health import troubles
from webhook.placement.inventory.foreign_pods import ForeignPods, parse_namespaces
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.bits import Bits
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.allocation import allocate, is_stranger, strangers, users
from webhook.placement.request.world import World

SPARED = frozenset({"kube-system"})
ANYBODYS = pool("P", name="p", size=1, mode="Exclusive")
JOBS = pool("P", name="j", size=1, mode="Exclusive", job="job-1")
HERE, NOWHERE = 0b1, 0b0


def pod(on: str = "node-a", *, uid: str = "u", pools: tuple[str, ...] = (), namespace: str = "default") -> PodInfo:
    """Of no job."""
    return bound_pod(on, uid=uid, job="", pe="", pools=pools, namespace=namespace)


def found(pod: PodInfo, wanted: Pool = ANYBODYS, spared: frozenset[str] | None = SPARED) -> Bits:
    """Where the only pod of a cluster is a stranger; asked about itself it says the same."""
    inventory = cluster(nodes(2), [wanted], [pod], spared=spared)
    assert is_stranger(pod, wanted, inventory) is bool(strangers(wanted, inventory))
    return strangers(wanted, inventory)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(pod(), HERE, id="any pod"),
        pytest.param(bound_pod(job="", owner="Deployment/web"), HERE, id="of a Deployment"),
        pytest.param(bound_pod(job="", terminating=True), HERE, id="about to end"),
        pytest.param(bound_pod(job="", owner="DaemonSet/logs"), NOWHERE, id="of a DaemonSet"),
        pytest.param(bound_pod(job="", owner="Node/node-a"), NOWHERE, id="static"),
        pytest.param(pod(namespace="kube-system"), NOWHERE, id="of an excluded namespace"),
        pytest.param(pod(pools=("P",)), NOWHERE, id="naming the pool"),
        pytest.param(pod(pools=("Q",)), HERE, id="naming another pool"),
        pytest.param(pod(pools=("P",), namespace="other"), HERE, id="naming that of another namespace"),
        pytest.param(bound_pod(pools=["P"]), NOWHERE, id="a processing element that names the pool"),
        pytest.param(bound_pod(), HERE, id="a processing element of another pool"),
        pytest.param(bound_pod(owner="DaemonSet/pe"), HERE, id="a processing element, of whatever workload"),
        pytest.param(bound_pod(namespace="kube-system"), HERE, id="a processing element, in whatever namespace"),
    ],
)
def test_where_all_pods_are_strangers_it_is_one(pod: PodInfo, expected: Bits) -> None:
    assert found(pod) == expected


def test_where_those_of_jobs_are_no_other_pod_is_one() -> None:
    assert found(pod(), spared=None) == NOWHERE


def test_a_pod_without_a_job_is_a_stranger_to_a_jobs_pool_of_that_name() -> None:
    assert found(pod(pools=("P",)), JOBS) == HERE


def test_a_pod_that_may_mean_two_pools_is_stranger_and_user() -> None:
    twins = [ANYBODYS, pool("P", name="twin", size=1)]
    inventory = cluster(nodes(1), twins, [pod(pools=("P",))], spared=SPARED)
    assert (strangers(ANYBODYS, inventory), users(ANYBODYS, inventory)) == (HERE, HERE)


# The pool


def test_an_exclusive_pool_takes_other_nodes() -> None:
    inventory = cluster(nodes(2), [ANYBODYS], [pod("node-a")], spared=SPARED)
    assert [host.name for host in allocate(ANYBODYS, inventory, Policy()).hosts] == ["node-b"]


def test_a_shared_pool_does_not_care() -> None:
    shared = pool("P", name="p", size=2)
    assert allocate(shared, cluster(nodes(2), [shared], [pod()], spared=SPARED), Policy()).eligible == 2


def test_the_refusal_says_what_would_help() -> None:
    wanted = pool("P", name="p", size=2, mode="Exclusive")
    inventory = cluster(nodes(3), [], [pod(), pod("node-b", uid="v")], spared=SPARED)
    refusal = complete(wanted, World(inventory, Policy())).refusal
    assert refusal is not None
    assert refusal.text == (
        "HostPool P cannot be completed: it needs 2 hosts and 1 node is eligible.\n"
        "  2 nodes run an unrelated pod\n"
        "Nearest fix: free one more node of pods of others, or lower size to 1."
    )


def test_one_that_comes_to_a_host_is_trouble() -> None:
    has = pool("P", name="p", size=1, mode="Exclusive", assigned=["node-a"])
    found = troubles(has, cluster(nodes(1), [has], [pod()], spared=SPARED))
    assert [str(trouble) for trouble in found] == ["host 0 (node-a) runs an unrelated pod"]


# What is kept


def kept(inventory: Inventory) -> list[tuple[str, tuple[str, ...], Bits]]:
    return [(*ties, nodes) for ties, nodes in inventory.foreign_pods.nodes()]


def test_pods_that_name_no_pool_are_kept_together() -> None:
    pods = [pod(), pod("node-b", uid="v", namespace="other"), pod(uid="w", pools=("P",))]
    assert kept(cluster(nodes(2), pods=pods, spared=SPARED)) == [("", (), 0b11), ("default", ("P",), 0b01)]


def test_a_node_counts_until_the_last_of_them_is_gone() -> None:
    inventory = cluster(nodes(2), pods=[pod(uid="u"), pod(uid="v"), pod("node-b", uid="w")], spared=SPARED)
    inventory.remove_pod("u")
    before = kept(inventory)
    inventory.remove_pod("v")
    assert (before, kept(inventory)) == ([("", (), 0b11)], [("", (), 0b10)])


@pytest.mark.parametrize("pools", [(), ("P",)], ids=["naming none", "naming a pool"])
def test_nothing_is_left_of_a_pod_that_is_gone(pools: tuple[str, ...]) -> None:
    inventory = cluster(nodes(1), pods=[pod(pools=pools)], spared=SPARED)
    inventory.remove_pod("u")
    assert (kept(inventory), inventory.visitors) == ([], {})


def test_a_pod_that_changes_is_counted_once() -> None:
    inventory = cluster(nodes(1), pods=[pod(), pod(pools=("P",))], spared=SPARED)
    assert kept(inventory) == [("default", ("P",), HERE)]


@pytest.mark.parametrize("gone", [pod(namespace="kube-system"), bound_pod(uid="u")], ids=["spared", "of a job"])
def test_of_a_pod_that_does_not_count_nothing_is_kept(gone: PodInfo) -> None:
    inventory = cluster(nodes(1), pods=[gone], spared=SPARED)
    before = kept(inventory)
    inventory.remove_pod("u")
    assert (before, kept(inventory)) == ([], [])


def test_where_only_jobs_count_nothing_is_kept() -> None:
    assert kept(cluster(nodes(1), pods=[pod(), pod(uid="v", pools=("P",))])) == []


@pytest.mark.parametrize(
    ("pod", "spared", "expected"),
    [
        pytest.param(pod(), None, False, id="of no job"),
        pytest.param(pod(), SPARED, True, id="of no job, where all count"),
        pytest.param(pod(namespace="kube-system"), SPARED, False, id="spared"),
        pytest.param(pod(pools=("P",)), None, True, id="naming a pool"),
        pytest.param(bound_pod(), None, True, id="of a job"),
    ],
)
def test_a_pod_concerns_pools(pod: PodInfo, spared: frozenset[str] | None, *, expected: bool) -> None:
    assert Inventory(spared).concerns_pools(pod) is expected


@pytest.mark.parametrize(
    ("spared", "words"),
    [
        (None, ("a processing element of another pool or job", "processing elements of other pools and jobs")),
        ([], ("an unrelated pod", "pods of others")),
    ],
    ids=["streams", "all"],
)
def test_strangers_have_a_name(spared: list[str] | None, words: tuple[str, str]) -> None:
    found = ForeignPods(spared)
    assert (found.stranger, found.strangers) == words


# Names of namespaces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", set(), id="none"),
        pytest.param("  ", set(), id="blanks"),
        pytest.param("kube-system", {"kube-system"}, id="one"),
        pytest.param("a, b ,a,0" + "x" * 62, {"a", "b", "0" + "x" * 62}, id="several"),
    ],
)
def test_namespaces_are_listed_between_commas(text: str, expected: set[str]) -> None:
    assert parse_namespaces(text) == expected


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a-", "a.b", "x" * 64, "a b", ""])
def test_what_is_not_a_name_of_a_namespace_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a namespace name$") as error:
        parse_namespaces(f"team,{name}")
    assert str(error.value) == f'"{name}" is not a namespace name'


def test_every_wrong_name_is_told() -> None:
    with pytest.raises(ValueError, match='^"A" is not a namespace name; "B" is not a namespace name$'):
        parse_namespaces("A,b,B")
