"""A controller that takes over a cluster in which all is well writes nothing; ``test_speed.py`` has 200 pools."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hosts, phase
from tests.e2e.controller.request_points import WRITES
from tests.e2e.controller.rights import ACCOUNT, grant
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controller.test_speed import AS_INSTALLED
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until

POOLS: Final = 8
SIZE: Final = 2
"""Pools, and the exclusive hosts of each."""

QUIET: Final = 3.0
"""Seconds for which the second controller is watched once it has looked at all of them."""


@pytest.fixture(scope="module")
def quiet_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    """Pools that are ready, thanks to a controller that has ended."""
    folder = tmp_path_factory.mktemp("quiet")
    with BarePlane(folder / "plane", service_accounts=(ACCOUNT,)) as plane:
        grant(plane)
        create_nodes(plane.admin, [node(f"node-{number}") for number in range(2 * POOLS * SIZE)])
        for number in range(POOLS):
            create_pool(plane.admin, exclusive(f"quiet-{number}", "default", SIZE))
        with ControllerProcess(folder, "first", plane.kubeconfig(ACCOUNT), program=AS_INSTALLED) as first:
            first.wait_until_leading(60)
            until(lambda: ready(plane) == POOLS, "the pools are ready", 60)
            first.process.stop()  # it gives the lead back
        yield plane


def ready(plane: BarePlane) -> int:
    """Pools that are."""
    return sum(phase(pool) == "Ready" and len(hosts(pool)) == SIZE for pool in plane.admin.get(ALL)["items"])


def test_it_writes_nothing(quiet_plane: BarePlane, tmp_path: Path) -> None:
    """From its start on, but for its Lease."""
    with StoppingProxy(quiet_plane) as stopping_proxy:
        kubeconfig = stopping_proxy.kubeconfig(tmp_path, "second", ACCOUNT)
        with ControllerProcess(tmp_path, "second", kubeconfig, program=AS_INSTALLED) as second:
            second.wait_until_leading(60)
            until(lambda: stopping_proxy.counts()["read"] >= POOLS, "it has looked at all of them", 60)
            time.sleep(QUIET)  # what is shown is that nothing happens meanwhile
            assert second.process.alive
            seen = list(stopping_proxy.seen)
    assert [one for one in seen if one.kind in WRITES or one.kind == "event"] == []
    assert ready(quiet_plane) == POOLS
