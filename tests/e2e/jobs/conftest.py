"""Fixtures: a control plane with the chart as it is by default."""

from collections.abc import Iterator

import pytest

from tests.e2e.chart import installation
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.jobs.streams_jobs import ELEMENTS, JOBS, POOLS, Jobs
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.workloads import namespace


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with six nodes, which no other tests use: the chart is for a whole cluster."""
    webhook = f"{NAMESPACE}/{RELEASE}"
    with ControlPlane(tmp_path_factory.mktemp("jobs"), service_accounts=(webhook,)) as running:
        tagged = {"streams.ibm.com/hostpool": "source"}
        create_nodes(running.admin, [node(f"node-{number}", tagged if number < 3 else {}) for number in range(6)])
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart as it is by default."""
    with installation.installed(plane) as running:
        yield running


@pytest.fixture(scope="package")
def admin_of_plane(plane: ControlPlane, installed: Kubelet) -> Api:  # noqa: ARG001 -- after it
    """For fixtures of a whole module."""
    return plane.admin


@pytest.fixture
def admin(plane: ControlPlane, installed: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


@pytest.fixture
def jobs(admin: Api, request: pytest.FixtureRequest) -> Iterator[Jobs]:
    """Jobs in a namespace of the test's own, which leave the nodes to the next test."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name.lower())[-50:].strip("-")
    found = Jobs(admin, namespace(admin, f"t-{name}"))
    yield found
    for resource in (JOBS, ELEMENTS):
        admin.delete(found.path(resource))
    admin.delete(f"/api/v1/namespaces/{found.space}/pods", gracePeriodSeconds="0")
    admin.delete(found.path(POOLS))
    found.gone(JOBS, ELEMENTS, POOLS)  # a pool goes when its hosts are no longer exclusive to it
