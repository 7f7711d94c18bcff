"""Who is a stranger to a pool, and who may be using it."""

import pytest

from tests.builders import bound_pod, cluster, nodes, pool
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Pool
from webhook.placement.pools.allocation import is_stranger, is_user, strangers, users

ANYBODYS = pool("P", name="p", size=1)
JOBS = pool("P", name="j", size=1, job="job-1")
TWIN = pool("P", name="twin", size=1)


def pod(
    job: str = "job-1", *, pools: tuple[str, ...] = ("P",), namespace: str = "default", ends: bool = False
) -> PodInfo:
    return bound_pod("node-a", job=job, pools=pools, namespace=namespace, terminating=ends)


@pytest.mark.parametrize("ends", [False, True], ids=["running", "about to end"])
@pytest.mark.parametrize(
    ("wanted", "others", "found", "stranger", "user"),
    [
        pytest.param(ANYBODYS, [], pod(), False, True, id="it names the pool"),
        pytest.param(ANYBODYS, [], pod(pools=()), True, False, id="it names none"),
        pytest.param(ANYBODYS, [], pod(pools=("Q",)), True, False, id="it names another"),
        pytest.param(ANYBODYS, [], pod(namespace="other"), True, False, id="of another namespace"),
        pytest.param(ANYBODYS, [JOBS], pod(), True, False, id="it means its job's own"),
        pytest.param(ANYBODYS, [JOBS], pod("job-2"), False, True, id="it means the namespace's"),
        pytest.param(JOBS, [ANYBODYS], pod(), False, True, id="it means this one, of its job"),
        pytest.param(JOBS, [ANYBODYS], pod("job-2"), True, False, id="of another job"),
        pytest.param(ANYBODYS, [TWIN], pod(), True, True, id="the name means two, so it is both"),
    ],
)
def test_a_processing_element_is_a_stranger_or_a_user(
    wanted: Pool, others: list[Pool], found: PodInfo, *, stranger: bool, user: bool, ends: bool
) -> None:
    found = pod(found.job, pools=found.pools, namespace=found.namespace, ends=ends)
    inventory = cluster(nodes(2), [wanted, *others], [found])
    here = inventory.nodes.named("node-a")
    assert (is_stranger(found, wanted, inventory), is_user(found, wanted, inventory)) == (stranger, user)
    assert (strangers(wanted, inventory), users(wanted, inventory)) == (here * stranger, here * user)


def test_a_pool_that_is_not_known_any_more_has_users() -> None:
    assert is_user(pod(), ANYBODYS, cluster(nodes(1)))


def test_pods_of_others_are_no_strangers() -> None:
    assert not is_stranger(bound_pod("node-a", job=""), ANYBODYS, cluster(nodes(1), [ANYBODYS]))


VISITOR = bound_pod("node-a", job="", pools=["P"])


@pytest.mark.parametrize(
    ("wanted", "found", "user"),
    [
        pytest.param(ANYBODYS, VISITOR, True, id="naming the pool"),
        pytest.param(ANYBODYS, bound_pod("node-a", job="", pools=["Q"]), False, id="naming another"),
        pytest.param(JOBS, VISITOR, False, id="while it is a job's"),
    ],
)
def test_a_pod_of_no_job_uses_a_pool_by(wanted: Pool, found: PodInfo, *, user: bool) -> None:
    inventory = cluster(nodes(2), [wanted], [found])
    assert users(wanted, inventory) == inventory.nodes.named("node-a") * user
    inventory.remove_pod(found.uid)
    assert users(wanted, inventory) == 0
