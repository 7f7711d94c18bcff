"""HostPools of a Job that cannot all be had: quotas of the namespace, and lists of hosts; texts, and who is spared."""

import pytest

from tests.builders import NAMESPACE, cluster, nodes, pool
from tests.placement.planning.at_once import AtOnce, element, job_spec, judged
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.inventory.quota import Quota
from webhook.placement.jobs.job_verdict import JobVerdict
from webhook.placement.jobs.whole_job import judge_job
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.objects.pool import Phase
from webhook.placement.planning.search.solver import finished
from webhook.placement.text.problem import Fault

P: dict[str, object] = {"name": "P", "size": 1, "mode": "Exclusive"}
Q: dict[str, object] = {"name": "Q", "size": 2, "mode": "Exclusive"}
TAGS: dict[str, object] = {"name": "T", "tags": ["x"]}


def spec(*pools: dict[str, object]) -> JobSpec:
    return job_spec(element(), pools=pools)


def text(stated: JobSpec, inventory: Inventory, policy: Policy) -> str:
    verdict: JobVerdict = finished(judge_job(NAMESPACE, "app", stated, inventory, policy, AtOnce()))
    assert verdict.fault is Fault.FORBIDDEN
    return verdict.text


LISTS = {
    ("node-a", "nope"): (
        "HostPool L cannot be completed: it lists 2 hosts and finds 1 node.\n"
        '  hosts[1]: "nope" is not a node\n'
        "Nearest fix: list each host once, by the name or an address of a node."
    ),
    ("node-a", "10.0.0.1"): (
        "HostPool L cannot be completed: it lists 2 hosts and finds 1 node.\n"
        '  hosts[1]: "10.0.0.1" is the same node as hosts[0]\n'
        "Nearest fix: list each host once, by the name or an address of a node."
    ),
    ("node-c",): (
        "HostPool L cannot be completed: it lists 1 host and finds 0 nodes, "
        "as 1 host is exclusive to another HostPool.\n"
        '  hosts[0]: "node-c" is exclusive to another HostPool\n'
        "Nearest fix: list each host once, by the name or an address of a node that is exclusive to no other HostPool."
    ),
    ("node-a", "node-b"): "",
}


@pytest.mark.parametrize("hosts", LISTS)
def test_a_list_of_hosts_is_completed_or_the_job_refused(hosts: tuple[str, ...]) -> None:
    taken = pool("X", size=1, mode="Exclusive", assigned=["node-c"])
    inventory = cluster(nodes(3, addresses=()), [taken])
    inventory.set_node(nodes(1, addresses=["10.0.0.1"])[0])
    assert text(spec({"name": "L", "hosts": [*hosts]}), inventory, Policy()) == LISTS[hosts]


def test_an_unused_list_of_hosts_counts() -> None:
    assert judged(spec({"name": "L", "hosts": ["nope"]}), cluster(nodes(1))).refused


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        pytest.param(
            [],
            "The HostPools of the Job cannot all be created: namespace default may have 1 HostPool, has 0 besides, "
            "and the Job declares 2.\nNearest fix: ask for a larger quota of HostPools.",
            id="none besides",
        ),
        pytest.param(
            [pool("X", phase=Phase.PENDING)],
            "The HostPools of the Job cannot all be created: namespace default may have 1 HostPool, has 1 besides, "
            "and the Job declares 2.\nNearest fix: ask for a larger quota of HostPools.",
            id="one besides, and room for fewer than are declared",
        ),
        pytest.param([pool("P", name="app-p", job="app"), pool("T", name="app-t", job="app")], "", id="all are there"),
    ],
)
def test_the_number_of_pools_has_a_quota(there: list[object], expected: str) -> None:
    stated = spec({"name": "P"}, TAGS)
    assert text(stated, cluster(nodes(3), there), Policy(pool_quota=Quota(1))) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quota", "delete"), [(3, "delete a HostPool that is"), (2, "delete 2 HostPools that are")], ids=["one", "two"]
)
def test_as_many_pools_as_are_too_many_are_to_be_deleted(quota: int, delete: str) -> None:
    others = [pool(name, phase=Phase.PENDING) for name in ("X", "Y")]
    policy = Policy(pool_quota=Quota(quota))
    assert text(spec({"name": "P"}, TAGS), cluster(nodes(3), others), policy).endswith(
        f"Nearest fix: {delete} not needed, or ask for a larger quota of HostPools."
    )
    assert not text(spec({"name": "P"}, TAGS), cluster(nodes(3), others[: quota - 2]), policy)


def test_the_number_of_pools_is_told_of_beside_wrong_lists() -> None:
    lists = [{"name": name, "hosts": [host]} for name, host in (("A", "node-a"), ("B", "node-b"), ("C", "nope"))]
    assert text(spec(*lists), cluster(nodes(3)), Policy(pool_quota=Quota(1))) == (
        "HostPools of the Job cannot have their hosts, for 2 reasons:\n"
        "  The HostPools of the Job cannot all be created: namespace default may have 1 HostPool, has 0 besides, and "
        "the Job declares 3. Nearest fix: ask for a larger quota of HostPools.\n"
        '  HostPool C cannot be completed: it lists 1 host and finds 0 nodes (hosts[0]: "nope" is not a node). Nearest '
        "fix: list each host once, by the name or an address of a node."
    )


def test_as_many_pools_as_the_quota_are_made() -> None:
    assert not text(spec(P, TAGS), cluster(nodes(3)), Policy(pool_quota=Quota(2)))


def test_exclusive_hosts_have_a_quota() -> None:
    assert text(spec(P, Q, TAGS), cluster(nodes(4)), Policy(quota=Quota(2))) == (
        "The HostPools of the Job cannot be completed: namespace default may have 2 exclusive hosts, its other "
        "HostPools have 0, and those of the Job ask for 3.\n"
        "Nearest fix: ask for a larger quota of exclusive hosts, or ask for 2."
    )
    assert not text(spec(P, Q, TAGS), cluster(nodes(4)), Policy(quota=Quota(3)))


def test_fewer_hosts_than_pools_cannot_be_asked_for() -> None:
    assert text(spec(P, Q, TAGS), cluster(nodes(4)), Policy(quota=Quota(1))).endswith(
        "Nearest fix: ask for a larger quota of exclusive hosts."
    )


def test_exclusive_hosts_of_other_pools_count_and_shared_ones_do_not() -> None:
    there = [pool("X", size=2, mode="Exclusive", phase=Phase.PENDING), pool("Y", size=1, assigned=["node-a"])]
    assert text(spec(P), cluster(nodes(4), there), Policy(quota=Quota(2))) == (
        "The HostPools of the Job cannot be completed: namespace default may have 2 exclusive hosts, its other "
        "HostPools have 2, and those of the Job ask for 1.\n"
        "Nearest fix: ask for a larger quota of exclusive hosts."
    )


def test_hosts_that_the_pools_of_the_job_have_stay_theirs() -> None:
    own = pool("P", name="app-p", job="app", size=1, mode="Exclusive", assigned=["node-a"])
    assert not text(spec(P), cluster(nodes(2), [own]), Policy(quota=Quota(0)))


def test_an_exclusive_pool_takes_no_host_that_another_pool_of_the_job_lists() -> None:
    listed = {"name": "L", "hosts": ["node-a"]}
    verdict = judged(spec(listed, Q), cluster(nodes(3)))
    assert verdict.answer
    assert verdict.answer.placed
    assert {*verdict.answer.placed.hosts["default", "app-q"].values()} == {1, 2}
    assert judged(spec(listed, {**Q, "size": 3}), cluster(nodes(3))).text == (
        "HostPool Q (3 hosts, Exclusive) cannot have its hosts: 2 nodes are eligible.\n"
        "  1 node is kept for other HostPools or processing elements of the Job\n"
        "Nearest fix: lower the size of HostPool Q to 2."
    )


def test_it_takes_none_of_a_shared_pool_that_has_all_of_its_hosts() -> None:
    there = pool("S", name="app-s", job="app", size=2, assigned=["node-a", "node-b"])
    stated = spec({"name": "S", "size": 2}, Q)
    assert judged(stated, cluster(nodes(3), [there])).refused
    assert not judged(stated, cluster(nodes(4), [there])).refused


def test_a_shared_pool_shares_them() -> None:
    assert not judged(spec({"name": "L", "hosts": ["node-a"]}, {"name": "S", "size": 3}), cluster(nodes(3))).refused
