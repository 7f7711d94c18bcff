"""DaemonSets: one pod on every node that the template selects, and the clauses that not all of them can keep."""

from typing import Any

import pytest

from tests.builders import NAMESPACE, Json, bound_pod, cluster, node, nodes, pod, typed
from webhook.placement.constraints.pods.colocation import token_label
from webhook.placement.decision.decision import Decision
from webhook.placement.decision.replica_fit import Replicas
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.text import keys
from webhook.placement.text.problem import Fault
from webhook.placement.text.rule import Rule
from webhook.placement.workload.workload import decide_replicas

THREE = cluster(nodes(3))
TOGETHER = 'hostColocation("a")'
ZONE = "topology.kubernetes.io/zone"
ZONES = cluster([node(name, labels={ZONE: name[0]}) for name in ("a1", "a2", "a3", "b1")])
CORDON = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
NOT_READY = Taint("node.kubernetes.io/not-ready", effect="NoSchedule")
SAME_NODE = {keys.UNIFORM: "all-same-node"}
MINE = {"app": "ds"}


def decision(found: Json, inventory: Inventory = THREE, **labels: str) -> Decision:
    """What becomes of a DaemonSet with that template; ``labels`` are those that its selector names."""
    return decide_replicas(typed(found), NAMESPACE, inventory, Policy(), Replicas(everywhere=True, selector=labels))


def template(placement: str | None = None, **tweaks: Any) -> Json:
    return pod(placement, pe=None, labels=MINE, **tweaks)


def beside(key: str, **term: Any) -> Json:
    """A template whose pods must be beside pods like themselves, by that topology key."""
    stated = {"topologyKey": key, "labelSelector": {"matchLabels": MINE}} | term
    return template(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [stated]}})


def away(key: str) -> Json:
    """A template whose pods keep away from each other by that topology key."""
    terms = [{"topologyKey": key, "labelSelector": {"matchLabels": MINE}}]
    return template(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


@pytest.mark.parametrize(
    ("found", "clause"),
    [
        pytest.param(template(TOGETHER), TOGETHER, id="hostColocation"),
        pytest.param(template(annotations=SAME_NODE), "uniform all-same-node", id="uniform"),
        pytest.param(template(annotations={keys.RUN_WITH: "app=ds"}), "run-with app=ds", id="run-with"),
        pytest.param(
            beside(keys.HOSTNAME), "the pod's own pod affinity on kubernetes.io/hostname", id="its own affinity"
        ),
    ],
)
def test_pods_that_must_share_a_node_are_refused(found: Json, clause: str) -> None:
    refused = decision(found, app="ds")
    assert (refused.refused, refused.fault, refused.message) == (
        True,
        Fault.INVALID,
        (
            f"{clause} and one pod on every node cannot both hold: 1 of 3 pods can run.\n"
            f"Nearest fix: use a Deployment, add a nodeSelector that one node meets, or drop {clause}."
        ),
    )


@pytest.mark.parametrize(
    ("machines", "fix"),
    [
        (
            [{ZONE: "a"}, {}],
            "use a Deployment, add a nodeSelector that one node with the label topology.kubernetes.io/zone meets, or",
        ),
        (
            [{ZONE: "a", "rack": "1"}, {ZONE: "a"}, {}],
            "use a Deployment, add a nodeSelector that one node with the labels topology.kubernetes.io/zone and rack",
        ),
        ([{ZONE: "a", "rack": "1"}, {ZONE: "b", "rack": "1"}], "use a Deployment, add a nodeSelector that one node "),
        ([{}], "drop the pod's own pod affinity on topology.kubernetes.io/zone"),
    ],
    ids=["one label", "two labels", "nodes with all labels", "no node with a label"],
)
def test_the_node_that_is_to_be_selected_has_the_labels_of_the_place(machines: list[dict[str, str]], fix: str) -> None:
    """A node without the label is in no place where pods could be beside one another."""
    there = cluster([node(f"node-{at}", labels=labels) for at, labels in enumerate(machines)])
    terms = [{"topologyKey": key, "labelSelector": {"matchLabels": MINE}} for key in (ZONE, "rack")]
    keys_ = terms if len(machines) > 2 or "rack" in machines[0] else terms[:1]
    found = template(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": keys_}})
    assert decision(found, there, app="ds").message.splitlines()[-1].startswith(f"Nearest fix: {fix}")


def test_every_clause_that_leaves_pods_without_a_node_is_to_be_dropped() -> None:
    found = away(ZONE) | {"metadata": template(annotations=SAME_NODE)["metadata"]}
    assert decision(found, ZONES).message == (
        "uniform all-same-node and one pod on every node cannot both hold: 1 of 4 pods can run.\n"
        "Nearest fix: use a Deployment, add a nodeSelector that one node meets, or drop uniform all-same-node "
        f"and the pod's own anti-affinity on {ZONE}."
    )


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(template(TOGETHER, nodeSelector={keys.HOSTNAME: "node-b"}), id="hostColocation"),
        pytest.param(template(annotations=SAME_NODE, nodeSelector={keys.HOSTNAME: "node-b"}), id="uniform"),
        pytest.param(template(TOGETHER, annotations={keys.PREFERRED: "hostColocation"}), id="only a preference"),
        pytest.param(template('hostExlocation("a")'), id="apart"),
        pytest.param(template(annotations={keys.UNIFORM: "all-separate-nodes"}), id="on separate nodes"),
        pytest.param(pod("hostIsolation"), id="isolated as one processing element"),
        pytest.param(template(annotations={keys.RUN_WITH: "app=db"}), id="beside others"),
        pytest.param(template(annotations={keys.RUN_APART_FROM: "app=ds"}), id="apart from itself"),
        pytest.param(away(keys.HOSTNAME), id="its own anti-affinity"),
        pytest.param(away("disk"), id="its own anti-affinity by a label that no node has"),
        pytest.param(beside(keys.HOSTNAME, namespaces=["other"]), id="beside pods of another namespace"),
        pytest.param(beside(keys.HOSTNAME, namespaceSelector={}), id="beside pods of all namespaces"),
        pytest.param(beside(keys.HOSTNAME, labelSelector=None), id="a term about no pod"),
    ],
)
def test_what_every_pod_can_keep_is_admitted(found: Json) -> None:
    assert not decision(found, app="ds").refused


def test_a_selection_that_other_pods_may_meet_is_only_warned_of() -> None:
    found = decision(template(annotations={keys.RUN_WITH: "app=ds"}), app="ds", tier="edge")
    assert (found.refused, found.warnings) == (
        False,
        ("run-with app=ds: the selected pods are not checked; this pod waits until one of them runs where it fits",),
    )


def test_a_selector_without_labels_is_only_warned_of() -> None:
    assert not decision(template(annotations={keys.RUN_WITH: "app=ds"})).refused


@pytest.mark.parametrize(
    ("taint", "refused"),
    [
        pytest.param(CORDON, True, id="cordoned: a DaemonSet runs there"),
        pytest.param(NOT_READY, True, id="not ready: that passes"),
        pytest.param(Taint("dedicated", "x", "NoSchedule"), False, id="closed"),
    ],
)
def test_nodes_count_where_the_controller_makes_pods(taint: Taint, *, refused: bool) -> None:
    assert decision(template(TOGETHER), cluster([node("node-a"), node("node-b", taints=[taint])])).refused is refused


def test_a_node_without_room_does_not_count() -> None:
    inventory = cluster([node("node-a"), node("node-b", cpu=100)])
    assert not decision(template(TOGETHER, requests={"cpu": "1"}), inventory).refused


def test_nodes_count_wherever_the_group_runs_now() -> None:
    key, value = token_label("a")
    inventory = cluster(nodes(3), pods=[bound_pod("node-b", labels={key: value})])
    assert decision(template(TOGETHER), inventory).headline == (
        f"{TOGETHER} and one pod on every node cannot both hold: 1 of 3 pods can run."
    )


def test_a_cordoned_node_is_open_to_a_daemon_set() -> None:
    assert not decision(template(), cluster([node("node-a", taints=[CORDON])])).refused


@pytest.mark.parametrize("network", [True, False])
def test_a_node_without_a_network_is_open_to_pods_of_its_own(network: bool) -> None:  # noqa: FBT001 a parameter
    inventory = cluster([node("node-a", taints=[Taint("node.kubernetes.io/network-unavailable", effect="NoSchedule")])])
    found = decision(template(hostNetwork=network), inventory)
    assert (found.refused, found.wait is None) == (False, network)


def test_one_pod_for_each_zone_leaves_pods_without_a_node() -> None:
    clause = f"the pod's own anti-affinity on {ZONE}"
    refused = decision(away(ZONE), ZONES)
    assert (refused.fault, refused.rules, refused.message) == (
        Fault.INVALID,
        (Rule.OWN_SPREAD, Rule.REPLICAS),
        (
            f"{clause} and one pod on every node cannot both hold: 2 of 4 pods can run.\n"
            "Nearest fix: use a Deployment, or drop the pod's own anti-affinity on topology.kubernetes.io/zone."
        ),
    )


def test_one_zone_for_all_pods_leaves_those_of_other_zones() -> None:
    assert decision(beside(ZONE), ZONES, app="ds").headline == (
        f"the pod's own pod affinity on {ZONE} and one pod on every node cannot both hold: 3 of 4 pods can run."
    )


def test_one_zone_for_all_pods_is_fine_in_a_cluster_of_one() -> None:
    assert not decision(beside(ZONE), cluster([node(name, labels={ZONE: "a"}) for name in "ab"]), app="ds").refused


def test_a_spread_over_zones_keeps_no_pod_of_a_daemon_set_away() -> None:
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    found = template(topologySpreadConstraints=[spread | {"labelSelector": {"matchLabels": MINE}}])
    assert not decision(found, ZONES).refused


def test_nodes_that_a_clause_leaves_out_are_warned_of() -> None:
    key, value = keys.EXLOCATION + keys.digest("a"), "a"
    machines = [*nodes(3), node("node-d", hostname="same"), node("node-e", hostname="same")]
    inventory = cluster(machines, pods=[bound_pod("node-b", labels={key: value}, repels=[(key, value)])])
    found = decision(template('hostExlocation("a")'), inventory)
    assert (found.refused, found.warnings) == (
        False,
        (
            (
                'hostExlocation("a"): 2 nodes have no kubernetes.io/hostname label of their own, 1 node already runs a '
                'pod of hostExlocation("a"); the pods there wait'
            ),
        ),
    )


def test_what_one_pod_is_refused_for_is_said_first() -> None:
    assert decision(template("Host(x)")).message.startswith("metadata.annotations[streams.ibm.com/placement]: ")


def test_nodes_that_no_pod_can_run_on_are_said_as_for_a_pod() -> None:
    found = decision(template(TOGETHER, nodeSelector={"disk": "ssd"}))
    assert (found.fault, found.headline) == (
        Fault.FORBIDDEN,
        "nodeSelector disk=ssd cannot hold: 0 of 3 nodes can run this pod.",
    )
