"""The webhook refuses exactly those hardware requirements with which the API server would refuse the pod."""

import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.applied_workloads import asked, container, made_of, resources, space
from tests.e2e.hardware.node_hardware import PAGES
from tests.e2e.workloads import pod
from tests.placement.properties.oracle.api_resources import complaints, containers, defaulted
from tests.placement.properties.pods import test_api_resources
from tests.placement.properties.random_choices import RandomChoices
from webhook.placement.text import keys

SPACE: Final = "rules"
DENIED: Final = 'admission webhook "pods.placement.streams.ibm.com" denied the request: '


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        yield


def requiring(text: str, *, level: Object | None = None, **own: Any) -> Object:
    """A pod that requires this; its container asks for ``own``, and it itself for ``level``."""
    return pod("p", SPACE, whole(level, **own), annotations={keys.HARDWARE: text})


def whole(level: Object | None = None, **own: Any) -> Object:
    return made_of(container(**own), **({"resources": level} if level else {}))


Case = tuple[Object, str, Object, str]
"""The pod that asks for hardware, what we say, what it would become, and what the API server says of that."""

REFUSED: Final[dict[str, Case]] = {
    "huge pages alone": (
        requiring(f"[{{name: {PAGES}, limits: 4Mi}}]"),
        (
            'spec.containers[0].resources: container "main" asks for neither cpu nor memory, without which Kubernetes '
            f"refuses huge pages: hardware {PAGES} 4Mi"
        ),
        whole(requests={PAGES: "4Mi"}, limits={PAGES: "4Mi"}),
        "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
    ),
    "more cores than the whole pod may use": (
        requiring("[{name: cpu, requests: 4}]", level={"limits": {"cpu": "1"}}),
        (
            'spec.resources.limits[cpu]: "1" is less than what the containers request together, 4 with hardware cpu 4; '
            "4 or more is needed"
        ),
        whole({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, requests={"cpu": "4"}),
        "must be greater than or equal to aggregate container requests of 4",
    ),
    "a limit above that of the whole pod": (
        requiring("[{name: cpu, requests: 1, limits: 4}]", level={"limits": {"cpu": "2"}}),
        (
            'spec.resources.limits[cpu]: "2" is less than the limit of container "main", 4 by hardware cpu 1; '
            "4 or more is needed"
        ),
        whole({"limits": {"cpu": "2"}}, requests={"cpu": "1"}, limits={"cpu": "4"}),
        "must be less than or equal to pod limits of 2",
    ),
    "more than the containers request by themselves": (
        requiring("[{name: memory, requests: 2Gi}]", level={"limits": {"memory": "4Gi"}}, requests={"memory": "1Gi"}),
        (
            'spec.resources.requests[memory]: "1Gi" is less than what the containers request together, '
            "2Gi with hardware memory 2Gi; 2Gi or more is needed"
        ),
        whole({"requests": {"memory": "1Gi"}, "limits": {"memory": "4Gi"}}, requests={"memory": "2Gi"}),
        "must be greater than or equal to aggregate container requests of 2Gi",
    ),
    "a limit of its own below the request": (
        requiring("[{name: cpu, requests: 2}]", limits={"cpu": "1"}),
        'spec.containers[0].resources.limits[cpu]: "1" is less than hardware cpu 2 requests',
        whole(requests={"cpu": "2"}, limits={"cpu": "1"}),
        "must be less than or equal to cpu limit of 1",
    ),
}


@pytest.mark.parametrize(("found", "said", "made", "rule"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_the_api_server_would_not_take(
    admin: Api, found: Object, said: str, made: Object, rule: str
) -> None:
    ours, theirs = asked(admin, found), asked(admin, pod("p", SPACE, made))
    assert (ours.code, ours.message) == (422, DENIED + said)
    assert (theirs.code, rule in theirs.message) == (422, True), theirs.message


TAKEN: Final[dict[str, tuple[Object, Object]]] = {
    "huge pages beside cpu": (
        requiring(f"[{{name: {PAGES}, limits: 4Mi}}]", requests={"cpu": "1"}),
        {"requests": {"cpu": "1", PAGES: "4Mi"}, "limits": {PAGES: "4Mi"}},
    ),
    "huge pages beside memory that is required, too": (
        requiring(f"[{{name: {PAGES}, limits: 4Mi}}, {{name: memory, limits: 1Gi}}]"),
        {"requests": {"memory": "1Gi", PAGES: "4Mi"}, "limits": {"memory": "1Gi", PAGES: "4Mi"}},
    ),
    "cores within those of the whole pod": (
        requiring("[{name: cpu, requests: 2}]", level={"limits": {"cpu": "2"}}),
        {"requests": {"cpu": "2"}},
    ),
    "no huge pages that are only wanted": (
        requiring(f"[{{name: {PAGES}, limits: 4Mi, mandatory: false}}]"),
        {},
    ),
    "no cores that are only wanted, beyond those of the whole pod": (
        requiring("[{name: cpu, requests: 4, mandatory: false}]", level={"limits": {"cpu": "2"}}),
        {},
    ),
}


@pytest.mark.parametrize(("found", "expected"), TAKEN.values(), ids=TAKEN.keys())
def test_what_is_given_it_takes(admin: Api, found: Object, expected: Object) -> None:
    answer = asked(admin, found)
    assert answer.code == 201, answer.message
    assert resources(answer.body) == expected


def some_pod(seed: int) -> Object:
    """One of the pods that the properties are about, complete enough for the API server."""
    found = test_api_resources.pod(RandomChoices(random.Random(seed).randbytes(120)))  # noqa: S311 -- the same ones each time
    for _, one in containers(found["spec"]):
        one["image"] = "example.invalid/main"
    return found


def test_the_properties_know_what_the_api_server_takes(admin: Api) -> None:
    """Random pods, as they are and as they would be with what they must be given."""
    told = []
    for seed in range(150):
        source = some_pod(seed)
        for spec in (source["spec"], test_api_resources.given_all(source)["spec"]):
            one = pod("p", SPACE, spec)
            answer, expected = asked(admin, one), complaints(defaulted(one))
            told.append(bool(expected))
            assert (answer.code == 422) == bool(expected), (answer.message, expected, spec)
    assert {*told} == {True, False}
