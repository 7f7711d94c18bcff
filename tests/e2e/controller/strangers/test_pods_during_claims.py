"""Pods that are created while hosts are being tainted: none of them shares a host that is published."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pytest

from tests.e2e.client.api import Api, Object
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import create_pool, exclusive, hosts, marked, phase, pools, wait_until_gone
from tests.e2e.controller.request_points import RequestPoint
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.polling import until
from tests.e2e.progress import say
from tests.e2e.workloads import namespace, pod, pod_spec
from tests.suite.example_count import some_of
from webhook.placement.text.keys import JOB

SPACE: Final = "strangers"
POOLS: Final = pools(SPACE)
PODS: Final = f"/api/v1/namespaces/{SPACE}/pods"

NODES: Final = 10
"""Of the cluster."""

ROUNDS: Final = some_of(25, every_day=8)
"""Twice each moment with each way of the strangers; 25 in ``make e2e-long``."""
PODS_A_ROUND: Final = 20
SIZE: Final = 3

_AT_ONCE: Final = 10

WAYS: Final[tuple[Callable[[int], Object], ...]] = (
    lambda _: pod_spec(),
    lambda number: pod_spec(nodeName=f"node-{number % 5}"),
)
"""By the scheduler to wherever it likes, and by name onto half of the nodes."""


class Round(NamedTuple):
    """What became of one."""

    shared: list[str]
    """Hosts that were published with a stranger on them, or got one while they were."""
    slipped: int
    """Nodes that the pool had marked and that a stranger got onto; it then took others, or waited."""


@pytest.fixture(scope="module")
def rounds(bare: ControlPlane, stopping_proxy: StoppingProxy, controller: ControllerProcess) -> list[Round]:
    del controller
    namespace(bare.admin, SPACE)
    told = [played(bare.admin, stopping_proxy, number) for number in range(ROUNDS)]
    slipped = [one.slipped for one in told]
    say(f"strangers got onto {sum(slipped)} nodes that were marked, in {sum(map(bool, slipped))} of {ROUNDS} rounds")
    return told


def played(admin: Api, stopping_proxy: StoppingProxy, number: int) -> Round:
    """One round: the pool's first node is about to be tainted, or was just now, and strangers come."""
    moment = threading.Event()
    spec = WAYS[number // 2 % 2]
    stop_point = stopping_proxy.spring(
        RequestPoint("after" if number % 2 else "before", "claim"), lambda _: moment.set()
    )
    with ThreadPoolExecutor(_AT_ONCE) as clients:
        path = create_pool(admin, exclusive(f"p-{number}", SPACE, SIZE))
        assert moment.wait(20)
        stop_point.let_go()
        strangers = (pod(f"s-{number}-{one}", SPACE, spec(one), labels={JOB: "other"}) for one in range(PODS_A_ROUND))
        assert len(list(clients.map(admin.create, strangers))) == PODS_A_ROUND
    slipped = places(admin) & marked(admin).keys()
    seen: set[str] = set()

    def over() -> bool:
        pool = admin.get(path)
        seen.update(hosts(pool))
        return phase(pool) == "Ready" or (phase(pool) == "Failed" and NODES - len(places(admin)) < SIZE)

    until(over, f"round {number}: it has its hosts, or there are none for it")
    shared = sorted(seen & places(admin))
    admin.delete(PODS, gracePeriodSeconds="0")
    until(lambda: not admin.get(PODS)["items"], "the strangers are gone")
    admin.delete(path)
    wait_until_gone(admin, path)
    return Round(shared, len(slipped))


def places(admin: Api) -> set[str]:
    """The nodes of all strangers."""
    return {one["spec"].get("nodeName", "") for one in admin.get(PODS)["items"]} - {""}


def test_no_stranger_shares_a_host_that_was_published(rounds: list[Round]) -> None:
    assert [one.shared for one in rounds] == [[]] * ROUNDS
