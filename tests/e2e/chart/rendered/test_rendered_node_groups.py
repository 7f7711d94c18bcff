"""What the chart gives to the webhook for ``scaleUp``: rights to read node groups, and the node shapes."""

import json
from typing import Any, Final

import pytest

from tests.e2e.chart.rendering import RELEASE, Values, of_kind, render
from webhook.cluster.objects.kinds import NODE_GROUPS
from webhook.settings import read

AUTO: Final[Values] = {"settings": {"scaleUp": "auto"}}
SHAPES: Final = [
    {
        "name": "large",
        "labels": {"disktype": "ssd", "topology.kubernetes.io/zone": ["a", "b"]},
        "taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}],
        "resources": {"cpu": 16, "memory": "64Gi"},
        "nodes": 10,
    }
]


def rules(values: Values, name: str = RELEASE) -> list[Any]:
    """The rules of the role of that name."""
    return next(one["rules"] for one in of_kind(render(values), "ClusterRole") if one["metadata"]["name"] == name)


def variables(values: Values, name: str = RELEASE) -> dict[str, str]:
    """The environment of the program of that name."""
    [found] = [one for one in of_kind(render(values), "Deployment") if one["metadata"]["name"] == name]
    container = found["spec"]["template"]["spec"]["containers"][0]
    return {one["name"]: one.get("value", "") for one in container["env"]}


@pytest.mark.parametrize("name", [RELEASE, f"{RELEASE}-controller"])
def test_node_groups_may_be_read_only_with_the_setting(name: str) -> None:
    """Both judge Jobs."""
    added = [rule for rule in rules(AUTO, name) if rule not in rules({}, name)]
    assert {
        f"{resource}.{group}" for rule in added for group in rule["apiGroups"] for resource in rule["resources"]
    } == {kind.full_resource for kind in NODE_GROUPS}
    assert {tuple(rule["verbs"]) for rule in added} == {("list", "watch")}


@pytest.mark.parametrize("name", [RELEASE, f"{RELEASE}-controller"])
def test_the_node_shapes_are_given(name: str) -> None:
    given = variables({"nodeShapes": SHAPES}, name)["STREAMS_PLACEMENT_NODE_SHAPES"]
    assert json.loads(given) == SHAPES
    assert read({"node_shapes": given}).node_shapes == given


@pytest.mark.parametrize("name", [RELEASE, f"{RELEASE}-controller"])
def test_without_shapes_nothing_is_given(name: str) -> None:
    assert "STREAMS_PLACEMENT_NODE_SHAPES" not in variables({}, name)
