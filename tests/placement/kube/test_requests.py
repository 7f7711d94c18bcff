"""What a pod asks of a node."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.placement.kube.pod import PodSpec
from webhook.placement.kube.requests import pod_requests


def container(restart: str | None = None, limits: dict[str, Any] | None = None, **requests: object) -> dict[str, Any]:
    """A container that requests these amounts."""
    resources = {"requests": requests, "limits": limits} if limits else {"requests": requests}
    return {"name": "c", "resources": resources} | ({"restartPolicy": restart} if restart else {})


def sidecar(**requests: object) -> dict[str, Any]:
    return container("Always", **requests)


def asked(**spec: object) -> dict[str, int]:
    """The requests of a pod, all of whose quantities are right."""
    requests, invalid = pod_requests(msgspec.convert(spec, PodSpec))
    assert invalid == ()
    return requests


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, {}, id="no container at all"),
        pytest.param({"containers": [{"name": "c"}]}, {}, id="container that asks for nothing"),
        pytest.param({"containers": [container(cpu="1"), container(cpu="4")]}, {"cpu": 5000}, id="sum of containers"),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [container(cpu="4")]},
            {"cpu": 4000},
            id="larger init container",
        ),
        pytest.param(
            {"containers": [container(cpu="2"), container(cpu="3")], "initContainers": [container(cpu="2")]},
            {"cpu": 5000},
            id="larger containers",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [container(cpu="3"), container(cpu="2")]},
            {"cpu": 3000},
            id="init containers run one after the other",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [sidecar(cpu="1"), sidecar(cpu="2")]},
            {"cpu": 4000},
            id="sidecars run beside the containers",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [sidecar(cpu="3"), container(cpu="5")]},
            {"cpu": 8000},
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "initContainers": [container(cpu="5"), sidecar(cpu="3")]},
            {"cpu": 5000},
            id="but not beside the sidecars after it",
        ),
        pytest.param(
            {
                "containers": [container(cpu="1")],
                "initContainers": [sidecar(cpu="2"), container(cpu="5"), sidecar(cpu="9"), {"name": "i"}],
            },
            {"cpu": 12000},
            id="sidecars before and after an init container",
        ),
        pytest.param(
            {"containers": [container(cpu="1", memory="2Gi")], "initContainers": [container(cpu="4", memory="1Gi")]},
            {"cpu": 4000, "memory": 2 << 30},
            id="each resource on its own",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "overhead": {"cpu": "250m", "memory": "120Mi"}},
            {"cpu": 1250, "memory": 120 << 20},
            id="overhead on top",
        ),
        pytest.param(
            {"containers": [container(limits={"cpu": "9"})]}, {"cpu": 9000}, id="a limit stands for the request"
        ),
        pytest.param(
            {"containers": [{"name": "c", "resources": {"limits": {"cpu": "9"}}}]},
            {"cpu": 9000},
            id="limits without any requests",
        ),
        pytest.param(
            {"containers": [container(limits={"cpu": "9", "memory": "1Ki"}, cpu="0")]},
            {"memory": 1024},
            id="a request of zero is a request",
        ),
        pytest.param(
            {"containers": [container(limits={"cpu": "9"}, cpu="1")]}, {"cpu": 1000}, id="a request beats its limit"
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "3"}}},
            {"cpu": 3000},
            id="pod level beats the containers",
        ),
        pytest.param(
            {"containers": [container(cpu="4")], "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "1"}},
            {"cpu": 4000},
            id="overhead on top of the pod level",
        ),
        pytest.param(
            {"containers": [container(cpu="1")], "resources": {"limits": {"cpu": "3", "memory": "1Ki"}}},
            {"cpu": 1000, "memory": 1024},
            id="a pod-level limit stands for what no container requests",
        ),
        pytest.param(
            {"containers": [container(**{"hugepages-2Mi": "4Mi"})], "resources": {"limits": {"hugepages-2Mi": "8Mi"}}},
            {"hugepages-2Mi": 8 << 20},
            id="a pod-level limit of huge pages is their request",
        ),
        pytest.param(
            {"containers": [container(**{"a.com/gpu": 1})], "resources": {"requests": {"a.com/gpu": 2}}},
            {"a.com/gpu": 1},
            id="nothing else can be asked for at pod level",
        ),
        pytest.param(
            {"containers": [container(cpu="100u", memory="1m")] * 3},
            {"cpu": 1, "memory": 1},
            id="only the sum is rounded, and up",
        ),
        pytest.param(
            {"containers": [container(cpu=1.5, memory=1000, pods=7)]},
            {"cpu": 1500, "memory": 1000},
            id="bare numbers",
        ),
        pytest.param({"containers": [container(memory="9E")] * 2}, {"memory": 2**63 - 1}, id="no more than an int64"),
    ],
)
def test_requests_are_counted_as_the_scheduler_does(spec: dict[str, object], expected: dict[str, int]) -> None:
    assert asked(**spec) == expected | {"pods": 1}


def test_what_is_not_a_quantity_is_named_with_its_path_and_counts_as_nothing() -> None:
    spec: dict[str, object] = {
        "containers": [container(cpu="1"), container(limits={"memory": "x"}, cpu="-1")],
        "initContainers": [container(cpu="1 ")],
        "resources": {"requests": {"memory": "1 Gi"}, "limits": {"hugepages-1Gi": "1gi"}},
        "overhead": {"cpu": "1e"},
    }
    assert pod_requests(msgspec.convert(spec, PodSpec)) == (
        {"cpu": 1000, "pods": 1},
        (
            ("spec.containers[1].resources.requests[cpu]", "-1"),
            ("spec.containers[1].resources.limits[memory]", "x"),
            ("spec.initContainers[0].resources.requests[cpu]", "1 "),
            ("spec.resources.requests[memory]", "1 Gi"),
            ("spec.resources.limits[hugepages-1Gi]", "1gi"),
            ("spec.overhead[cpu]", "1e"),
        ),
    )


def test_an_invalid_request_is_not_replaced_by_its_limit() -> None:
    spec = msgspec.convert({"containers": [container(limits={"cpu": "2"}, cpu="two")]}, PodSpec)
    assert pod_requests(spec) == ({"pods": 1}, (("spec.containers[0].resources.requests[cpu]", "two"),))


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", "a.com/gpu"]), st.integers(0, 9))


@given(
    containers=st.lists(AMOUNTS, max_size=3),
    starting=st.lists(st.tuples(st.booleans(), AMOUNTS), max_size=4),
    overhead=AMOUNTS,
)
def test_no_moment_of_a_pods_life_needs_more_and_one_needs_all(
    containers: list[dict[str, int]], starting: list[tuple[bool, dict[str, int]]], overhead: dict[str, int]
) -> None:
    """By brute force: what runs at the same time at each moment, from the first init container to the containers."""
    spec: dict[str, object] = {
        "containers": [container(**amounts) for amounts in containers],
        "initContainers": [container("Always" if stays else None, **amounts) for stays, amounts in starting],
        "overhead": overhead,
    }
    moments = [
        [amounts for earlier, amounts in starting[:place] if earlier] + [starting[place][1]]
        for place in range(len(starting))
    ]
    moments.append([amounts for stays, amounts in starting if stays] + containers)
    needed = {
        name: unit
        * (max(sum(amounts.get(name, 0) for amounts in moment) for moment in moments) + overhead.get(name, 0))
        for name, unit in (("cpu", 1000), ("memory", 1), ("a.com/gpu", 1))
    }
    assert asked(**spec) == {name: amount for name, amount in needed.items() if amount} | {"pods": 1}
