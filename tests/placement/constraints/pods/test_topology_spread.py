"""A pod's own topology spread constraints: which nodes can run it now, and how many of its like fit."""

from typing import Any

import pytest

from tests.builders import Json, bound_pod, cluster, decided, job, node, nodes, pod, pool
from tests.placement.spreading_pods import APP, HOST, OF_APP, OF_JOB, REVISION, ZONE, spread, zones
from tests.workload_templates import crowded, replica
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

UNCHECKED = (
    "topologySpread {} (maxSkew 1): the counted pods are not checked; this pod waits while they are spread too unevenly"
)
EVEN, UNEVEN = (
    cluster(zones("a", "b", closed="b"), pods=[bound_pod(on) for on in held])
    for held in (["node-a", "node-b"], ["node-a"])
)
OTHER_JOB = cluster(zones("a", "b", closed="b"), pods=[bound_pod("node-a", job="other")])
LEAVING = cluster(zones("a", "b", closed="b"), pods=[bound_pod("node-a", terminating=True)])
ALLOTTED = cluster(zones("a", "b", ""), pods=[bound_pod("node-c")])
THREE = cluster(zones("a", "b", "c", closed="c"), pods=[bound_pod("node-a"), bound_pod("node-b")])
TOLERANT = [{"key": "dedicated", "operator": "Exists"}]
WORKERS: Json = {"matchLabels": {keys.JOB: "parallel", keys.WORKER: "true"}}
OF_PE: Json = {"matchLabels": {keys.JOB: "parallel", keys.PE: "parallel-0"}}
STRANGER: Json = {"job": None, "annotations": {keys.HOST_BINDING: "nodeAffinity"}}

OPEN: dict[str, tuple[set[str], Inventory, dict[str, Any]]] = {
    "where fewest are": ({"node-a"}, EVEN, {"topologySpreadConstraints": spread()}),
    "nowhere, if where fewest are is closed": (set(), UNEVEN, {"topologySpreadConstraints": spread()}),
    "unless more skew is allowed": ({"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(skew=2)}),
    "unless closed nodes do not count": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(nodeTaintsPolicy="Honor")},
    ),
    "where it is closed, if the pod tolerates that": (
        {"node-b"}, UNEVEN, {"topologySpreadConstraints": spread(), "tolerations": TOLERANT},
    ),
    "anywhere, if it is only wished": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(whenUnsatisfiable="ScheduleAnyway")},
    ),
    "pods of others do not count": ({"node-a"}, OTHER_JOB, {"topologySpreadConstraints": spread()}),
    "nor do pods that are being deleted": ({"node-a"}, LEAVING, {"topologySpreadConstraints": spread()}),
    "nor do those on nodes without the label": (
        {"node-a", "node-b"}, ALLOTTED, {"topologySpreadConstraints": spread()},
    ),
    "nodes that the pod does not choose do not count": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(), "nodeSelector": {ZONE: "a"}},
    ),
    "unless it says that they do": (
        set(), UNEVEN,
        {"topologySpreadConstraints": spread(nodeAffinityPolicy="Ignore"), "nodeSelector": {ZONE: "a"}},
    ),
    "nodes that a clause does not choose do not count": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(), "placement": 'host("node-a")'},
    ),
    "too few domains leave no skew above nothing": (
        set(), THREE, {"topologySpreadConstraints": spread(minDomains=4)},
    ),
    "enough domains": (set(), THREE, {"topologySpreadConstraints": spread(minDomains=3)}),
    "other elements of the job do not count, if only its own is meant": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(selector=OF_PE)},
    ),
    "by a key of the pod": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(matchLabelKeys=[keys.PE])},
    ),
    "a pod that does not count itself may go where it is even": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(selector=WORKERS)},
    ),
    "nobody is meant": ({"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(selector=None)}),
    "everybody is meant, whom the scheduler does not count": (
        {"node-a"}, UNEVEN, {"topologySpreadConstraints": spread(selector={})},
    ),
    "nodes of all keys": (
        {"node-a", "node-b"}, ALLOTTED, {"topologySpreadConstraints": [*spread(), *spread(HOST)]},
    ),
    "a key that no node has": (set(), EVEN, {"topologySpreadConstraints": spread("rack")}),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "inventory", "said"), OPEN.values(), ids=OPEN)
def test_a_pod_can_run(expected: set[str], inventory: Inventory, said: dict[str, Any]) -> None:
    placement = said.get("placement")
    rest = {key: value for key, value in said.items() if key != "placement"}
    decision = decided(pod(placement, **rest), inventory)
    assert decision.verdict is not None
    names = inventory.nodes.names
    assert {name for slot, name in names.items() if decision.verdict.candidates >> slot & 1} == expected
    assert decision.refused == (not expected)
    assert not decision.warnings


UNKNOWN: dict[str, dict[str, Any]] = {
    "pods by their own labels": {"topologySpreadConstraints": spread(selector=OF_APP)},
    "pods of any job": {
        "topologySpreadConstraints": spread(selector={"matchExpressions": [{"key": keys.JOB, "operator": "Exists"}]})
    },
    "pods of another job": {"topologySpreadConstraints": spread(selector={"matchLabels": {keys.JOB: "other"}})},
    "pods of the job by other labels, too": {
        "topologySpreadConstraints": spread(selector={"matchLabels": {keys.JOB: "parallel", **APP}})
    },
    "pods of no job": {
        "topologySpreadConstraints": spread(),
        "job": None,
        "annotations": {keys.HOST_BINDING: "nodeAffinity"},
    },
    "pods of the same revision, of which there may be some": {
        "topologySpreadConstraints": spread(selector=OF_APP, matchLabelKeys=REVISION),
        "labels": {"pod-template-hash": "h"},
    },
    "labels of the moment": {
        "topologySpreadConstraints": spread(
            selector=OF_JOB | {"matchExpressions": [{"key": f"{keys.ISOLATION}X", "operator": "DoesNotExist"}]}
        )
    },
    "pods of a DaemonSet, each on a node of its own": {"topologySpreadConstraints": spread(), "owner": "DaemonSet"},
}


@pytest.mark.parametrize("said", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_counts_are_a_warning_and_no_refusal(said: dict[str, Any]) -> None:
    decision = decided(pod(None, **said), UNEVEN)
    assert (decision.refused, decision.warnings) == (False, (UNCHECKED.format(ZONE),))


def test_hosts_that_a_pool_is_about_to_get_are_no_domains_yet() -> None:
    waiting = cluster(nodes(1), [pool("P", size=1, phase=Phase.PENDING)])
    key = keys.membership("default", "p")
    decision = decided(pod("host(P)", topologySpreadConstraints=spread(key)), waiting)
    assert (decision.refused, decision.warnings) == (False, (UNCHECKED.format(key),))


def test_a_pod_past_the_scheduler_is_not_spread() -> None:
    asked = pod(None, nodeName="node-a", topologySpreadConstraints=spread("rack"))
    verdict = decided(asked, EVEN).verdict
    assert verdict is None or not any("topologySpread " in str(judged.constraint.clause) for judged in verdict.hard)


def test_labels_that_a_clause_adds_count() -> None:
    annotations = {keys.UNIFORM: "all-separate-nodes"}
    held = cluster(zones("a", "b", "a", closed="b"), pods=[bound_pod("node-a", labels={keys.WORKER: "true"})])
    asked = pod(None, annotations=annotations, topologySpreadConstraints=spread(selector=WORKERS))
    assert decided(asked, held).refused


TEXTS: dict[str, tuple[Json, Inventory, str]] = {
    "a label that would change which nodes count is not advised": (
        pod(None, topologySpreadConstraints=spread(), nodeSelector={"disk": "ssd"}), EVEN, (
            "nodeSelector disk=ssd cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not have the label disk=ssd\n"
            "Nearest fix: drop nodeSelector disk=ssd (1 node would fit)."
        ),
    ),
    "no node has the label": (
        pod(None, topologySpreadConstraints=spread("rack")), EVEN,
        (
            "topologySpread rack (maxSkew 1) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has the taint dedicated=x:NoSchedule\n"
            "  1 node does not have the label rack\n"
            "Nearest fix: label one more node rack, or drop topologySpread rack (maxSkew 1) (1 node would fit)."
        ),
    ),
    "too far ahead": (
        pod(None, topologySpreadConstraints=spread()), UNEVEN,
        (
            "topologySpread topology.kubernetes.io/zone (maxSkew 1) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  1 node has the taint dedicated=x:NoSchedule\n"
            "  1 node is in a topology.kubernetes.io/zone that would exceed maxSkew 1\n"
            "Nearest fix: tolerate dedicated=x:NoSchedule, or "
            "drop topologySpread topology.kubernetes.io/zone (maxSkew 1) (1 node would fit)."
        ),
    ),
    "too few domains": (
        pod(None, topologySpreadConstraints=spread("zone", minDomains=3)),
        cluster(
            [node("node-a", labels={"zone": "a"}), node("node-b", labels={"zone": "b"}), node("node-c")],
            pods=[bound_pod("node-a"), bound_pod("node-b")],
        ),
        (
            "topologySpread zone (minDomains 3, maxSkew 1) cannot hold: 0 of 3 nodes can run this pod.\n"
            "  2 nodes are in a zone that would exceed maxSkew 1, as only 2 of minDomains 3 exist\n"
            "  1 node does not have the label zone\n"
            "Nearest fix: add a node with another zone that can otherwise run this pod, or "
            "drop topologySpread zone (minDomains 3, maxSkew 1) (3 nodes would fit)."
        ),
    ),
    "a label on the only node, which runs such a pod, is not enough": (
        pod(None, topologySpreadConstraints=spread("zone", minDomains=2)),
        cluster([node("node-a")], pods=[bound_pod("node-a")]),
        (
            "topologySpread zone (minDomains 2, maxSkew 1) cannot hold: 0 of 1 node can run this pod.\n"
            "  1 node does not have the label zone\n"
            "Nearest fix: add a node with another zone that can otherwise run this pod, or "
            "drop topologySpread zone (minDomains 2, maxSkew 1) (1 node would fit)."
        ),
    ),
    "a label on a node without such a pod is": (
        pod(None, topologySpreadConstraints=spread("zone", minDomains=2)),
        cluster([node("node-a"), node("node-b")], pods=[bound_pod("node-a")]),
        (
            "topologySpread zone (minDomains 2, maxSkew 1) cannot hold: 0 of 2 nodes can run this pod.\n"
            "  2 nodes do not have the label zone\n"
            "Nearest fix: label one more node zone, or "
            "drop topologySpread zone (minDomains 2, maxSkew 1) (2 nodes would fit)."
        ),
    ),
    "nothing new would help a pod that chooses its zone": (
        pod(
            None, nodeSelector={"zone": "a"}, topologySpreadConstraints=spread("zone", nodeAffinityPolicy="Ignore")
        ),
        cluster(
            [node("node-a", labels={"zone": "a"}), node("node-b", labels={"zone": "b"})], pods=[bound_pod("node-a")]
        ),
        (
            "nodeSelector zone=a and topologySpread zone (maxSkew 1) cannot both hold: "
            "0 of 2 nodes can run this pod.\n"
            "  1 node does not have the label zone=a\n"
            "  1 node is in a zone that would exceed maxSkew 1\n"
            "Nearest fix: label one more node zone=a, or drop nodeSelector zone=a (1 node would fit)."
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "inventory", "text"), TEXTS.values(), ids=TEXTS)
def test_a_refusal_says_why_and_what_would_help(asked: Json, inventory: Inventory, text: str) -> None:
    assert decided(asked, inventory).message == text


TRAP = cluster(zones("a", "b", closed="b"))
TWO = cluster(zones("a", "b"))
OWN = cluster(zones("a", "b", closed="b"), pods=[replica("node-a"), replica("node-b")])

ROOMS: dict[str, tuple[int, Inventory, dict[str, Any]]] = {
    "a closed zone holds the other back": (1, TRAP, {"topologySpreadConstraints": spread()}),
    "by as much as the skew": (2, TRAP, {"topologySpreadConstraints": spread(skew=2)}),
    "unless it does not count": (110, TRAP, {"topologySpreadConstraints": spread(nodeTaintsPolicy="Honor")}),
    "too few zones, whatever runs": (
        4, TWO, {"topologySpreadConstraints": spread(selector=OF_APP, skew=2, minDomains=3)},
    ),
    "pods of one revision": (
        1, TRAP, {"topologySpreadConstraints": spread(selector=OF_APP, matchLabelKeys=REVISION), "owner": "Deployment"},
    ),
    "a zone with less room holds the other back": (
        3, cluster([node("node-a", labels={ZONE: "a"}, pods=9), node("node-b", labels={ZONE: "b"}, pods=1)]),
        {"topologySpreadConstraints": spread()},
    ),
    "pods of others are made up for": (
        6, cluster(zones("a", "b", pods=3), pods=[bound_pod("node-a")]), {"topologySpreadConstraints": spread()},
    ),
    "zones and hosts": (
        2, cluster(zones("a", "a", "b", closed="b")), {"topologySpreadConstraints": [*spread(skew=2), *spread(HOST)]},
    ),
    "a group shares one zone": (
        1, TWO, {"topologySpreadConstraints": spread(), "placement": 'hostColocation("t")'},
    ),
    "which is the only one": (
        110, cluster(zones("a")), {"topologySpreadConstraints": spread(), "placement": 'hostColocation("t")'},
    ),
    "or short of domains": (
        1, cluster(zones("a")),
        {"topologySpreadConstraints": spread(minDomains=2), "placement": 'hostColocation("t")'},
    ),
    "live pods of the workload may stay where it is closed": (
        3, OWN, {"topologySpreadConstraints": spread(), "leaving": "Deployment/w"},
    ),
    "and where nothing counts them": (
        2, OWN,
        {"topologySpreadConstraints": spread(nodeTaintsPolicy="Honor", minDomains=2), "leaving": "Deployment/w"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "inventory", "said"), ROOMS.values(), ids=ROOMS)
def test_so_many_fit_and_no_more(expected: int, inventory: Inventory, said: dict[str, Any]) -> None:
    said = {"placement": None, "labels": APP, **said}
    placement = said.pop("placement")
    assert not crowded(placement, expected, inventory, **said).refused
    assert crowded(placement, expected + 1, inventory, **said).refused


NOT_PROVEN: dict[str, dict[str, Any]] = {
    "by labels that others may have": {"topologySpreadConstraints": spread(selector=OF_APP)},
    "live pods that nobody knows, of the same revision": {
        "topologySpreadConstraints": spread(selector=OF_APP, matchLabelKeys=REVISION),
        "owner": "Deployment", "leaving": "Deployment/w", **STRANGER,
    },
    "and where domains are too few": {
        "topologySpreadConstraints": spread(selector=OF_APP, minDomains=3),
        "leaving": "Deployment/w", **STRANGER,
    },
    "each by its own name": {
        "topologySpreadConstraints": spread(selector=OF_APP, matchLabelKeys=["statefulset.kubernetes.io/pod-name"]),
        "owner": "StatefulSet",
    },
}  # fmt: skip


@pytest.mark.parametrize("said", NOT_PROVEN.values(), ids=NOT_PROVEN)
def test_replicas_are_not_refused_where_it_is_not_proven(said: dict[str, Any]) -> None:
    decision = crowded(None, 9, TRAP, **{"labels": APP, **said})
    assert not decision.refused
    assert any("the counted pods are not checked" in warning for warning in decision.warnings)


def test_what_the_job_object_says_changes_nothing_here() -> None:
    with_model = cluster(zones("a", "b", closed="b"), pods=[bound_pod("node-a")], jobs=[job({"parallel-0": ""})])
    assert decided(pod(None, topologySpreadConstraints=spread()), with_model).refused


def test_exclusive_hosts_of_others_count_as_tainted() -> None:
    closed = cluster(
        zones("a", "b"),
        [pool("X", size=1, mode="Exclusive", assigned=["node-b"])],
        pods=[bound_pod("node-a")],
    )
    assert decided(pod(None, topologySpreadConstraints=spread()), closed).refused
    assert not decided(pod(None, topologySpreadConstraints=spread(nodeTaintsPolicy="Honor")), closed).refused
