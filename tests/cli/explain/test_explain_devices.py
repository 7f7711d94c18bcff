"""``explain`` of pods that ask for devices, in a cluster of three nodes with devices, and the examples of these."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import Explain
from tests.yaml_values import loaded

EXAMPLES: Final = Path(__file__).parents[3] / "examples" / "devices"
CLUSTER: Final = EXAMPLES / "cluster"
PODS: Final = sorted(path for path in EXAMPLES.glob("*.yaml") if not path.name.endswith(".expected.yaml"))


def verdict(explain: Explain, path: Path, snapshot: Path = CLUSTER) -> dict[str, Any]:
    """What becomes of the pod; absent where nothing is said."""
    _, out, _ = explain("-o", "json", "--snapshot", str(snapshot), "-f", str(path))
    (found,) = json.loads(out)
    return {key: found[key] for key in ("verdict", "message", "warnings", "candidates") if found[key]}


@pytest.mark.parametrize("path", PODS, ids=lambda path: path.stem)
def test_an_example_of_devices_has_its_expected_result(path: Path, explain: Explain) -> None:
    assert verdict(explain, path) == loaded(path.with_suffix(".expected.yaml").read_text())


def test_an_example_of_devices_says_in_its_first_line_what_it_shows() -> None:
    assert [path.name for path in PODS if not path.read_text().startswith("# ")] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "warning"),
    [
        (
            "templates.yaml",
            "      requests:\n      - name: gpu",
            "      requests: 5\n      others:\n      - name: gpu",
            "ResourceClaimTemplate gpu-or-partitions: it cannot be read: ",
        ),
        (
            "classes.yaml",
            "metadata: {name: gpu.example.com}\nspec:\n  selectors:",
            "metadata: {name: gpu.example.com}\nspec:\n  selectors: 5\n  others:",
            "ResourceClaimTemplate gpu-or-partitions: DeviceClass gpu.example.com cannot be read: ",
        ),
    ],
    ids=["a template", "a class"],
)
def test_what_cannot_be_read_is_a_warning_that_says_why(
    file: str, old: str, new: str, warning: str, explain: Explain, tmp_path: Path
) -> None:
    for source in CLUSTER.iterdir():
        text = source.read_text()
        assert source.name != file or old in text
        (tmp_path / source.name).write_text(text.replace(old, new, 1) if source.name == file else text)
    found = verdict(explain, EXAMPLES / "gpu-or-partitions.yaml", tmp_path)
    (said,) = found["warnings"]
    assert found["verdict"] == "admitted"
    assert said.startswith(warning)
    assert said.endswith("; its devices are not judged")


TOGETHER: Final = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: own.example.com}
spec:
  selectors:
  - cel: {expression: "device.driver == 'sriov.example.com'"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: functions}
spec:
  spec:
    devices:
      requests:
      - {name: function, exactly: {deviceClassName: own.example.com, count: COUNT}}
---
apiVersion: v1
kind: Pod
metadata: {name: capture, labels: {streams.ibm.com/job: j}}
spec:
  containers: [{name: main, image: main}]
  resourceClaims: [{name: functions, resourceClaimTemplateName: functions}]
"""


@pytest.mark.parametrize("namespace", [[], ["--namespace", "team"]])
def test_templates_and_classes_among_the_manifests_are_judged(
    namespace: list[str], explain: Explain, tmp_path: Path
) -> None:
    said = {}
    for count in (3, 4):
        file = tmp_path / "all.yaml"
        file.write_text(TOGETHER.replace("COUNT", str(count)))
        _, out, _ = explain("-o", "json", "--snapshot", str(CLUSTER), "-f", str(file), *namespace)
        said[count] = json.loads(out)[0]
    assert (said[3]["candidates"], said[3]["warnings"]) == (["network"], [])
    assert said[4]["message"].startswith(
        "ResourceClaimTemplate functions cannot hold: 0 of 3 nodes can run this pod.\n"
    )


def test_templates_and_classes_of_v1beta1_are_judged(explain: Explain, tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    older = TOGETHER.replace("resource.k8s.io/v1", "resource.k8s.io/v1beta1")
    older = older.replace("exactly: {deviceClassName: own.example.com, count: COUNT}", "FLAT")
    said = {}
    for count in (3, 4):
        file.write_text(older.replace("FLAT", f"deviceClassName: own.example.com, count: {count}"))
        _, out, _ = explain("-o", "json", "--snapshot", str(CLUSTER), "-f", str(file))
        said[count] = json.loads(out)[0]
    assert (said[3]["candidates"], said[3]["warnings"]) == (["network"], [])
    assert said[4]["message"].startswith(
        "ResourceClaimTemplate functions cannot hold: 0 of 3 nodes can run this pod.\n"
    )
