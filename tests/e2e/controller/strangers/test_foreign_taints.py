"""Another client changes taints of the same nodes fifty times a second: none of its changes is lost."""

import asyncio
import itertools
import time
from http import HTTPStatus
from typing import Final

import pytest

from kubeapi.client.configuration import Configuration
from kubeapi.client.connection import Connection
from kubeapi.client.kubeconfig import Kubeconfig
from kubeapi.client.object_client import ObjectClient
from tests.e2e.certificates.rotation_load import again_and_again
from tests.e2e.client.api import MERGE, Api, Object
from tests.e2e.controller.rights import ACCOUNT
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.progress import say
from tests.suite.example_count import some_of
from webhook.controller.hostpools.claims import Claims
from webhook.controller.hostpools.marks import PoolMark
from webhook.placement.kube.selection.tolerations import Taint
from webhook.placement.objects.pool import PoolHost
from webhook.placement.text.keys import EXCLUSIVE, membership
from webhook.placement.text.keys import exclusive as exclusive_value

NODES: Final = tuple(f"node-{number}" for number in range(10))
WRITES: Final = some_of(2_000, every_day=600)
"""2,000 in ``make e2e-long``."""
RATE: Final = 50.0
FOREIGN: Final = "example.com/busy"

MARK: Final = PoolMark(
    membership("default", "p"),
    exclusive_value("default", "p"),
    Taint(EXCLUSIVE, exclusive_value("default", "p"), "NoSchedule"),
)


class Writer:
    """Sets its taint on one node after the other, with a value that counts, and takes it away every third time.

    It writes as the controllers of Kubernetes do: the version that it has read, again if that has passed. Before each
    change it looks whether the last one is still there.
    """

    def __init__(self, api: Api) -> None:
        self.changes = 0
        self.lost: list[str] = []
        self._api = api
        self._began = time.monotonic()
        self._turn = itertools.cycle(NODES)
        self._said: dict[str, str | None] = {}

    def due(self) -> None:
        """Make the next change if it is due by the clock; on a machine that is too slow, one after the other."""
        if self.changes < (time.monotonic() - self._began) * RATE:
            self._change(next(self._turn))
            self.changes += 1

    def check(self) -> None:
        """Look at all of them."""
        for name in NODES:
            self._look(name)

    def _look(self, name: str) -> Object:
        node: Object = self._api.get(f"/api/v1/nodes/{name}")
        value = next((taint["value"] for taint in taints_of(node) if taint["key"] == FOREIGN), None)
        if self._said.get(name) != value:
            self.lost.append(f"{name}: {self._said.get(name)} became {value}")
        return node

    def _change(self, name: str) -> None:
        value = None if self._said.get(name) and self.changes % 3 == 2 else str(self.changes)
        own = [{"key": FOREIGN, "value": value, "effect": "PreferNoSchedule"}] if value else []
        while True:
            node = self._look(name)
            taints = [*(taint for taint in taints_of(node) if taint["key"] != FOREIGN), *own]
            version = {"resourceVersion": node["metadata"]["resourceVersion"]}
            change = {"metadata": version, "spec": {"taints": taints}}
            if self._api.send("PATCH", f"/api/v1/nodes/{name}", change, content=MERGE).code == HTTPStatus.OK:
                self._said[name] = value
                return


def taints_of(node: Object) -> list[Object]:
    return list(node["spec"].get("taints", ()))


@pytest.fixture(scope="module")
def writer(bare: ControlPlane, stopping_proxy: StoppingProxy) -> Writer:
    """After so many writes of ours: in turns all nodes are claimed and released."""
    writer = Writer(bare.admin)
    kubeconfig = stopping_proxy.kubeconfig(bare.folder / "writer", "claims", ACCOUNT)
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as environment, again_and_again(writer.due, 0.005):
        environment.setenv("KUBECONFIG", str(kubeconfig))
        asyncio.run(claim_and_release(bare.admin))
    writer.check()
    codes = [one.code for one in stopping_proxy.seen if one.who == "claims" and one.method == "PATCH"]
    say(
        f"{codes.count(200)} writes of ours ({codes.count(409)} more were refused as too late) and {writer.changes} of "
        f"another in {time.monotonic() - began:.0f} s"
    )
    assert codes.count(200) == WRITES
    return writer


async def claim_and_release(admin: Api) -> None:
    """As the controller does it, with its own parts."""
    uids = {one["metadata"]["name"]: one["metadata"]["uid"] for one in admin.get("/api/v1/nodes")["items"]}
    hosts = [PoolHost(index, name, uids[name]) for index, name in enumerate(NODES)]
    async with Connection(Configuration(Kubeconfig())) as connection:
        claims = Claims(ObjectClient(connection), lambda _: None)
        for _ in range(WRITES // len(NODES) // 2):
            assert (await claims.claim_all(hosts, MARK, lambda _: None)).lost == []
            await claims.release_all(NODES, MARK)


def test_none_of_his_changes_is_lost(writer: Writer) -> None:
    assert writer.lost == []


def test_he_was_not_held_up(writer: Writer) -> None:
    assert writer.changes > RATE


def test_in_the_end_nothing_of_ours_is_left(bare: ControlPlane, writer: Writer) -> None:
    del writer
    for name in NODES:
        node = bare.admin.get(f"/api/v1/nodes/{name}")
        assert EXCLUSIVE not in [taint["key"] for taint in taints_of(node)]
        assert MARK.label not in node["metadata"]["labels"]
