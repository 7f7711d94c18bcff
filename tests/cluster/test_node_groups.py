"""Node groups of autoscalers, from snapshots and watches."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Raw

from tests.cluster.objects import Recorder, listed, node
from webhook.app.cluster_source import watched_kinds
from webhook.cluster.objects.kinds import KINDS, NODE_CLAIMS, NODE_GROUPS, AnyKind
from webhook.cluster.objects.report import Finding, Report
from webhook.cluster.snapshot.snapshot import read_snapshot
from webhook.cluster.watch.store import Store
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.settings import read

POOL: Final = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "spot"},
    "spec": {"limits": {"cpu": 10}},
    "status": {"resources": {"cpu": "4"}},
}
SIZES: Final = {
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": "0",
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "5",
    "capacity.cluster-autoscaler.kubernetes.io/cpu": "8",
}


def machines(kind: str = "MachineDeployment", version: str = "v1beta2", **metadata: Any) -> dict[str, Any]:
    """An object of Cluster API with three machines, which may have five."""
    template = {"metadata": {"labels": {"node-role.kubernetes.io/worker": ""}}}
    return {
        "apiVersion": f"cluster.x-k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": "workers", "namespace": "capi", "annotations": SIZES} | metadata,
        "spec": {"replicas": 3, "template": template},
    }


def recorded(folder: Path, *objects: Any) -> tuple[list[NodeGroup], Report]:
    """The groups of a snapshot of a node and these objects."""
    (folder / "all.json").write_text(json.dumps(listed(node(), *objects)))
    sink = Recorder()
    report = read_snapshot(folder, sink)
    return sink.node_groups.with_shapes(()), report


def test_each_kind_of_groups_is_read_from_a_snapshot(tmp_path: Path) -> None:
    groups, report = recorded(
        tmp_path, POOL, machines(), machines("MachineSet", "v1beta1"), machines("MachinePool", namespace=None)
    )
    assert [(str(group), group.namespace, dict(group.remaining), group.count) for group in groups] == [
        ("MachineDeployment workers", "capi", {}, 2),
        ("MachinePool workers", "default", {}, 2),
        ("MachineSet workers", "capi", {}, 2),
        ("NodePool spot", "", {"cpu": 6000}, None),
    ]
    assert sorted(groups[0].labels) == ["node-role.kubernetes.io/worker"]
    assert "1 NodePool, 1 MachineDeployment, 1 MachineSet, 1 MachinePool" in str(report)


@pytest.mark.parametrize(
    ("status", "count"), [({"readyReplicas": 1}, 4), ({"replicas": 3}, 5), ({"readyReplicas": 3}, 2)]
)
def test_machines_that_are_no_nodes_yet_are_read_from_the_status(
    tmp_path: Path, status: dict[str, int], count: int
) -> None:
    groups, _ = recorded(tmp_path, machines() | {"status": status})
    assert [group.count for group in groups] == [count]


def test_machine_sets_of_a_deployment_and_objects_that_are_not_scaled_are_no_groups(tmp_path: Path) -> None:
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "name": "workers", "uid": "u"}
    fixed = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachinePool", "metadata": {"name": "fixed"}}
    groups, report = recorded(tmp_path, machines("MachineSet", ownerReferences=[owner]), fixed)
    assert groups == []
    assert report.ignored == 2


def test_a_group_that_is_being_deleted_makes_no_nodes(tmp_path: Path) -> None:
    ending = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    bare = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "bare"} | ending}
    groups, _ = recorded(tmp_path, machines(**ending), bare)
    assert [group.closed for group in groups] == ["is being deleted"] * 2


def test_a_group_without_a_name_is_skipped_and_an_odd_annotation_noted(tmp_path: Path) -> None:
    odd = SIZES | {"capacity.cluster-autoscaler.kubernetes.io/memory": "much"}
    _, report = recorded(tmp_path, machines(annotations=odd), {"apiVersion": "karpenter.sh/v1", "kind": "NodePool"})
    assert [str(finding) for finding in (*report.noted, *report.skipped)] == [
        (
            "all.json: MachineDeployment capi/workers: the capacity annotation of memory is not a quantity, so the "
            "amount is not known"
        ),
        "all.json: NodePool number 3: metadata.name: missing",
    ]


@pytest.mark.parametrize(
    ("kind", "found", "key"),
    [
        pytest.param(kind, POOL if kind.name == "NodePool" else machines(kind.name),
                     "spot" if kind.name == "NodePool" else "capi/workers", id=kind.name)
        for kind in NODE_GROUPS
        if kind is not NODE_CLAIMS
    ],
)  # fmt: skip
def test_a_watched_group_comes_and_goes(kind: AnyKind, found: dict[str, Any], key: str) -> None:
    told: list[Finding] = []
    sink = Recorder()
    store = Store(kind, sink, told.append)
    store.put(Raw(json.dumps(found).encode()))
    assert len(sink.node_groups.with_shapes(())) == 1
    assert list(store.known) == [key]
    store.remove(key)
    assert sink.node_groups.with_shapes(()) == []
    assert told == []


def test_an_object_that_is_no_longer_scaled_is_not_a_group() -> None:
    sink = Recorder()
    store = Store(NODE_GROUPS[2], sink, lambda _: None)
    for found in (machines(), machines(annotations={})):
        store.put(Raw(json.dumps(found).encode()))
    assert sink.node_groups.with_shapes(()) == []


def test_groups_are_watched_only_with_the_setting() -> None:
    assert watched_kinds(read({})) == KINDS
    assert watched_kinds(read({"scale_up": "auto"})) == (*KINDS, *NODE_GROUPS)


def claim(name: str, *, pool: str | None = "spot", joined: bool = True, **metadata: Any) -> dict[str, Any]:
    """A NodeClaim for a machine of 3 cores."""
    labels = {} if pool is None else {"karpenter.sh/nodepool": pool}
    status = {"capacity": {"cpu": "3", "example.com/odd": "many"}, "nodeName": "n" if joined else ""}
    found = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": labels} | metadata,
    }
    return found | {"status": status}


@pytest.mark.parametrize(
    ("claims", "left"),
    [
        pytest.param([], 6000, id="none, so the NodePool says it"),
        pytest.param([claim("a")], 7000, id="one that has joined"),
        pytest.param([claim("a"), claim("b", joined=False)], 7000, id="one that is yet to join"),
        pytest.param([claim("a", deletionTimestamp="2026-01-01T00:00:00Z")], 10_000, id="one that is going"),
        pytest.param([claim("a", pool="other")], 10_000, id="one of another NodePool"),
        pytest.param([claim("a", pool=None)], 6000, id="one of no NodePool"),
    ],
)
def test_what_is_used_of_a_node_pool_its_claims_say(claims: list[Any], left: int, tmp_path: Path) -> None:
    """Whether they come before it or after it."""
    for objects in ([POOL, *claims], [*claims, POOL]):
        [group], report = recorded(tmp_path, *objects)
        assert group.remaining == {"cpu": left}
        assert not report.skipped


def test_claims_come_and_go_under_watch() -> None:
    """With a list of them, none are none; where they may not be read, the NodePool says what is used."""
    sink = Recorder()
    pools, claims = (Store(kind, sink, lambda _: None) for kind in (NODE_GROUPS[0], NODE_CLAIMS))
    limits = {"cpu": 10, "nodes": 2}
    pools.put(Raw(json.dumps({**POOL, "spec": {"limits": limits}}).encode()))

    def left() -> tuple[int, int | None]:
        [group] = sink.node_groups.with_shapes(())
        return group.remaining["cpu"], group.count

    assert left() == (6000, 2)
    claims.listed(readable=True)
    assert left() == (10_000, 2)
    claims.put(Raw(json.dumps(claim("a", joined=False)).encode()))
    assert left() == (10_000, 2)
    claims.put(Raw(json.dumps(claim("a")).encode()))
    before = sink.node_groups.version
    claims.put(Raw(json.dumps(claim("a")).encode()))
    assert (left(), sink.node_groups.version) == ((7000, 1), before)
    claims.put(Raw(json.dumps(claim("b")).encode()))
    assert left() == (4000, 0)
    claims.remove("b")
    assert left() == (7000, 1)
    pools.remove("spot")
    claims.remove("a")
    claims.listed(readable=False)
    assert sink.node_groups.with_shapes(()) == []
