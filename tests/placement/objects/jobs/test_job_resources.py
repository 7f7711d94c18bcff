"""The resources of a Job, divided among its processing elements."""

import re

import pytest

from webhook.placement.kube.pod import Amount, Resources
from webhook.placement.objects.jobs.job_resources import divided, parse_requests, problems_of_resources
from webhook.placement.text.problem import Problem

PATH = "spec.resources"


@pytest.mark.parametrize(
    ("amount", "count", "share"),
    [
        pytest.param({"cpu": "3"}, 3, {"cpu": "1"}, id="whole cpus"),
        pytest.param({"cpu": "1"}, 3, {"cpu": "333m"}, id="cpus are cut to thousandths"),
        pytest.param({"cpu": "2m"}, 2, {"cpu": "1m"}, id="the least share of a cpu"),
        pytest.param({"memory": "1Gi"}, 3, {"memory": "357913941"}, id="memory is cut to bytes"),
        pytest.param({"memory": "3Gi"}, 3, {"memory": "1Gi"}, id="whole memory"),
        pytest.param({"ephemeral-storage": "10"}, 4, {"ephemeral-storage": "2"}, id="storage is cut to bytes"),
        pytest.param({"nvidia.com/gpu": "6"}, 3, {"nvidia.com/gpu": "2"}, id="devices"),
        pytest.param({"hugepages-2Mi": "12Mi"}, 3, {"hugepages-2Mi": "4Mi"}, id="huge pages"),
        pytest.param({"cpu": 4}, 2, {"cpu": "2"}, id="a bare number"),
        pytest.param({"cpu": "1"}, 1, {"cpu": "1"}, id="one element"),
    ],
)
def test_a_share_is_exact_or_rounded_down(amount: dict[str, Amount], count: int, share: dict[str, Amount]) -> None:
    assert divided(Resources(amount), count, PATH) == (Resources(share), ())


def test_requests_and_limits_are_divided_alike() -> None:
    found, problems = divided(Resources({"cpu": "3"}, {"cpu": "6", "memory": "3Gi"}), 3, PATH)
    assert (found, problems) == (Resources({"cpu": "1"}, {"cpu": "2", "memory": "1Gi"}), ())


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        pytest.param(
            {"cpu": "2m"},
            'spec.resources.requests[cpu]: "2m" among 3 processing elements leaves nothing for each: state at least 3m',
            id="less than a thousandth of a cpu",
        ),
        pytest.param(
            {"memory": "2"},
            'spec.resources.requests[memory]: "2" among 3 processing elements leaves nothing for each: '
            "state at least 3",
            id="less than a byte",
        ),
        pytest.param(
            {"nvidia.com/gpu": "4"},
            'spec.resources.requests[nvidia.com/gpu]: "4" among 3 processing elements does not divide into whole '
            "pieces: state a multiple of 3",
            id="devices",
        ),
        pytest.param(
            {"hugepages-2Mi": "8Mi"},
            'spec.resources.requests[hugepages-2Mi]: "8Mi" among 3 processing elements does not divide into pages of '
            "2Mi: state a multiple of 6Mi",
            id="huge pages",
        ),
        pytest.param(
            {"nvidia.com/gpu": "0"},
            'spec.resources.requests[nvidia.com/gpu]: "0" among 3 processing elements leaves nothing for each: '
            "state at least 3",
            id="nothing",
        ),
    ],
)
def test_what_cannot_be_divided_is_a_problem(amount: dict[str, Amount], expected: str) -> None:
    found, problems = divided(Resources(amount), 3, PATH)
    assert ([f"{one.field}: {one.message}" for one in problems], found) == ([expected], Resources())


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param(Resources({"cpu": "1"}, {"cpu": "2"}), [], id="fine"),
        pytest.param(Resources({"cpu": "1"}), [], id="no limit"),
        pytest.param(
            Resources({"cpu": "x"}, {"cpu": "2"}),
            ['requests[cpu]: "x" is not an amount of 0 or more'],
            id="no quantity",
        ),
        pytest.param(Resources({"cpu": "-1"}), ['requests[cpu]: "-1" is not an amount of 0 or more'], id="negative"),
        pytest.param(
            Resources({"cpus": "1"}),
            ['requests[cpus]: "cpus" is not a resource that a container can request'],
            id="no resource",
        ),
        pytest.param(
            Resources({"cpu": "3"}, {"cpu": "2"}),
            ['requests[cpu]: "3" is more than the limit, "2"'],
            id="over the limit",
        ),
        pytest.param(
            Resources({"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "2"}),
            ['requests[nvidia.com/gpu]: "1" is not the limit, "2": nvidia.com/gpu cannot be overcommitted'],
            id="devices",
        ),
        pytest.param(
            Resources({f"example.com/{at}": "1" for at in range(100)}),
            [],
            id="as many as may be stated",
        ),
        pytest.param(Resources(None, {"cpu": "y"}), ['limits[cpu]: "y" is not an amount of 0 or more'], id="a limit"),
    ],
)
def test_resources_that_a_container_cannot_have_are_problems(resources: Resources, expected: list[str]) -> None:
    found = [f"{one.field}: {one.message}" for one in problems_of_resources(resources, PATH)]
    assert found == [f"{PATH}.{text}" for text in expected]


def test_too_many_amounts_are_one_problem() -> None:
    """Each pod of the element is judged by all of them, so that many thousands would take seconds."""
    many = {f"example.com/{at}": "x" for at in range(60)}
    found = problems_of_resources(Resources(many, dict(list(many.items())[:41])), PATH)
    assert list(found) == [Problem(PATH, "has 101 amounts of resources, at most 100 are allowed")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu=100m,memory=128Mi", {"cpu": "100m", "memory": "128Mi"}),
        (" cpu = 1 ", {"cpu": "1"}),
        ("", {}),
    ],
)
def test_requests_are_read_from_a_setting(text: str, expected: dict[str, Amount]) -> None:
    assert parse_requests(text).requests == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu", '"cpu" is not a request such as "cpu=100m"'),
        ("=1,cpu=", '"=1" is not a request such as "cpu=100m"; "cpu=" is not a request such as "cpu=100m"'),
        ("cpu=1,cpu=2", '"cpu=2" requests cpu again'),
        ("cpu=x", '"x" is not an amount of 0 or more'),
        ("cpus=1", '"cpus" is not a resource that a container can request'),
    ],
)
def test_a_setting_that_holds_no_requests_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_requests(text)
