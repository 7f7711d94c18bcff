"""``explain`` of TrainJobs, whose runtimes are in the snapshot, among the manifests, or nowhere."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import Explain
from webhook.cli import main

EXAMPLES: Final = Path(__file__).parents[3] / "examples"
RUNTIME, JOB = (EXAMPLES / "applications" / "train.yaml").read_text().split("---\n")
UNKNOWN: Final = "spec.runtimeRef: TrainingRuntime torch cannot be read, so its pods were not judged"


def explained(explain: Explain, folder: Path, manifest: str) -> list[tuple[str, list[str]]]:
    """Origin and warnings of everything that is explained."""
    file = folder.with_suffix(".yaml")
    file.write_text(manifest)
    _, out, _ = explain("-o", "json", "--snapshot", str(folder), "-f", str(file))
    found: list[dict[str, Any]] = json.loads(out)
    return [(one["origin"], one["warnings"]) for one in found]


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLES / "cluster", tmp_path / "cluster")


BOTH: Final[list[tuple[str, list[str]]]] = [("TrainJob digits", []), ("TrainJob digits, job node", [])]


def test_the_runtime_may_be_in_the_snapshot(explain: Explain, snapshot: Path) -> None:
    (snapshot / "runtimes.yaml").write_text(RUNTIME.replace("name: torch\n", "name: torch\n  namespace: default\n"))
    assert explained(explain, snapshot, JOB) == BOTH


def test_it_may_be_among_the_manifests(explain: Explain, snapshot: Path) -> None:
    assert explained(explain, snapshot, f"{JOB}---\n{RUNTIME}") == BOTH


def test_a_cluster_runtime_has_no_namespace(explain: Explain, snapshot: Path) -> None:
    (snapshot / "runtimes.yaml").write_text(RUNTIME.replace("kind: TrainingRuntime", "kind: ClusterTrainingRuntime"))
    assert explained(explain, snapshot, JOB.replace("kind: TrainingRuntime, ", "")) == BOTH


@pytest.mark.parametrize("other", ["", RUNTIME.replace("name: torch\n", "name: torch\n  namespace: apps\n")])
def test_one_that_is_not_there_is_a_warning(explain: Explain, snapshot: Path, other: str) -> None:
    (snapshot / "runtimes.yaml").write_text(other)
    assert explained(explain, snapshot, JOB) == [("TrainJob digits", [UNKNOWN])]
    elsewhere = JOB.replace("kind: TrainingRuntime", "kind: Secret")
    assert explained(explain, snapshot, elsewhere) == [
        ("TrainJob digits", [UNKNOWN.replace("TrainingRuntime", "Secret")])
    ]


DIRECT: Final = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: torch}
spec: {template: {spec: {containers: [{name: node, image: node}]}}}
"""
"""A runtime with containers where a Deployment has them: its pods would be those of its jobs."""


def test_a_runtime_has_no_pods_of_its_own(
    explain: Explain, snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runtime.yaml"
    file.write_text(DIRECT)
    said = "nothing to judge: no pod, workload or HostPool in the manifests, only TrainingRuntime torch"
    for more in ([], ["--cordon", "worker-1"]):
        assert explain("--snapshot", str(snapshot), "-f", str(file), *more) == (
            0,
            "",
            f"streams-placement: warning: {said}\n",
        )
    _, out, err = explain("-o", "review", "-f", str(file))
    assert (out, "no review to write" in err) == ("", True)
    assert main(["plan", "--snapshot", str(snapshot), "-f", str(file)]) == 0
    assert "nothing to plan" in capsys.readouterr().err


def test_containers_that_are_not_those_of_its_jobs_are_said_not_to_be_judged(explain: Explain, snapshot: Path) -> None:
    where = "runtime.spec.template.spec.containers"
    said = f"{where} are not those of the jobs of a runtime, so no pods were judged for them"
    assert explained(explain, snapshot, f"{JOB}---\n{DIRECT}")[0] == ("TrainJob digits", [said])
