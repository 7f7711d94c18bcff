"""The fields of a hardware requirement, in whichever of their spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.hardware_fields import DEVICE_FIELDS, FIELDS, fields_of
from webhook.placement.annotations.yaml_text import Value

Words = dict[str, str]

GOOD: dict[str, tuple[Value, Words]] = {
    "flat": ({"name": "cpu", "limits": "1"}, {"name": "cpu at r.name", "limits": "1 at r.limits"}),
    "below resource": (
        {"resource": {"name": "cpu", "limits": "1"}},
        {"name": "cpu at r.resource.name", "limits": "1 at r.resource.limits"},
    ),
    "below spec": ({"name": "n", "spec": {"name": "cpu"}}, {"name": "cpu at r.spec.name"}),
    "below spec, with metadata": ({"metadata": {"name": "n"}, "spec": {"key": "a"}}, {"name": "a at r.spec.key"}),
    "below resource below spec": ({"spec": {"resource": {"key": "a"}}}, {"name": "a at r.spec.resource.key"}),
    "by other words": (
        {"key": "disk", "container": "c"},
        {"name": "disk at r.key", "container-name": "c at r.container"},
    ),
    "by both words": ({"name": "a", "key": "a"}, {"name": "a at r.name"}),
    "in both places": ({"name": "a", "resource": {"name": "a"}}, {"name": "a at r.name"}),
    "devices": (
        {"device": {"claim": "a"}, "weight": "2"},
        {"device.claim": "a at r.device.claim", "weight": "2 at r.weight"},
    ),
    "described devices": (
        {"device": {"class": "gpu", "count": "2"}},
        {"device.class": "gpu at r.device.class", "device.count": "2 at r.device.count"},
    ),
    "devices below spec": ({"spec": {"device": {"template": "a"}}}, {"device.template": "a at r.spec.device.template"}),
    "no devices": ({"name": "a", "device": None}, {"name": "a at r.name"}),
    "with what says nothing": ({"name": "a", "limits": None, "resource": None}, {"name": "a at r.name"}),
    "with empty text": ({"value": ""}, {"value": " at r.value"}),
    "with every field": (dict.fromkeys(FIELDS, "x"), {field: f"x at r.{field}" for field in FIELDS}),
    "without any": ({}, {}),
}


@pytest.mark.parametrize(("item", "expected"), GOOD.values(), ids=GOOD)
def test_a_requirement_is_written(item: Value, expected: Words) -> None:
    found, problems = fields_of(item, "r")
    assert ({name: f"{said.word} at {said.path}" for name, said in found.items()}, problems) == (expected, [])


WRITTEN = (
    "name, mandatory, weight, allocatable, requests, limits, units, value, container-name, key, container, resource, "
    "device"
)

NAMELESS = "must name a class, a claim or a template, such as {class: gpu.example.com}"
BAD: dict[str, tuple[Value, list[str]]] = {
    "a word": ("cpu", ["r: must be a requirement, such as {name: nvidia.com/gpu, limits: 1}"]),
    "a list": ([], ["r: must be a requirement, such as {name: nvidia.com/gpu, limits: 1}"]),
    "nothing": (None, ["r: must be a requirement, such as {name: nvidia.com/gpu, limits: 1}"]),
    "a mistyped field": ({"namee": "cpu"}, ['r: unknown field "namee" (did you mean name?)']),
    "a field that is nothing like one": ({"a.b": "c"}, [f'r: unknown field "a.b": use one of {WRITTEN}']),
    "an unknown field that says nothing": ({"namee": None}, ['r: unknown field "namee" (did you mean name?)']),
    "a list for a word": ({"name": ["cpu"]}, ["r.name: must be one word"]),
    "a mapping for a word": ({"limits": {"cpu": "1"}}, ["r.limits: must be one word"]),
    "a word for a resource": ({"resource": "cpu"}, ["r.resource: must be a mapping"]),
    "a list for a resource": ({"resource": ["cpu"]}, ["r.resource: must be a mapping"]),
    "a resource in a resource": (
        {"resource": {"resource": {}}},
        ['r.resource: unknown field "resource": use one of name, key, requests, limits, units, value'],
    ),
    "a word for devices": ({"device": "gpu"}, [f"r.device: {NAMELESS}"]),
    "devices of nothing": ({"device": {}}, [f"r.device: {NAMELESS}"]),
    "devices of an empty name": ({"device": {"claim": ""}}, [f"r.device: {NAMELESS}"]),
    "devices of a mistyped class": (
        {"device": {"clas": "gpu"}},
        ['r.device: unknown field "clas" (did you mean class?)'],
    ),
    "a list of claims": ({"device": {"claim": ["a"]}}, ["r.device.claim: must be one word"]),
    "what does not belong below resource": (
        {"resource": {"weight": "1"}},
        ['r.resource: unknown field "weight": use one of name, key, requests, limits, units, value'],
    ),
    "two names": (
        {"name": "a", "key": "b"},
        ['r.key: is "b", but r.name is "a", and both mean the same'],
    ),
    "two places": (
        {"limits": "1", "resource": {"limits": "2"}},
        ['r.resource.limits: is "2", but r.limits is "1", and both mean the same'],
    ),
    "a word for a spec": ({"spec": "cpu"}, ["r.spec: must be a mapping"]),
    "more beside a spec": (
        {"weight": "1", "spec": {"name": "cpu"}},
        ['r: unknown field "weight": use one of name, metadata, spec'],
    ),
    "two at once": (
        {"namee": "a", "limits": []},
        ['r: unknown field "namee" (did you mean name?)', "r.limits: must be one word"],
    ),
}


@pytest.mark.parametrize(("item", "expected"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_the_fields_is_said(item: Value, expected: list[str]) -> None:
    _, problems = fields_of(item, "r")
    assert [f"{problem.field}: {problem.message}" for problem in problems] == expected


HOSTILE: dict[str, tuple[Value, int]] = {
    "at the top": ({f"field-{at}": "x" for at in range(10_000)}, 26),
    "below resource": ({"resource": {f"field-{at}": "x" for at in range(10_000)}}, 26),
    "beside a spec": ({"spec": {}, **{f"field-{at}": "x" for at in range(10_000)}}, 10),
}


@pytest.mark.parametrize(("item", "count"), HOSTILE.values(), ids=HOSTILE)
def test_of_ten_thousand_fields_only_some_are_looked_at(item: Value, count: int) -> None:
    assert len(fields_of(item, "r")[1]) == count


NAMES = st.sampled_from([*FIELDS, "key", "container", "resource", "device", "claim", "spec", "metadata", "namee", ""])
VALUES: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
)


@given(VALUES)
def test_any_value_is_fields_and_problems(item: Value) -> None:
    found, problems = fields_of(item, "r")
    assert found.keys() <= {*FIELDS, *(f"device.{name}" for name in DEVICE_FIELDS)}
    assert all(problem.field.startswith("r") for problem in problems)
