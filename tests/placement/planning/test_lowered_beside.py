"""To what requests have to be lowered beside pods that request other amounts."""

from typing import Any

import pytest

from tests.builders import bound_pod, cluster, node
from tests.placement.planning.at_once import element, job_spec, judged
from webhook.placement.decision.refusal.lowered_requests import steps_below
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job_spec import JobSpec
from webhook.placement.text import keys


def refused(*cpus: str, cores: int = 8) -> str:
    """The refusal of a Job of elements that request so much, on one node."""
    spec = job_spec(*(element("", cpu, name=f"pe-{at}") for at, cpu in enumerate(cpus)))
    return judged(spec, cluster([node("node-a", cpu=1000 * cores)])).text


def advice(*cpus: str) -> str:
    """The last line of that refusal."""
    return refused(*cpus).splitlines()[-1]


def test_the_amount_need_not_be_a_share_of_a_node() -> None:
    """Beside the element of 1 CPU, 7 are free for two others: 3 for each, though a third of 8 is 2."""
    assert "lower cpu 4 (resources of processing elements pe-1, pe-2) to cpu 3 (all 3 would fit)" in advice(
        "1", "4", "4"
    )


def test_requests_of_which_something_may_be_left_come_first() -> None:
    """Only without any request of its own the element of 1 CPU would fit beside the others."""
    assert "lower cpu 1 " not in advice("1", "4", "4")
    assert "or lower cpu 8 (resources of processing element pe-1) to cpu 7 (all 2 would fit)" in advice("1", "8")
    assert refused("1", "8").count("lower cpu") == 1


def test_where_nothing_may_be_left_of_any_that_is_still_said() -> None:
    full = cluster([node("node-a", cpu=8000)], pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    said = judged(job_spec(element("", "1", name="pe-0")), full).text.splitlines()[-1]
    assert said.endswith("or lower cpu 1 (resources of processing element pe-0) to cpu 0 (it would fit).")
    assert not judged(job_spec(element("", "0", name="pe-0")), full).text


def test_an_amount_of_nothing_is_stated_where_a_default_would_be_given_instead() -> None:
    """Without resources of its own, an element gets the default, which is too much as well."""
    full = cluster([node("node-a", cpu=8000)], pods=[bound_pod("node-a", job="other", requests={"cpu": 8000})])
    default = Policy(element_requests=Resources({"cpu": "100m"}))
    said = judged(job_spec(containing("1")), full, policy=default).text.splitlines()[-1]
    assert said.endswith("or lower requests cpu 1 to cpu 0 (it would fit).")
    assert not judged(job_spec(containing("0")), full, policy=default).text
    assert judged(job_spec(containing(None)), full, policy=default).text


def containing(cpu: str | None) -> dict[str, Any]:
    """An element whose container requests so much itself."""
    container = {"name": "worker", "image": "worker:1"} | ({"resources": {"requests": {"cpu": cpu}}} if cpu else {})
    return {"name": "pe-0", "template": {"spec": {"containers": [container]}}}


def bound_elements(cpu: str) -> JobSpec:
    """Three elements of so many bound cores each."""
    limits = {"resources": {"limits": {"cpu": cpu, "memory": "1Gi"}, "requests": {"cpu": cpu, "memory": "1Gi"}}}
    containers = [{"name": "worker", "image": "worker:1"}]
    template = {"metadata": {"annotations": {keys.BIND: "true"}}, "spec": {"containers": containers}}
    return job_spec(*({"name": f"pe-{at}", "template": template, **limits} for at in range(3)))


def test_bound_cores_are_lowered_by_whole_cores() -> None:
    eight = cluster([node("node-a", cpu=8000)])
    assert "to cpu 2 (all 3 would fit)" in judged(bound_elements("4"), eight).text
    assert not judged(bound_elements("2"), eight).text
    assert judged(bound_elements("3"), eight).text


def test_bound_cores_of_which_each_container_needs_one_are_not_lowered_further() -> None:
    """Three elements have no room on two cores, whatever their requests are."""
    assert "lower " not in judged(bound_elements("4"), cluster([node("node-a", cpu=2000)])).text


@pytest.mark.parametrize(
    ("resource", "requested", "expected"),
    [
        ("cpu", 3000, {*range(10, 1000, 10), 1000, 2000}),
        ("cpu", 1000, {*range(10, 1000, 10)}),
        ("cpu", 50, {10, 20, 30, 40}),
        ("cpu", 5, {1, 2, 3, 4}),
        ("example.com/gpu", 3, {1, 2}),
        ("example.com/gpu", 1, set()),
        ("memory", 123456789, None),
    ],
)
def test_the_amounts_below_a_request_are_rounded_as_it_is(
    resource: str, requested: int, expected: set[int] | None
) -> None:
    assert steps_below(resource, requested) == expected
