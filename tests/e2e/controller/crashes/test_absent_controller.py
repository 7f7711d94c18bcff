"""Pools that are deleted while no controller runs, and an API server that goes away in the middle of a claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.client.api import Api
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.crashes.invariants import unfinished
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hosts, marked, members, wait_for, wait_until_gone
from tests.e2e.controller.request_points import RequestPoint
from tests.e2e.controller.rights import ACCOUNT, vacate
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.workloads import namespace

SPACE: Final = "away"

SOON: Final = 10.0
"""Seconds."""

AS_INSTALLED: Final = (
    "webhook", "controller", "--health-port=0", f"--lease-namespace={NAMESPACE}", f"--lease-name={RELEASE}-controller",
)  # fmt: skip
"""The command, with the terms that it has in an installation: it leads on while the API server is away for a while."""


@pytest.fixture(scope="module")
def admin(bare: ControlPlane) -> Api:
    namespace(bare.admin, SPACE)
    return bare.admin


class TestAPoolThatIsDeletedWhileNoControllerIsThere:
    """In this order."""

    @pytest.fixture(scope="class")
    @staticmethod
    def path(admin: Api, bare: ControlPlane, stopping_proxy: StoppingProxy) -> str:
        """A pool whose controller was killed before it was deleted."""
        folder = bare.folder / "away"
        vacate(bare)
        with ControllerProcess(bare.folder, "away", stopping_proxy.kubeconfig(folder, "away", ACCOUNT)):
            path = create_pool(admin, exclusive("left", SPACE, 2))
            wait_for(admin, path)
        admin.delete(path)
        return path

    def test_it_stays_and_so_do_its_hosts(self, admin: Api, path: str) -> None:
        pool = admin.get(path)
        assert pool["metadata"]["deletionTimestamp"]
        assert hosts(pool) == members(admin, SPACE, "left")

    def test_it_is_gone_and_its_hosts_are_free_soon_after_one_comes(
        self, admin: Api, path: str, bare: ControlPlane, stopping_proxy: StoppingProxy
    ) -> None:
        folder = bare.folder / "back"
        with ControllerProcess(bare.folder, "back", stopping_proxy.kubeconfig(folder, "back", ACCOUNT)) as controller:
            controller.wait_until_leading()
            wait_until_gone(admin, path, SOON)
        assert marked(admin) == {}


@pytest.fixture
def controller(bare: ControlPlane, stopping_proxy: StoppingProxy, tmp_path: Path) -> Iterator[ControllerProcess]:
    kubeconfig = stopping_proxy.kubeconfig(tmp_path, "steady", ACCOUNT)
    vacate(bare)
    with ControllerProcess(tmp_path, "steady", kubeconfig, program=AS_INSTALLED) as running:
        running.wait_until_leading()
        yield running


def test_a_claim_goes_on_when_the_api_server_is_back(
    admin: Api, bare: ControlPlane, stopping_proxy: StoppingProxy, controller: ControllerProcess
) -> None:
    stop_point = stopping_proxy.spring(RequestPoint("after", "claim", 2), lambda _: bare.apiserver.kill())
    path = create_pool(admin, exclusive("broken", SPACE, 5))
    until(stop_point.sprung.is_set, "two nodes are claimed")
    stop_point.let_go()
    bare.apiserver.restart()
    pool = wait_for(admin, path, seconds=60)
    assert (len(hosts(pool)), controller.process.alive) == (5, True)
    nodes = admin.get("/api/v1/nodes")["items"]
    assert unfinished(admin.get(ALL)["items"], nodes) == []
    admin.delete(path)
    wait_until_gone(admin, path)
