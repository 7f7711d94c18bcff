"""The kinds of other operators in the chart, the docs and the files of kinds are the same."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from cel_expr_python import cel
from cel_expr_python.ext import ext_optional

from tests.yaml_values import loaded
from tools import kinds
from webhook.app.application_kinds import application_kinds
from webhook.placement.kinds.application import expanded
from webhook.placement.kinds.kind import OperatorKind

TESTS: Final = Path(__file__).parents[1]
CHART: Final = TESTS.parent / "charts" / "streams-placement"
KINDS: Final = {kinds.chart_name(kind): kind for kind in application_kinds().values()}
OURS: Final = {"streams.ibm.com/placement": 'host("a")'}


def test_the_chart_knows_the_kinds_that_there_are_files_of() -> None:
    assert kinds.CHART.read_text() == kinds.chart_file(), "run: make kinds"
    volcano = loaded(kinds.chart_file())["VolcanoJob"]
    assert volcano.pop("asks") == kinds.asks(KINDS["VolcanoJob"])
    assert volcano.pop("asksSafely") == kinds.asks_safely(KINDS["VolcanoJob"])
    assert volcano == {
        "group": "batch.volcano.sh", "kind": "Job", "resource": "jobs", "versions": ["v1alpha1"],
        "reads": [{"group": "batch.volcano.sh", "resource": "jobs"}],
    }  # fmt: skip


def test_the_names_of_the_kinds_differ_by_which_the_chart_chooses_a_condition() -> None:
    assert len({kind.kind.kind for kind in KINDS.values()}) == len(KINDS)


def test_the_page_lists_them() -> None:
    assert kinds.with_table(kinds.PAGE.read_text()) == kinds.PAGE.read_text(), "run: make kinds"
    with pytest.raises(ValueError, match="the page has no table of kinds"):
        kinds.with_table("")


def test_none_is_reviewed_by_default() -> None:
    assert loaded((CHART / "values.yaml").read_text())["workloads"]["kinds"] == []
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["workloads"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", KINDS)
def test_the_api_server_infers_few_types_when_it_compiles_the_conditions(name: str) -> None:
    """Compiling takes the number of calls times that of the types of their arguments, of all kinds together."""
    generic = re.compile(r"type\(|[=!<>]=| in |\.\?|orValue|dyn\(|\?")
    kind = KINDS[name]
    steps = {path[:end] for path in kind.metadata_paths for end in _ends(path)}
    assert generic.findall(kinds.asks(kind)) == []
    safely = kinds.asks_safely(kind)
    leaves = 2 * len(kind.metadata_paths)  # annotations and labels
    assert safely.count("type(") == len(steps) + leaves
    assert generic.findall(safely.replace("type(", "").replace(" == map", "").replace(" == list", "")) == []


def _ends(path: str) -> Iterator[int]:
    """Where each step of the path ends: at a name of a field, or at the elements of a list."""
    yield from (found.end() for found in re.finditer(r"[^.\[\]]+|\[\]", path))


class Condition:
    """The conditions of a kind, as the API server evaluates them: of the fields of an object no type is known."""

    def __init__(self, kind: OperatorKind) -> None:
        env = cel.NewEnv(variables={"object": cel.Type.DYN}, extensions=[ext_optional.ExtOptional()])
        self._program = env.compile(f"{kinds.asks(kind)} && {kinds.asks_safely(kind)}")

    def holds(self, found: object) -> bool:
        value = self._program.eval(data={"object": found}).value()
        assert isinstance(value, bool), f"{found}: {value}"
        return value


def examples(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """The objects of the examples of a kind, each with the one that it refers to.

    Patches of the latter have an entry for each of its jobs, in which a test may write.
    """
    for case in loaded((TESTS / "placement" / "kinds" / "cases" / f"{name}.yaml").read_text()):
        spec, runtime = case["spec"], case.get("runtime")
        if runtime:
            jobs = [{"name": job["name"]} for job in runtime["spec"]["template"]["spec"]["replicatedJobs"]]
            spec["runtimePatches"] = [{"trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}]
        yield {"metadata": {"name": "app", "namespace": "apps"}, "spec": spec}, runtime


def written(found: dict[str, Any], field: str, value: object) -> dict[str, Any]:
    """The object with another value in the field."""
    made = copy.deepcopy(found)
    place: Any = made
    *steps, last = re.findall(r"[^.\[\]]+", field)
    for step in steps:
        if isinstance(place, list):
            place = place[int(step)]
        else:
            place[step] = place.get(step) or {}
            place = place[step]
    place[last] = value
    return made


@pytest.mark.parametrize("name", KINDS)
def test_the_api_server_sends_exactly_the_objects_that_ask(name: str) -> None:
    condition = Condition(KINDS[name])
    fields = set()
    for found, runtime in examples(name):
        assert not condition.holds(found)
        for component in expanded(KINDS[name], found, runtime).components:
            fields.add(component.annotations_field)
            asking = written(found, component.annotations_field, OURS)
            assert (expanded(KINDS[name], asking, runtime).asks, condition.holds(asking)) == (True, True)
            labels = component.annotations_field.replace(".annotations", ".labels")
            assert condition.holds(written(found, labels, {"streams.ibm.com/job": "j"}))
            assert not condition.holds(written(found, labels, {"app": "j"}))
        assert condition.holds(written(found, "metadata.annotations", OURS))
    assert fields


def test_labels_of_groups_of_ray_are_sent_too() -> None:
    condition = Condition(KINDS["RayCluster"])
    for spec in ({"headGroupSpec": {"labels": {}}}, {"workerGroupSpecs": [{"labels": {}}]}, {"workerGroupSpecs": [7]}):
        assert not condition.holds({"spec": spec})
    label = {"streams.ibm.com/job": "j"}
    assert condition.holds({"spec": {"headGroupSpec": {"labels": label}}})
    assert condition.holds({"spec": {"workerGroupSpecs": [{}, {"labels": label}]}})


@pytest.mark.parametrize("name", KINDS)
def test_a_part_of_another_type_says_nothing_and_is_not_an_error(name: str) -> None:
    condition = Condition(KINDS[name])
    found, runtime = next(examples(name))
    fields = {one.annotations_field for one in expanded(KINDS[name], found, runtime).components}
    for field in fields:
        parts = field.split(".")
        for end in range(1, len(parts) + 1):
            if not parts[end - 1].endswith("]"):
                for wrong in (None, 7, "streams.ibm.com/", [OURS], []):
                    assert not condition.holds(written(found, ".".join(parts[:end]), wrong)), (field, end, wrong)
