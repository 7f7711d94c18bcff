"""Job objects as placement knows them: the model of the job."""

from typing import Any

import msgspec
import pytest

from tests.cluster.objects import job
from webhook.cluster.objects import custom_resources, wire
from webhook.cluster.objects.metadata import MalformedError
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.text.keys import BIND


def read(source: dict[str, Any]) -> StreamsJob:
    return custom_resources.job(msgspec.convert(source, wire.JobObject))


def refusal(source: dict[str, Any]) -> str:
    with pytest.raises(MalformedError) as caught:
        read(source)
    return str(caught.value)


@pytest.mark.parametrize(
    ("annotations", "bound"), [({BIND: "true"}, True), ({BIND: "false"}, False), ({}, False), (None, False)]
)
def test_an_element_is_bound_to_cpus_if_its_template_says_so(annotations: object, *, bound: bool) -> None:
    found = read(job({"template": {"metadata": {"annotations": annotations}}}))
    assert [element.cpu_bound for element in found.elements] == [bound]


def test_an_element_keeps_what_each_operators_placement_says() -> None:
    operators = [
        {"name": "Source", "placement": "host(MyPool)", "restartable": True},
        {"name": "Functor"},
        {"placement": "hostIsolation"},
        {"name": "Sink", "placement": ""},
    ]
    assert read(job({"name": "pe", "operators": operators}, namespace="team")) == StreamsJob(
        "team", "parallel", (Element("pe", (("Source", "host(MyPool)"), ("", "hostIsolation"))),)
    )


def test_an_element_without_a_name_is_called_after_its_job_and_place() -> None:
    names = [element.name for element in read(job({"operators": None}, {"name": "own"}, {"name": ""})).elements]
    assert names == ["parallel-0", "own", "parallel-2"]


@pytest.mark.parametrize("spec", [None, {}, {"processingElements": None}, {"hostPools": [], "fusion": {}}])
def test_a_job_may_have_no_model(spec: object) -> None:
    assert read({"metadata": {"name": "j"}, "spec": spec}) == StreamsJob("default", "j")


def test_two_elements_of_one_name_are_refused() -> None:
    assert refusal(job({"name": "parallel-1"}, {})) == (
        'spec.processingElements[1].name: "parallel-1" is also the name of spec.processingElements[0]'
    )


def test_more_than_a_thousand_elements_are_refused() -> None:
    assert refusal(job(*[{}] * 1001)) == "spec.processingElements: 1001 of them, at most 1000 are allowed"


def test_a_job_without_a_name_is_malformed() -> None:
    assert refusal({"spec": {}}) == "metadata.name: missing"


def test_a_job_of_operators_has_the_elements_that_its_status_says() -> None:
    """Clauses about partitions are met, and those about hosts are the element's."""
    operators = [{"name": "A", "placement": 'partitionIsolation, host("a")'}, {"name": "B"}]
    fusion = {"processingElements": [{"name": "j-0", "operators": ["A"]}, {"name": "j-1", "operators": ["B"]}]}
    source = {"metadata": {"name": "j", "namespace": "team"}, "spec": {"operators": operators}}
    assert read(source).elements == ()
    assert read({**source, "status": {"fusion": fusion}}).elements == (
        Element("j-0", (("A", 'host("a")'),)),
        Element("j-1"),
    )
    odd = {**source, "spec": {"operators": [{"title": "A"}]}, "status": {"fusion": fusion}}
    assert refusal(odd).startswith("spec.operators: ")
