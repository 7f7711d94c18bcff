"""All node groups of a cluster."""

from webhook.placement.nodegroups.node_group import NodeGroup
from webhook.placement.nodegroups.node_groups import NodeGroups


def test_groups_are_tried_by_weight_and_then_by_name() -> None:
    """Shapes have no weight."""
    groups = NodeGroups()
    for name, weight in (("b", 0), ("a", 0), ("c", 50)):
        groups.put(NodeGroup("NodePool", name, weight=weight))
    shapes = [NodeGroup("node shape", "large")]
    assert [str(group) for group in groups.with_shapes(shapes)] == [
        "NodePool c", "NodePool a", "NodePool b", "node shape large",
    ]  # fmt: skip


def test_a_group_that_did_not_change_changes_no_version() -> None:
    """Kept answers depend on the version; the status of a NodePool is written often."""
    groups = NodeGroups()
    group = NodeGroup("MachineSet", "ms", "default")
    versions = []
    for change in (
        lambda: groups.put(group),
        lambda: groups.put(NodeGroup("MachineSet", "ms", "default")),
        lambda: groups.put(NodeGroup("MachineSet", "ms", "default", weight=1)),
        lambda: groups.drop("MachineSet", "default", "other"),
        lambda: groups.drop("MachineSet", "default", "ms"),
    ):
        change()
        versions.append(groups.version)
    assert versions == [1, 1, 2, 2, 3]
    assert groups.with_shapes(()) == []
