"""``explain`` in a cluster whose nodes are made on demand, and the examples of this."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import Explain
from tests.golden.examples import EXAMPLES
from tests.yaml_values import loaded

AUTOSCALED: Final = EXAMPLES / "autoscaled"
MANIFESTS: Final = sorted(path for path in AUTOSCALED.glob("*.yaml") if not path.name.endswith(".expected.yaml"))


def answers(explain: Explain, path: Path, *flags: str) -> list[dict[str, Any]]:
    """What becomes of each object; absent where nothing is said."""
    _, out, _ = explain("-o", "json", "--snapshot", str(AUTOSCALED / "cluster"), "-f", str(path), *flags)
    return [
        {key: one[key] for key in ("origin", "verdict", "message", "warnings", "candidates") if one[key]}
        for one in json.loads(out)
    ]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_an_example_waits_or_is_refused_as_the_file_beside_it_says(path: Path, explain: Explain) -> None:
    found = answers(explain, path, "--scale-up", "auto")
    assert found == loaded(path.with_suffix(".expected.yaml").read_text())
    assert (found[0]["verdict"] == "refused") == path.name.startswith("refused-")


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_without_the_setting_each_example_is_refused(path: Path, explain: Explain) -> None:
    """Each says in its first line what it shows."""
    [found] = answers(explain, path)
    assert found["verdict"] == "refused"
    assert not {"NodePool", "MachineDeployment"} & set(found["message"].split())
    assert path.read_text().startswith("# ")


def test_node_shapes_are_groups(explain: Explain) -> None:
    shape = '[{"name": "large", "labels": {"disktype": "sssd"}}]'
    [found] = answers(explain, AUTOSCALED / "refused-label.yaml", "--scale-up", "auto", "--node-shapes", shape)
    assert found["warnings"][-1] == (
        "no node yet: node shape large can make one if its nodes have cpu 100m, memory 128Mi"
    )
