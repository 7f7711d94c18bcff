"""Contents, orders and phases of Jobs."""

from typing import Any

import msgspec
import pytest

from webhook.placement.elements.content import content_id
from webhook.placement.elements.element_order import most_constrained_first
from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.jobs.job_progress import JobPhase, Tallied, tallied
from webhook.placement.objects.jobs.job_spec import ElementSpec, JobSpec, OperatorSpec

Json = dict[str, Any]


def content(element: Json | None = None, **job: Any) -> str:
    return content_id(msgspec.convert(element or {}, ElementSpec), msgspec.convert(job, JobSpec))


@pytest.mark.parametrize(
    ("element", "job"),
    [
        ({"dataPath": "/d"}, {}),
        ({"operators": [{"name": "Op", "placement": "host(P)"}]}, {}),
        ({"template": {"spec": {}}}, {}),
        ({"restartFailedPod": True}, {}),
        ({}, {"bundle": {"name": "b"}}),
        ({}, {"submissionTimeValues": {"a": "1"}}),
        ({}, {"resources": {"requests": {"cpu": "1"}}}),
        ({}, {"imagePullPolicy": "IfNotPresent"}),
        ({}, {"processingElement": {"buildType": "release"}}),
        ({}, {"threadingModel": {"automatic": True}}),
        ({}, {"transportCertificateValidityInDays": 1}),
    ],
    ids=str,
)
def test_what_determines_the_pod_is_in_the_content(element: Json, job: Json) -> None:
    assert content(element, **job) != content()


@pytest.mark.parametrize(
    "job",
    [
        {"processingElements": [{}, {}]},
        {"hostPools": [{"name": "P", "size": 1}]},
        {"submissionTimeOutInSeconds": 1},
        {"processingElement": {"restartFailedPod": True, "deleteFailedPod": False}},
        {"processingElement": {"buildType": "debug"}},
    ],
    ids=["elements", "pools", "time-out", "restarts of all elements", "a default"],
)
def test_what_does_not_is_not(job: Json) -> None:
    assert content({}, **job) == content()


def test_the_content_is_short_and_in_no_order() -> None:
    assert len(content()) == 12
    assert content({"template": {"a": 1, "b": 2}}) == content({"template": {"b": 2, "a": 1}})


def test_isolated_elements_come_first_and_then_those_with_most_clauses() -> None:
    def element(*placements: str) -> ElementSpec:
        return ElementSpec(operators=tuple(OperatorSpec("Op", text or None) for text in placements))

    texts = {
        "none": element(""),
        "one": element("host(P)"),
        "two": element("host(P)", 'hostColocation("t")'),
        "alone": element("hostIsolation"),
        "last": ElementSpec(),
    }
    assert [name for name, _ in most_constrained_first(texts.items())] == ["alone", "two", "one", "none", "last"]


@pytest.mark.parametrize(
    ("phases", "total", "phase", "words"),
    [
        ({"Running": 2, "Completed": 1}, 3, "Running", "2 of 3 processing elements run, the others have completed"),
        ({"Running": 1}, 1, "Running", "1 processing element runs"),
        ({"Running": 2}, 2, "Running", "2 processing elements run"),
        ({}, 0, "Running", "0 processing elements run"),
        ({"Completed": 2}, 2, "Completed", "2 processing elements have completed"),
        ({"Completed": 1}, 1, "Completed", "1 processing element has completed"),
        ({"Failed": 1, "Completed": 1}, 2, "Failed", "1 of 2 processing elements does not run"),
        ({"Failed": 1, "Stopped": 1}, 3, "Failed", "3 of 3 processing elements do not run"),
        ({"Failed": 1, "Running": 1}, 2, "Degraded", "1 of 2 processing elements does not run"),
        ({"Failed": 1, "Pending": 1}, 2, "Degraded", "2 of 2 processing elements do not run"),
        ({"Stopped": 1}, 1, "Degraded", "1 of 1 processing element does not run"),
        ({"Running": 1}, 2, "Degraded", "1 of 2 processing elements does not run"),
    ],
)
def test_the_phase_of_a_job(phases: dict[str, int], total: int, phase: str, words: str) -> None:
    found = tallied(total, {ElementPhase(name): number for name, number in phases.items()})
    assert (found.phase, str(found)) == (JobPhase(phase), words)


def test_elements_that_do_not_exist_are_missing() -> None:
    assert tallied(3, {ElementPhase.PENDING: 1}) == Tallied(total=3, waiting=1, missing=2)
