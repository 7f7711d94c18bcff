"""NodePools of Karpenter as node groups."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.label_values import ABSENT
from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_pool import NodePoolSpec, node_pool

SPOT = {
    "template": {
        "metadata": {"labels": {"team": "streams", "beta.kubernetes.io/arch": "arm64"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [
                {"key": "disktype", "operator": "In", "values": ["hdd", "ssd"]},
                {"key": "disktype", "operator": "NotIn", "values": ["ssd"]},
                {"key": "example.com/rack", "operator": "Exists"},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lt", "values": ["17"]},
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["a", "b"], "minValues": 2},
            ],
            "taints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
            "startupTaints": [{"key": "cni", "effect": "NoSchedule"}],
        },
    },
    "limits": {"cpu": "100", "memory": "1000Gi", "nodes": "10", "example.com/odd": "many"},
    "weight": 7,
}


def read(spec: dict[str, Any], used: Mapping[str, Any] = {}, *, ending: bool = False) -> NodeGroup:
    """The NodePool ``spot`` with that spec as a group."""
    return node_pool("spot", msgspec.convert(spec, NodePoolSpec), used, ending=ending)


def test_a_node_pool_as_a_group() -> None:
    """Requirements on one label are joined, older keys of labels are the newer ones, startup taints are left out."""
    group = read(SPOT, {"cpu": "97500m", "memory": "100Gi", "nodes": "8"})
    assert {key: str(values) for key, values in group.labels.items()} == {
        "disktype": "hdd",
        "example.com/rack": "any value",
        "karpenter.k8s.aws/instance-cpu": "16 or less",
        "node.kubernetes.io/instance-type": "a, b",
        "team": "streams",
        "kubernetes.io/arch": "arm64",
        "karpenter.sh/nodepool": "spot",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
    }
    assert group.labels["node.kubernetes.io/instance-type"].distinct == 2
    assert group.taints == (Taint("spot", "true", "NoSchedule"),)
    assert group.remaining == {"cpu": 2500, "memory": 900 * 2**30}
    assert (str(group), group.count, group.weight, group.closed) == ("NodePool spot", 2, 7, "")


def test_a_node_pool_that_says_nothing() -> None:
    """It makes nodes with the labels of Karpenter alone."""
    group = read({})
    assert sorted(group.labels) == ["karpenter.sh/initialized", "karpenter.sh/nodepool", "karpenter.sh/registered"]
    assert (group.taints, group.remaining, group.count, group.weight, group.closed) == ((), {}, None, 0, "")


@pytest.mark.parametrize(
    ("spec", "used", "ending", "closed"),
    [
        pytest.param({}, {}, True, "is being deleted", id="deleted"),
        pytest.param({"replicas": 3}, {}, False, "has a fixed number of nodes (3)", id="static"),
        pytest.param({"limits": {"cpu": 4}}, {"cpu": "4"}, False, "has reached its limit of cpu 4", id="limit"),
        pytest.param({"limits": {"example.com/gpu": 0}}, {}, False, "", id="none of what machines need not have"),
        pytest.param(
            {"limits": {"example.com/gpu": 1}},
            {"example.com/gpu": "2"},
            False,
            "has reached its limit of example.com/gpu 1",
            id="beyond a limit",
        ),
        pytest.param({"limits": {"nodes": "2"}}, {"nodes": 2}, False, "has reached its limit of 2 nodes", id="nodes"),
        pytest.param({"limits": {"nodes": 1}}, {"nodes": "1"}, False, "has reached its limit of 1 node", id="a node"),
        pytest.param({"limits": {"nodes": "2"}}, {"nodes": 1}, False, "", id="one more node"),
    ],
)
def test_node_pools_that_make_no_nodes(
    spec: dict[str, Any], used: dict[str, Any], closed: str, *, ending: bool
) -> None:
    """The reason is a predicate of the NodePool."""
    assert read(spec, used, ending=ending).closed == closed


@pytest.mark.parametrize(
    ("key", "closed"),
    [
        ("example.com/rack", "has minValues of example.com/rack, which is not a label of machines"),
        ("karpenter.sh/capacity-type", ""),
        ("karpenter-ibm.sh/instance-family", ""),
        ("beta.kubernetes.io/instance-type", ""),
    ],
)
def test_min_values_count_values_of_machines(key: str, closed: str) -> None:
    needs = [{"key": key, "operator": "Exists", "minValues": 1}]
    assert read({"template": {"spec": {"requirements": needs}}}).closed == closed


def test_requirements_that_exclude_one_another() -> None:
    """Karpenter then makes nodes without the label; without a label of machines there are no nodes."""
    both = [{"operator": "In", "values": ["a"]}, {"operator": "In", "values": ["b"]}]
    for key, closed in (
        ("rack", ""),
        ("kubernetes.io/arch", "has requirements on kubernetes.io/arch that no node meets"),
    ):
        found = read({"template": {"spec": {"requirements": [{"key": key} | need for need in both]}}})
        assert (found.labels[key], found.closed) == (ABSENT, closed)
