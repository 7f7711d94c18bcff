"""The worker of a pod, and what keeps it from cores of its own."""

import pytest

from tests.builders import Json
from tests.placement.hardware_containers import FIRST, container, guaranteed, spec
from webhook.placement.kube.containers import Place, resources_at
from webhook.placement.kube.pod import PodSpec, Resources
from webhook.placement.kube.quantity import NANO
from webhook.placement.provision.effects import SetResources
from webhook.placement.provision.worker import bind, limited, worker
from webhook.placement.text import keys
from webhook.placement.text.problem import Problem

SECOND, START = Place(init=False, at=1), Place(init=True, at=0)
THREE = spec(container("a"), container("pe"), init=(container("i"),))
TWO = spec(container("a"), container("b"))

WORKERS: dict[str, tuple[PodSpec, str | None, Place]] = {
    "whom the annotation names": (THREE, "a", FIRST),
    "even what starts the pod": (THREE, "i", START),
    "the one called pe": (THREE, None, SECOND),
    "the only one": (spec(container("a")), None, FIRST),
}


@pytest.mark.parametrize(("found", "name", "expected"), WORKERS.values(), ids=WORKERS)
def test_the_worker_is(found: PodSpec, name: str | None, expected: Place) -> None:
    assert worker(found, {} if name is None else {keys.CONTAINER: name}) == expected


@pytest.mark.parametrize("name", ["c", "", "A"])
def test_a_worker_that_is_not_there_is_a_problem(name: str) -> None:
    assert worker(TWO, {keys.CONTAINER: name}) == Problem(
        "metadata.annotations[streams.ibm.com/container]",
        f'there is no container "{name}"; the containers: "a", "b"',
    )


def test_among_several_the_worker_must_be_named() -> None:
    assert worker(TWO, {}) == Problem(
        "metadata.annotations[streams.ibm.com/kubernetes.bind.worker.to.cpu]",
        'the annotation streams.ibm.com/container must name the worker: "a", "b"',
    )


CPU = SetResources("kubernetes.bind.worker.to.cpu", FIRST, "cpu", 2 * NANO, 2 * NANO)
MEMORY = SetResources("kubernetes.bind.worker.to.cpu", FIRST, "memory", 2**30 * NANO, 2**30 * NANO)
BOTH: Json = {"cpu": "2", "memory": "1Gi"}

SUITED: dict[str, Json] = {
    "requests are limits": guaranteed(),
    "requests alone": container("a", BOTH),
    "limits alone": container("a", limits=BOTH),
    "one of each": container("a", {"cpu": "2000m"}, {"memory": "1024Mi"}),
}


@pytest.mark.parametrize("found", SUITED.values(), ids=SUITED)
def test_the_limits_of_a_worker_are_its_requests(found: Json) -> None:
    assert bind(spec(found), FIRST) == ([CPU, MEMORY], [])


UNSUITED: dict[str, tuple[Json, list[str]]] = {
    "nothing": (
        container("a"),
        [
            'container "a" needs a whole number of cpus to be bound',
            'container "a" needs an amount of memory to be bound',
        ],
    ),
    "no memory": (container("a", {"cpu": "1"}), ['container "a" needs an amount of memory to be bound']),
    "no cpu": (container("a", {"memory": "1"}), ['container "a" needs a whole number of cpus to be bound']),
    "cpu of nothing": (guaranteed("a", cpu="0"), ['container "a" needs a whole number of cpus to be bound']),
    "cpu that is none": (guaranteed("a", cpu="x"), ['container "a" needs a whole number of cpus to be bound']),
    "a fraction": (guaranteed("a", cpu="1500m"), ['1500m is no whole number of cpus in container "a"']),
    "a part of a core": (guaranteed("a", cpu="0.5"), ['500m is no whole number of cpus in container "a"']),
    "a cpu limit above": (
        container("a", BOTH, {**BOTH, "cpu": "4"}), ['requests 2 and limits 4 of cpu must be equal in container "a"']
    ),
    "a memory limit above": (
        container("a", BOTH, {**BOTH, "memory": "2Gi"}),
        ['requests 1Gi and limits 2Gi of memory must be equal in container "a"'],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), UNSUITED.values(), ids=UNSUITED)
def test_what_keeps_a_worker_from_being_bound_is_a_problem(found: Json, expected: list[str]) -> None:
    _, problems = bind(spec(found), FIRST)
    path = "spec.containers[0].resources"
    assert problems == [Problem(path, f"{message}: kubernetes.bind.worker.to.cpu") for message in expected]


def test_what_is_right_is_filled_in_beside_what_is_wrong() -> None:
    assert bind(spec(container("a", {"memory": "1Gi"})), FIRST)[0] == [MEMORY]


def test_the_worker_then_has_these_limits() -> None:
    found = limited(spec(container("a", BOTH)), [CPU, MEMORY])
    assert resources_at(found, FIRST) == Resources(BOTH, BOTH)


def test_without_limits_the_pod_stays_as_it_is() -> None:
    assert limited(TWO, []) is TWO
