"""Every line of every schema is a rule of all readers: what the API server refuses, the webhook and ``explain`` refuse.

The violations are derived from the definitions, so that a rule that is added to a schema has to be kept by all.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import pytest

from tests.answers import response
from tests.builders import cluster, review
from tests.chart.schema_violations import BESIDE, NAMED, SAMPLE, Violation, placed, violations
from webhook.admission.answer import WholeQuestion
from webhook.admission.checks.custom_resources import SubmittedHostPool
from webhook.admission.validate import validate
from webhook.cluster.crds import definitions
from webhook.cluster.queries.job_verdicts import AtOnce
from webhook.placement.annotations.described_devices import DESCRIPTION
from webhook.placement.annotations.hardware_fields import DEVICE_FIELDS
from webhook.placement.inventory.policy import Policy
from webhook.placement.jobs.problems import problems_of_element, problems_of_job
from webhook.placement.objects.intent import read_intent
from webhook.placement.objects.jobs.job_spec import JobSpec, ProcessingElementSpec
from webhook.placement.objects.pool_spec import problems_of_spec
from webhook.placement.planning.search.solver import finished
from webhook.placementreview.submission import wrong

Object = dict[str, Any]


REQUIREMENT: Final[Object] = {
    SAMPLE: {"name": "memory", "limits": 1},
    BESIDE: {
        ("value",): {"name": "a"},
        ("resource", "value"): {"name": "a"},
        **{("device", *field): {} for field in ((), *((name,) for name in DEVICE_FIELDS))},
    },
}
DEVICE: Final[Object] = {
    SAMPLE: {"claim": "a"},
    BESIDE: {("template",): {}, ("class",): {}, **{(name,): {"class": "a"} for name in DESCRIPTION if name != "class"}},
}
LABEL: Final[Object] = {SAMPLE: "memory"}
WORKLOAD: Final = {"apiVersion": "a", "kind": "a", "name": "a"}


def of_requirement(path: str) -> dict[str, Object]:
    """The good values of a requirement at that path."""
    names = {f"{path}.{name}": LABEL for name in ("name", "key", "resource.name", "resource.key")}
    return {path: REQUIREMENT, f"{path}.allocatable": {SAMPLE: True}, f"{path}.device": DEVICE, **names}


def of_options(path: str) -> dict[str, Object]:
    """The good values of options of processing elements at that path."""
    repository = {SAMPLE: {"redis": {"service": "a"}}, BESIDE: {("fileSystem",): {}}}
    parts = {f"{path}resources.{part}": {NAMED: "cpu"} for part in ("requests", "limits")}
    return {f"{path}checkpointRepository": repository, **parts}


def of_pool(path: str) -> dict[str, Object]:
    """The good values of a pool at that path."""
    expression = f"{path}selector.matchExpressions.[]"
    return {
        expression: {SAMPLE: {"key": "a", "operator": "In", "values": ["1"]}},
        f"{expression}.values": {SAMPLE: ["1"]},
    }


def of_element(path: str) -> dict[str, Object]:
    """The good values of a processing element at that path."""
    return {**of_options(path), f"{path}operators.[].placement": {SAMPLE: "hostIsolation"}}


BUNDLE: Final = {"url": "https://api.h/repos/u/r/contents/a.sab"}
ENTRY: Final = "consumers.[].requirements.[]"
OF_SPEC: Final = {("spec",): {"name": "a"}, ("metadata",): {"spec": {"name": "memory", "limits": 1}}}

GOOD: Final[dict[str, dict[str, Object]]] = {
    "job": {
        **of_options("processingElement."),
        **of_element("processingElements.[]."),
        **of_pool("hostPools.[]."),
        **{f"resources.{part}": {NAMED: "cpu"} for part in ("requests", "limits")},
        "bundle.github": {SAMPLE: BUNDLE},
        "hostPools.[]": {BESIDE: {("devices",): {"name": "a", "size": 1}}},
        "hostPools.[].job": {SAMPLE: "job"},
        "operators.[].placement": {SAMPLE: "hostIsolation"},
        "parallelRegions.[].name": {SAMPLE: "c"},
        **{f"streams.[].{end}": {SAMPLE: "a"} for end in ("from", "to")},
    },
    "processingelement": {**of_element(""), "name": {SAMPLE: "job-0"}},
    "hostpool": of_pool(""),
    "hpaintent": {
        **of_requirement(f"{ENTRY}.spec"),
        **of_requirement(ENTRY),
        ENTRY: REQUIREMENT | {BESIDE: REQUIREMENT[BESIDE] | OF_SPEC},
        "consumers.[]": {SAMPLE: {"consumer": WORKLOAD}},
        "consumers.[].spec": {SAMPLE: WORKLOAD},
    },
}
"""For each kind, by the path of a schema: a good value, or what stands beside one."""


def schema_of(kind: str) -> Object:
    """The schema of the spec of a kind, with good values where rules about several fields want them."""
    made = copy.deepcopy(getattr(definitions, f"{kind}_definition")())
    spec: Object = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for path, more in GOOD[kind].items():
        found = spec
        for step in path.split("."):
            found = found["items"] if step == "[]" else found["properties"][step]
        found |= more
    return spec


def refused(spec: Any, problems: Callable[[Any], Any]) -> list[str]:
    """What is wrong, by the decoder or by the rules."""
    try:
        return [f"{problem.field}: {problem.message}" for problem in problems(spec)]
    except msgspec.ValidationError as error:
        return [str(error)]


READERS: Final[dict[str, tuple[Object, Callable[[Any], Any]]]] = {
    "job": (
        {"bundle": {"name": "a"}},
        lambda spec: problems_of_job("job", msgspec.convert(spec, JobSpec)),
    ),
    "processingelement": (
        {"job": "job"},
        lambda spec: problems_of_element("job-0", msgspec.convert(spec, ProcessingElementSpec)),
    ),
    "hostpool": ({}, lambda spec: problems_of_spec(msgspec.convert({"spec": spec}, SubmittedHostPool).spec)),
    "hpaintent": ({}, lambda spec: read_intent("edge", "i", spec).problems),
}


OPERATORS: Final[Object] = {
    "bundle": {"name": "a"},
    "operators": [{"name": "a"}],
    "parallelRegions": [{"name": "b", "width": 1}, {"name": "a", "width": 1}],
}
"""A Job that is yet to be fused."""


def base_of(kind: str, path: Sequence[str | int]) -> Object:
    """What an object with something at the path begins with."""
    if kind == "hostpool" and path[0] == "devices":
        return {"size": 1}
    return OPERATORS if kind == "job" and path[0] in {"operators", "streams", "parallelRegions"} else READERS[kind][0]


@functools.cache
def cases(kind: str) -> tuple[Violation, ...]:
    """What breaks a line of the schema of the kind."""
    return tuple(one for one in violations(schema_of(kind)) if one.path)


def test_there_are_lines_of_every_kind() -> None:
    assert min(len(cases(kind)) for kind in READERS) > 30
    assert sum(len(cases(kind)) for kind in READERS) > 700


@pytest.mark.parametrize("kind", READERS)
def test_a_line_of_a_schema_is_a_rule_of_the_readers(kind: str) -> None:
    schema, problems = schema_of(kind), READERS[kind][1]
    for one in cases(kind):
        base = base_of(kind, one.path)
        assert refused(placed(base, one.path, one.bad, schema), problems), str(one)
        assert refused(placed(base, one.path, one.good, schema), problems) == [], str(one)


KINDS: Final = {
    "job": "Job",
    "processingelement": "ProcessingElement",
    "hostpool": "HostPool",
    "hpaintent": "HPAIntent",
}


@pytest.mark.parametrize("kind", READERS)
def test_a_line_of_a_schema_is_a_rule_of_the_webhook(kind: str) -> None:
    name, schema = "job-0" if kind == "processingelement" else "job", schema_of(kind)
    for one in cases(kind):
        bad = {"metadata": {"name": name}, "spec": placed(READERS[kind][0], one.path, one.bad, schema)}
        body = review(bad, operation="CREATE", kind=KINDS[kind], group="streams.ibm.com")
        answer = validate(body, cluster(), Policy())
        if isinstance(answer.question, WholeQuestion):
            answer = finished(answer.question.resume(AtOnce(10.0)))
        assert not response(answer)["allowed"], str(one)


def test_a_line_of_the_schema_of_a_job_is_a_rule_of_explain() -> None:
    schema, there = schema_of("job"), cluster()
    for one in cases("job"):
        spec = placed(READERS["job"][0], one.path, one.bad, schema)
        job = {"apiVersion": "streams.ibm.com/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": spec}
        assert refused(job, lambda found: wrong(found, there)), str(one)
