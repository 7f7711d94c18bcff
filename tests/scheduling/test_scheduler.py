"""The model of kube-scheduler, against facts that Kubernetes documents: one a test."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.scheduling.amounts import completed, requested
from tests.scheduling.scheduler import possible
from tests.scheduling.state import Cluster

Json = Mapping[str, Any]
Object = dict[str, Any]

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DAMP = {"key": "damp", "value": "yes", "effect": "NoSchedule"}


def node(
    name: str, *, taints: tuple[Json, ...] = (), cordoned: bool = False, room: Mapping[str, Any] = {}, **labels: str
) -> Object:
    """A node in zone ``z``, of 4 cores and 10 pods, unless it is said otherwise."""
    own = {HOST: name, ZONE: "z", **{key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}}
    return {
        "metadata": {"name": name, "labels": {key: value for key, value in own.items() if value}},
        "spec": {"taints": list(taints), "unschedulable": cordoned},
        "status": {"allocatable": {"cpu": "4", "pods": "10", **room}},
    }


def pod(name: str = "new", *, on: str = "", space: str = "s", size: Mapping[str, Any] = {}, **rest: Any) -> Object:
    """A pod; ``labels`` and ``phase`` are its own, everything else is of its spec."""
    labels, phase = rest.pop("labels", {}), rest.pop("phase", "Running" if on else "Pending")
    metadata = {"name": name, "namespace": space, "labels": labels, **rest.pop("metadata", {})}
    spec = {"containers": [{"name": "c", "resources": size}], **({"nodeName": on} if on else {}), **rest}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def cluster(*pods: Json, nodes: tuple[Json, ...] = (node("a"), node("b", topology_kubernetes_io__zone="y"))) -> Cluster:
    return Cluster(nodes, pods, namespaces={"s": {"team": "s"}, "t": {"team": "t"}})


def term(value: str = "x", key: str = HOST, **more: Any) -> Object:
    return {"labelSelector": {"matchLabels": {"app": value}}, "topologyKey": key, **more}


def near(*terms: Json) -> Object:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def away(*terms: Json) -> Object:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def on_nodes(*terms: Json) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def expressed(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def spread(key: str = HOST, skew: int = 1, **more: Any) -> list[Object]:
    selector = {"matchLabels": {"app": "x"}}
    one = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return [one | more]


X, Y = {"labels": {"app": "x"}}, {"labels": {"app": "y"}}
TAINTED = (node("a", taints=(DAMP,)), node("b", topology_kubernetes_io__zone="y"))
NAMELESS = (node("a", kubernetes_io__hostname=""), node("b"))
ALIKE = (node("a", kubernetes_io__hostname="h"), node("b", kubernetes_io__hostname="h"), node("c"))
TOLERANT = {"tolerations": [{"key": "damp", "operator": "Exists"}]}

FACTS: dict[str, tuple[Object, Cluster, list[str]]] = {
    "nothing said, every node": (pod(), cluster(), ["a", "b"]),
    "nodeName is the node": (pod(nodeName="b"), cluster(), ["b"]),
    "a cordon keeps away": (pod(), cluster(nodes=(node("a", cordoned=True), node("b"))), ["b"]),
    "a cordon is tolerated as its taint": (
        pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]),
        cluster(nodes=(node("a", cordoned=True),)), ["a"]),
    "a taint keeps away": (pod(), cluster(nodes=TAINTED), ["b"]),
    "PreferNoSchedule keeps nobody away": (
        pod(), cluster(nodes=(node("a", taints=({**DAMP, "effect": "PreferNoSchedule"},)),)), ["a"]),
    "a toleration of the key opens": (pod(**TOLERANT), cluster(nodes=TAINTED), ["a", "b"]),
    "a toleration of another value does not": (
        pod(tolerations=[{"key": "damp", "value": "no"}]), cluster(nodes=TAINTED), ["b"]),
    "a toleration of another effect does not": (
        pod(tolerations=[{"key": "damp", "operator": "Exists", "effect": "NoExecute"}]), cluster(nodes=TAINTED), ["b"]),
    "a toleration of everything opens": (pod(tolerations=[{"operator": "Exists"}]), cluster(nodes=TAINTED), ["a", "b"]),
    "nodeSelector": (pod(nodeSelector={ZONE: "y"}), cluster(), ["b"]),
    "terms are alternatives": (
        pod(affinity=on_nodes(expressed(ZONE, "In", "y"), expressed(ZONE, "In", "z"))), cluster(), ["a", "b"]),
    "an empty term matches nothing": (pod(affinity=on_nodes({}, expressed(ZONE, "In", "y"))), cluster(), ["b"]),
    "a term that cannot be parsed matches nothing": (
        pod(affinity=on_nodes(expressed("g", "Gt", "x"), expressed("g", "Exists"))),
        cluster(nodes=(node("a", g="7"), node("b"))), ["a"]),
    "Gt takes 64 bits": (
        pod(affinity=on_nodes(expressed("g", "Lt", "9223372036854775808"))), cluster(nodes=(node("a", g="7"),)), []),
    "Gt is false of what is no number": (
        pod(affinity=on_nodes(expressed("g", "Gt", "1"))), cluster(nodes=(node("a", g="1.5"), node("b", g="2"))),
        ["b"]),
    "NotIn holds where the key is absent": (
        pod(affinity=on_nodes(expressed("g", "NotIn", "7"))), cluster(nodes=(node("a", g="7"), node("b"))), ["b"]),
    "a preference that cannot be parsed fails where there is a choice": (
        pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": expressed("g", "Gt", "1.5")}]}}),
        cluster(), []),
    "and is not looked at where there is none": (
        pod(nodeSelector={ZONE: "y"}, affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": expressed("g", "Gt", "1.5")}]}}),
        cluster(), ["b"]),
    "too little room": (
        pod(size={"requests": {"cpu": "3"}}), cluster(pod("o", on="a", size={"requests": {"cpu": "1001m"}})), ["b"]),
    "just enough room": (
        pod(size={"requests": {"cpu": "3"}}), cluster(pod("o", on="a", size={"requests": {"cpu": "1"}})), ["a", "b"]),
    "a finished pod takes no room": (
        pod(size={"requests": {"cpu": "4"}}),
        cluster(pod("o", on="a", size={"requests": {"cpu": "4"}}, phase="Succeeded")), ["a", "b"]),
    "a pod that is being deleted does": (
        pod(size={"requests": {"cpu": "4"}}),
        cluster(pod("o", on="a", size={"limits": {"cpu": "4"}}, metadata={"deletionTimestamp": "now"})), ["b"]),
    "pods are counted": (pod(), cluster(pod("o", on="a"), nodes=(node("a", room={"pods": "1"}), node("b"))), ["b"]),
    "a device that the node has none of": (pod(size={"limits": {"x/gpu": "1"}}), cluster(), []),
    "a host port that is taken": (
        pod(containers=[{"name": "c", "ports": [{"hostPort": 80}]}]),
        cluster(pod("o", on="a", containers=[{"name": "c", "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}])),
        ["b"]),
    "a host port of another address": (
        pod(containers=[{"name": "c", "ports": [{"hostPort": 80, "hostIP": "10.0.0.2"}]}]),
        cluster(pod("o", on="a", containers=[{"name": "c", "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}]}])),
        ["a", "b"]),
    "a host port of another protocol": (
        pod(containers=[{"name": "c", "ports": [{"hostPort": 80, "protocol": "UDP"}]}]),
        cluster(pod("o", on="a", containers=[{"name": "c", "ports": [{"hostPort": 80}]}])), ["a", "b"]),
    "affinity is met beside the other": (pod(affinity=near(term())), cluster(pod("o", on="b", **X)), ["b"]),
    "affinity is met in the other's zone": (
        pod(affinity=near(term(key=ZONE))), cluster(pod("o", on="a", **X), nodes=(node("a"), node("b"))), ["a", "b"]),
    "affinity waits for a pod that matches": (pod(affinity=near(term())), cluster(), []),
    "affinity to itself lets the first go anywhere": (pod(affinity=near(term()), **X), cluster(), ["a", "b"]),
    "but only where the topology key is": (pod(affinity=near(term()), **X), cluster(nodes=NAMELESS), ["b"]),
    "and only the first": (pod(affinity=near(term()), **X), cluster(pod("o", on="a", **X)), ["a"]),
    "one neighbour must meet all terms": (
        pod(affinity=near(term("x"), term("y"))), cluster(pod("o", on="a", **X), pod("p", on="a", **Y)), []),
    "terms of two topologies, met by one pod": (
        pod(affinity=near(term("x"), term("x", ZONE))), cluster(pod("o", on="a", **X)), ["a"]),
    "a pod of another namespace is not meant": (
        pod(affinity=near(term())), cluster(pod("o", on="b", space="t", **X)), []),
    "unless its namespace is named": (
        pod(affinity=near(term(namespaces=["t"]))), cluster(pod("o", on="b", space="t", **X)), ["b"]),
    "or selected": (
        pod(affinity=near(term(namespaceSelector={"matchLabels": {"team": "t"}}))),
        cluster(pod("o", on="b", space="t", **X)), ["b"]),
    "a namespace that is named excludes one's own": (
        pod(affinity=near(term(namespaces=["t"]))), cluster(pod("o", on="b", **X)), []),
    "no selector selects nothing": (
        pod(affinity=near({"topologyKey": HOST})), cluster(pod("o", on="b", **X)), []),
    "matchLabelKeys narrow to the pod's own value": (
        pod(affinity=near(term(matchLabelKeys=["v"])), labels={"v": "2"}),
        cluster(pod("o", on="a", labels={"app": "x", "v": "1"}), pod("p", on="b", labels={"app": "x", "v": "2"})),
        ["b"]),
    "mismatchLabelKeys to any other": (
        pod(affinity=near(term(mismatchLabelKeys=["v"])), labels={"v": "2"}),
        cluster(pod("o", on="a", labels={"app": "x", "v": "1"}), pod("p", on="b", labels={"app": "x", "v": "2"})),
        ["a"]),
    "anti-affinity keeps away": (pod(affinity=away(term())), cluster(pod("o", on="a", **X)), ["b"]),
    "any term of anti-affinity keeps away": (
        pod(affinity=away(term("y"), term("x"))), cluster(pod("o", on="a", **X)), ["b"]),
    "anti-affinity of the other keeps away, too": (pod(**X), cluster(pod("o", on="a", affinity=away(term()))), ["b"]),
    "a pod that is being deleted still does": (
        pod(affinity=away(term())), cluster(pod("o", on="a", metadata={"deletionTimestamp": "now"}, **X)), ["b"]),
    "anti-affinity sees nobody where the key is missing": (
        pod(affinity=away(term())), cluster(pod("o", on="a", **X), nodes=NAMELESS), ["a", "b"]),
    "nodes of one host name are one": (
        pod(affinity=away(term())), cluster(pod("o", on="a", **X), nodes=ALIKE), ["c"]),
    "spread counts pods that match": (
        pod(topologySpreadConstraints=spread(), **X), cluster(pod("o", on="a", **X)), ["b"]),
    "spread of a pod that does not match itself": (
        pod(topologySpreadConstraints=spread()), cluster(pod("o", on="a", **X)), ["a", "b"]),
    "a wider skew": (pod(topologySpreadConstraints=spread(skew=2), **X), cluster(pod("o", on="a", **X)), ["a", "b"]),
    "ScheduleAnyway keeps nobody away": (
        pod(topologySpreadConstraints=spread(whenUnsatisfiable="ScheduleAnyway"), **X), cluster(pod("o", on="a", **X)),
        ["a", "b"]),
    "spread needs the label": (pod(topologySpreadConstraints=spread(), **X), cluster(nodes=NAMELESS), ["b"]),
    "a pod that is being deleted is not spread from": (
        pod(topologySpreadConstraints=spread(), **X),
        cluster(pod("o", on="a", metadata={"deletionTimestamp": "now"}, **X)), ["a", "b"]),
    "nodes that the pod cannot choose are no domain": (
        pod(topologySpreadConstraints=spread(), nodeSelector={ZONE: "z"}, **X), cluster(pod("o", on="a", **X)), ["a"]),
    "unless it is said that they are": (
        pod(topologySpreadConstraints=spread(nodeAffinityPolicy="Ignore"), nodeSelector={ZONE: "z"}, **X),
        cluster(pod("o", on="a", **X)), []),
    "tainted nodes are a domain": (
        pod(topologySpreadConstraints=spread(), **X), cluster(pod("o", on="b", **X), nodes=TAINTED), []),
    "unless taints are honoured": (
        pod(topologySpreadConstraints=spread(nodeTaintsPolicy="Honor"), **X),
        cluster(pod("o", on="b", **X), nodes=TAINTED), ["b"]),
    "fewer domains than minDomains, and the least counts as none": (
        pod(topologySpreadConstraints=spread(minDomains=3), **X),
        cluster(pod("o", on="a", **X), pod("p", on="b", **X)), []),
    "matchLabelKeys spread revisions apart": (
        pod(topologySpreadConstraints=spread(matchLabelKeys=["v"]), labels={"app": "x", "v": "2"}),
        cluster(pod("o", on="a", labels={"app": "x", "v": "1"})), ["a", "b"]),
    "an empty selector counts nobody but the pod": (
        pod(topologySpreadConstraints=spread(labelSelector={}), **X), cluster(pod("o", on="a", **X)), ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS)
def test_where_a_pod_can_be_bound(fact: str) -> None:
    created, there, expected = FACTS[fact]
    assert possible(created, there) == expected


def sized(**amounts: str) -> Object:
    return {"resources": {"requests": amounts}}


REQUESTS: dict[str, tuple[Object, dict[str, int]]] = {
    "containers add up": (
        {"containers": [sized(cpu="1"), sized(cpu="500m", memory="1Ki")]}, {"cpu": 1500, "memory": 1024}),
    "limits are requests where none are": ({"containers": [{"resources": {"limits": {"cpu": "1"}}}]}, {"cpu": 1000}),
    "the largest init container counts if it is more": (
        {"containers": [sized(cpu="1")], "initContainers": [sized(cpu="3"), sized(cpu="2", memory="1")]},
        {"cpu": 3000, "memory": 1}),
    "sidecars add to containers": (
        {"containers": [sized(cpu="1")], "initContainers": [{**sized(cpu="2"), "restartPolicy": "Always"}]},
        {"cpu": 3000}),
    "and to init containers after them": (
        {"containers": [sized(cpu="1")],
         "initContainers": [sized(cpu="4"), {**sized(cpu="2"), "restartPolicy": "Always"}, sized(cpu="3")]},
        {"cpu": 5000}),
    "overhead comes on top": ({"containers": [sized(cpu="1")], "overhead": {"cpu": "250m"}}, {"cpu": 1250}),
    "the pod's own requests count instead": (
        {"containers": [sized(cpu="1", memory="1")], "resources": {"requests": {"cpu": "2"}}},
        {"cpu": 2000, "memory": 1}),
    "a limit of the pod is its request where no container has one": (
        {"containers": [{}], "resources": {"limits": {"cpu": "2"}}}, {"cpu": 2000}),
    "not where one has": ({"containers": [sized(cpu="1")], "resources": {"limits": {"cpu": "2"}}}, {"cpu": 1000}),
    "amounts are rounded up at the end": ({"containers": [sized(cpu="0.1m"), sized(cpu="0.2m")]}, {"cpu": 1}),
}  # fmt: skip


@pytest.mark.parametrize("fact", REQUESTS)
def test_what_a_pod_requests(fact: str) -> None:
    spec, expected = REQUESTS[fact]
    assert requested({"spec": spec}) == expected


@pytest.mark.parametrize("fact", REQUESTS)
def test_what_the_api_server_fills_in_changes_nothing(fact: str) -> None:
    spec, expected = REQUESTS[fact]
    assert requested(completed({"spec": spec})) == expected


def test_requests_are_filled_in_once() -> None:
    """A request that a container gets later does not lower that of the whole pod."""
    spec = completed({"spec": {"containers": [{"name": "c"}], "resources": {"limits": {"cpu": "3"}}}})["spec"]
    spec["containers"] = [{"name": "c", **sized(cpu="1")}]
    assert requested({"spec": spec}) == {"cpu": 3000}
