"""Fixtures: a control plane with the chart, and the operators of applications."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.applications import jobset_controller, kuberay_operator
from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.programs import binaries
from tests.e2e.workloads import emptied, namespace


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with four nodes of 8 CPUs, which no other tests use: the chart is for a whole cluster."""
    folder = tmp_path_factory.mktemp("applications")
    with ControlPlane(folder, service_accounts=(jobset_controller.ACCOUNT, kuberay_operator.ACCOUNT)) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in range(4)])
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart, which reviews some kinds."""
    with kubelet(plane) as running:
        account = f"system:serviceaccount:{kuberay_operator.ACCOUNT.replace('/', ':')}"
        kinds = ["JobSet", "LeaderWorkerSet", "RayCluster", "RayCronJob"]
        install(plane, running, {**QUICK, "workloads": {"kinds": kinds, "accounts": [account]}})
        yield running


@pytest.fixture(scope="package")
def jobsets(plane: ControlPlane, installed: Kubelet) -> Iterator[None]:  # noqa: ARG001 -- after it
    """The controller of JobSets runs, with its own webhooks."""
    found = binaries.jobset()
    with jobset_controller.running(plane, found, plane.folder / "jobset"):
        yield


@pytest.fixture(scope="package")
def rays(plane: ControlPlane, installed: Kubelet) -> Iterator[None]:  # noqa: ARG001 -- after it
    """The operator of RayClusters runs, and makes RayJobs of RayCronJobs."""
    with kuberay_operator.running(plane, binaries.kuberay()):
        yield


@pytest.fixture
def admin(plane: ControlPlane, installed: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


@pytest.fixture
def space(admin: Api, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own, which leaves the nodes to the next test."""
    words = re.sub("[^a-z]+", "-", f"{request.path.stem}-{request.node.name}".replace("test_", ""))
    name = namespace(admin, words[:40].strip("-"))
    yield name
    emptied(admin, name)
