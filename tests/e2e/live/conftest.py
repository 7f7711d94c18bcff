"""Fixtures: control planes of etcd and API server alone, and an account that may read what the webhook reads."""

from collections.abc import Generator, Iterator
from typing import TypeAlias

import pytest

from tests.e2e.live.bare_plane import ACCOUNT, BarePlane, allow_reading, serve_hostpools
from tests.e2e.live.many_objects import CROWD
from tests.e2e.live.odd_objects import odd_plane
from tests.e2e.live.webhook_process import Server

Report: TypeAlias = Generator[None, pytest.TestReport, pytest.TestReport]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Report:  # noqa: ARG001 -- pytest passes arguments by name
    """Show the log of our server under a failed test that uses one."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            for server in (value, getattr(value, "server", None)):
                if isinstance(server, Server):
                    report.sections.append((f"log of {name}", server.process.tail()))
    return report


@pytest.fixture(scope="package")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    """A small one, with HostPools."""
    with BarePlane(tmp_path_factory.mktemp("core"), service_accounts=(ACCOUNT,)) as running:
        allow_reading(running.admin)
        serve_hostpools(running)
        yield running


@pytest.fixture(scope="package")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    """A large one, in which some nodes are odd, and some host pools are of no use."""
    with odd_plane(tmp_path_factory.mktemp("crowded"), CROWD) as running:
        yield running
