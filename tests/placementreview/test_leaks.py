"""Nothing that a user may not list is named anywhere in an answer."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
from hypothesis import event, given

from tests.placement.properties.random_choices import RandomChoices, drawn, examples
from tests.placementreview.asked import NOTHING, asked, hostpool, of, streams_job
from tests.scheduling.clusters import CLUSTER_BYTES, RandomCluster
from tests.scheduling.pods import POD_BYTES, asking
from tests.scheduling.state import Cluster, manifests
from tests.scheduling.workloads import WORKLOAD_BYTES, workload
from webhook.placementreview.review import AddedNodes, AddedShape, Visible, WhatIf

Json = Mapping[str, Any]
OBJECT_BYTES = max(POD_BYTES, WORKLOAD_BYTES) + 20
SHAPE = AddedShape(allocatable={"cpu": "64", "memory": "256Gi"}, labels={"case": "zq"})


class Stranger(NamedTuple):
    """Objects of one namespace, in a cluster of which their user may list nothing."""

    cluster: Cluster
    manifests: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        """The cluster and the objects in YAML."""
        return f"{self.cluster!r}# created:{manifests(self.manifests)}"


def stranger(choices: RandomChoices) -> Stranger:
    random_cluster = RandomCluster(choices.part(CLUSTER_BYTES), "zq")
    names, makers = random_cluster.names, (asking, workload, hostpool, streams_job)
    made = []
    for _ in range(2):
        which, part = choices.face(4), choices.part(OBJECT_BYTES)
        found = asking(part, names, 9) if which == 0 else makers[which](part, names)  # type: ignore[operator]
        found = {"apiVersion": "v1", "kind": "Pod", **found}
        found["metadata"]["namespace"] = names.spaces[0]
        made.append(msgspec.json.decode(msgspec.json.encode(found)))
    return Stranger(random_cluster.cluster, tuple(made))


@given(drawn(CLUSTER_BYTES + 2 * OBJECT_BYTES + 2, stranger))
@examples(600)
def test_no_hidden_name_is_told(found: Stranger) -> None:
    what_if = WhatIf(add_nodes=(AddedNodes(2, shape=SHAPE),))
    namespace = found.manifests[0]["metadata"]["namespace"]
    status = asked(
        of(found.cluster), *found.manifests, namespace=namespace, visible=NOTHING, what_if=what_if, plan=True
    )
    said = {*words(msgspec.json.encode(status).decode())}
    known = {*words(msgspec.json.encode(found.manifests).decode())}
    nodes = {node["metadata"]["name"] for node in found.cluster.nodes}
    nodes |= {one["address"] for node in found.cluster.nodes for one in node["status"]["addresses"]}
    pods = {pod["metadata"]["name"] for pod in found.cluster.pods if pod["metadata"]["namespace"] != namespace}
    assert (nodes | pods | {"added-1", "added-2"}) & said <= known
    for result in status.results:
        event(result.verdict)
        assert result.candidates is None or result.candidates.nodes is msgspec.UNSET


def words(text: str) -> list[str]:
    """All runs of characters that names consist of."""
    return re.findall(r"[\w.-]+", text.replace("\\n", " ").replace("\\", " "))


def test_a_patch_with_the_name_of_a_node_is_told_to_those_who_may_list_nodes() -> None:
    cluster = _one_address()
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "annotations": {"streams.ibm.com/placement": 'host("10.9.8.7")'}},
        "spec": {"containers": [{"name": "main", "image": "example.invalid/main"}]},
    }
    [told] = asked(of(cluster), pod).results
    [hidden] = asked(of(cluster), pod, visible=NOTHING).results
    assert "zq-far" in msgspec.json.encode(told).decode()
    assert "zq-far" not in msgspec.json.encode(hidden).decode()
    left = len(told.patch) - len(hidden.patch)
    assert left > 0
    assert hidden.warnings[-1].startswith(f"patch: {left} operation")
    assert hidden.warnings[-1].endswith(" left out: to see names of nodes, you need the right to list nodes")
    assert (told.verdict, told.closed[0].count) == (hidden.verdict, hidden.closed[0].count)


def test_pods_of_other_namespaces_are_counted() -> None:
    cluster = _one_address()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}
    pods = tuple(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{space}-pod", "namespace": space, "uid": space, "ownerReferences": [owner]},
            "spec": {"nodeName": "zq-far", "containers": [{"name": "main"}]},
        }
        for space in ("mine", "theirs")
    )
    cluster = replace(cluster, pods=pods)
    visible = Visible(nodes=True, namespaces=frozenset({"mine"}))
    status = asked(of(cluster), visible=visible, pods=pods, what_if=WhatIf(drain=("zq-far",)))
    assert [(one.name, one.verdict, one.node) for one in status.evicted] == [("mine-pod", "Placed", "zq-near")]
    assert "theirs" not in msgspec.json.encode(status).decode()
    assert msgspec.to_builtins(status.evicted_elsewhere) == {"count": 1, "placed": 1}


def _one_address() -> Cluster:
    """Two nodes, one of which has an address that a pod may name."""
    return Cluster(
        tuple(
            {
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "spec": {},
                "status": {
                    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                    "addresses": [{"type": "InternalIP", "address": address}],
                },
            }
            for name, address in (("zq-near", "10.9.8.6"), ("zq-far", "10.9.8.7"))
        )
    )
