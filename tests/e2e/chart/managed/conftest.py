"""Fixtures: another control plane, with the chart by default values but with certificates of short life."""

from collections.abc import Iterator

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.managed.certificates import DEPLOYMENT, Certificates
from tests.e2e.chart.placement_pods import asking
from tests.e2e.chart.rendering import NAMESPACE
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.polling import until

PACE = {"INTERVAL": "0.3", "PROPAGATION": "1", "ADOPTION": "3", "LEASE_SECONDS": "3"}
"""Seconds, as variables of ``streams-placement-certs manage`` (``docs/operations.md``)."""


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Its own, since two installations in one cluster would see each other."""
    with ControlPlane(tmp_path_factory.mktemp("lasting")) as running:
        create_nodes(running.admin, [node("node-1")])
        yield running


@pytest.fixture(scope="package")
def managed(plane: ControlPlane) -> Iterator[Kubelet]:
    """Reviews are answered."""
    with kubelet(plane) as running:
        install(plane, running, QUICK)
        where = (f"deployment/{DEPLOYMENT}", "--namespace", NAMESPACE)
        variables = [f"STREAMS_PLACEMENT_CERTS_{name}={value}" for name, value in PACE.items()]
        for command in (("set", "env", *where, *variables), ("rollout", "status", *where, "--timeout", "240s")):
            done = plane.kubectl(*command)
            assert done.returncode == 0, done.stderr
        pods = "/api/v1/namespaces/default/pods?dryRun=All"
        until(lambda: plane.admin.send("POST", pods, asking("p", "default")).code == 201, "reviews are answered")
        yield running


@pytest.fixture(scope="package")
def certificates(plane: ControlPlane, managed: Kubelet) -> Certificates:  # noqa: ARG001 -- after it
    """What is held and shown."""
    return Certificates(plane.admin)
