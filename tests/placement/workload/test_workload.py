"""A workload as a whole: one pod of it, and all of them."""

import pytest

from tests.builders import NAMESPACE, Json, cluster, decided, node, nodes, pod, pool, typed
from tests.workload_templates import crowded, replica
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.merge import NOTHING
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.workload.workload import decide_replicas

TWO = cluster(nodes(2))
APART = 'hostExlocation("a")'
TAGGED = {keys.TAG: "x"}
ELASTIC = cluster([node("node-a", labels=TAGGED), node("node-b")], [pool(tags=["x"], elastic=True)])
FULL = cluster(nodes(2), pods=[replica("node-a", apart="a"), replica("node-b", apart="a")])


def decision(found: Json, replicas: Replicas, inventory: Inventory = TWO) -> Decision:
    return decide_replicas(typed(found), NAMESPACE, inventory, Policy(), replicas)


def test_a_workload_that_fits_is_decided_like_one_pod_of_it() -> None:
    found = pod(APART, owner="ReplicaSet")
    workload, one = decision(found, Replicas(2, "replicas 2")), decided(found, TWO)
    assert (workload.additions, workload.warnings) == (one.additions, one.warnings)
    assert workload.verdict
    assert one.verdict
    assert workload.verdict.candidates == one.verdict.candidates


def test_one_pod_is_decided_like_a_pod() -> None:
    workload, one = decision(pod("host(gone)"), Replicas()), decided(pod("host(gone)"), TWO)
    assert (workload.message, workload.problems, workload.refused) == (one.message, one.problems, True)


@pytest.mark.parametrize("placement", ["Host(x)", "host(Gone)", 'host("gone")'])
def test_what_no_pod_of_it_can_be_is_refused_in_the_words_for_one_pod(placement: str) -> None:
    assert crowded(placement, 5, TWO).message == decided(pod(placement, owner="ReplicaSet"), TWO).message


def test_what_does_not_fit_is_refused_and_adds_nothing() -> None:
    found = crowded(APART, 3, TWO)
    assert (found.refused, found.fault, found.problems) == (True, Fault.FORBIDDEN, ())


def test_warnings_of_the_pod_are_those_of_the_workload() -> None:
    expected = ("partitionIsolation controls fusion, which is complete: it has no effect on the pod",)
    assert crowded(f"{APART}, partitionIsolation", 3, TWO).warnings == expected


@pytest.mark.parametrize(
    ("placement", "warning"),
    [
        pytest.param('host("gone")', 'not yet: host("gone") cannot hold: 0 of 2 nodes can run this pod.', id="no node"),
        pytest.param(
            "host(Gone)",
            "not yet: metadata.annotations[streams.ibm.com/placement]: host(Gone): "
            'this namespace has no HostPool "Gone" that the pod may use; there are none',
            id="no such pool",
        ),
    ],
)
def test_what_runs_no_pod_yet_is_only_warned(placement: str, warning: str) -> None:
    found = crowded(placement, 0, TWO)
    assert (found.refused, found.warnings, found.additions) == (False, (warning,), NOTHING)


@pytest.mark.parametrize("placement", ["Host(x)", 'A: host("x"); B: host("y")'])
def test_what_is_wrong_in_itself_is_refused_even_so(placement: str) -> None:
    assert (crowded(placement, 0, TWO).fault, crowded(placement, 0, TWO).refused) == (Fault.INVALID, True)


def test_no_pods_need_no_room() -> None:
    assert crowded(APART, 0, TWO).warnings == ()


def test_a_preference_takes_no_room() -> None:
    assert not crowded(APART, 5, TWO, annotations={keys.PREFERRED: "hostExlocation"}).refused


@pytest.mark.parametrize(
    ("inventory", "policy", "placement", "expected"),
    [
        pytest.param(
            ELASTIC,
            Policy(),
            f"host(MyPool), {APART}",
            (
                'no room yet: host(MyPool), hostExlocation("a") and replicas 2 cannot all hold: '
                "1 of 2 pods fits on 1 of 2 nodes."
            ),
            id="an elastic pool",
        ),
        pytest.param(
            cluster(nodes(1)),
            Policy(elastic=True),
            APART,
            'no room yet: hostExlocation("a") and replicas 2 cannot both hold: 1 of 2 pods fits on 1 of 1 node.',
            id="an elastic installation",
        ),
        pytest.param(
            cluster(),
            Policy(elastic=True),
            APART,
            "no node yet: No node is open to this pod: 0 of 0 nodes can run this pod.",
            id="without any node",
        ),
    ],
)
def test_more_nodes_may_come(inventory: Inventory, policy: Policy, placement: str, expected: str) -> None:
    found = crowded(placement, 2, inventory, policy)
    assert (found.refused, found.warnings) == (False, (expected,))


def test_but_none_for_what_contradicts_itself() -> None:
    found = crowded(f'host("node-a"), {APART}', 2, TWO, Policy(elastic=True))
    assert (found.refused, found.fault) == (True, Fault.INVALID)


@pytest.mark.parametrize(
    ("leaving", "refused"),
    [("", True), ("Deployment/w", False), ("Deployment/other", True)],
    ids=["nobody leaves", "its own pods leave", "those of another leave"],
)
def test_live_pods_of_its_own_make_room(leaving: str, *, refused: bool) -> None:
    assert crowded(APART, 2, FULL, leaving=leaving).refused is refused


def test_one_more_may_be_needed_than_there_are_to_be() -> None:
    assert crowded(APART, 3, FULL, leaving="Deployment/w", spare=True).headline == (
        'hostExlocation("a") and replicas 3 cannot both hold: 2 of 3 pods fit, one on each of 2 of 2 nodes.'
    )


DAEMONS = Replicas(everywhere=True)


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        pytest.param(
            'host("node-a")',
            'metadata.annotations[streams.ibm.com/placement]: host("node-a"): '
            "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment",
            id="a node",
        ),
        pytest.param(
            "host(Gone[1])",
            "metadata.annotations[streams.ibm.com/placement]: host(Gone[1]): "
            "a DaemonSet runs one pod on every node that its template selects: use nodeSelector, or a Deployment\n"
            'metadata.annotations[streams.ibm.com/placement]: host(Gone[1]): this namespace has no HostPool "Gone" '
            "that the pod may use; there are none\n  host(Gone[1])\n  ^",
            id="before what else is wrong",
        ),
    ],
)
def test_a_daemon_set_cannot_choose_hosts(placement: str, message: str) -> None:
    found = decision(pod(placement, owner="DaemonSet"), DAEMONS)
    assert (found.refused, found.fault, found.message) == (True, Fault.INVALID, message)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pod(APART, owner="DaemonSet"), id="another clause"),
        pytest.param(
            pod('host("node-a")', owner="DaemonSet", annotations={keys.PREFERRED: "host"}), id="only a preference"
        ),
    ],
)
def test_a_daemon_set_without_a_host_of_its_own_choice_is_admitted(found: Json) -> None:
    assert not decision(found, DAEMONS).refused
