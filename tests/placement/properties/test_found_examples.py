"""What these properties have found once, as the smallest example of each."""

from typing import Any

from tests.placement.properties import decision_core
from tests.placement.properties.clusters import STRANGERS, TEAM, Cluster, Json, digest
from tests.placement.properties.strategies import GI, PREFIX
from webhook.placement.decision.decision import Decision
from webhook.placement.objects.jobs.job import StreamsJob
from webhook.placement.objects.node import Node
from webhook.placement.objects.pod import PodInfo
from webhook.placement.objects.pool import Phase, Pool, PoolHost
from webhook.placement.pools.allocation import allocate


def node(name: str, labels: dict[str, str] | None = None) -> Node:
    known = {"kubernetes.io/hostname": name, **(labels or {})}
    return Node(name, name, known, allocatable={"cpu": 4000, "memory": 4 * GI, "pods": 2})


def sibling(where: str, *, cpu: int = 0, token: str = "", **said: Any) -> PodInfo:
    labels = {f"{PREFIX}hostcolocation.{digest(token)}": token} if token else {}
    return PodInfo(f"on {where}", TEAM, where, {"cpu": cpu, "pods": 1}, "j", "other", labels=labels, **said)


def ready(name: str, *hosts: str, **said: Any) -> Pool:
    given = tuple(PoolHost(index, host, host) for index, host in enumerate(hosts))
    return Pool(TEAM, name.lower(), name, size=len(hosts), phase=Phase.READY, assigned=given, **said)


def decided(
    placement: str, cluster: Cluster, *, requests: Json | None = None, binding: str = "", **spec: object
) -> Decision:
    """The decision about a pod of job ``j``."""
    annotations = {f"{PREFIX}placement": placement} if placement else {}
    annotations |= {f"{PREFIX}host-binding": binding} if binding else {}
    metadata = {"labels": {f"{PREFIX}job": "j", f"{PREFIX}pe": "mine"}, "annotations": annotations}
    containers = [{"name": "c", "resources": {"requests": requests or {}}}]
    return decision_core.decided({"metadata": metadata, "spec": {"containers": containers, **spec}}, cluster)


def test_the_hosts_that_a_degraded_pool_still_has_run_its_pods() -> None:
    assert not decided("A: host(P[0])", Cluster((node("a"),), (), (ready("P", "a", "gone"),))).refused


def test_the_node_of_an_isolated_pod_is_taken_whatever_the_job_object_says() -> None:
    alone = sibling("a", isolated=("Sink",))
    assert decided("", Cluster((node("a"),), (alone,), (), (StreamsJob(TEAM, "j"),))).refused


def test_a_pod_on_a_node_that_is_gone_ties_no_other() -> None:
    assert not decided('hostColocation("t")', Cluster((node("a"),), (sibling("gone", token="t"),))).refused


def test_only_what_a_pod_requests_must_fit_beside_its_group() -> None:
    assert not decided('hostColocation("t")', Cluster((node("a"),), (sibling("a", cpu=5000, token="t"),))).refused


def test_a_request_that_no_node_offers_is_blamed_for_itself() -> None:
    cluster = Cluster((node("a"),), (sibling("a", token="t"),))
    message = decided('hostColocation("t")', cluster, requests={"example.com/gpu": 1}).message
    assert message.startswith("requests example.com/gpu 1 cannot hold")


def test_a_pod_of_an_elastic_pool_is_not_bound_to_a_node_that_cannot_run_it_yet() -> None:
    cluster = Cluster((node("a"),), (), (Pool(TEAM, "e", "E", tags=("x",), elastic=True),))
    additions = decided('A: host(E); B: host("a")', cluster).additions
    assert additions
    assert not additions.node_name


def test_an_address_that_no_node_has_is_refused_beside_an_elastic_pool_too() -> None:
    cluster = Cluster((node("a"),), (), (Pool(TEAM, "e", "E", tags=("x",), elastic=True),))
    assert decided('A: host(E); B: host("10.9.9.9")', cluster).refused


def test_room_that_is_lacking_only_for_a_binding_is_blamed_on_it_too() -> None:
    cluster = Cluster((node("a"), node("b")), (sibling("a", cpu=3000),))
    message = decided('A: host("a")', cluster, requests={"cpu": 2}, binding="nodeName").message
    assert message.startswith('host("a") and requests cpu 2 cannot both hold')


def test_so_it_is_where_there_is_no_other_node() -> None:
    cluster = Cluster((node("a"),), (sibling("a", cpu=3000),))
    message = decided('A: host("a")', cluster, requests={"cpu": 2}, binding="nodeName").message
    assert message.startswith('host("a") and requests cpu 2 cannot both hold')


def test_tags_that_hold_alone_but_not_together_are_both_named() -> None:
    pools = (Pool(TEAM, "p", "P", tags=("red",)), Pool(TEAM, "q", "Q", tags=("blue",)))
    red, blue = (node(name, {f"{PREFIX}hostpool": name}) for name in ("red", "blue"))
    assert decided("A: host(P); B: host(Q)", Cluster((red, blue), (), pools)).message.startswith(
        "host(P) and host(Q) cannot both hold"
    )
    assert decided("A: host(P); B: host(Q)", Cluster((red,), (), pools)).message.startswith("host(Q) cannot hold")


def test_dropping_an_exclusive_pool_does_not_open_its_hosts() -> None:
    nodes = node("a", {"zone": "a"}), node("b")
    cluster = Cluster(nodes, (), (ready("Q", "a", "b", mode="Exclusive"),))
    assert "drop host(Q[1])" not in decided("A: host(Q[1])", cluster, nodeSelector={"zone": "a"}).message


def test_dropping_a_node_name_opens_its_node_too() -> None:
    cluster = Cluster((node("a"), node("b")), (sibling("a", cpu=3000),))
    message = decided("", cluster, requests={"cpu": 2}, nodeName="a").message
    assert "drop spec.nodeName a (2 nodes would fit)" in message


def test_lowering_requests_does_not_help_where_no_more_pods_may_run() -> None:
    others = (sibling("a"), PodInfo("x", STRANGERS, "a", {"pods": 1}))
    message = decided('A: host("a")', Cluster((node("a"),), others), requests={"cpu": 1}).message
    assert "requests" not in message


def test_a_clause_of_two_operators_is_dropped_from_both() -> None:
    cluster = Cluster((node("a", {"zone": "a"}), node("b", {"zone": "b"})))
    message = decided('A: host("a"); B: host("a")', cluster, nodeSelector={"zone": "b"}).message
    assert 'drop host("a") (1 node would fit)' in message


def test_many_long_problems_stay_within_the_limit() -> None:
    assert len(decided(f"A: host({'P' * 2000}); B: host({'Q' * 2000})", Cluster()).message) <= 1024


def test_hosts_that_only_the_pool_names_are_not_named() -> None:
    pool = Pool(TEAM, "p", "P", hosts=("zz-secret-1",))
    assert "zz-secret-1" not in decided("A: host(P)", Cluster((node("a"),), (), (pool,))).message


def test_a_pod_is_not_bound_to_a_host_whose_label_is_still_to_come() -> None:
    """The kubelet would refuse it: it checks the node affinity, and a replacement is not labelled yet."""
    additions = decided('A: host(P); B: host("b")', Cluster((node("b"),), (), (ready("P", "gone"),))).additions
    assert additions
    assert not additions.node_name


def test_a_node_that_shares_its_host_name_with_that_of_an_isolated_pod_is_taken_too() -> None:
    nodes = node("a", {"kubernetes.io/hostname": "h"}), node("b", {"kubernetes.io/hostname": "h"})
    assert decided("", Cluster(nodes, (sibling("a", isolated=("Sink",)),))).refused


def test_pods_of_a_jobs_own_pool_are_strangers_to_the_namespaces_pool_of_that_name() -> None:
    exclusive = Pool(TEAM, "p", "P", size=1, mode="Exclusive")
    cluster = Cluster((node("a"),), (sibling("a", pools=("P",)),), (exclusive, Pool(TEAM, "own", "P", job="j", size=1)))
    assert allocate(exclusive, decision_core.inventory(cluster), decision_core.POLICY).hosts == ()
