"""Fixtures: a control plane for the chart, and the chart installed into it."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.chart.installation import QUICK, install, kubelet
from tests.e2e.chart.objects.hostpools import served
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api, Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet

SECRET = "own-tls"


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with three nodes, which no other tests use: the chart is for a whole cluster."""
    controller = f"{NAMESPACE}/{RELEASE}-controller"
    with ControlPlane(tmp_path_factory.mktemp("chart"), service_accounts=(controller,)) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in (1, 2, 3)])
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubelet]:
    """The chart with a certificate that exists; every pod of the webhook is a real process."""
    folder = tmp_path_factory.mktemp("pair")
    with kubelet(plane) as running:
        plane.admin.create(pair(folder))
        tls = {"name": SECRET, "caBundle": (folder / "ca.crt").read_text()}
        install(plane, running, {**QUICK, "tls": {"source": "existingSecret", "existingSecret": tls}})
        yield running


@pytest.fixture(scope="package")
def unattended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    """A cluster in which no controller makes anything of HostPools."""
    with BarePlane(tmp_path_factory.mktemp("unattended")) as running:
        yield running


@pytest.fixture(scope="package")
def pools(unattended: BarePlane) -> Iterator[Api]:
    """Its API server, which knows HostPools."""
    with served(unattended) as api:
        yield api


def pair(folder: Path) -> Object:
    """A Secret with a certificate for the Service; leaves the authority's in the folder."""
    names = ("--service", RELEASE, "--namespace", NAMESPACE)
    command = (sys.executable, "-m", "certs", "create", "--dir", str(folder), *names)
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    data = {name: base64.b64encode((folder / name).read_bytes()).decode() for name in ("tls.crt", "tls.key")}
    metadata = {"name": SECRET, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": metadata, "data": data}
