"""Two API servers on one etcd, as in a cluster of high availability, which call the same webhook."""

import functools
import http
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.chart.placement_pods import asking
from tests.e2e.client.api import Api
from tests.e2e.controlplane.apiserver import apiserver, certificate
from tests.e2e.controlplane.component import Component
from tests.e2e.live.bare_plane import ACCOUNT, BarePlane, allow_reading, serve_hostpools
from tests.e2e.live.configurations import reviewed, trust
from tests.e2e.live.pod_creator import STORED, Creating
from tests.e2e.live.webhook_process import Server
from tests.e2e.nodes import node
from tests.e2e.polling import until
from tests.e2e.programs.ports import free_ports
from tests.e2e.workloads import namespace

SPACE: Final = "twofold"
RATE: Final = 20
ENOUGH: Final = 2 * RATE
"""Pods between two steps of a rotation: two seconds, in which either API server hears of the last one."""


class TwoApiServers(BarePlane):
    """A second API server, with the keys and tokens of the first."""

    def _prepare(self) -> None:
        super()._prepare()
        beside = self.folder / "second"
        beside.mkdir()
        front_proxy = ("front-proxy-ca.crt", "front-proxy.crt", "front-proxy.key")
        for name in ("signing.key", "signing.pub", "tokens.csv", *front_proxy):
            shutil.copy(self.folder / name, beside)
        (self.second_port,) = free_ports(1)
        etcd_port = self.etcd.probe.port
        self.second = apiserver(self._programs["kube-apiserver"], beside, self.second_port, etcd_port)
        self.second.process.command.append(self.apiserver.process.command[-1])

    @functools.cached_property
    def second_admin(self) -> Api:
        """The second one, as the administrator sees it."""
        return Api(self.second_port, certificate(self.folder / "second"), self.identities["admin"])

    @property
    def _components(self) -> tuple[Component, ...]:
        found = super()._components
        return (*found, self.second) if hasattr(self, "second") else found


@pytest.fixture(scope="module")
def twofold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoApiServers]:
    with TwoApiServers(tmp_path_factory.mktemp("twofold"), service_accounts=(ACCOUNT,)) as plane:
        allow_reading(plane.admin)
        serve_hostpools(plane)
        namespace(plane.admin, SPACE)
        plane.admin.create(node("node-1", capacity={"pods": "10000"}))
        yield plane
        plane.second_admin.close()


@pytest.fixture(scope="module")
def server(twofold: TwoApiServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """It knows the first API server only; both ask it."""
    with Server(tmp_path_factory.mktemp("server"), twofold) as server, reviewed(twofold.admin, server):
        server.wait()
        for admin in (twofold.admin, twofold.second_admin):
            until(lambda: _reviewed(admin), "it is asked")  # noqa: B023 -- asked at once
        yield server


def _reviewed(admin: Api) -> bool:
    refused = admin.send("POST", f"/api/v1/namespaces/{SPACE}/pods?dryRun=All", asking("p", SPACE, 'host("none")'))
    return refused.code == http.HTTPStatus.FORBIDDEN


def creating(*admins: Api, name: str) -> Creating:
    return Creating(admins, lambda number: asking(f"{name}-{number}", SPACE), RATE)


def more(load: Creating) -> None:
    """Wait until enough further pods have been sent, and all that were are decided on."""
    wanted = len(load.outcomes) + ENOUGH
    until(lambda: len(load.outcomes) >= wanted, "more pods were created", 60)


@pytest.mark.usefixtures("server")
def test_pods_may_be_created_through_either(twofold: TwoApiServers) -> None:
    with creating(twofold.admin, twofold.second_admin, name="either") as load:
        more(load)
    assert load.causes() == {STORED: load.sent}


def test_certificates_change_with_an_overlap_and_no_request_fails(
    twofold: TwoApiServers, server: Server, tmp_path: Path
) -> None:
    command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(tmp_path))
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own program, no shell
    old, new = server.authority.read_bytes(), (tmp_path / "ca.crt").read_bytes()
    leaf = (tmp_path / "tls.crt").read_text()
    with creating(twofold.admin, twofold.second_admin, name="rotated") as load:
        more(load)
        trust(twofold.admin, old + new)
        more(load)
        for name in ("tls.crt", "tls.key"):
            shutil.copy(tmp_path / name, server.authority.parent)
        until(lambda: ssl.get_server_certificate(("127.0.0.1", server.port)) in leaf, "the new leaf is shown")
        more(load)
        trust(twofold.admin, new)
        more(load)
    assert load.causes() == {STORED: load.sent}


def test_the_other_goes_on_when_ours_is_gone(twofold: TwoApiServers, server: Server) -> None:
    twofold.apiserver.kill()
    with creating(twofold.second_admin, name="alone") as load:
        more(load)
    twofold.apiserver.restart()
    assert load.causes() == {STORED: load.sent}
    assert server.ready()
