"""Hardware requirements as they are written in the annotation."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.annotations.hardware import Hardware, by_weight
from webhook.placement.annotations.hardware_text import REQUIREMENT_LIMIT, read_annotation, read_requirements
from webhook.placement.kube.pod import Requirement
from webhook.placement.kube.quantity import NANO
from webhook.placement.text.problem import Problem, render

FIELD = "metadata.annotations[streams.ibm.com/hpa-requirements]"
CORE = NANO
FIRST = f"{FIELD}[0]"


def said(text: str) -> str:
    """What is wrong with the annotation, its path left out."""
    hardware, problems = read_annotation(text)
    assert problems, hardware
    return render(problems).replace(FIELD, "")


GOOD: dict[str, tuple[str, Hardware]] = {
    "an amount": ("[{name: cpu, limits: 2}]", Hardware(FIRST, "cpu", requests=2 * CORE, limits=2 * CORE)),
    "JSON": ('[{"name":"cpu","requests":2}]', Hardware(FIRST, "cpu", requests=2 * CORE)),
    "a block": ("- name: cpu\n  requests: 2\n", Hardware(FIRST, "cpu", requests=2 * CORE)),
    "a wish": (
        "[{name: cpu, requests: 2, mandatory: false, weight: 9}]",
        Hardware(FIRST, "cpu", mandatory=False, weight=9, requests=2 * CORE),
    ),
    "of a container": (
        "[{name: cpu, requests: 2, container-name: app}]",
        Hardware(FIRST, "cpu", container="app", requests=2 * CORE),
    ),
    "a label": ("[{name: disktype, value: ssd}]", Hardware(FIRST, "disktype", value="ssd")),
    "a label by name": ("[{name: disktype, value: ssd, allocatable: false}]", Hardware(FIRST, "disktype", value="ssd")),
    "a label that is empty": ("[{key: a.b/c, value: ''}]", Hardware(FIRST, "a.b/c", value="")),
    "a label of whatever container": (
        "[{name: a, value: 'true', container: app}]",
        Hardware(FIRST, "a", value="true"),
    ),
    "as EMCO's programs write it": (
        "[{spec: {mandatory: true, allocatable: true, resource: {name: cpu, requests: 2, limits: 2}}}]",
        Hardware(FIRST, "cpu", requests=2 * CORE, limits=2 * CORE),
    ),
}


@pytest.mark.parametrize(("text", "expected"), GOOD.values(), ids=GOOD)
def test_a_requirement_is_read(text: str, expected: Hardware) -> None:
    assert read_annotation(text) == ((expected,), ())


BAD: dict[str, tuple[str, str]] = {
    "nothing": ("", ": must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]"),
    "none": ("[]", ": must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]"),
    "one that is in no list": (
        "{name: cpu, limits: 1}",
        ": must be a list of requirements, such as [{name: nvidia.com/gpu, limits: 1}]",
    ),
    "no YAML": ("{", ": this is not YAML: did not find expected node content\n  {\n   ^"),
    "a text too long": ("x" * 8193, ": the text has 8193 bytes, at most 8192 are allowed"),
    "a short text too many": (
        "[" + "{name: cpu, limits: 1}," * 65 + "]",
        ": has 65 requirements, at most 64 are allowed",
    ),
    "without a name": ("[{limits: 1}]", "[0]: needs a name: of a resource, or of a node label"),
    "without an amount": ("[{name: cpu}]", "[0]: needs requests or limits: how much of cpu"),
    "no resource": (
        "[{name: gpu, limits: 1}]",
        (
            '[0].name: "gpu" is not a container resource: cpu, memory, ephemeral-storage, '
            "or a device such as nvidia.com/gpu"
        ),
    ),
    "an amount with a value": (
        "[{name: cpu, limits: 1, value: x, allocatable: true}]",
        "[0].value: belongs to a node label, and this requirement is allocatable",
    ),
    "a label without its value": (
        "[{name: disktype, allocatable: false}]",
        "[0]: needs the value of the node label disktype",
    ),
    "a label with amounts": (
        "[{name: a, value: b, requests: 1, limits: 1, units: MB}]",
        (
            "[0].requests: belongs to a resource, and this requirement is not allocatable\n"
            "[0].limits: belongs to a resource, and this requirement is not allocatable\n"
            "[0].units: belongs to a resource, and this requirement is not allocatable"
        ),
    ),
    "no label": (
        "[{name: a b, value: c d}]",
        (
            '[0].name: "a b" is not a label key such as kubernetes.io/hostname or disktype\n'
            "[0].value: \"c d\" is not a label value: at most 63 letters, digits, '-', '_' or '.', "
            "with a letter or digit at both ends"
        ),
    ),
    "switches that are none": (
        "[{name: cpu, limits: 1, mandatory: 'yes', allocatable: 1}]",
        '[0].mandatory: "yes" is neither true nor false\n[0].allocatable: "1" is neither true nor false',
    ),
    "no weight": ("[{name: cpu, limits: 1, weight: 0}]", '[0].weight: "0" is not a whole number from 1 to 10'),
    "too heavy": ("[{name: cpu, limits: 1, weight: 11}]", '[0].weight: "11" is not a whole number from 1 to 10'),
    "half a weight": ("[{name: cpu, limits: 1, weight: 1.5}]", '[0].weight: "1.5" is not a whole number from 1 to 10'),
    "a field that is none": ("[{namee: cpu}]", '[0]: unknown field "namee" (did you mean name?)'),
    "a bad one after a good one": (
        "[{name: cpu, limits: 1}, {name: memory}]",
        "[1]: needs requests or limits: how much of memory",
    ),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_a_requirement_is_said(text: str, expected: str) -> None:
    assert said(text) == expected


def test_what_can_be_read_is_there_beside_what_cannot() -> None:
    hardware, problems = read_annotation("[{name: cpu, limits: 1}, {}]")
    assert ([one.name for one in hardware], len(problems)) == (["cpu"], 1)


def test_the_search_for_problems_ends_after_ten() -> None:
    _, problems = read_requirements([{}] * REQUIREMENT_LIMIT, "r")
    assert [problem.field for problem in problems] == [f"r[{at}]" for at in range(10)]


def test_a_long_text_is_read_as_a_short_one() -> None:
    short = "[{name: cpu, limits: 1}]"
    assert read_annotation(short + " " * 4000) == read_annotation(short)


def test_a_short_text_is_read_once() -> None:
    text = "[{name: cpu, limits: 7}]"
    assert read_annotation(text) is read_annotation(text)


def test_a_requirement_goes_to_the_container_of_its_consumer_unless_it_says_so_itself() -> None:
    listed = [{"name": "cpu", "limits": "1"}, {"name": "memory", "limits": "1", "container": "other"}]
    hardware, _ = read_requirements(listed, "r", "app")
    assert [one.container for one in hardware] == ["app", "other"]


# One requirement


def test_a_requirement_is_named_by_its_amount() -> None:
    assert Hardware("f", "nvidia.com/gpu", requests=CORE, limits=CORE).text == "hardware nvidia.com/gpu 1"


def test_what_has_a_value_is_not_allocatable() -> None:
    assert (Hardware("f", "cpu").allocatable, Hardware("f", "disktype", value="").allocatable) == (True, False)


def test_a_requirement_is_named_by_its_label() -> None:
    assert Hardware("f", "disktype", value="ssd").text == "hardware disktype=ssd"


@pytest.mark.parametrize("value", ["ssd", ""])
def test_a_label_is_needed_of_the_node(value: str) -> None:
    assert Hardware("f", "disktype", value=value).need == Requirement("disktype", "In", (value,))


def test_the_heaviest_wish_comes_first_then_the_name_counts() -> None:
    wishes = [Hardware("f", name, weight=weight) for name, weight in (("b", 2), ("c", 9), ("a", 2))]
    assert [wish.name for wish in sorted(wishes, key=by_weight)] == ["c", "a", "b"]


WORDS = st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "1", "2", "true", "false", "MB", "x", "", "-1"])
NAMES = st.sampled_from(["name", "mandatory", "weight", "allocatable", "requests", "limits", "units", "value", "x"])


@given(st.text() | st.lists(st.dictionaries(NAMES, WORDS), max_size=4).map(json.dumps))
def test_any_text_is_requirements_and_problems(text: str) -> None:
    hardware, problems = read_annotation(text)
    assert hardware or problems
    assert all(isinstance(problem, Problem) and problem.field.startswith(FIELD) for problem in problems)
