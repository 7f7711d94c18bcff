"""Fields of a pod template that Kubernetes does not know."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import pod_fields
from webhook.placement.elements.template_fields import (
    LIMIT,
    template_of,
    types,
    unknown_field_steps,
    unknown_fields,
)
from webhook.placement.kube import pod_fields as written
from webhook.placement.objects.jobs.job_spec import ElementSpec
from webhook.placement.planning.search.steps import Steps

Json = dict[str, Any]

CONTAINER = {"name": "a", "image": "b"}

WHOLE: Json = {
    "metadata": {"labels": {"anything": "x"}, "annotations": {"any thing": "y"}},
    "spec": {
        "containers": [
            {**CONTAINER, "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}
        ],
        "nodeSelector": {"example.com/any": "x"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
        "overhead": {"cpu": "1"},
        "volumes": [{"name": "v", "csi": {"driver": "d", "volumeAttributes": {"any": "x"}}}],
        "tolerations": None,
    },
}


def told(template: object) -> list[tuple[str, str]]:
    return [(field.problem.field, field.problem.message) for field in unknown_fields(template, "t")]


def test_known_fields_and_keys_of_the_users_own_are_no_problem() -> None:
    assert told(WHOLE) == []


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, {"spec": "x"}, {"spec": {"containers": "x"}}])
def test_what_has_another_type_is_for_others_to_find(odd: object) -> None:
    assert told(odd) == []


def test_an_unknown_field_is_named_with_its_path_and_the_one_that_was_meant() -> None:
    template = {
        "spek": {},
        "metadata": {"lables": {"a": "b"}},
        "spec": {"containers": [CONTAINER, {"comand": ["x"], "ports": [{"hostport": 1}]}], "teleport": {"a": {}}},
    }
    assert told(template) == [
        ("t.spek", "unknown field, did you mean spec?"),
        ("t.metadata.lables", "unknown field, did you mean labels?"),
        ("t.spec.containers[1].comand", "unknown field, did you mean command?"),
        ("t.spec.containers[1].ports[0].hostport", "unknown field, did you mean hostPort?"),
        ("t.spec.teleport", "unknown field"),
    ]


def test_the_table_is_that_of_the_models() -> None:
    assert pod_fields.text().endswith(written.TABLE + '"""\n')
    assert pod_fields.text() == pod_fields.FILE.read_text()


def test_every_type_of_the_table_is_in_it() -> None:
    found = {inner.removesuffix("[]") for fields in types().values() for inner in fields.values() if inner}
    assert found | {written.ROOT} == types().keys()


def taken(steps: Steps[Any]) -> tuple[int, Any]:
    """The number of steps, and the result."""
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return count, end.value
        count += 1


def elements(count: int, template: Json) -> list[tuple[str, ElementSpec]]:
    return [(f"e[{at}]", ElementSpec(template=template)) for at in range(count)]


def test_elements_are_looked_at_one_after_another() -> None:
    assert taken(unknown_field_steps(elements(3, WHOLE))) == (3, [])
    steps, found = taken(unknown_field_steps(elements(2, {"spek": {}})))
    assert (steps, [field.path for field in found]) == (2, ["e[0].template.spek", "e[1].template.spek"])


def test_so_many_are_named() -> None:
    assert len(taken(unknown_field_steps(elements(99, {"spek": {}})))[1]) == LIMIT


# What an API server is asked

PATHS = st.lists(
    st.sampled_from(
        [
            ("spek",),
            ("metadata", "lables"),
            ("spec", "teleport"),
            ("spec", "containers", "comand"),
            ("spec", "containers", "env", "valueFrom", "fieldreference"),
            ("spec", "affinity", "nodeAffinity", "required"),
        ]
    ),
    unique=True,
)


@given(PATHS)
def test_the_question_has_these_fields_and_no_others(paths: list[tuple[str, ...]]) -> None:
    assert {field.names for field in unknown_fields(template_of(paths), "t")} == set(paths)


def test_lists_are_lists_in_it() -> None:
    names = [("spec", "containers", "comand"), ("spec", "containers", "env", "x"), ("spec", "affinity", "x")]
    spec = {"containers": [{"comand": None, "env": [{"x": None}]}], "affinity": {"x": None}}
    assert template_of(names) == {"spec": spec}
