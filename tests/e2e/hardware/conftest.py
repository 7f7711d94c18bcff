"""Fixtures: a control plane of five different nodes, and the chart installed into it."""

from collections.abc import Iterator

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.hardware.node_hardware import MACHINES
from tests.e2e.nodes import create_nodes
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Which no other tests use: the chart is for a whole cluster, and these tests use its devices up."""
    with ControlPlane(tmp_path_factory.mktemp("hardware")) as running:
        create_nodes(running.admin, MACHINES)
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """Reviews are answered."""
    with kubelet(plane) as running:
        install(plane, running, QUICK)
        pods = "/api/v1/namespaces/default/pods?dryRun=All"
        probe = asking("p", "default", 'host("gpu-1")')
        until(lambda: plane.admin.send("POST", pods, probe).code == 201, "reviews are answered", 60)
        yield running


@pytest.fixture
def admin(plane: ControlPlane, installed: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin
