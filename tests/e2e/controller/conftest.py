"""Fixtures: a control plane with the chart installed, and one for controllers that the tests start."""

from collections.abc import Generator, Iterator
from typing import TypeAlias

import pytest

from tests.e2e.chart import installation
from tests.e2e.client.api import Api
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.rights import ACCOUNT, grant, vacate
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet

Report: TypeAlias = Generator[None, pytest.TestReport, pytest.TestReport]

TAG = "streams.ibm.com/hostpool"

TAGGED = ("node-1", "node-2", "node-3", "node-4", "node-5")
"""Nodes with the tag ``ib``; two more are without it."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Report:  # noqa: ARG001 -- pytest passes arguments by name
    """Show the log of our controller under a failed test that uses one."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, ControllerProcess):
                report.sections.append((f"log of {name}", value.process.tail()))
    return report


@pytest.fixture(scope="package")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with seven nodes, which no other tests use: the chart is for a whole cluster."""
    with ControlPlane(tmp_path_factory.mktemp("pools"), service_accounts=(ACCOUNT,)) as running:
        create_nodes(running.admin, [node(name, {TAG: "ib"}) for name in TAGGED] + [node("node-6"), node("node-7")])
        yield running


@pytest.fixture(scope="package")
def installed(plane: ControlPlane) -> Iterator[Kubelet]:
    """The chart as it is by default: two webhooks, two controllers, certificates that keep themselves."""
    with installation.installed(plane) as running:
        yield running


@pytest.fixture
def admin(plane: ControlPlane, installed: Kubelet) -> Api:  # noqa: ARG001 -- after it
    return plane.admin


@pytest.fixture(scope="package")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane of ten nodes without the chart: nothing is refused, and tests start controllers of their own."""
    with ControlPlane(tmp_path_factory.mktemp("bare"), service_accounts=(ACCOUNT,)) as running:
        grant(running)
        create_nodes(running.admin, [node(f"node-{number}") for number in range(10)])
        yield running


@pytest.fixture(scope="package")
def stopping_proxy(bare: ControlPlane) -> Iterator[StoppingProxy]:
    """The way of all controllers to that one."""
    with StoppingProxy(bare) as running:
        yield running


@pytest.fixture(scope="module")
def controller(
    bare: ControlPlane, stopping_proxy: StoppingProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControllerProcess]:
    """A controller that leads."""
    folder = tmp_path_factory.mktemp("controller")
    vacate(bare)
    with ControllerProcess(
        folder, folder.name, stopping_proxy.kubeconfig(bare.folder / folder.name, folder.name, ACCOUNT)
    ) as running:
        running.wait_until_leading()
        yield running
