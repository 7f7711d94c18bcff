"""What a Job and its processing elements state for containers, and the default of processing elements."""

from typing import Any

import pytest

from tests.builders import JOB, Json, asked, cluster, decided, node, pod
from tests.placement.hardware_containers import amount, required
from webhook.placement.inventory.inventory import Inventory
from webhook.placement.inventory.policy import Policy
from webhook.placement.kube.pod import Resources
from webhook.placement.objects.jobs.job import Element, StreamsJob
from webhook.placement.text.problem import Fault

BOUND = {"streams.ibm.com/kubernetes.bind.worker.to.cpu": "true"}
PE = "parallel-0"
DEFAULT = Policy(element_requests=Resources({"cpu": "100m", "memory": "128Mi"}))


def requests(**amounts: Any) -> Resources:
    return Resources(amounts)


def job(own: Resources | None = None, *, shared: Resources | None = None, count: int = 2) -> Inventory:
    """A Job of so many elements, the first of which is the pod's."""
    elements = (Element(PE, resources=own), *(Element(f"parallel-{at}") for at in range(1, count)))
    return cluster([node()], jobs=[StreamsJob("default", JOB, elements, shared)])


def silent(**spec: Any) -> Json:
    """A pod whose container says nothing about resources."""
    found = pod(**spec)
    for container in found["spec"]["containers"]:
        container.pop("resources", None)
    return found


def given(found: Json, inventory: Inventory) -> Resources | None:
    """Resources of the pod's first container."""
    spec = asked(found, inventory, DEFAULT).spec
    assert spec.containers
    return spec.containers[0].resources


@pytest.mark.parametrize(
    ("own", "shared", "expected"),
    [
        pytest.param(None, None, requests(cpu="100m", memory="128Mi"), id="neither: the default"),
        pytest.param(requests(cpu="2"), None, requests(cpu="2"), id="the element: its own"),
        pytest.param(None, requests(cpu="3"), requests(cpu="1500m"), id="the job: divided"),
        pytest.param(requests(cpu="2"), requests(cpu="3"), requests(cpu="1500m"), id="both: the job's, divided"),
    ],
)
def test_who_states_resources(own: Resources | None, shared: Resources | None, expected: Resources) -> None:
    found = given(silent(), job(own, shared=shared))
    assert found
    assert (found.requests, found.limits or None) == (expected.requests, expected.limits)


def test_limits_are_divided_and_given_as_well() -> None:
    found = given(silent(), job(shared=Resources({"cpu": "2"}, {"cpu": "4", "memory": "2Gi"})))
    assert found == Resources({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"})


def test_the_default_fills_in_what_the_container_does_not_say() -> None:
    found = silent()
    found["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    assert given(found, cluster()) == Resources({"memory": "128Mi"}, {"cpu": "1"})


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(silent(pe=None), id="of no element"),
        pytest.param(silent(resources={"requests": {"cpu": "1"}}), id="with resources of its own as a whole"),
        pytest.param(
            silent(containers=[{"name": "a"}, {"name": "b"}]), id="of which nobody knows which container runs it"
        ),
    ],
)
def test_a_pod_without_the_default(found: Json) -> None:
    assert given(found, cluster()) is None


def test_the_container_is_found_by_name() -> None:
    found = silent(containers=[{"name": "side"}, {"name": "pe"}])
    spec = asked(found, job(requests(cpu="2"))).spec
    assert [one.resources for one in spec.containers or ()] == [None, Resources({"cpu": "2"}, {})]


def test_a_pod_that_does_not_say_its_container_is_refused() -> None:
    found = decided(silent(containers=[{"name": "a"}, {"name": "b"}]), job(requests(cpu="2")))
    assert found.message == (
        "metadata.annotations[streams.ibm.com/container]: must name the container that gets the resources of "
        'processing element parallel-0: "a", "b"'
    )


def test_neither_does_one_that_asks_for_hardware_as_well() -> None:
    found = silent(
        containers=[{"name": "a"}, {"name": "b"}], annotations=required({"resource": amount("x.org/gpu", 1)})
    )
    assert decided(found, job(requests(cpu="2"))).message.count(
        'must name the container that gets the resources of processing element parallel-0: "a", "b"'
    )


def test_what_the_container_says_itself_gives_way_with_a_warning() -> None:
    inventory = job(shared=Resources({"cpu": "4"}, {"cpu": "8"}))
    found = pod(requests={"cpu": "1"})
    found["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "2"}
    decision = decided(found, inventory)
    cause = "1/2 of the resources of Job parallel"
    assert list(decision.warnings) == [
        f'requests cpu 1 of container "runtime" become 2, by {cause}',
        f'limits cpu 2 of container "runtime" become 4, by {cause}',
    ]


def test_what_the_container_says_itself_may_be_the_same() -> None:
    found = pod(requests={"cpu": "2"})
    found["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "4"}
    assert decided(found, job(shared=Resources({"cpu": "4"}, {"cpu": "8"}))).warnings == ()


def test_under_cpu_binding_one_of_the_two_must_go() -> None:
    found = pod(requests={"cpu": "1", "memory": "1Gi"}, annotations=BOUND)
    inventory = cluster([node()], jobs=[StreamsJob("default", JOB, (Element(PE, cpu_bound=True),), requests(cpu="2"))])
    assert decided(found, inventory).message == (
        'spec.containers[0].resources.requests[cpu]: "1" is not 2, as by 1/1 of the resources of Job parallel: '
        "under kubernetes.bind.worker.to.cpu remove one"
    )


def test_a_limit_of_the_container_below_what_is_stated_is_refused() -> None:
    found = pod()
    found["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    assert decided(found, job(requests(cpu="2"))).message == (
        'spec.containers[0].resources.limits[cpu]: "1" is less than 2, the request by resources of processing '
        "element parallel-0"
    )


def test_a_limit_of_the_container_above_what_is_stated_stays() -> None:
    found = pod()
    found["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "4"}}
    assert given(found, job(requests(cpu="2"))) == Resources({"cpu": "2"}, {"cpu": "4"})


def test_hardware_requirements_come_first() -> None:
    hardware = "- {resource: {name: cpu, requests: 1}}"
    found = silent(annotations={"streams.ibm.com/hpa-requirements": hardware})
    assert given(found, job(requests(cpu="2", memory="1Gi"))) == Resources({"cpu": "1", "memory": "1Gi"}, {})


def test_a_pod_that_is_in_no_model_gets_the_default() -> None:
    assert given(silent(pe="other"), job(requests(cpu="2"))) == Resources({"cpu": "100m", "memory": "128Mi"}, {})


FPGA = "example.com/fpga"
MISSTATED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "unreadable, of the job": (
        {"shared": requests(cpu="x")}, (('Job parallel: spec.resources.requests[cpu]: "x" is not an amount of 0 or '
        'more'),),
    ),
    "unreadable, of the element": (
        {"own": requests(cpu="x")},
        ('processing element parallel-0: resources.requests[cpu]: "x" is not an amount of 0 or more',),
    ),
    "devices that do not divide": (
        {"shared": Resources({FPGA: "4", "cpu": "3"}, {FPGA: "4"}), "count": 3},
        tuple(
            f'Job parallel: spec.resources.{part}[{FPGA}]: "4" among 3 processing elements does not divide into whole '
            "pieces: state a multiple of 3"
            for part in ("requests", "limits")
        ),
    ),
    "huge pages that do not divide": (
        {"shared": requests(**{"hugepages-2Mi": "4Mi"}), "count": 3},
        (
            ('Job parallel: spec.resources.requests[hugepages-2Mi]: "4Mi" among 3 processing elements does not divide '
            "into pages of 2Mi: state a multiple of 6Mi"),
        ),
    ),
    "a share of nothing": (
        {"shared": requests(cpu="1m"), "count": 3},
        (
            ('Job parallel: spec.resources.requests[cpu]: "1m" among 3 processing elements leaves nothing for each: '
            "state at least 3m"),
        ),
    ),
    "more than the limit, of the job": (
        {"shared": Resources({"cpu": "2"}, {"cpu": "1"})},
        ('Job parallel: spec.resources.requests[cpu]: "2" is more than the limit, "1"',),
    ),
    "more than the limit, of the element": (
        {"own": Resources({"cpu": "2"}, {"cpu": "1"})},
        ('processing element parallel-0: resources.requests[cpu]: "2" is more than the limit, "1"',),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("stated", "texts"), MISSTATED.values(), ids=MISSTATED)
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="one container"),
        pytest.param({"containers": [{"name": "a"}, {"name": "b"}]}, id="no worker among the containers"),
    ],
)
def test_a_pod_of_a_stored_job_whose_resources_cannot_be_given_is_refused(
    stated: dict[str, Any], texts: tuple[str, ...], spec: dict[str, Any]
) -> None:
    decision = decided(silent(**spec), job(**stated), DEFAULT)
    assert decision.message == "\n".join(f"metadata.labels[streams.ibm.com/job]: {text}" for text in texts)
    assert decision.fault is Fault.INVALID


def test_a_pod_that_is_in_no_model_does_not_mind_what_the_job_states() -> None:
    assert not decided(silent(pe="other"), job(shared=requests(cpu="x")), DEFAULT).refused


def test_a_request_that_equals_the_default_is_the_default() -> None:
    """An earlier review wrote it, as far as anybody can tell, and a second one finds the same cause."""
    first, second = (
        decided(pod(containers=[{"name": "a", "resources": stated}]), cluster([node()]), DEFAULT).additions
        for stated in ({}, {"requests": {"cpu": "0.1", "memory": "128Mi"}})
    )
    assert first
    assert second
    assert (bool(first.resources), second.resources) == (True, ())
    assert first.injected == second.injected == '{"resources":["default of processing elements"]}'


def test_a_request_that_is_not_the_default_has_no_cause() -> None:
    found = pod(containers=[{"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}])
    additions = decided(found, cluster([node()]), DEFAULT).additions
    assert additions
    assert additions.injected == "{}"


def test_a_share_that_no_node_has_is_refused_by_its_name() -> None:
    decision = decided(silent(), job(shared=requests(cpu="40", memory="2Gi")))
    assert decision.message == (
        "cpu 20, memory 1Gi (1/2 of the resources of Job parallel) cannot hold: 0 of 1 node can run this pod.\n"
        "  1 node has less than cpu 20\n"
        "Nearest fix: add a node with cpu 20, memory 1Gi to offer, or lower cpu 20, memory 1Gi (1/2 of the resources "
        "of Job parallel) to cpu 8 (1 node would fit)."
    )


def test_pods_of_one_job_are_told_apart_where_it_states_resources() -> None:
    one, other = job(requests(cpu="2")), cluster()
    assert [found.tells_apart("default", JOB, "x") for found in (one, other)] == [True, False]


def test_a_pod_for_whose_default_there_is_no_room_is_refused() -> None:
    assert (
        decided(silent(), cluster([node(cpu=50)]), DEFAULT).headline
        == "requests cpu 100m, memory 128Mi cannot hold: 0 of 1 node can run this pod."
    )


def test_there_may_be_no_default() -> None:
    found = asked(silent(), cluster(), Policy()).spec.containers
    assert found
    assert found[0].resources is None
