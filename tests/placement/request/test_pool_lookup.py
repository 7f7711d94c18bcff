"""Which host pool a name means."""

import pytest

from tests.builders import JOB, NAMESPACE, cluster, pod, pool, typed
from webhook.placement.inventory.policy import Policy
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.request.ask import read
from webhook.placement.request.world import World
from webhook.placement.text.problem import Fault, Problem, render


def looked_up(placement: str, *pools: Pool, job: str | None = JOB) -> tuple[list[str], tuple[Problem, ...]]:
    """Names of the pool objects that a pod uses, and its problems."""
    found = typed(pod(placement, job=job))
    ask, problems = read(found, NAMESPACE, World(cluster(pools=pools), Policy()))
    return [pool.name for _, pool in ask.pools], problems


OWN = pool(name="own", job=JOB)
SHARED = pool(name="shared")


@pytest.mark.parametrize(
    ("job", "pools", "expected"),
    [
        pytest.param(JOB, [OWN, SHARED], "own", id="the job's own comes first"),
        pytest.param(JOB, [SHARED], "shared", id="else the namespace's"),
        pytest.param("other", [OWN, SHARED], "shared", id="another job's is not found"),
        pytest.param(None, [OWN, SHARED], "shared", id="a pod without a job has the namespace's"),
        pytest.param(JOB, [SHARED, pool(name="x", namespace="other")], "shared", id="another namespace's is not found"),
    ],
)
def test_a_name_means_the_jobs_own_pool_or_the_namespaces(job: str | None, pools: list[Pool], expected: str) -> None:
    assert looked_up("host(MyPool)", *pools, job=job) == ([expected], ())


@pytest.mark.parametrize(
    "placement",
    ['host("MyPool")', "host($default)", "hostIsolation"],
    ids=["a string", "the pool of all hosts", "another clause"],
)
def test_clauses_that_name_no_pool_look_for_none(placement: str) -> None:
    assert looked_up(placement) == ([], ())


MISSING = "this namespace has no HostPool"


@pytest.mark.parametrize(
    ("placement", "pools", "expected"),
    [
        pytest.param(
            "host(Typo)", [], f'host(Typo): {MISSING} "Typo" that the pod may use; there are none', id="no pool at all"
        ),
        pytest.param(
            "host(Typo)",
            [pool("B"), pool("A"), pool("C", namespace="other"), pool("D", job="other")],
            f'host(Typo): {MISSING} "Typo" that the pod may use; known HostPools: A, B',
            id="only usable ones are listed",
        ),
        pytest.param(
            "host(Typo)",
            [pool(f"P{at:02}") for at in range(12)],
            f'host(Typo): {MISSING} "Typo" that the pod may use; '
            "known HostPools: P00, P01, P02, P03, P04, P05, P06, P07, P08, P09 and 2 more",
            id="a long list is cut",
        ),
        pytest.param(
            "host(MyPol)",
            [pool(), pool("Other")],
            f'host(MyPol): {MISSING} "MyPol" that the pod may use, did you mean MyPool? known HostPools: MyPool, Other',
            id="misspelt",
        ),
        pytest.param(
            "host($default[3])",
            [],
            f'host($default[3]): {MISSING} "$default" that the pod may use; there are none',
            id="the pool of all hosts has no index",
        ),
        pytest.param(
            "host(MyPool)",
            [pool(name="b"), pool(name="a")],
            "host(MyPool): 2 HostPools have that name: a, b",
            id="two of one name",
        ),
        pytest.param(
            "host(MyPool)",
            [pool(phase=Phase.FAILED, reason="it needs 2 hosts and 1 node is eligible")],
            "host(MyPool): HostPool MyPool failed: it needs 2 hosts and 1 node is eligible",
            id="failed",
        ),
        pytest.param(
            "host(MyPool)",
            [pool(phase=Phase.FAILED)],
            "host(MyPool): HostPool MyPool failed: its controller gave no reason",
            id="failed without a reason",
        ),
        pytest.param(
            "host(MyPool)",
            [pool(phase=Phase.RELEASING)],
            "host(MyPool): HostPool MyPool is being deleted",
            id="releasing",
        ),
        pytest.param(
            "host(MyPool[0])",
            [pool(tags=["a"])],
            "host(MyPool[0]): HostPool MyPool has no size, so its hosts have no index",
            id="index of an unsized pool",
        ),
        pytest.param(
            "host(MyPool[3])",
            [pool(size=3)],
            "host(MyPool[3]): HostPool MyPool has 3 hosts, index 0 to 2",
            id="index beyond the size",
        ),
        pytest.param(
            "host(MyPool[1])",
            [pool(size=1)],
            "host(MyPool[1]): HostPool MyPool has 1 host, index 0 only",
            id="index beyond one host",
        ),
        pytest.param(
            "host(MyPool[2])",
            [pool(hosts=["a", "b"])],
            "host(MyPool[2]): HostPool MyPool has 2 hosts, index 0 to 1",
            id="index beyond a list of hosts",
        ),
    ],
)
def test_a_pool_that_cannot_be_used_is_a_problem(placement: str, pools: list[Pool], expected: str) -> None:
    caret = f"  {placement}\n  ^"
    assert (
        render(looked_up(placement, *pools)[1])
        == f"metadata.annotations[streams.ibm.com/placement]: {expected}\n{caret}"
    )


def test_another_pool_or_host_could_make_it_right() -> None:
    assert [problem.fault for problem in looked_up("host(Typo)")[1]] == [Fault.FORBIDDEN]


@pytest.mark.parametrize("index", [0, 2], ids=["first", "last"])
def test_every_index_of_the_pool_can_be_named(index: int) -> None:
    assert looked_up(f"host(MyPool[{index}])", pool(size=3)) == (["mypool"], ())
