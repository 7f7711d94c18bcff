"""Fixtures: a control plane with the chart, and the controllers of LeaderWorkerSets and DisaggregatedSets."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.leaderworkersets import lws_controller
from tests.e2e.nodes import create_nodes, node
from tests.e2e.programs import binaries
from tests.e2e.workloads import emptied, namespace


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with four nodes of 8 CPUs, which no other tests use: the chart is for a whole cluster."""
    folder = tmp_path_factory.mktemp("leaderworkersets")
    with ControlPlane(folder, service_accounts=(lws_controller.ACCOUNT,)) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(4)])
        yield running


@pytest.fixture(scope="package")
def admin(plane: ControlPlane) -> Iterator[Api]:
    """The chart reviews DisaggregatedSets, whose controllers run."""
    with kubelet(plane) as running:
        install(plane, running, {**QUICK, "workloads": {"kinds": ["DisaggregatedSet"]}})
        with lws_controller.running(plane, binaries.lws(), plane.folder / "lws"):
            yield plane.admin


@pytest.fixture
def space(admin: Api, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, which leaves the nodes to the next test."""
    name = namespace(admin, re.sub("[^a-z]+", "-", request.node.name.removeprefix("test_"))[:40].strip("-"))
    yield name
    emptied(admin, name)
