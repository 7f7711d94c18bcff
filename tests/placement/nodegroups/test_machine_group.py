"""MachineDeployments, MachineSets and MachinePools of Cluster API as node groups."""

from collections.abc import Mapping

import pytest

from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.machine_group import LEAST, MOST, Machines, machine_group
from webhook.placement.nodegroups.node_group import NodeGroup

CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
SCALED = {LEAST: "0", MOST: "5"}


def machines(replicas: int = 0, *, ending: bool = False, labels: Mapping[str, str] = {}, **stated: str) -> Machines:
    """A MachineDeployment of 0 to 5 Machines, with these capacity annotations."""
    capacity = {CAPACITY + key.replace("_", "-"): value for key, value in stated.items()}
    return Machines("MachineDeployment", "md", "default", SCALED | capacity, replicas, labels, ending)


def grouped(found: Machines) -> NodeGroup:
    """The object as a group, of which everything could be read."""
    group, notes = machine_group(found)
    assert group is not None
    assert notes == []
    return group


def test_a_machine_deployment_as_a_group() -> None:
    """Amounts, labels and taints are those of the annotations; labels that Cluster API copies count as well."""
    group = grouped(
        machines(
            3,
            labels={"node-role.kubernetes.io/worker": "", "x.node-restriction.kubernetes.io/y": "z", "app": "no"},
            cpu="16", memory="64Gi", ephemeral_disk="100G", maxPods="50", gpu_type="nvidia.com/gpu", gpu_count="2",
            taints="dedicated=gpu:NoSchedule, empty=:NoExecute",
        )
    )  # fmt: skip
    assert group.offers == {
        "cpu": 16000, "memory": 64 * 2**30, "ephemeral-storage": 100 * 10**9, "pods": 50, "nvidia.com/gpu": 2,
    }  # fmt: skip
    assert sorted(group.labels) == ["node-role.kubernetes.io/worker", "x.node-restriction.kubernetes.io/y"]
    assert group.taints == (Taint("dedicated", "gpu", "NoSchedule"), Taint("empty", "", "NoExecute"))
    assert (str(group), group.namespace, group.count, group.closed) == ("MachineDeployment md", "default", 2, "")


@pytest.mark.parametrize(("joined", "count"), [(None, 0), (5, 0), (3, 2), (0, 5), (9, 0)])
def test_machines_that_have_not_joined_are_nodes_to_come(joined: int | None, count: int) -> None:
    """Also of a group that has reached its largest size: what was submitted meanwhile is not refused."""
    group = grouped(Machines("MachineDeployment", "md", "default", SCALED, 5, joined=joined))
    assert (group.count, group.closed) == (count, "" if count else "has reached its largest size (5)")


def test_labels_of_the_annotation() -> None:
    """Each is a key and a value; older keys of labels are the newer ones."""
    annotations = {**SCALED, f"{CAPACITY}labels": "disktype=ssd,failure-domain.beta.kubernetes.io/zone=a"}
    group = grouped(Machines("MachineSet", "ms", "default", annotations))
    assert {key: str(values) for key, values in group.labels.items()} == {
        "disktype": "ssd",
        "topology.kubernetes.io/zone": "a",
    }


@pytest.mark.parametrize(
    ("found", "unstated"),
    [
        pytest.param(machines(), "any", id="the infrastructure states the nodes"),
        pytest.param(machines(2), "any", id="the same with nodes"),
        pytest.param(machines(2, cpu="4"), "live", id="its nodes run"),
        pytest.param(machines(cpu="4"), "absent", id="it has no nodes"),
    ],
)
def test_what_other_labels_its_nodes_may_have(found: Machines, unstated: str) -> None:
    """The autoscaler takes a node that runs as the model of a new one."""
    assert grouped(found).unstated == unstated


@pytest.mark.parametrize(
    ("found", "closed"),
    [
        pytest.param(machines(5), "has reached its largest size (5)", id="full"),
        pytest.param(machines(7), "has reached its largest size (5)", id="more than full"),
        pytest.param(machines(ending=True), "is being deleted", id="deleted"),
    ],
)
def test_machine_deployments_that_make_no_nodes(found: Machines, closed: str) -> None:
    """The reason is a predicate of the object."""
    assert grouped(found).closed == closed


@pytest.mark.parametrize("annotations", [{}, {MOST: "5"}, {LEAST: "0"}, {LEAST: "0", MOST: "many"}])
def test_an_object_without_sizes_is_not_scaled(annotations: dict[str, str]) -> None:
    """The cluster autoscaler wants both annotations."""
    assert machine_group(Machines("MachinePool", "mp", "default", annotations)) == (None, [])


def test_what_cannot_be_read_is_noted() -> None:
    """An entry that cannot be read is left out, and an amount is not known then."""
    group, notes = machine_group(machines(cpu="many", memory="-1", taints="spot,x=y,z=:"))
    assert group is not None
    assert (group.offers, group.taints) == ({}, ())
    assert notes == [
        "the capacity annotation of taints has an entry that is not key=value",
        "the capacity annotation of taints has an entry without an effect",
        "the capacity annotation of taints has an entry without an effect",
        "the capacity annotation of cpu is not a quantity, so the amount is not known",
        "the capacity annotation of memory is not a quantity, so the amount is not known",
    ]
