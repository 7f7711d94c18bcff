"""LimitRanges: what containers get that state nothing, and what is out of bounds."""

from typing import Any

import msgspec
import pytest

from tests.placement.pod_defaults.completing import completed, known, limits, messages, resources
from webhook.placement.kube.pod import Pod
from webhook.placement.pod_defaults.limit_range import LimitRangeItem, limit_range_of

C = "spec.containers[0].resources"


def derived(**item: Any) -> dict[str, Any]:
    [found] = limit_range_of("default", "l", [msgspec.convert({"type": "Container", **item}, LimitRangeItem)]).items
    return {"default": found.default, "defaultRequest": found.default_request}


def test_a_default_limit_is_the_maximum_and_a_default_request_the_limit_or_the_minimum() -> None:
    assert derived(max={"cpu": "4", "memory": "4Gi"}, min={"cpu": "1", "example.com/x": "1"}, default={"cpu": "2"}) == {
        "default": {"cpu": "2", "memory": "4Gi"},
        "defaultRequest": {"cpu": "2", "memory": "4Gi", "example.com/x": "1"},
    }


def test_items_about_whole_pods_give_no_defaults() -> None:
    [item] = limit_range_of("default", "l", [LimitRangeItem("Pod", max={"cpu": "4"})]).items
    assert (item.default, item.default_request) == (None, None)


@pytest.mark.parametrize(
    ("stated", "requests", "limited"),
    [
        pytest.param({}, {"cpu": "500m", "memory": "1Gi"}, {"cpu": "2"}, id="nothing stated"),
        pytest.param({"limits": {"cpu": "1"}}, {"cpu": "1", "memory": "1Gi"}, {"cpu": "1"}, id="a limit is requested"),
        pytest.param({"requests": {"cpu": "1"}}, {"cpu": "1", "memory": "1Gi"}, {"cpu": "2"}, id="a request stays"),
        pytest.param(
            {"requests": {"memory": "0"}, "limits": {"cpu": "1"}},
            {"cpu": "1", "memory": "0"},
            {"cpu": "1"},
            id="zero is stated",
        ),
    ],
)
def test_what_is_not_stated_is_given(stated: Any, requests: Any, limited: Any) -> None:
    range_ = limits(default={"cpu": "2"}, defaultRequest={"cpu": "500m", "memory": "1Gi"})
    assert resources(completed(stated, range_)) == [(requests, limited)]


def test_init_containers_and_sidecars_get_defaults_as_well() -> None:
    init = [{"name": "i"}, {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]
    found = completed({}, limits(default={"cpu": "2"}), initContainers=init)
    assert resources(found)[1:] == [({"cpu": "2"}, {"cpu": "2"}), ({"cpu": "1"}, {"cpu": "2"})]


def test_the_first_of_several_counts_by_name_and_a_difference_is_told() -> None:
    found = completed({}, limits("b", default={"cpu": "2"}), limits("a", default={"cpu": "1"}, max={"memory": "1Gi"}))
    assert resources(found) == [({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})]
    assert found.warnings == (
        "LimitRanges a and b differ in default[cpu]: a pod may get either, that of a is judged",
        "LimitRanges a and b differ in defaultRequest[cpu]: a pod may get either, that of a is judged",
    )


def test_equal_defaults_are_no_difference() -> None:
    assert completed({}, limits("a", default={"cpu": "1"}), limits("b", default={"cpu": "1000m"})).warnings == ()


def test_the_names_of_those_whose_defaults_are_requested_are_kept() -> None:
    found = completed({"requests": {"cpu": "1"}}, limits("a", defaultRequest={"cpu": "1", "memory": "1Gi"}))
    assert found.given == {"memory": "a"}


@pytest.mark.parametrize(
    ("pod_level", "requested"),
    [
        pytest.param({"limits": {"cpu": "4"}}, {"cpu": "4"}, id="the limit, where no container requests it"),
        pytest.param({"limits": {"memory": "4Gi"}}, {"cpu": "1", "memory": "4Gi"}, id="what containers request"),
        pytest.param({"requests": {"cpu": "3"}}, {"cpu": "3"}, id="no limit, no default"),
    ],
)
def test_pod_level_requests_are_set_before_containers_get_defaults(pod_level: Any, requested: Any) -> None:
    stated = {"requests": {"cpu": "1"}} if "memory" in pod_level.get("limits", {}) else {}
    found = completed(stated, limits(defaultRequest={"memory": "1Gi"}), resources=pod_level)
    assert found.spec
    assert found.spec.resources
    assert found.spec.resources.requests == requested


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        pytest.param(
            {"requests": {"cpu": "3"}},
            f"{C}.requests[cpu]: 3 is more than 2, the default limit: state a limit of at least 3 (LimitRange l)",
            id="request above the default limit",
        ),
        pytest.param(
            {"requests": {"example.com/x": "2"}},
            f"{C}.requests[example.com/x]: 2 is not 4, the default limit: state a limit of 2 (LimitRange l)",
            id="a device whose limit differs",
        ),
    ],
)
def test_a_request_that_does_not_go_with_a_default_limit_is_refused(stated: Any, message: str) -> None:
    assert messages(completed(stated, limits(default={"cpu": "2", "example.com/x": "4"}))) == [message]


@pytest.mark.parametrize(
    ("pod_level", "told"),
    [
        ({"requests": {"cpu": "1"}}, [
            "spec.resources.requests[cpu]: 1 is less than 2, which containers request by default (LimitRange l)",
        ]),
        ({"requests": {"cpu": "3"}}, []),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, [
            f"{C}.limits[cpu]: 2 is more than 1, the limit of the pod: state a limit (LimitRange l)",
        ]),
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}, []),
    ],
)  # fmt: skip
def test_defaults_beyond_pod_level_amounts_are_refused(pod_level: Any, told: list[str]) -> None:
    assert messages(completed({}, limits(default={"cpu": "2"}), resources=pod_level)) == told


def test_what_containers_state_beyond_pod_level_amounts_is_told_with_the_template() -> None:
    found = completed(
        {"requests": {"cpu": "2"}}, limits(default={"memory": "1Gi"}), resources={"requests": {"cpu": "1"}}
    )
    assert messages(found) == []


def test_a_device_of_which_only_a_request_is_the_default_is_refused() -> None:
    assert messages(completed({}, limits(defaultRequest={"example.com/x": "1"}))) == [
        f"{C}.requests[example.com/x]: 1 is requested without a limit: state a limit of 1 (LimitRange l)"
    ]


def test_amounts_that_are_no_quantities_are_left_to_those_who_read_requests() -> None:
    assert messages(completed({"requests": {"cpu": "much"}}, limits(default={"cpu": "2"}))) == []


# Bounds


@pytest.mark.parametrize(
    ("stated", "bounds", "told"),
    [
        ({}, {"min": {"cpu": "1"}}, []),
        ({"requests": {"cpu": "500m"}}, {"min": {"cpu": "1"}}, ["requests[cpu]: 500m is less than 1"]),
        (
            {"limits": {"cpu": "500m"}},
            {"min": {"cpu": "1"}},
            ["requests[cpu]: 500m is less than 1", "limits[cpu]: 500m is less than 1"],
        ),
        ({"limits": {"cpu": "5"}}, {"max": {"cpu": "4"}}, [
            "limits[cpu]: 5 is more than 4", "requests[cpu]: 5 is more than 4",
        ]),
        ({"requests": {"cpu": "5"}}, {"max": {"cpu": "4"}, "default": {"cpu": "5"}}, [
            "limits[cpu]: 5 is more than 4", "requests[cpu]: 5 is more than 4",
        ]),
        ({"limits": {"cpu": "4"}}, {"max": {"cpu": "4000m"}}, []),
        (
            {"requests": {"cpu": "1"}, "limits": {"cpu": "4"}},
            {"maxLimitRequestRatio": {"cpu": "3"}},
            ["limits[cpu]: 4 is more than 3 times the request of 1"],
        ),
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}, {"maxLimitRequestRatio": {"cpu": "3"}}, []),
        ({}, {"maxLimitRequestRatio": {"cpu": "3"}}, [
            "requests[cpu]: the limit may be at most 3 times the request, so both must be stated",
        ]),
        ({"requests": {"cpu": "1"}}, {"maxLimitRequestRatio": {"cpu": "3"}}, [
            "limits[cpu]: the limit may be at most 3 times the request, so both must be stated",
        ]),
        # Beyond 2**63 / 1000 whole units are compared.
        ({"limits": {"memory": "10Pi"}}, {"max": {"memory": "9Pi"}}, [
            "limits[memory]: 10Pi is more than 9Pi", "requests[memory]: 10Pi is more than 9Pi",
        ]),
    ],
)  # fmt: skip
def test_bounds_of_a_container(stated: Any, bounds: Any, told: list[str]) -> None:
    found = completed(stated, limits(**bounds))
    assert messages(found) == [f"{C}.{one} (container bounds of LimitRange l)" for one in told]


@pytest.mark.parametrize(
    ("stated", "bounds", "pod_level", "told"),
    [
        ({"limits": {"cpu": "3"}}, {"max": {"cpu": "4"}}, None, [
            "limits[cpu]: 6 is more than 4", "requests[cpu]: 6 is more than 4",
        ]),
        ({"requests": {"cpu": "1"}}, {"max": {"cpu": "4"}}, None, [
            "limits[cpu]: no limit is stated, the maximum is 4",
        ]),
        ({}, {"min": {"cpu": "4"}}, None, ["requests[cpu]: nothing is requested, the minimum is 4"]),
        ({"limits": {"cpu": "3"}}, {"max": {"cpu": "8"}}, {"requests": {"cpu": "7"}, "limits": {"cpu": "9"}}, [
            "limits[cpu]: 9 is more than 8",
        ]),
    ],
)  # fmt: skip
def test_bounds_of_a_pod_are_about_all_containers_or_pod_level_amounts(
    stated: Any, bounds: Any, pod_level: Any, told: list[str]
) -> None:
    spec = {"resources": pod_level} if pod_level else {}
    init = [{"name": "s", "restartPolicy": "Always", "resources": stated}]
    found = completed(stated, limits(kind="Pod", **bounds), initContainers=init, **spec)
    assert messages(found) == [f"spec.containers: {one} (pod bounds of LimitRange l)" for one in told]


def test_one_that_is_gone_gives_nothing() -> None:
    objects = known(limits("a", default={"cpu": "1"}), limits("b", default={"cpu": "1"}))
    for name in ("a", "b", "never there"):
        objects.drop_limit_range("default", name)
    assert objects.completed(Pod(), "default").given == {}
