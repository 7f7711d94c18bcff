"""Fixtures: one control plane for all end-to-end tests of a run; the end of its logs is shown with every failure."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import pytest
from xdist.remote import Producer

from tests.e2e.client.api import Api
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.pods.kubelet import Kubelet
from tests.e2e.shared_fixtures import EARLY, GroupScheduling, put_together, tell_groups

Report: TypeAlias = Generator[None, pytest.TestReport, pytest.TestReport]

_HERE = Path(__file__).parent


GARBAGE: Final = {"GOGC": "400", "GOMEMLIMIT": "700MiB"}
"""What programs in Go go by, unless the environment says otherwise.

Those of a control plane, helm and kubectl spend a part of their time on garbage of which small clusters make little:
they collect it when their heap is five times as large as what is in use, or has 700 MiB.
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "e2e: needs a real control plane of its own processes (make e2e)")
    config.addinivalue_line("markers", f"{EARLY}: a file that takes minutes, and begins before others of its kind")
    for name, value in GARBAGE.items():
        os.environ.setdefault(name, value)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every test of this folder is one, and files with a control plane in common run one after another."""
    own = [item for item in items if _HERE in item.path.parents]
    for item in own:
        item.add_marker(pytest.mark.e2e)
    tell_groups(config, put_together(own, _HERE))
    items[:] = [*own, *(item for item in items if _HERE not in item.path.parents)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling | None:
    """``--dist=loadfile`` keeps these files together."""
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Report:  # noqa: ARG001 -- pytest passes arguments by name
    """Show the logs of the control plane under a failed test that uses one."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, (ControlPlane, Kubelet)):
                report.sections.append((f"logs of {name}", value.logs()))
    return report


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with three nodes; tests use namespaces of their own."""
    folder = tmp_path_factory.mktemp("plane")
    with ControlPlane(folder, service_accounts=("streams-system/streams-placement",)) as running:
        create_nodes(running.admin, [node(f"node-{number}") for number in (1, 2, 3)])
        yield running


@pytest.fixture
def admin(plane: ControlPlane) -> Api:
    return plane.admin
