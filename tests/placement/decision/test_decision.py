"""All that the core decides for a pod."""

import pytest

from tests.builders import cluster, decided, nodes, pod, pool
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault

TWO = cluster(nodes(2))


def test_an_admitted_pod_has_additions_and_no_message() -> None:
    found = decided(pod('host("node-a")'), TWO)
    assert found.additions
    assert (found.refused, found.message, found.warnings) == (False, "", ())


def test_a_refused_pod_has_no_additions() -> None:
    assert decided(pod('host("gone")'), TWO).additions is None


def test_problems_come_before_any_verdict() -> None:
    assert decided(pod("host("), TWO).verdict is None


@pytest.mark.parametrize(
    ("placement", "fault"),
    [
        pytest.param("host(", Fault.INVALID, id="syntax"),
        pytest.param("host(Gone)", Fault.FORBIDDEN, id="no such pool"),
        pytest.param('A: host(Gone); B: hostColocation("two words")', Fault.INVALID, id="both"),
        pytest.param('host("gone")', Fault.FORBIDDEN, id="no such node"),
    ],
)
def test_a_refusal_is_the_pods_own_fault_if_any_part_of_it_is(placement: str, fault: Fault) -> None:
    assert decided(pod(placement), TWO).fault is fault


def test_an_admitted_pod_has_no_fault_of_the_clusters() -> None:
    assert decided(pod(), TWO).fault is Fault.INVALID


def test_a_pod_that_waits_keeps_its_refusal_as_a_warning_alone() -> None:
    found = decided(pod('host("gone")'), TWO, Policy(elastic=True))
    assert (found.refused, found.message) == (False, "")
    assert found.warnings == ('no node yet: host("gone") cannot hold: 0 of 2 nodes can run this pod.',)


def test_a_label_in_the_way_is_a_problem_after_the_verdict() -> None:
    label = {keys.EXLOCATION + keys.digest("t"): "other"}
    found = decided(pod('hostExlocation("t")', labels=label), TWO)
    assert (found.refused, found.verdict is None, found.fault) == (True, False, Fault.INVALID)


def test_warnings_of_the_words_come_before_those_of_the_cluster() -> None:
    found = decided(pod('partitionIsolation, host("gone")', annotations={keys.PREFERRED: "host"}), TWO)
    assert found.warnings == (
        "partitionIsolation controls fusion, which is complete: it has no effect on the pod",
        'host("gone") is preferred, but no node that can run this pod meets it',
    )


def test_a_preference_that_some_node_meets_needs_no_warning() -> None:
    assert decided(pod('host("node-a")', annotations={keys.PREFERRED: "host"}), TWO).warnings == ()


def test_hard_constraints_come_before_preferences() -> None:
    found = decided(pod('host("node-a"), hostExlocation("t")', annotations={keys.PREFERRED: "host"}), TWO)
    assert found.verdict
    assert [str(constraint.clause) for constraint in found.verdict.constraints] == [
        "None", "None", 'hostExlocation("t")', 'host("node-a")'
    ]  # fmt: skip


def test_reasons_come_in_the_order_of_the_families() -> None:
    closed = Taint(keys.EXCLUSIVE, "default.other", "NoSchedule")
    infra = Taint("dedicated", "infra", "NoSchedule")
    inventory = cluster(nodes(1, taints=[closed, infra]), pools=[pool(tags=["ib"])])
    asks = pod("host(MyPool)", nodeSelector={"disk": "ssd"}, requests={"cpu": "16"})
    assert decided(asks, inventory).message == (
        "No node is open to this pod: 0 of 1 node can run this pod.\n"
        "  1 node is not in HostPool MyPool (tag ib)\n"
        "Nearest fix: no single change helps; the pod needs a node that meets all of it."
    )
