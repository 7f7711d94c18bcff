"""Node shapes that an administrator states as JSON."""

import json
from typing import Any

import pytest

from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.nodegroups.node_shapes import node_shapes

LARGE: dict[str, Any] = {
    "name": "large",
    "labels": {"disktype": "ssd", "topology.kubernetes.io/zone": ["a", "b"]},
    "taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}],
    "resources": {"cpu": "16", "memory": "64Gi"},
    "nodes": 10,
}


def test_a_shape_as_a_group() -> None:
    """A label has one value, or one of several."""
    [group] = node_shapes(json.dumps([LARGE]))
    assert {key: str(values) for key, values in group.labels.items()} == {
        "disktype": "ssd",
        "topology.kubernetes.io/zone": "a, b",
    }
    assert group.taints == (Taint("dedicated", "infra", "NoSchedule"),)
    assert group.offers == {"cpu": 16000, "memory": 64 * 2**30}
    assert (str(group), group.count, group.closed) == ("node shape large", 10, "")


@pytest.mark.parametrize("text", ["", " ", "[]"])
def test_no_shapes(text: str) -> None:
    """An empty text is none."""
    assert node_shapes(text) == ()


@pytest.mark.parametrize(("nodes", "closed"), [(0, "makes 0 nodes"), (None, "")])
def test_the_number_of_nodes_of_a_shape(nodes: int | None, closed: str) -> None:
    """Without a number there is no bound."""
    [group] = node_shapes(json.dumps([LARGE | {"nodes": nodes}]))
    assert (group.count, group.closed) == (nodes, closed)


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        pytest.param({}, "it should be a JSON list of node shapes: Expected `array`, got `object`", id="no list"),
        pytest.param(
            [LARGE | {"size": 3}],
            "it should be a JSON list of node shapes: Object contains unknown field `size` - at `$[0]`",
            id="unknown field",
        ),
        pytest.param([LARGE, LARGE], '"large" names several node shapes', id="a name twice"),
        pytest.param(
            [LARGE | {"resources": {"cpu": "many"}}], '"many" of cpu in node shape large is not a quantity', id="amount"
        ),
        pytest.param(
            [LARGE | {"resources": {"cpu": -1}}], '"-1" of cpu in node shape large is not a quantity', id="negative"
        ),
        pytest.param(
            [LARGE | {"taints": [{"key": "a", "effect": "Never"}]}],
            '"Never" in node shape large is not one of NoSchedule, PreferNoSchedule, NoExecute',
            id="effect",
        ),
    ],
)
def test_shapes_that_cannot_be_read(shapes: Any, said: str) -> None:
    """The sentence names the shape and the value."""
    with pytest.raises(ValueError, match="node shape") as error:
        node_shapes(json.dumps(shapes))
    assert str(error.value) == said
