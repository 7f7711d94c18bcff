"""Nodes as placement knows them: usable parts are used, whatever else is wrong with the node."""

from typing import Any

import msgspec
import pytest

from tests.cluster.objects import node
from webhook.cluster.objects import nodes, wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.node import Node

NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
UNREACHABLE = Taint("node.kubernetes.io/unreachable", "", "NoSchedule")
UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def read(source: dict[str, Any]) -> tuple[Node, list[str]]:
    return nodes.node(msgspec.convert(source, wire.NodeObject))


def tainted(spec: object = None, ready: str = "True") -> tuple[Taint, ...]:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    return read(node(spec=spec, status={"conditions": conditions}))[0].taints


def test_a_node_keeps_its_name_uid_and_labels() -> None:
    found, notes = read(node("node-a", labels={"kubernetes.io/hostname": "node-a", "empty": ""}))
    assert (found.name, found.uid, found.labels, notes) == (
        "node-a",
        "uid-node-a",
        {"kubernetes.io/hostname": "node-a", "empty": ""},
        [],
    )


@pytest.mark.parametrize(
    "bare",
    [
        pytest.param({"metadata": {"name": "n"}}, id="nothing but a name"),
        pytest.param({"metadata": {"name": "n", "labels": None}, "spec": None, "status": None}, id="all null"),
        pytest.param(
            {"metadata": {"name": "n"}, "spec": {"taints": None}, "status": {"addresses": None, "conditions": None}},
            id="null inside",
        ),
    ],
)
def test_what_a_node_leaves_out_is_empty(bare: dict[str, Any]) -> None:
    assert read(bare) == (Node(name="n", uid="n"), [])


@pytest.mark.parametrize(
    "metadata", [pytest.param(None, id="none"), pytest.param({}, id="empty"), pytest.param({"name": ""}, id="no name")]
)
def test_a_node_without_a_name_is_malformed(metadata: object) -> None:
    with pytest.raises(MalformedError, match=r"^metadata\.name: missing$"):
        read({"metadata": metadata})


def test_amounts_are_milli_cpus_and_whole_units() -> None:
    status = {
        "allocatable": {"cpu": "3920m", "memory": "8Gi", "pods": "110", "a.com/gpu": 2, "ephemeral-storage": "1k"}
    }
    assert read(node(status=status))[0].allocatable == {
        "cpu": 3920,
        "memory": 8 << 30,
        "pods": 110,
        "a.com/gpu": 2,
        "ephemeral-storage": 1000,
    }


def test_a_quantity_that_is_none_counts_as_zero_with_a_note() -> None:
    found, notes = read(node(status={"allocatable": {"cpu": "4", "memory": "8 Gi\n", "a.com/gpu": "-1"}}))
    assert found.allocatable == {"cpu": 4000}
    assert notes == [
        'status.allocatable[memory]: "8 Gi\\n" is not a quantity, it counts as 0',
        'status.allocatable[a.com/gpu]: "-1" is not a quantity, it counts as 0',
    ]


def test_capacity_stands_for_allocatable_that_is_absent() -> None:
    found, notes = read(node(status={"capacity": {"cpu": "4", "memory": "?"}}))
    assert found.allocatable == {"cpu": 4000}
    assert notes == ['status.capacity[memory]: "?" is not a quantity, it counts as 0']


def test_allocatable_that_is_empty_is_not_replaced_by_capacity() -> None:
    assert read(node(status={"allocatable": {}, "capacity": {"cpu": "4"}}))[0].allocatable == {}


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        pytest.param([], (), id="none"),
        pytest.param([{"type": "Hostname", "address": "node-a"}], ("node-a",), id="only a host name"),
        pytest.param(
            [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "InternalIP", "address": "fd00::1"}],
            ("10.0.0.1", "fd00::1"),
            id="dual stack",
        ),
        pytest.param([{"type": "CloudThing", "address": "10.0.0.1"}], ("10.0.0.1",), id="unknown type"),
        pytest.param([{"address": "10.0.0.1"}], ("10.0.0.1",), id="no type"),
        pytest.param([{"type": "InternalIP"}, {"address": None}, {"address": ""}], (), id="no address"),
        pytest.param([{"address": "10.0.0.1"}, {"address": "10.0.0.1"}], ("10.0.0.1",), id="twice the same"),
    ],
)
def test_every_address_counts_whatever_its_type(addresses: object, expected: tuple[str, ...]) -> None:
    assert read(node(status={"addresses": addresses}))[0].addresses == expected


def test_taints_are_kept_as_they_are() -> None:
    spec = {"taints": [{"key": "a", "value": "b", "effect": "NoExecute"}, {"key": "c", "effect": "PreferNoSchedule"}]}
    assert tainted(spec) == (Taint("a", "b", "NoExecute"), Taint("c", "", "PreferNoSchedule"))


def test_a_taint_that_is_there_twice_counts_once() -> None:
    assert tainted({"taints": [{"key": "a", "effect": "NoSchedule"}] * 2}) == (Taint("a", "", "NoSchedule"),)


def test_taints_that_are_none_are_left_out_with_a_note() -> None:
    taints = [
        {"key": "a"},
        {"key": "b", "effect": "Sometimes\x1b"},
        {"effect": "NoSchedule"},
        {"key": "d", "effect": "NoSchedule"},
    ]
    found, notes = read(node(spec={"taints": taints}))
    assert found.taints == (Taint("d", "", "NoSchedule"),)
    assert notes == [
        "spec.taints[0].effect: nothing is not one of NoSchedule, PreferNoSchedule, NoExecute, it is left out",
        'spec.taints[1].effect: "Sometimes\\x1b" is not one of NoSchedule, PreferNoSchedule, NoExecute, it is left out',
        "spec.taints[2].key: missing, the taint is left out",
    ]


@pytest.mark.parametrize(
    ("spec", "ready", "expected"),
    [
        pytest.param({}, "True", (), id="ready"),
        pytest.param({"unschedulable": False}, "True", (), id="not cordoned"),
        pytest.param({"unschedulable": True}, "True", (UNSCHEDULABLE,), id="cordoned"),
        pytest.param({}, "False", (NOT_READY,), id="not ready"),
        pytest.param({}, "Unknown", (UNREACHABLE,), id="unreachable"),
        pytest.param({"unschedulable": True}, "Unknown", (UNSCHEDULABLE, UNREACHABLE), id="cordoned and unreachable"),
        pytest.param(
            {"taints": [{"key": NOT_READY.key, "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
            "False",
            (NOT_READY,),
            id="already written",
        ),
        pytest.param(
            {"taints": [{"key": NOT_READY.key, "value": "x", "effect": "NoSchedule"}]},
            "False",
            (Taint(NOT_READY.key, "x", "NoSchedule"),),
            id="already written with a value",
        ),
        pytest.param(
            {"taints": [{"key": NOT_READY.key, "effect": "NoExecute"}]},
            "False",
            (Taint(NOT_READY.key, "", "NoExecute"), NOT_READY),
            id="written with another effect only",
        ),
    ],
)
def test_taints_that_kubernetes_derives_are_there_before_it_writes_them(
    spec: object, ready: str, expected: tuple[Taint, ...]
) -> None:
    assert tainted(spec, ready) == expected


def test_three_hundred_labels_are_kept() -> None:
    labels = {f"label-{number}": "" for number in range(300)}
    assert read(node(labels=labels))[0].labels == labels


def test_a_label_of_ours_that_a_user_set_is_kept_as_it_is() -> None:
    assert read(node(labels={"streams.ibm.com/hostpool": "x"}))[0].labels == {"streams.ibm.com/hostpool": "x"}
