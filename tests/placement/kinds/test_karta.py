"""Kinds that a cluster describes by ResourceInterfaces: those of Karta's own examples (d20a8a9), reduced."""

from typing import Any, Final

import pytest

from tests.yaml_values import loaded
from webhook.placement.kinds.application import OperatorApplication, expanded
from webhook.placement.kinds.karta import COMPONENTS, LENGTH, NESTING, kind_described, kinds_described

RAY: Final = """
rootComponent: {name: raycluster, kind: {group: ray.io, version: v1, kind: RayCluster}}
childComponents:
- name: head
  specDefinition: {podTemplateSpecPath: .spec.headGroupSpec.template}
  scaleDefinition: {replicasPath: "1"}
- name: worker
  specDefinition: {podTemplateSpecPath: ".spec.workerGroupSpecs[].template"}
  scaleDefinition:
    replicasPath: .spec.workerGroupSpecs[].replicas
    minReplicasPath: .spec.workerGroupSpecs[].minReplicas
    maxReplicasPath: .spec.workerGroupSpecs[].maxReplicas
  instanceIdPath: .spec.workerGroupSpecs[].groupName
"""
NIM: Final = """
rootComponent:
  name: nimservice
  kind: {group: apps.nvidia.com, version: v1alpha1, kind: NIMService}
  specDefinition:
    fragmentedPodSpecDefinition:
      schedulerNamePath: .spec.schedulerName
      labelsPath: .spec.labels
      annotationsPath: .spec.annotations
      resourcesPath: .spec.resources
      podAffinityPath: .spec.affinity.podAffinity
      nodeAffinityPath: .spec.affinity.nodeAffinity
  scaleDefinition: {replicasPath: .spec.replicas // 1}
"""
KSERVE: Final = """
rootComponent: {name: inferenceservice, kind: {group: serving.kserve.io, version: v1beta1, kind: InferenceService}}
childComponents:
- name: transformer
  specDefinition: {podSpecPath: .spec.transformer, metadataPath: .spec.transformer}
  scaleDefinition: {minReplicasPath: .spec.transformer.minReplicas, maxReplicasPath: .spec.transformer.maxReplicas}
"""
DYNAMO: Final = """
rootComponent: {name: graph, kind: {group: nvidia.com, version: v1alpha1, kind: DynamoGraphDeployment}}
childComponents:
- name: service
  specDefinition: {fragmentedPodSpecDefinition: {labelsPath: ".spec.services | .[] | .labels"}}
  scaleDefinition: {replicasPath: ".spec.services[] | (.replicas // 1) * (.multinode.nodeCount // 1)"}
"""


def definition(structure: object) -> dict[str, Any]:
    return {"spec": {"structureDefinition": loaded(structure) if isinstance(structure, str) else structure}}


def described(structure: object, **spec: Any) -> OperatorApplication:
    kind = kind_described("own", definition(structure))
    assert kind is not None
    return expanded(kind, {"metadata": {"name": "x"}, "spec": spec})


def counts(application: OperatorApplication) -> list[tuple[str, int, int]]:
    return [(one.name, one.count, one.most) for one in application.components]


def remark(kind: str) -> str:
    return f"ResourceInterface own of the cluster describes the pods of {kind} objects"


def test_templates_are_found_with_their_instances_and_numbers() -> None:
    template = {"spec": {"containers": [{"name": "ray"}]}}
    groups = [
        {"groupName": "a", "replicas": 2, "minReplicas": 1, "maxReplicas": 4, "template": template},
        {"groupName": "b", "template": template},
    ]
    found = described(RAY, headGroupSpec={"template": template}, workerGroupSpecs=groups)
    assert counts(found) == [("head", 1, 1), ("worker a", 1, 4), ("worker b", 1, 1)]
    assert [one.annotations_field for one in found.components][
        1
    ] == "spec.workerGroupSpecs[0].template.metadata.annotations"
    assert found.not_judged == (remark("RayCluster"),)
    assert not found.asks


def test_fields_in_several_places_make_a_pod() -> None:
    own = {"streams.ibm.com/placement": 'host("a")'}
    affinity = {"podAffinity": {"a": 1}, "nodeAffinity": {"b": 2}, "other": 3}
    resources = {"requests": {"cpu": 2}}
    found = described(NIM, replicas=3, annotations=own, labels={"l": "1"}, resources=resources, affinity=affinity)
    [component] = found.components
    assert (counts(found), component.annotations_field) == ([("nimservice", 3, 3)], "spec.annotations")
    assert component.pod["spec"] == {
        "affinity": {"podAffinity": {"a": 1}, "nodeAffinity": {"b": 2}},
        "containers": [{"name": "main", "resources": resources}],
    }
    assert (component.pod["metadata"]["labels"], found.asks) == ({"l": "1"}, True)


def test_the_spec_of_pods_and_their_metadata_may_be_apart() -> None:
    found = described(KSERVE, transformer={"containers": [{"name": "t"}], "minReplicas": 2, "maxReplicas": 5})
    assert counts(found) == [("transformer", 2, 5)]
    assert found.components[0].annotations_field == "spec.transformer.annotations"
    assert found.components[0].pod["spec"]["containers"] == [{"name": "t"}]
    assert counts(described(KSERVE, transformer=7)) == []


def test_what_is_not_understood_is_a_remark() -> None:
    found = described(DYNAMO, services={"a": {}})
    said = "ResourceInterface own: component service is not understood, so its pods were not judged: "
    wrong = "labelsPath: '.spec.services | .[] | .labels': '|' is not expected"
    assert (found.components, found.not_judged) == ((), (remark("DynamoGraphDeployment"), said + wrong))
    assert described(DYNAMO).asks is False


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("." + "a" * LENGTH, "podTemplateSpecPath is too long"),
        ("(" * NESTING + "((.a", "podTemplateSpecPath is too long"),
        (".a // " * NESTING + ".a // .b", "podTemplateSpecPath is too long"),
        (7, "Expected `str | null`, got `int` - at `$[...]`"),
    ],
)
def test_a_path_of_any_size_is_not_followed(path: object, said: str) -> None:
    component = {"name": "c", "specDefinition": {"podTemplateSpecPath": path}}
    found = described({"rootComponent": {"name": "r", "kind": KIND}, "childComponents": [component]})
    assert found.not_judged[-1].endswith(f": {said}")


KIND: Final = {"group": "example.com", "version": "v1", "kind": "Thing"}


@pytest.mark.parametrize(
    "found", [{}, {"spec": 7}, definition({}), definition({"rootComponent": {"name": "r"}}), definition([])], ids=repr
)
def test_a_definition_of_no_kind_is_passed_over(found: dict[str, Any]) -> None:
    assert [*kinds_described({"a": found})] == []


def test_so_many_components_are_read_and_definitions_come_by_name() -> None:
    many = [
        {"name": f"c{at}", "specDefinition": {"podTemplateSpecPath": f".spec.c{at}"}} for at in range(COMPONENTS + 5)
    ]
    root = {"name": "r", "kind": KIND}
    whole = definition({"rootComponent": root, "childComponents": many})
    [first, second] = kinds_described({"b": definition({"rootComponent": root}), "a": whole})
    assert (len(first.components), len(second.components)) == (COMPONENTS - 1, 0)
    assert first.key == ("example.com", "Thing")
