"""Pools that are deleted while no controller is there, and an API server that goes away in the middle of a claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.api import Api
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.controller.controller_process import Candidate
from tests.e2e.controller.invariants import unfinished
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hosts, marked, members, wait_for, wait_until_gone
from tests.e2e.controller.request_points import Moment
from tests.e2e.controller.rights import ACCOUNT
from tests.e2e.controller.stopping_proxy import Relay
from tests.e2e.plane import ControlPlane
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
    def path(admin: Api, bare: ControlPlane, relay: Relay) -> str:
        """A pool whose controller was killed before it was deleted."""
        folder = bare.folder / "away"
        with Candidate(bare.folder, "away", relay.kubeconfig(folder, "away", ACCOUNT)):
            path = create_pool(admin, exclusive("left", SPACE, 2))
            wait_for(admin, path)
        admin.delete(path)
        return path

    def test_it_stays_and_so_do_its_hosts(self, admin: Api, path: str) -> None:
        pool = admin.get(path)
        assert pool["metadata"]["deletionTimestamp"]
        assert hosts(pool) == members(admin, SPACE, "left")

    def test_it_is_gone_and_its_hosts_are_free_soon_after_one_comes(
        self, admin: Api, path: str, bare: ControlPlane, relay: Relay
    ) -> None:
        folder = bare.folder / "back"
        with Candidate(bare.folder, "back", relay.kubeconfig(folder, "back", ACCOUNT)) as controller:
            controller.wait_until_leading()
            wait_until_gone(admin, path, SOON)
        assert marked(admin) == {}


@pytest.fixture
def controller(relay: Relay, tmp_path: Path) -> Iterator[Candidate]:
    kubeconfig = relay.kubeconfig(tmp_path, "steady", ACCOUNT)
    with Candidate(tmp_path, "steady", kubeconfig, program=AS_INSTALLED) as running:
        running.wait_until_leading()
        yield running


def test_a_claim_goes_on_when_the_api_server_is_back(
    admin: Api, bare: ControlPlane, relay: Relay, controller: Candidate
) -> None:
    trap = relay.spring(Moment("after", "claim", 2), lambda _: bare.apiserver.kill())
    path = create_pool(admin, exclusive("broken", SPACE, 5))
    until(trap.sprung.is_set, "two nodes are claimed")
    trap.let_go()
    bare.apiserver.restart()
    pool = wait_for(admin, path, seconds=60)
    assert (len(hosts(pool)), controller.process.alive) == (5, True)
    nodes = admin.get("/api/v1/nodes")["items"]
    assert unfinished(admin.get(ALL)["items"], nodes) == []
    admin.delete(path)
    wait_until_gone(admin, path)
