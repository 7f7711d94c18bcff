"""``host("name")`` and ``host("address")``."""

from typing import Any

import pytest

from tests.builders import GATES, Json, cluster, decided, job, node, nodes, pod, pool
from webhook.placement.decision.decision import Decision
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import NodeTerm, PreferredNodeTerm, Requirement
from webhook.placement.objects.pool import Phase, Pool
from webhook.placement.text import keys

KNOWN = job({"parallel-0": "", "parallel-1": ""})
"""The Job object of the pods: no element of theirs asks to be alone."""
CLUSTER = cluster(
    [node("node-a", addresses=["10.0.0.1", "2001:db8::1"]), node("node-b", addresses=["10.0.0.2"])], jobs=[KNOWN]
)

ON_A = NodeTerm(match_fields=(Requirement("metadata.name", "In", ("node-a",)),))


def tied(found: Decision) -> tuple[str, tuple[NodeTerm, ...]]:
    """The node that the pod is bound to, and its node terms."""
    assert found.additions, found.message
    return found.additions.node_name, found.additions.terms


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("node-a", id="name"),
        pytest.param("10.0.0.1", id="IPv4"),
        pytest.param("2001:db8::1", id="IPv6"),
        pytest.param("2001:DB8:0:0:0:0:0:1", id="another spelling of it"),
    ],
)
def test_the_pod_is_bound_to_the_node_that_is_meant(text: str) -> None:
    assert tied(decided(pod(f'host("{text}")'), CLUSTER)) == ("node-a", ())


@pytest.mark.parametrize(
    ("tweaks", "policy", "bound"),
    [
        pytest.param({}, Policy(), True, id="pod without a controller"),
        pytest.param({"owner": "ProcessingElement"}, Policy(), True, id="pod of a processing element"),
        pytest.param({"owner": "ReplicaSet"}, Policy(), False, id="pod of a ReplicaSet"),
        pytest.param({"owner": "StatefulSet"}, Policy(), False, id="pod of a StatefulSet"),
        pytest.param({"owner": "Job"}, Policy(), False, id="pod of a batch Job"),
        pytest.param({"owner": "ReplicaSet"}, Policy(host_binding="nodeName"), True, id="installation binds"),
        pytest.param({}, Policy(host_binding="nodeAffinity"), False, id="installation never binds"),
        pytest.param(
            {"annotations": {keys.HOST_BINDING: "nodeName"}},
            Policy(host_binding="nodeAffinity"),
            True,
            id="the pod's word counts more",
        ),
        pytest.param({"annotations": {keys.HOST_BINDING: "nodeAffinity"}}, Policy(), False, id="pod asks for affinity"),
        pytest.param(
            {"annotations": {keys.HOST_BINDING: "auto"}},
            Policy(host_binding="nodeAffinity"),
            True,
            id="pod asks for the default",
        ),
        pytest.param(
            {"annotations": {keys.HOST_BINDING: "nodeName"}, "schedulingGates": GATES},
            Policy(),
            False,
            id="a gated pod cannot be bound",
        ),
        pytest.param({}, Policy(elastic=True), False, id="a cluster that grows"),
    ],
)
def test_the_pod_goes_past_the_scheduler_where_no_controller_would_make_it_again(
    tweaks: dict[str, Any], policy: Policy, *, bound: bool
) -> None:
    expected = ("node-a", ()) if bound else ("", (ON_A,))
    assert tied(decided(pod('host("node-a")', **tweaks), CLUSTER, policy)) == expected


@pytest.mark.parametrize(
    ("owners", "bound"),
    [
        pytest.param([{"kind": "ReplicaSet", "controller": False}], True, id="an owner that is no controller"),
        pytest.param([{"kind": "ReplicaSet"}], True, id="an owner that says nothing"),
        pytest.param([{"kind": "Other"}, {"kind": "ReplicaSet", "controller": True}], False, id="the second controls"),
        pytest.param([], True, id="an empty list"),
    ],
)
def test_only_the_controller_counts_among_the_owners(owners: list[Json], *, bound: bool) -> None:
    found = pod('host("node-a")')
    found["metadata"]["ownerReferences"] = owners
    assert bool(tied(decided(found, CLUSTER))[0]) is bound


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        pytest.param(pool(size=1, phase=Phase.PENDING), False, id="pending"),
        pytest.param(pool(size=1, assigned=["node-a"]), True, id="ready"),
        pytest.param(
            pool(tags=["x"], phase=Phase.PENDING), True, id="without hosts of its own, which are never pending"
        ),
    ],
)
def test_a_pod_of_a_pool_whose_label_is_not_there_yet_waits_for_it(given: Pool, *, bound: bool) -> None:
    inventory = cluster([node("node-a", labels={keys.TAG: "x"})], pools=[given], jobs=[KNOWN])
    found = decided(pod('A: host("node-a"); B: host(MyPool)'), inventory)
    assert bool(tied(found)[0]) is bound


def test_the_same_host_twice_is_one_host() -> None:
    assert tied(decided(pod('A: host("node-a"); B: host("10.0.0.1")'), CLUSTER)) == ("node-a", ())


def test_a_preferred_host_is_a_preferred_term() -> None:
    found = decided(pod('host("node-a")', annotations={keys.PREFERRED: "host"}), CLUSTER)
    assert found.additions
    assert (tied(found), found.additions.preferred) == (("", ()), (PreferredNodeTerm(100, ON_A),))


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        pytest.param(
            "gone", 'host("gone") is preferred, but no node that can run this pod meets it', id="that does not exist"
        ),
        pytest.param(
            "10.9.9.9",
            'host("10.9.9.9") is preferred, but no node that can run this pod meets it',
            id="whose address nobody has",
        ),
    ],
)
def test_a_preferred_host_never_refuses(text: str, warning: str) -> None:
    found = decided(pod(f'host("{text}")', annotations={keys.PREFERRED: "host"}), CLUSTER)
    assert (found.refused, found.warnings) == (False, (warning,))


def test_a_preferred_address_of_two_nodes_never_refuses() -> None:
    twins = cluster(nodes(2, addresses=["10.0.0.1"]))
    assert not decided(pod('host("10.0.0.1")', annotations={keys.PREFERRED: "host"}), twins).refused
