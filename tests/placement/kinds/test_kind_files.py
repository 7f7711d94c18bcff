"""Files of kinds: a new kind takes one file, and a file that is wrong says so."""

import copy
from typing import Any, Final

import pytest

from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import INSTANCES, expanded
from webhook.placement.kinds.kind import KindFileError, OperatorKind, kinds_of

FILE: Final[dict[str, Any]] = {
    "kind": {"group": "example.com", "kind": "Topology", "resource": "topologies", "versions": ["v1"]},
    "components": [
        {
            "name": "bolt",
            "instanceIdPath": ".spec.bolts[].name",
            "specDefinition": {"podTemplateSpecPath": ".spec.bolts[].template"},
            "scaleDefinition": {"replicasPath": ".spec.bolts[].tasks"},
        }
    ],
}
OUTER: Final[dict[str, Any]] = {
    "kind": {"group": "example.com", "kind": "Plan", "resource": "plans", "versions": ["v1"]},
    "specPath": ".spec.topology", "componentsOf": "Topology",
}  # fmt: skip


def bolt(name: object = "b", tasks: object = 2, annotations: object = None) -> dict[str, Any]:
    return {
        "name": name,
        "tasks": tasks,
        "template": {"metadata": {"annotations": annotations}, "spec": {"containers": []}},
    }


def topology(*bolts: object, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Topology",
        "metadata": {"name": "t", **metadata},
        "spec": {"bolts": [*bolts]},
    }


def kinds(*files: object) -> dict[tuple[str, str], OperatorKind]:
    return kinds_of((f"{at}.yaml", file) for at, file in enumerate(files))


def only() -> OperatorKind:
    return kinds(FILE)["example.com", "Topology"]


def test_one_file_makes_a_kind() -> None:
    application = expanded(only(), topology(bolt("split", 3), bolt("count", 1)))
    assert [(one.name, one.count, one.field) for one in application.components] == [
        ("bolt split", 3, "spec.bolts[0].template"), ("bolt count", 1, "spec.bolts[1].template"),
    ]  # fmt: skip
    assert [one.annotations_field for one in application.components] == [
        "spec.bolts[0].template.metadata.annotations", "spec.bolts[1].template.metadata.annotations",
    ]  # fmt: skip
    assert not application.asks


def test_a_kind_may_embed_another_one() -> None:
    plan = {"kind": "Plan", "metadata": {"name": "p"}, "spec": {"topology": {"bolts": [bolt("split", 3)]}}}
    [component] = expanded(kinds(FILE, OUTER)["example.com", "Plan"], plan).components
    assert (component.name, component.field) == ("bolt split", "spec.topology.bolts[0].template")
    assert component.pod["metadata"]["ownerReferences"][0]["kind"] == "Plan"


def test_the_pod_is_owned_by_the_object() -> None:
    [component] = expanded(only(), topology(bolt(), namespace="apps")).components
    owner = {"apiVersion": "example.com/v1", "kind": "Topology", "name": "t", "uid": "", "controller": True}
    assert component.pod["metadata"] == {
        "annotations": {}, "generateName": "t-", "namespace": "apps", "ownerReferences": [owner],
    }  # fmt: skip


def test_an_annotation_of_the_object_counts_for_all_components() -> None:
    own = {"streams.ibm.com/placement": 'host("b")'}
    given = {"streams.ibm.com/placement": 'host("a")', "streams.ibm.com/contentId": "1", "other": "x"}
    application = expanded(only(), topology(bolt("x"), bolt("y", annotations=own), annotations=given))
    said = [one.pod["metadata"]["annotations"] for one in application.components]
    assert said == [{"streams.ibm.com/placement": 'host("a")'}, own]
    assert application.asks
    lost = (
        "metadata.annotations[streams.ibm.com/placement]: counts for all components here, but a Topology's own "
        "annotations do not reach its pods: write it in spec.bolts[0].template.metadata.annotations"
    )
    assert [*application.warnings("Topology")] == [f"{lost} and the like"]
    assert [*expanded(only(), topology(bolt("x"), annotations=given)).warnings("Topology")] == [lost]
    assert not list(expanded(only(), topology(annotations=given)).warnings("Topology"))


def test_more_instances_than_are_judged_are_a_problem() -> None:
    application = expanded(only(), topology(*[bolt()] * (INSTANCES + 1)))
    [problem] = application.problems
    assert (problem.field, problem.message) == (
        "spec.bolts",
        f"has {INSTANCES + 1} entries, at most {INSTANCES} are judged",
    )
    assert not application.components


@pytest.mark.parametrize(
    ("tasks", "count"), [(2**40, 2**31 - 1), (-3, None), ("x", None), (2.7, 2), ("5", 5), (True, None)]
)
def test_numbers_of_pods_are_bounded(tasks: object, count: int | None) -> None:
    found = [one.count for one in expanded(only(), topology(bolt(tasks=tasks))).components]
    assert found == ([] if count is None else [count])


def changed(path: str, value: object, file: dict[str, Any] = FILE) -> dict[str, Any]:
    """The file with another value at the path."""
    made = copy.deepcopy(file)
    place: Any = made
    *steps, last = path.split(".")
    for step in steps:
        place = place[int(step) if step.isdecimal() else step]
    place[last] = value
    return made


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ([], "0.yaml: Expected `object`, got `array`"),
        (changed("surprise", 1), "0.yaml: Object contains unknown field `surprise`"),
        (
            changed("components.0.scaleDefinition.replicasPath", "1 +"),
            "0.yaml: '1 +': a value is expected, not 'the end' - at `$.components[0].scaleDefinition.replicasPath`",
        ),
        (
            changed("components.0.scaleDefinition.replicasPath", 1),
            "0.yaml: an expression is expected, not 1 - at `$.components[0].scaleDefinition.replicasPath`",
        ),
        (
            changed("componentsOf", "Nothing"),
            "Topology: componentsOf names no kind of example.com with its own components",
        ),
    ],
)
def test_a_file_that_is_wrong_says_what(file: object, problem: str) -> None:
    with pytest.raises(KindFileError) as error:
        kinds(file)
    assert str(error.value) == problem


def test_a_kind_has_one_file() -> None:
    with pytest.raises(KindFileError, match="1.yaml: Topology of example.com has another file"):
        kinds(FILE, FILE)


MADE: Final[dict[str, Any]] = {
    **FILE,
    "components": [
        {
            "name": "node",
            "specDefinition": {
                "commonPodTemplateSpecPath": ".spec.common",
                "podTemplateSpecPath": ".spec.template",
                "fragmentedPodSpecDefinition": {
                    "containerName": "main", "nodeSelectorPath": ".spec.nodes", "affinityPath": ".spec.affinity",
                    "containersPath": ".spec.side", "requests": {"cpu": ".spec.cpu"},
                },
            },
            "scaleDefinition": {"replicasPath": "1"},
        }
    ],
}  # fmt: skip


def made(**spec: Any) -> dict[str, Any]:
    [component] = expanded(kinds(MADE)["example.com", "Topology"], {"metadata": {"name": "t"}, "spec": spec}).components
    found: dict[str, Any] = component.pod["spec"]
    return found


def test_templates_are_merged_by_fields_and_by_position() -> None:
    common = {
        "spec": {
            "containers": [{"name": "a", "image": "x"}, {"name": "b"}],
            "nodeSelector": {"k": "v"},
            "hostNetwork": True,
        }
    }
    own = {"spec": {"containers": [{"name": "main", "tty": True}], "hostNetwork": False}}
    spec = made(common=common, template=own, nodes={"l": "w"}, affinity={"x": 1}, side={"name": "s"}, cpu=0.25)
    assert spec == {
        "containers": [
            {"name": "main", "image": "x", "tty": True, "resources": {"requests": {"cpu": "250m"}}}, {"name": "b"},
            {"name": "s"},
        ],
        "nodeSelector": {"k": "v", "l": "w"}, "hostNetwork": False, "affinity": {"x": 1},
    }  # fmt: skip


def test_a_longer_list_above_keeps_its_end() -> None:
    spec = made(
        common={"spec": {"containers": [{"name": "main"}]}}, template={"spec": {"containers": [{}, {"name": "b"}]}}
    )
    assert spec == {"containers": [{"name": "main"}, {"name": "b"}]}


def test_a_main_container_that_no_template_has_comes_first() -> None:
    assert made(template={"spec": {"containers": [{"name": "b"}]}}) == {"containers": [{"name": "main"}, {"name": "b"}]}


@pytest.mark.parametrize(
    ("name", "shown"),
    [("x\n\u202ey", "bolt x\\n\\u202ey"), ("z" * 99, f"bolt {'z' * 57}..."), ("", "bolt"), (7, "bolt")],
)
def test_names_in_messages_are_short_and_printable(name: object, shown: str) -> None:
    assert [one.name for one in expanded(only(), topology(bolt(name))).components] == [shown]


def test_labels_of_a_worker_group_of_ray_are_labels_of_its_pods() -> None:
    group = {"groupName": "g", "replicas": 1, "labels": {"streams.ibm.com/job": "app", "a": "group"}}
    group["template"] = {"metadata": {"labels": {"a": "template", "b": "template"}}, "spec": {"containers": []}}
    document = {"metadata": {"name": "r"}, "spec": {"headGroupSpec": {"template": {}}, "workerGroupSpecs": [group]}}
    _, worker = expanded(application_kinds()["ray.io", "RayCluster"], document).components
    assert worker.pod["metadata"]["labels"] == {"streams.ibm.com/job": "app", "a": "group", "b": "template"}
    assert worker.asks
