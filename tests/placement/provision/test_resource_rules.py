"""What containers are given must leave a pod that the API server takes."""

from typing import Any

import msgspec
import pytest

from tests.builders import Json, asked, cluster, decided, nodes, pod
from tests.placement.hardware_containers import GPU, amount, container, offering, required
from tests.workload_templates import crowded
from webhook.placement.kube.pod import PodSpec, Resources
from webhook.placement.kube.requests import pod_requests
from webhook.placement.provision.resource_rules import completed
from webhook.placement.text.problem import Fault

PAGES, GIANT = "hugepages-2Mi", "hugepages-1Gi"
INVENTORY = cluster([offering("node-a", {"cpu": 16000, "memory": 64 << 30, PAGES: 1 << 30, GIANT: 4 << 30, GPU: 2})])
ALONE = "asks for neither cpu nor memory, without which Kubernetes refuses huge pages"


def asking(*requirements: Json, **spec: Any) -> Json:
    return pod(annotations=required(*requirements), **spec)


def whole(**resources: Json) -> Json:
    """Resources of the pod as a whole, beside one container."""
    return {"resources": resources}


REFUSED: dict[str, tuple[Json, list[str]]] = {
    "huge pages alone": (
        asking(amount(PAGES, "64Mi")),
        [f'spec.containers[0].resources: container "runtime" {ALONE}: hardware {PAGES} 64Mi'],
    ),
    "of two sizes": (
        asking(amount(PAGES, "64Mi"), amount(GIANT, "1Gi")),
        [
            f'spec.containers[0].resources: container "runtime" {ALONE}: hardware {PAGES} 64Mi',
            f'spec.containers[0].resources: container "runtime" {ALONE}: hardware {GIANT} 1Gi',
        ],
    ),
    "for an init container": (
        asking(amount(PAGES, "64Mi", of="first"), initContainers=[container("first", {"ephemeral-storage": "1Gi"})]),
        [f'spec.initContainers[0].resources: container "first" {ALONE}: hardware {PAGES} 64Mi'],
    ),
    "beside cpu of another container": (
        asking(amount(PAGES, "64Mi", of="a"), containers=[container("a", {GPU: 1}), container("b", {"cpu": 1})]),
        [f'spec.containers[0].resources: container "a" {ALONE}: hardware {PAGES} 64Mi'],
    ),
    "beside cpu that is only wanted": (
        asking(amount(PAGES, "64Mi"), amount("cpu", 1, mandatory=False)),
        [f'spec.containers[0].resources: container "runtime" {ALONE}: hardware {PAGES} 64Mi'],
    ),
    "more cores than the limit of the whole pod": (
        asking(amount("cpu", requests=4), **whole(limits={"cpu": "1"})),
        [
            (
                'spec.resources.limits[cpu]: "1" is less than what the containers request together, '
                "4 with hardware cpu 4; 4 or more is needed"
            )
        ],
    ),
    "a limit above that of the whole pod": (
        asking(amount("cpu", 4, requests=1), **whole(limits={"cpu": "2"})),
        [
            (
                'spec.resources.limits[cpu]: "2" is less than the limit of container "runtime", 4 by hardware cpu 1; '
                "4 or more is needed"
            )
        ],
    ),
    "both above the limit of the whole pod": (
        asking(amount("cpu", 4), **whole(limits={"cpu": "1"})),
        [
            (
                'spec.resources.limits[cpu]: "1" is less than the limit of container "runtime", 4 by hardware cpu 4; '
                "4 or more is needed"
            )
        ],
    ),
    "a limit above that of the whole pod, and requests of all further above": (
        asking(
            amount("cpu", 3, of="a"),
            amount("cpu", requests=4, **{"container-name": "b"}),
            containers=[container("a"), container("b")],
            **whole(limits={"cpu": "2"}),
        ),
        [
            (
                'spec.resources.limits[cpu]: "2" is less than the limit of container "a", 3 by hardware cpu 3; '
                "7 or more is needed"
            )
        ],
    ),
    "requests above both of the whole pod": (
        asking(amount("cpu", requests=4), **whole(requests={"cpu": "1"}, limits={"cpu": "2"})),
        [
            (
                'spec.resources.limits[cpu]: "2" is less than what the containers request together, '
                "4 with hardware cpu 4; 4 or more is needed"
            ),
            (
                'spec.resources.requests[cpu]: "1" is less than what the containers request together, '
                "4 with hardware cpu 4; 4 or more is needed"
            ),
        ],
    ),
    "requests and a limit above those of the whole pod": (
        asking(amount("cpu", 8, requests=3), **whole(requests={"cpu": "1"}, limits={"cpu": "2"})),
        [
            (
                'spec.resources.limits[cpu]: "2" is less than the limit of container "runtime", 8 by hardware cpu 3; '
                "8 or more is needed"
            ),
            (
                'spec.resources.requests[cpu]: "1" is less than what the containers request together, '
                "3 with hardware cpu 3; 3 or more is needed"
            ),
        ],
    ),
    "more than the request of the whole pod": (
        asking(amount("memory", "2Gi", requests="1Gi"), **whole(requests={"memory": "512Mi"})),
        [
            (
                'spec.resources.requests[memory]: "512Mi" is less than what the containers request together, '
                "1Gi with hardware memory 1Gi; 1Gi or more is needed"
            )
        ],
    ),
    "more than the containers request by themselves, which Kubernetes makes the request of the whole pod": (
        asking(amount("cpu", requests=2), requests={"cpu": "1"}, **whole(limits={"cpu": "4"})),
        [
            (
                'spec.resources.requests[cpu]: "1" is less than what the containers request together, '
                "2 with hardware cpu 2; 2 or more is needed"
            )
        ],
    ),
    "together with a sidecar": (
        asking(
            amount("cpu", requests=2, **{"container-name": "runtime"}),
            initContainers=[container("mesh", {"cpu": "500m"}, restartPolicy="Always")],
            **whole(requests={"cpu": "2"}),
        ),
        [
            (
                'spec.resources.requests[cpu]: "2" is less than what the containers request together, '
                "2500m with hardware cpu 2; 2500m or more is needed"
            )
        ],
    ),
    "two containers together": (
        asking(
            amount("cpu", requests=2, **{"container-name": "a"}),
            amount("cpu", requests=3, **{"container-name": "b"}),
            containers=[container("a"), container("b")],
            **whole(requests={"cpu": "4"}),
        ),
        [
            (
                'spec.resources.requests[cpu]: "4" is less than what the containers request together, '
                "5 with hardware cpu 2 + hardware cpu 3; 5 or more is needed"
            )
        ],
    ),
    "more huge pages than the whole pod has": (
        asking(amount(PAGES, "8Mi"), **whole(limits={PAGES: "4Mi", "cpu": "1"}), requests={"cpu": "1"}),
        [
            (
                f'spec.resources.limits[{PAGES}]: "4Mi" is less than the limit of container "runtime", '
                f"8Mi by hardware {PAGES} 8Mi; 8Mi or more is needed"
            )
        ],
    ),
    "more huge pages than other containers have, which Kubernetes makes the limit of the whole pod": (
        asking(
            amount(PAGES, "4Mi", of="a"),
            containers=[container("a", {"cpu": "1"}), container("b", {"cpu": "1", PAGES: "4Mi"}, {PAGES: "4Mi"})],
            **whole(requests={"cpu": "4"}),
        ),
        [
            (
                f'spec.resources.limits[{PAGES}]: "4Mi" is less than what the containers request together, '
                f"8Mi with hardware {PAGES} 4Mi; 8Mi or more is needed"
            )
        ],
    ),
}


@pytest.mark.parametrize(("found", "expected"), REFUSED.values(), ids=REFUSED)
def test_a_pod_that_the_api_server_would_not_take_is_refused(found: Json, expected: list[str]) -> None:
    decision = decided(found, INVENTORY)
    assert (decision.message.splitlines(), decision.fault) == (expected, Fault.INVALID)


TAKEN: dict[str, Json] = {
    "huge pages beside cpu of its own": asking(amount(PAGES, "64Mi"), requests={"cpu": "1"}),
    "beside a limit of memory": asking(amount(PAGES, "64Mi"), containers=[container("a", limits={"memory": "1Gi"})]),
    "beside a request of nothing": asking(amount(PAGES, "64Mi"), requests={"cpu": "0"}),
    "beside another requirement": asking(amount(PAGES, "64Mi"), amount("memory", "1Gi")),
    "an init container beside cpu": asking(
        amount(PAGES, "64Mi", of="first"), initContainers=[container("first", {"cpu": "1"})]
    ),
    "as much as the whole pod": asking(amount("cpu", 4), **whole(limits={"cpu": "4"})),
    "a device, which the whole pod has no word on": asking(amount(GPU, 2), **whole(limits={"cpu": "4"})),
    "cores beside memory of the whole pod": asking(amount("cpu", 4), **whole(limits={"memory": "1Gi"})),
    "less than the whole pod requests": asking(amount("cpu", 1), **whole(requests={"cpu": "2"})),
    "a whole pod that says nothing": asking(amount("cpu", 4), **whole()),
    "huge pages of a whole pod that says nothing of them": asking(
        amount(PAGES, "8Mi"), **whole(requests={"cpu": "1"}), requests={"cpu": "1"}
    ),
    "an init container's limit above that of the whole pod": asking(
        amount("cpu", 8, requests=1, of="first"),
        initContainers=[container("first")],
        **whole(limits={"cpu": "2"}),
    ),
    "less than the container says itself": asking(
        amount("cpu", 1), requests={"cpu": "2"}, **whole(requests={"cpu": "2"})
    ),
}


@pytest.mark.parametrize("found", TAKEN.values(), ids=TAKEN)
def test_a_pod_that_the_api_server_takes_is_admitted(found: Json) -> None:
    assert decided(found, INVENTORY).message == ""


def test_what_the_pod_says_itself_is_left_to_the_api_server() -> None:
    """Nothing that it is given has to do with it."""
    own = container("a", {PAGES: "4Mi"}, {PAGES: "4Mi"})
    assert decided(asking(amount(GPU, 1), containers=[own]), INVENTORY).message == ""


def test_a_wish_that_is_granted_already_is_the_pods_own() -> None:
    own = container("a", {PAGES: "4Mi"}, {PAGES: "4Mi"})
    wish = amount(PAGES, "4Mi", mandatory=False)
    assert decided(asking(wish, containers=[own]), INVENTORY).message == ""


def test_amounts_that_are_none_are_told_by_themselves() -> None:
    found = decided(asking(amount("cpu", 4), **whole(limits={"cpu": "many"})), INVENTORY)
    assert found.message == 'spec.resources.requests[cpu]: "many" is not a Kubernetes quantity'


def test_templates_are_told_the_same() -> None:
    annotations = required(amount(PAGES, "64Mi"))
    assert crowded(None, 2, cluster(nodes(2)), annotations=annotations).message == (
        f'spec.containers[0].resources: container "runtime" {ALONE}: hardware {PAGES} 64Mi'
    )


def spec(found: Json, *containers: Json) -> PodSpec:
    """A pod with these resources of its own."""
    return msgspec.convert({"resources": found, "containers": [*containers]}, PodSpec)


ONE = container("a", {"cpu": "1", GPU: 1}, {"cpu": "2", GPU: 1})
PAGED = container("a", {"cpu": "1", PAGES: "4Mi"}, {PAGES: "4Mi"})

COMPLETED: dict[str, tuple[PodSpec, Resources]] = {
    "nothing at all": (spec({}, ONE), Resources()),
    "no containers that ask": (spec({"limits": {"cpu": "2"}}), Resources({"cpu": "2"}, {"cpu": "2"})),
    "requests of containers": (spec({"limits": {"cpu": "4"}}, ONE), Resources({"cpu": "1"}, {"cpu": "4"})),
    "requests of containers, beside other limits": (
        spec({"limits": {"memory": "1Gi"}}, ONE),
        Resources({"memory": "1Gi", "cpu": "1"}, {"memory": "1Gi"}),
    ),
    "nothing beside requests alone": (spec({"requests": {"memory": "1Gi"}}, ONE), Resources({"memory": "1Gi"})),
    "nothing in place of what is written": (
        spec({"requests": {"cpu": "3"}, "limits": {"cpu": "4"}}, ONE),
        Resources({"cpu": "3"}, {"cpu": "4"}),
    ),
    "huge pages of containers": (
        spec({"requests": {"cpu": "1"}}, PAGED),
        Resources({PAGES: "4Mi", "cpu": "1"}, {PAGES: "4Mi"}),
    ),
    "no limit beside a request of huge pages": (
        spec({"requests": {PAGES: "8Mi"}}, PAGED),
        Resources({PAGES: "8Mi"}),
    ),
}


@pytest.mark.parametrize(("found", "expected"), COMPLETED.values(), ids=COMPLETED)
def test_pod_level_resources_are_completed_as_the_api_server_does(found: PodSpec, expected: Resources) -> None:
    assert completed(found).resources == expected
    assert pod_requests(completed(found)) == pod_requests(found)


def test_a_pod_without_any_is_left_alone() -> None:
    found = msgspec.convert({"containers": [ONE]}, PodSpec)
    assert completed(found) is found


def test_what_the_whole_pod_requests_is_counted_as_it_is_before_anything_is_given() -> None:
    """So is it in a review, and a template is judged like its pods."""
    found = asked(asking(amount("cpu", 1), **whole(limits={"cpu": "4"})), INVENTORY)
    assert found.requests["cpu"] == 4000
