"""A worker with CPU binding gets requests and limits for exclusive cores; all workers of a job are bound, or none."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.all_processes import everyone
from tests.e2e.hardware.applied_workloads import (
    applied,
    asked,
    container,
    made_of,
    pods,
    resources,
    running,
    space,
    stateful,
)
from tests.e2e.polling import until
from tests.e2e.workloads import is_ready, pod
from webhook.placement.text import keys

SPACE: Final = "bound"
PODS: Final = pods(SPACE)
FIELD: Final = f"metadata.annotations[{keys.BIND}]"
DENIED: Final = 'admission webhook "pods.placement.streams.ibm.com" denied the request: '

TWO: Final = {"cpu": "2", "memory": "1Gi"}
SMALL: Final = {"cpu": "100m", "memory": "64Mi"}


@pytest.fixture(scope="module", autouse=True)
def _space(installed: object, plane: ControlPlane) -> Iterator[None]:  # noqa: ARG001 -- after it
    with space(plane, SPACE):
        yield


def worker(name: str, job: str, *, bound: bool) -> Object:
    """A worker of a job with two cores and a sidecar."""
    spec = made_of(container("worker", requests=TWO, limits=TWO), container("sidecar", requests=SMALL, limits=SMALL))
    return pod(name, SPACE, spec, labels={keys.JOB: job}, annotations=binding(bound=bound))


def binding(*, bound: bool) -> dict[str, str]:
    return {keys.BIND: str(bound).lower(), keys.CONTAINER: "worker"}


def started(admin: Api, name: str, job: str, *, bound: bool) -> None:
    """Create such a worker, and wait until it runs."""
    admin.create(worker(name, job, bound=bound))
    until(lambda: is_ready(admin.get(f"{PODS}/{name}")), f"{name} is ready", 60)


def test_a_bound_worker_is_given_its_limits_and_is_guaranteed(admin: Api, plane: ControlPlane) -> None:
    spec = made_of(container("worker", requests=TWO))
    meta = {"labels": {keys.JOB: "twister"}, "annotations": binding(bound=True)}
    applied(plane, stateful("twister", SPACE, 2, spec=spec, **meta))
    found = running(admin, SPACE, "twister", 2)
    assert [resources(one, "worker") for one in found] == [{"requests": TWO, "limits": TWO}] * 2
    assert {one["status"]["qosClass"] for one in found} == {"Guaranteed"}


# All workers of a job, or none

DIFFERENT: Final = {
    "a second worker that is not bound": (
        "first-bound",
        True,
        (
            "other workers of its job have CPU binding and this pod does not ask for it: bind all workers of a job, or "
            "none"
        ),
    ),
    "a second worker that is": (
        "first-unbound",
        False,
        "this pod asks for CPU binding and other workers of its job do not: bind all workers of a job, or none",
    ),
}


@pytest.mark.parametrize(("job", "bound", "said"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_all_workers_of_a_job_are_bound_or_none_is(admin: Api, job: str, bound: bool, said: str) -> None:  # noqa: FBT001 -- a column of the table
    started(admin, job, job, bound=bound)
    other = worker("other", job, bound=not bound)
    until(lambda: {said.allowed for said in everyone(admin, other)} == {False}, "the first worker is known", 60)
    answer = asked(admin, other)
    assert (answer.code, answer.message) == (403, f"{DENIED}{FIELD}: {said}")
    assert asked(admin, worker("another", job, bound=bound)).code == 201
