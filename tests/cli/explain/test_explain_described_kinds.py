"""``explain`` and ``plan`` of a kind that the cluster describes itself, by a ResourceInterface of Karta."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.conftest import Explain
from webhook.app.application_kinds import application_kinds
from webhook.app.references import DEFINITIONS, kinds_with
from webhook.cli import main
from webhook.placement.kinds.karta import KIND, VERSION

EXAMPLES: Final = Path(__file__).parents[3] / "examples"
INTERFACE: Final = """\
apiVersion: optimization.nvidia.com/v1alpha1
kind: ResourceInterface
metadata: {name: milvus-io-milvus}
spec:
  structureDefinition:
    rootComponent: {name: milvus, kind: {group: milvus.io, version: v1beta1, kind: Milvus}}
    childComponents:
    - name: querynode
      specDefinition: {podTemplateSpecPath: .spec.components.queryNode.template}
      scaleDefinition: {replicasPath: .spec.components.queryNode.replicas}
"""
MILVUS: Final = """\
apiVersion: milvus.io/v1beta1
kind: Milvus
metadata: {name: vectors}
spec:
  components:
    queryNode:
      replicas: 20
      template:
        metadata:
          labels: {streams.ibm.com/job: vectors}
          annotations: {streams.ibm.com/placement: 'hostExlocation("nodes")'}
        spec: {containers: [{name: query, resources: {requests: {cpu: 1}}}]}
"""
SAID: Final = "ResourceInterface milvus-io-milvus of the cluster describes the pods of Milvus objects"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    folder = shutil.copytree(EXAMPLES / "cluster", tmp_path / "cluster")
    (folder / "interfaces.yaml").write_text(INTERFACE)
    (tmp_path / "milvus.yaml").write_text(MILVUS)
    return folder


def test_an_object_of_the_kind_is_judged_whole(explain: Explain, snapshot: Path) -> None:
    _, out, _ = explain("-o", "json", "--snapshot", str(snapshot), "-f", str(snapshot.parent / "milvus.yaml"))
    [whole] = json.loads(out)
    said = 'hostExlocation("nodes") cannot hold: 8 of 20 pods fit (querynode).'
    assert (whole["verdict"], whole["message"].partition("\n")[0], whole["warnings"]) == ("refused", said, [SAID])


def test_so_does_a_plan(snapshot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "-o", "json", "--snapshot", str(snapshot), "-f", str(snapshot.parent / "milvus.yaml")])
    [subject] = json.loads(capsys.readouterr().out)["subjects"]
    assert subject["verdict"] == "refused"


def interface(kind: str) -> dict[str, Any]:
    root = {"name": "r", "kind": {"group": "ray.io", "version": "v1", "kind": kind}}
    return {"spec": {"structureDefinition": {"rootComponent": root}}}


def test_a_kind_that_there_is_a_file_of_keeps_it_and_so_many_definitions_are_read() -> None:
    found = {(VERSION, KIND, "", f"i{at:03}"): interface(f"Kind{at}") for at in range(DEFINITIONS + 5)}
    found[VERSION, KIND, "", "a-ray"] = interface("RayCluster")
    found[VERSION, KIND, "", "a-ray-again"] = interface("Kind0")
    found["ray.io/v1", "Other", "", "x"] = interface("Other")
    kinds = kinds_with(found)
    assert kinds["ray.io", "RayCluster"] == application_kinds()["ray.io", "RayCluster"]
    assert len(kinds) == len(application_kinds()) + DEFINITIONS - 2
    assert kinds["ray.io", "Kind0"].remarks[0] == (
        "ResourceInterface a-ray-again of the cluster describes the pods of Kind0 objects"
    )
