"""Time and CPU of a controller with 5,000 nodes: for a large pool, for many pools, and when nothing changes."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bench.generated.topology import Scale
from tests.e2e.chart.rendering import NAMESPACE, RELEASE
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hosts, phase, pools, wait_for, wait_until_gone
from tests.e2e.controller.request_points import WRITES
from tests.e2e.controller.rights import ACCOUNT, grant
from tests.e2e.controller.stopping_proxy import StoppingProxy
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.live.many_objects import fill
from tests.e2e.polling import until
from tests.e2e.progress import say
from webhook.controller.hostpools.strangers import SECONDS as SETTLING

pytestmark = pytest.mark.long

CROWD: Final = Scale(5_000, 1_000)

LARGE: Final = 100
"""Hosts of a pool that is to be ready within :data:`READY` seconds of its creation."""
READY: Final = 5.0

MANY: Final = 200
SMALL: Final = 5
"""Pools, and the hosts of each, that are to be ready within :data:`START` seconds of the beginning of a lead."""
MORE: Final = {"STREAMS_PLACEMENT_POOL_QUOTA": str(MANY)}
"""All of them are in one namespace."""
START: Final = 15.0
SLACK: Final = 1.5
"""What another machine may take for these thousands of requests: they are bound by its cores. The figure is printed."""

QUIET: Final = 15.0
"""Seconds in which nothing happens."""
SHARE: Final = 0.01
"""Of a core, meanwhile."""
MEMORY: Final = 160.0
"""MB; what the webhook is allowed."""

MISSING: Final = {
    "/apis/streams.ibm.com/v1/streamsjobs",
    *(f"/apis/resource.k8s.io/{version}/devicetaintrules" for version in ("v1", "v1beta2", "v1alpha3")),
    *(f"/apis/topology.node.k8s.io/{version}/noderesourcetopologies" for version in ("v1", "v1alpha2", "v1alpha1")),
}
"""Asked for now and then: Jobs and NUMA zones can be installed, and taint rules of devices turned on, at any time."""

TRIES: Final = 3
"""Others use the machine, too: they can only make a figure worse, so the best one counts."""

ALL_OURS: Final = pools("default")

AS_INSTALLED: Final = (
    "webhook", "controller", "--health-port=0", f"--lease-namespace={NAMESPACE}", f"--lease-name={RELEASE}-controller",
)  # fmt: skip


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarePlane]:
    with BarePlane(tmp_path_factory.mktemp("crowd"), service_accounts=(ACCOUNT,)) as running:
        grant(running)
        fill(running, CROWD)
        yield running


@pytest.fixture(scope="class")
def controller(crowd: BarePlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControllerProcess]:
    """One that asks the API server itself, and leads."""
    folder = tmp_path_factory.mktemp("controller")
    with ControllerProcess(folder, "direct", crowd.kubeconfig(ACCOUNT), program=AS_INSTALLED) as running:
        running.wait_until_leading(60)
        yield running
        running.process.stop()  # it gives the lead back


def seconds_of_work(controller: ControllerProcess) -> float:
    """Processor time so far, of all its threads."""
    fields = Path(f"/proc/{controller.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(controller: ControllerProcess) -> float:
    """Resident memory, in MB of a million bytes."""
    pages = int(Path(f"/proc/{controller.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class TestALargePool:
    def test_it_is_ready_within_five_seconds(self, crowd: BarePlane, controller: ControllerProcess) -> None:
        found: list[float] = []
        while len(found) < TRIES and min(found, default=READY + 1) > READY:
            began = time.monotonic()
            path = create_pool(crowd.admin, exclusive(f"large-{len(found)}", "default", LARGE))
            pool = wait_for(crowd.admin, path)
            found.append(time.monotonic() - began)
            say(f"{CROWD}: {LARGE} exclusive hosts were ready after {found[-1]:.2f} s, {SETTLING:g} s of it settling")
            assert len(hosts(pool)) == LARGE
            crowd.admin.delete(path)
            wait_until_gone(crowd.admin, path)
        assert controller.process.alive
        assert min(found) <= READY


class TestManyPools:
    """In this order."""

    def test_all_are_ready_soon_after_a_controller_leads(
        self, crowd: BarePlane, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        found: list[float] = []
        while len(found) < TRIES and min(found, default=START + 1) > START:
            self.create(crowd)
            folder = tmp_path_factory.mktemp("start")
            with ControllerProcess(
                folder, "start", crowd.kubeconfig(ACCOUNT), program=AS_INSTALLED, **MORE
            ) as controller:
                began = time.monotonic()
                controller.wait_until_leading(60)
                led = time.monotonic()
                until(lambda: self.ready(crowd) == MANY, f"{MANY} pools are ready", 120)
                found.append(time.monotonic() - led)
                say(
                    f"{CROWD}: {MANY} exclusive pools of {SMALL} were ready {found[-1]:.1f} s after a controller led, "
                    f"and that {led - began:.1f} s after its start; {seconds_of_work(controller):.1f} s of work, "
                    f"{megabytes(controller):.0f} MB"
                )
                assert megabytes(controller) < MEMORY
                if found[-1] > START and len(found) < TRIES:
                    crowd.admin.delete(ALL_OURS)
                    until(lambda: not crowd.admin.get(ALL)["items"], "all of them are gone", 120)
                controller.process.stop()
        assert min(found) <= START * SLACK

    @staticmethod
    def create(crowd: BarePlane) -> None:
        """Before any controller is there."""
        for number in range(MANY):
            create_pool(crowd.admin, exclusive(f"many-{number}", "default", SMALL))

    def test_then_nothing_is_written_and_hardly_anything_done(
        self, crowd: BarePlane, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """By a controller that has just taken over, once it has looked at all of them."""
        folder = tmp_path_factory.mktemp("quiet")
        with StoppingProxy(crowd) as stopping_proxy:
            kubeconfig = stopping_proxy.kubeconfig(folder, "quiet", ACCOUNT)
            with ControllerProcess(folder, "quiet", kubeconfig, program=AS_INSTALLED, **MORE) as controller:
                controller.wait_until_leading(60)
                until(lambda: stopping_proxy.counts()["read"] >= MANY, "it has looked at all of them", 60)
                time.sleep(2.0)  # what it began then has ended
                before, worked = len(stopping_proxy.seen), seconds_of_work(controller)
                time.sleep(QUIET)  # what is shown is what happens meanwhile
                share = (seconds_of_work(controller) - worked) / QUIET
                say(f"{CROWD}, {MANY} pools: {share:.2%} of a core in {QUIET:g} s, {megabytes(controller):.0f} MB")
                meanwhile = stopping_proxy.seen[before:]
        assert [one for one in meanwhile if one.kind in WRITES or one.kind == "event"] == []
        assert {one.path.partition("?")[0] for one in meanwhile if one.kind != "lease"} <= MISSING
        assert share < SHARE

    @staticmethod
    def ready(crowd: BarePlane) -> int:
        """Pools that are."""
        return sum(phase(pool) == "Ready" and len(hosts(pool)) == SMALL for pool in crowd.admin.get(ALL)["items"])
