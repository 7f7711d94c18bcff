"""``host(P)`` and ``host(P[i])``."""

import pytest

from tests.builders import NAMESPACE, cluster, decided, node, nodes, pod, pool
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import LabelSelector, NodeTerm, PreferredNodeTerm, Requirement, Toleration
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys

MEMBER = keys.membership(NAMESPACE, "mypool")

IS_MEMBER = Requirement(MEMBER, "Exists")

ONE_TAG = Requirement("streams.ibm.com/hostpool", "In", ("ib",))

BLUE, IB = (Requirement(f"hostpool.streams.ibm.com/{tag}", "Exists") for tag in ("blue", "ib"))

TAGGED = node("node-a", labels={keys.TAG: "ib", f"{keys.TAGS}ib": "", f"{keys.TAGS}blue": "", "disk": "ssd"})


def term(*requirements: Requirement) -> tuple[NodeTerm, ...]:
    """One term of expressions."""
    return (NodeTerm(requirements),)


@pytest.mark.parametrize(
    ("placement", "found", "expected"),
    [
        pytest.param("host(MyPool)", pool(tags=["ib"]), term(ONE_TAG), id="one tag"),
        pytest.param("host(MyPool)", pool(tags=["ib", "blue"]), term(BLUE, IB), id="several tags"),
        pytest.param("host(MyPool)", pool(), (), id="neither size nor tags"),
        pytest.param("host(MyPool)", pool(size=1, assigned=["node-a"]), term(IS_MEMBER), id="size"),
        pytest.param(
            "host(MyPool)", pool(size=1, tags=["ib"], assigned=["node-a"]), term(IS_MEMBER, ONE_TAG), id="size and tag"
        ),
        pytest.param(
            "host(MyPool[0])",
            pool(size=1, assigned=["node-a"]),
            term(Requirement(MEMBER, "In", ("0",))),
            id="one host of it",
        ),
        pytest.param("host(MyPool)", pool(hosts=["node-a"], assigned=["node-a"]), term(IS_MEMBER), id="list of hosts"),
        pytest.param(
            "host(MyPool)",
            pool(selector=LabelSelector({"disk": "ssd"}, (Requirement("zone", "NotIn", ("x",)),))),
            term(Requirement("disk", "In", ("ssd",)), Requirement("zone", "NotIn", ("x",))),
            id="selector",
        ),
        pytest.param("host($default)", pool(), (), id="the pool of all hosts"),
    ],
)
def test_a_pool_is_one_node_term(placement: str, found: Pool, expected: tuple[NodeTerm, ...]) -> None:
    additions = decided(pod(placement), cluster([TAGGED], pools=[found])).additions
    assert additions
    assert additions.terms == expected


def test_tags_count_over_all_pools_of_the_pod() -> None:
    pools = [pool("P", tags=["ib"]), pool("Q", tags=["blue"])]
    additions = decided(pod("A: host(P); B: host(Q)"), cluster([TAGGED], pools=pools)).additions
    assert additions
    assert additions.terms == term(BLUE, IB)


def test_the_same_tag_of_two_pools_is_one_tag() -> None:
    pools = [pool("P", tags=["ib"]), pool("Q", tags=["ib"])]
    additions = decided(pod("A: host(P); B: host(Q)"), cluster([TAGGED], pools=pools)).additions
    assert additions
    assert additions.terms == term(ONE_TAG)


def test_a_preferred_pool_is_a_preferred_term() -> None:
    found = decided(
        pod("host(MyPool)", annotations={keys.PREFERRED: "host"}), cluster(nodes(1), pools=[pool(tags=["ib"])])
    )
    assert found.additions
    assert found.additions.preferred == (PreferredNodeTerm(100, term(ONE_TAG)[0]),)
    assert found.warnings == ("host(MyPool) is preferred, but no node that can run this pod meets it",)


@pytest.mark.parametrize(
    ("pools", "warning"),
    [
        pytest.param(
            [],
            'host(MyPool): this namespace has no HostPool "MyPool" that the pod may use; there are none',
            id="missing",
        ),
        pytest.param(
            [pool(phase=Phase.RELEASING)], "host(MyPool): HostPool MyPool is being deleted", id="being deleted"
        ),
    ],
)
def test_a_preferred_pool_never_refuses(pools: list[Pool], warning: str) -> None:
    found = decided(pod("host(MyPool)", annotations={keys.PREFERRED: "host"}), cluster(nodes(1), pools=pools))
    assert (found.refused, found.warnings) == (False, (warning,))


EXCLUSIVE = pool(size=1, mode="Exclusive", assigned=["node-a"])


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_pod_of_an_exclusive_pool_tolerates_its_taint(effect: str) -> None:
    policy = Policy(exclusive_effect="NoExecute") if effect == "NoExecute" else Policy()
    tainted = node(taints=[Taint(keys.EXCLUSIVE, "default.mypool", effect)])
    additions = decided(pod("host(MyPool)"), cluster([tainted], pools=[EXCLUSIVE]), policy).additions
    assert additions
    assert additions.tolerations == (Toleration(keys.EXCLUSIVE, "Equal", "default.mypool", effect),)


def test_a_pod_of_a_shared_pool_tolerates_nothing() -> None:
    additions = decided(pod("host(MyPool)"), cluster(nodes(1), pools=[pool()])).additions
    assert additions
    assert additions.tolerations == ()


@pytest.mark.parametrize(
    ("found", "candidates"),
    [
        pytest.param(pool(size=2, phase=Phase.PENDING), 0b011, id="pending: the hosts it would get"),
        pytest.param(pool(size=2, assigned=["node-c", "gone"]), 0b101, id="a vanished host will be replaced"),
        pytest.param(pool(hosts=["node-b"], phase=Phase.PENDING), 0b010, id="the hosts of its list"),
        pytest.param(pool(tags=["ib"], phase=Phase.PENDING), 0b100, id="unsized: whatever has the tags"),
    ],
)
def test_a_pod_is_judged_against_the_hosts_that_its_pool_will_have(found: Pool, candidates: int) -> None:
    three = [*nodes(2), node("node-c", labels={keys.TAG: "ib"})]
    verdict = decided(pod("host(MyPool)"), cluster(three, pools=[found])).verdict
    assert verdict
    assert verdict.candidates == candidates


@pytest.mark.parametrize(
    ("found", "policy", "warning"),
    [
        pytest.param(
            pool(tags=["ib"], elastic=True),
            Policy(),
            "no node yet: host(MyPool) cannot hold: 0 of 2 nodes can run this pod.",
            id="the pool",
        ),
        pytest.param(
            pool(size=9, elastic=True, phase=Phase.PENDING),
            Policy(),
            None,
            id="a sized pool, which has some hosts",
        ),
        pytest.param(
            pool(tags=["ib"]),
            Policy(elastic=True),
            "no node yet: host(MyPool) cannot hold: 0 of 2 nodes can run this pod.",
            id="the installation",
        ),
    ],
)
def test_where_nodes_are_expected_to_come_a_pod_waits(found: Pool, policy: Policy, warning: str | None) -> None:
    decision = decided(pod("host(MyPool)"), cluster(nodes(2), pools=[found]), policy)
    assert (decision.refused, decision.warnings) == (False, (warning,) if warning else ())


def test_no_node_that_comes_could_help_a_contradiction() -> None:
    found = decided(pod('A: host("node-a"); B: host("node-b")'), cluster(nodes(2)), Policy(elastic=True))
    assert found.refused
