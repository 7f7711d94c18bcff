"""The last line of a refusal: what it names to drop or to change is decided anew, and helps as it says."""

import pytest

from tests.builders import Json, bound_pod, cluster, decided, job, node, nodes, pod, pool, selector
from tests.placement.mapping_annotations import mapping
from tests.placement.spreading_pods import spread
from tests.workload_templates import crowded
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import Phase
from webhook.placement.text import keys

RED, BLUE = pool("Red", tags=["red"]), pool("Blue", tags=["blue"])
BOTH = "A: host(Red); B: host(Blue)"
SLOW = {keys.HARDWARE: "[{name: hw, value: slow}]"}
BY_NAME = {keys.HOST_BINDING: "nodeName"}
FULL = [bound_pod("node-a", job="", requests={"cpu": 7000})]
APART = {keys.EXLOCATION + keys.digest("a"): "a"}
NOBODYS = Taint(keys.EXCLUSIVE, "default.gone", "NoSchedule")
CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
CORES = {"cpu": "16", "memory": "1Gi"}
NOTHING = "no single change helps; the pod needs a node that meets all of it"


def closed(*hosts: str, name: str = "X") -> Json:
    """An exclusive pool of these nodes."""
    return pool(name, size=len(hosts), mode="Exclusive", assigned=hosts)


def term(**term: object) -> Json:
    """An affinity that requires a node of that term."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


ON_A = term(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["node-a"]}])
UNTAGGED = term(matchExpressions=[{"key": keys.TAG, "operator": "DoesNotExist"}])
BETWEEN = [
    {"key": "size", "operator": operator, "values": values}
    for operator, values in (("Gt", ["9"]), ("Lt", ["20"]), ("NotIn", ["10", "19"]))
]
DISK = selector("disk", "Exists")
OLD = {"old": "yes"}
MARK = keys.membership("default", "gone")

FIXES: dict[str, tuple[Json, Inventory, str]] = {
    "the node that the pod names is to be labelled": (
        pod('host("node-a")', nodeSelector={"disk": "hdd"}),
        cluster([node("node-a"), node("node-b", labels={"disk": "hdd"}), node("node-c")]),
        'label node node-a disk=hdd, or drop host("node-a") (1 node would fit)',
    ),
    "the node that the pod is tied to is to be uncordoned": (
        pod('host("node-a")'),
        cluster([node("node-a", taints=[CORDON]), node("node-b")]),
        'uncordon node node-a, or drop host("node-a") (1 node would fit)',
    ),
    "of an address no name is said": (
        pod('host("10.0.0.1")', nodeSelector={"disk": "hdd"}),
        cluster([node("node-a", addresses=["10.0.0.1"]), node("node-b")]),
        "label one more node disk=hdd (only 1 of 2 nodes helps), or drop nodeSelector disk=hdd (1 node would fit)",
    ),
    "nodes with the label that fail the selector are none of those that could be labelled": (
        pod("host(Red)"),
        cluster(
            [node("node-a", labels={keys.TAG: "red", **OLD}), *nodes(4)[1:3], node("node-d", labels=OLD)],
            [pool("Red", tags=["red"], selector=selector("old", "DoesNotExist"))],
        ),
        f"label one more node {keys.TAG}=red (only 2 of 3 nodes help), or drop host(Red) (4 nodes would fit)",
    ),
    "without a host what counts is what nodes have to give": (
        pod('host("node-a")', requests={"cpu": "4"}, annotations=BY_NAME, nodeSelector={"x": "1", "y": "1"}),
        cluster([node()], pods=FULL),
        NOTHING,
    ),
    "without a host free room does not count": (
        pod('host("node-a")', requests={"cpu": "4"}, annotations=BY_NAME),
        cluster(nodes(1), pods=FULL),
        'free cpu 4 on one node, or drop host("node-a") (1 node would fit)',
    ),
    "without a pool one tag is left, and has another label": (
        pod(BOTH, annotations=SLOW),
        cluster([node(labels={f"{keys.TAGS}blue": ""})], [RED, BLUE]),
        NOTHING,
    ),
    "without a pool one tag is left, and its label is there": (
        pod(BOTH, annotations=SLOW),
        cluster([node(labels={keys.TAG: "blue"})], [RED, BLUE]),
        "drop host(Red) and hardware hw=slow (1 node would fit)",
    ),
    "a host that lacks the label of one of several tags": (
        pod(BOTH),
        cluster(
            [node(labels={keys.TAG: "red", f"{keys.TAGS}blue": ""})],
            [pool("Red", tags=["red"], size=1, assigned=["node-a"]), BLUE],
        ),
        "label a host of HostPool Red hostpool.streams.ibm.com/red=true, or drop host(Blue) (1 node would fit)",
    ),
    "two that are to be dropped, and one of them lowered": (
        pod("host(Red)", requests={"cpu": "16"}),
        cluster(nodes(1), [RED]),
        "drop host(Red) and lower requests cpu 16 to cpu 8 (1 node would fit)",
    ),
    "requests, to what the pods of the group leave": (
        pod('hostColocation("t")', requests={"cpu": "16"}),
        cluster(nodes(2), pods=[bound_pod(requests={"cpu": 500}, labels={keys.COLOCATION + keys.digest("t"): "t"})]),
        "lower requests cpu 16 to cpu 7 (1 node would fit)",
    ),
    "requests, to what the other workers leave": (
        pod(
            requests={"cpu": "16"},
            annotations={**mapping("kubernetes.io/hostname", "Exists"), keys.UNIFORM: "all-same-node"},
        ),
        cluster(nodes(2), pods=[bound_pod(requests={"cpu": 1500}, labels={keys.WORKER: "true"})]),
        "lower requests cpu 16 to cpu 6 (1 node would fit)",
    ),
    "requests, without the hosts of an exclusive pool that is to be dropped": (
        pod("host(X)", requests={"cpu": "16"}),
        cluster(nodes(3), [pool("X", size=1, mode="Exclusive", tags=["blue"], assigned=["node-a"])]),
        "drop host(X) and lower requests cpu 16 to cpu 8 (2 nodes would fit)",
    ),
    "no node to add with a label that it must not have": (
        pod(annotations=mapping("cores", "DoesNotExist"), topologySpreadConstraints=spread("cores")),
        cluster([node(labels={"cores": "8"}), node("node-b")]),
        "drop mapping cores DoesNotExist (1 node would fit)",
    ),
    "a label that the expression names already": (
        pod(annotations=mapping("cores", "Gt", "8"), topologySpreadConstraints=spread("cores")),
        cluster([node(labels={"cores": "8"})]),
        "add a node that matches mapping cores Gt 8, or drop mapping cores Gt 8 (1 node would fit)",
    ),
    "the tokens of a group at once": (
        pod('hostColocation("a"), hostColocation("b")'),
        cluster(nodes(2, hostname="x"), jobs=[job({"parallel-0": 'hostColocation("a"), hostColocation("b")'})]),
        'drop hostColocation("a") and hostColocation("b") (2 nodes would fit)',
    ),
    "a requirement, with what the container asks for beyond it": (
        pod(requests={"cpu": "10"}, annotations={keys.HARDWARE: "[{name: cpu, requests: 9}]"}),
        cluster(nodes(2)),
        "add a node with cpu 9 to offer, or lower hardware cpu 9 (2 nodes would fit)",
    ),
    "requests that keep the shape of bound cores": (
        pod(
            annotations={keys.BIND: "true"},
            containers=[
                {"name": "pe", "resources": {"requests": CORES, "limits": CORES}},
                {"name": "side", "resources": {"limits": {"cpu": "500m", "memory": "1Gi", "example.com/x": "0"}}},
            ],
        ),
        cluster(nodes(1)),
        (
            "add a node with cpu 16500m, memory 2Gi to offer, "
            "or lower requests cpu 16500m, memory 2Gi to cpu 7500m (1 node would fit)"
        ),
    ),
    "nothing that bound cores need": (
        pod(annotations={keys.BIND: "true", keys.HARDWARE: "[{name: cpu, requests: 16}, {name: memory, limits: 1}]"}),
        cluster(nodes(1)),
        "add a node with cpu 16 to offer",
    ),
    "bound cores with what they need": (
        pod(
            annotations={keys.BIND: "true", keys.HARDWARE: "[{name: cpu, requests: 16}]"},
            requests={"memory": "1Gi"},
            nodeSelector={keys.HOSTNAME: "node-a"},
        ),
        cluster(nodes(1)),
        "drop hardware cpu 16 and kubernetes.bind.worker.to.cpu (1 node would fit)",
    ),
    "no clause whose label would be left to nobody": (
        pod('hostExlocation("a")', labels=APART),
        cluster(nodes(1), pods=[bound_pod(labels=APART)]),
        NOTHING,
    ),
    "no label that another word forbids": (
        pod(nodeSelector={"zone": "a"}, annotations=mapping("zone", "In", "b")),
        cluster([node(labels={"zone": "b"})]),
        "drop nodeSelector zone=a (1 node would fit)",
    ),
    "a label that another word allows": (
        pod(nodeSelector={"size": "9"}, annotations=mapping("size", "Gt", "8")),
        cluster([node(labels={"size": "10"})]),
        "label one more node size=9, or drop nodeSelector size=9 (1 node would fit)",
    ),
    "no label that is too small for another word": (
        pod(nodeSelector={"size": "9"}, annotations=mapping("size", "Gt", "9")),
        cluster([node(labels={"size": "10"})]),
        "drop nodeSelector size=9 (1 node would fit)",
    ),
    "no label that is too large for another word": (
        pod(nodeSelector={"size": "9"}, annotations=mapping("size", "Lt", "9")),
        cluster([node(labels={"size": "8"})]),
        "drop nodeSelector size=9 (1 node would fit)",
    ),
    "no label that is no number": (
        pod(nodeSelector={"size": "x"}, annotations=mapping("size", "Lt", "9")),
        cluster([node(labels={"size": "8"})]),
        "drop nodeSelector size=x (1 node would fit)",
    ),
    "no node to add with a mark that only hosts have": (
        pod(nodeSelector={MARK: "0"}, requests={"cpu": "16"}),
        cluster([node("node-a", labels={MARK: "0"})]),
        "lower requests cpu 16 to cpu 8 (1 node would fit)",
    ),
    "a node to add with a label above a bound": (
        pod(annotations=mapping("size", "Gt", "8"), requests=CORES),
        cluster([node(labels={"size": "10"})]),
        (
            "add a node with cpu 16, memory 1Gi to offer and the label size=9, "
            "or lower requests cpu 16, memory 1Gi to cpu 8 (1 node would fit)"
        ),
    ),
    "a node to add with a label below a bound": (
        pod(annotations=mapping("size", "Lt", "8"), requests=CORES),
        cluster([node(labels={"size": "5"})]),
        (
            "add a node with cpu 16, memory 1Gi to offer and the label size=7, "
            "or lower requests cpu 16, memory 1Gi to cpu 8 (1 node would fit)"
        ),
    ),
    "no node to add whose label would have to be found between bounds": (
        pod(affinity=term(matchExpressions=BETWEEN), requests=CORES),
        cluster([node(labels={"size": "15"})]),
        "lower requests cpu 16, memory 1Gi to cpu 8 (1 node would fit)",
    ),
    "no label that the pod's own affinity forbids": (
        pod("host(Red)", affinity=UNTAGGED),
        cluster(nodes(1), [RED]),
        "drop host(Red) (1 node would fit)",
    ),
    "no label that one of many in the selector forbids": (
        pod("host(P)", nodeSelector={f"k{at}": "v" for at in range(17)}),
        cluster([node(labels={f"k{at}": "v" for at in range(17)})], [pool("P", selector=selector("k1", "In", "w"))]),
        "drop host(P) (1 node would fit)",
    ),
    "no label that only the controller writes": (
        pod(nodeSelector={MARK: "0"}),
        cluster(nodes(1)),
        f"drop nodeSelector {MARK[:44]}... (1 node would fit)",
    ),
    "no label that only the controller writes, of a pool's selector": (
        pod("host(P)"),
        cluster(nodes(1), [pool("P", selector=selector(MARK, "Exists"))]),
        "drop host(P) (1 node would fit)",
    ),
    "no label that selects the hosts of a pool": (
        pod("host(P)", nodeSelector={"disk": "ssd"}),
        cluster(
            [node(labels={"disk": "hdd"})],
            [pool("P", size=1, selector=selector("disk", "Exists"), phase=Phase.PENDING)],
        ),
        "drop nodeSelector disk=ssd (1 node would fit)",
    ),
    "a node of a label that people do not give": (
        pod(nodeSelector={"kubernetes.io/arch": "arm64"}),
        cluster(nodes(1)),
        (
            "add a node with the label kubernetes.io/arch=arm64, "
            "or drop nodeSelector kubernetes.io/arch=arm64 (1 node would fit)"
        ),
    ),
    "no node of a host name that there is": (
        pod(nodeSelector={keys.HOSTNAME: "node-b", "x": "1"}),
        cluster([node("node-a", labels={"x": "1"}), node("node-b")]),
        "label one more node x=1, or drop nodeSelector kubernetes.io/hostname=node-b (1 node would fit)",
    ),
    "no node beside those of a pool": (
        pod('A: host("gone"); B: host(P)'),
        cluster(nodes(1), [pool("P", size=1, assigned=["node-a"])]),
        'drop host("gone") (1 node would fit)',
    ),
    "no node where the pod's own affinity names one": (
        pod('host("gone")', affinity=ON_A),
        cluster(nodes(1)),
        'drop host("gone") (1 node would fit)',
    ),
    "no room on a node that never had it": (
        pod('host("node-a")', requests={"cpu": "16"}, annotations=BY_NAME),
        cluster(nodes(1)),
        "lower requests cpu 16 to cpu 8 (1 node would fit)",
    ),
    "an exclusive pool less": (
        pod(),
        cluster(nodes(1), [closed("node-a")]),
        "delete the exclusive HostPool that holds such a node",
    ),
    "no pool less where two hold the node": (
        pod(),
        cluster(nodes(1), [closed("node-a"), closed("node-a", name="Y")]),
        NOTHING,
    ),
    "a taint of nobody less": (
        pod(),
        cluster(nodes(1, taints=[NOBODYS])),
        "remove the taint streams.ibm.com/exclusive from such a node",
    ),
    "neither pool nor taint where it would take both": (
        pod(),
        cluster(nodes(1, taints=[NOBODYS]), [closed("node-a")]),
        NOTHING,
    ),
    "more eligible nodes, where there are enough": (
        pod("host(P)"),
        cluster(nodes(2), [pool("P", size=2, tags=["x"], phase=Phase.PENDING)]),
        "make more nodes eligible for HostPool P, or drop host(P) (2 nodes would fit)",
    ),
    "no eligible nodes where there are too few": (
        pod("host(P)"),
        cluster(nodes(2), [pool("P", size=3, tags=["x"], phase=Phase.PENDING)]),
        "drop host(P) (2 nodes would fit)",
    ),
    "no eligible nodes beside an exclusive pool": (
        pod("A: host(P); B: host(X)"),
        cluster(nodes(2), [pool("P", size=1, tags=["x"], phase=Phase.PENDING), closed("node-a")]),
        "drop host(P) (1 node would fit)",
    ),
    "a pod that says nothing else": (
        {"metadata": {"annotations": {keys.PLACEMENT: 'host("gone")'}}},
        cluster(nodes(1)),
        'add a node named gone, or drop host("gone") (1 node would fit)',
    ),
}


@pytest.mark.parametrize(("found", "inventory", "expected"), FIXES.values(), ids=FIXES)
def test_the_nearest_fix_is(found: Json, inventory: Inventory, expected: str) -> None:
    assert decided(found, inventory).message.rpartition("\n")[2] == f"Nearest fix: {expected}."


def test_a_label_in_the_way_comes_before_the_lack_of_a_node() -> None:
    """With another label there the pod could not be made whatever else changes."""
    label = {keys.EXLOCATION + keys.digest("a"): "b"}
    assert decided(pod('hostExlocation("a"), host("gone")', labels=label), cluster(nodes(1))).message == (
        "metadata.labels[streams.ibm.com/hostexlocation.86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8]: "
        'is "b", but hostExlocation("a") needs "a"; leave this label to the webhook'
    )


def test_no_larger_pool_is_proposed_where_the_pod_names_its_node_too() -> None:
    given = pool("P", size=2, assigned=["node-a", "node-b"])
    message = crowded('host(P), hostExlocation("a")', 2, cluster(nodes(2), [given]), affinity=ON_A).message
    assert message == (
        'hostExlocation("a"), the pod\'s node affinity and replicas 2 cannot all hold: '
        "1 of 2 pods fits on 1 of 2 nodes.\n"
        "  1 node does not match the pod's own node affinity\n"
        'Nearest fix: lower replicas to 1, or drop hostExlocation("a") (2 of 2 would fit).'
    )


def test_of_very_many_clauses_the_one_that_keeps_nodes_closed_is_found() -> None:
    """Not all of them are tried: those first without which most nodes would be open."""
    tokens = ", ".join(f'hostExlocation("t{at:02}")' for at in range(30))
    held = [bound_pod(name, labels={keys.EXLOCATION + keys.digest("t29"): "t29"}) for name in ("node-a", "node-b")]
    assert decided(pod(tokens), cluster(nodes(2), pods=held)).message == (
        'hostExlocation("t29") cannot hold: 0 of 2 nodes can run this pod.\n'
        '  2 nodes already run a pod of hostExlocation("t29")\n'
        'Nearest fix: drop hostExlocation("t29") (2 nodes would fit).'
    )
