"""Jobs in a namespace that enforces the standard ``restricted`` of Pod Security."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.client.api import Api
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, Jobs, conditions, elements
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "restricted"
BUNDLE: Final = {"name": "apps.parallel.Parallel.sab", "http": {"url": "https://example.com/a.sab"}}
CLAIM: Final = {"dataVolumeClaim": {"name": "data"}, "appPropertiesSecret": "properties"}


@pytest.fixture
def restricted(admin: Api) -> Iterator[Jobs]:
    """Jobs in such a namespace."""
    if admin.find(f"/api/v1/namespaces/{SPACE}") is None:
        namespace(admin, SPACE, **{"pod-security.kubernetes.io/enforce": "restricted"})
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "none"}
        metadata = {"name": "data", "namespace": SPACE}
        admin.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim})
    found = Jobs(admin, SPACE)
    yield found
    for resource in (JOBS, ELEMENTS):
        admin.delete(found.path(resource))
    admin.delete(f"/api/v1/namespaces/{SPACE}/pods", gracePeriodSeconds="0")
    found.gone(JOBS, ELEMENTS)


def test_the_runtime_runs(restricted: Jobs) -> None:
    restricted.submit("parallel", [{}, {"buildType": "release"}], bundle=BUNDLE)
    restricted.phase(JOBS, "parallel", "Running")


def created(jobs: Jobs, element: str) -> dict[str, str]:
    """The condition of the element that says whether its pod was created, once that has been tried."""

    def found() -> dict[str, str] | None:
        one = jobs.api.find(jobs.path(ELEMENTS, element)) or {}
        return conditions(one).get("PodCreated") if one.get("status") else None

    return until(found, f"a pod of {element} was tried", 40)


def test_so_does_the_runtime_with_volumes(restricted: Jobs) -> None:
    restricted.submit("volumes", [CLAIM], bundle=BUNDLE)
    assert created(restricted, "volumes-0")["status"] == "True"


def test_what_a_debugger_needs_is_not_restricted(restricted: Jobs) -> None:
    restricted.submit("traced", [{"allowPtrace": True}], bundle=BUNDLE)
    said = created(restricted, "traced-0")
    assert said["status"] == "False"
    assert 'must not include "SYS_PTRACE" in securityContext.capabilities.add' in said["message"]


def test_a_template_states_its_security_itself(restricted: Jobs) -> None:
    restricted.submit("own", elements("own-0"))
    said = created(restricted, "own-0")
    assert said["status"] == "False"
    assert 'violates PodSecurity "restricted:latest"' in said["message"]
