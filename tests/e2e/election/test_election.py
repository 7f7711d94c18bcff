"""One of several processes leads, by a Lease of a real API server; a process that has lost it writes nothing."""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubeapi.client.configuration import find_configuration
from kubeapi.client.connection import Connection
from kubeapi.client.object_client import ObjectClient
from tests.cluster.live.watched_cluster import until as until_so
from tests.e2e.client.api import Object
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.election.elector import LOST, SEEN, TERMS
from tests.e2e.polling import until
from tests.e2e.programs.process import Process
from tests.e2e.progress import say
from tests.e2e.workloads import namespace
from webhook.controller.events.event import Regarding
from webhook.controller.events.events import QUIET, Events

PATIENCE = 60.0
"""Seconds for anything that has no limit of its own: other programs share the machine."""


class Race:
    """A namespace with a Lease and a count; processes by name."""

    def __init__(self, plane: ControlPlane, space: str, folder: Path) -> None:
        self.admin = plane.admin
        self.space = namespace(plane.admin, space)
        self._environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
        self._folder = folder
        self._running: dict[str, Process] = {}
        plane.admin.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "count", "namespace": self.space}}
        )

    def start(self, name: str) -> Process:
        command = (sys.executable, "-m", "tests.e2e.election.elector", self.space, name)
        self._running[name] = process = Process(name, command, self._folder / f"{name}.log", self._environment)
        process.start()
        return process

    def end(self) -> None:
        for name, process in self._running.items():
            say(f"{name}: {process.tail()}")
            process.signal(signal.SIGCONT)
            process.stop()

    @property
    def spec(self) -> Object:
        lease = self.admin.find(f"/apis/coordination.k8s.io/v1/namespaces/{self.space}/leases/count") or {}
        found: Object = lease.get("spec", {})
        return found

    def count(self, name: str) -> int:
        data = self.admin.get(f"/api/v1/namespaces/{self.space}/configmaps/count").get("data") or {}
        return int(data.get(name, 0))

    def counts_on(self, name: str) -> None:
        before = self.count(name)
        until(lambda: self.count(name) > before, f"{name} leads", PATIENCE)


@pytest.fixture
def race(plane: ControlPlane, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Race]:
    race = Race(plane, request.node.name.replace("_", "-")[:63].rstrip("-"), tmp_path)
    with contextlib.ExitStack() as ending:
        ending.callback(race.end)
        yield race


@pytest.fixture
def leader(race: Race) -> Process:
    """One that leads, and another one that waits."""
    first = race.start("first")
    race.counts_on("first")
    second = race.start("second")
    until(lambda: SEEN in second.tail(), "the second one has seen the lease", PATIENCE)
    return first


def test_another_leads_soon_after_the_leader_was_killed(race: Race, leader: Process) -> None:
    leader.kill()
    killed = time.monotonic()
    race.counts_on("second")
    took = time.monotonic() - killed
    say(f"another one leads {took:.1f} s after SIGKILL, with a lease of {TERMS.lease} s")
    assert took < TERMS.lease + 5


def test_another_leads_at_once_after_the_leader_was_stopped(race: Race, leader: Process) -> None:
    leader.signal(signal.SIGTERM)
    until(lambda: leader.exit_code is not None, "the leader has ended", PATIENCE)
    assert (leader.exit_code, race.spec["holderIdentity"] in {"", "second"}) == (0, True)
    race.counts_on("second")


def test_a_leader_that_was_paused_past_its_lease_writes_nothing_more(race: Race, leader: Process) -> None:
    leader.signal(signal.SIGSTOP)
    race.counts_on("second")
    before = race.count("first")
    leader.signal(signal.SIGCONT)
    until(lambda: leader.exit_code is not None, "the old leader has ended", PATIENCE)
    assert (leader.exit_code, race.count("first"), race.spec["holderIdentity"]) == (LOST, before, "second")


def test_a_leader_whose_lease_is_deleted_makes_it_again(race: Race, leader: Process) -> None:
    """A PUT to a Lease that is not there creates it, unless its body says which one it was."""
    race.admin.delete(f"/apis/coordination.k8s.io/v1/namespaces/{race.space}/leases/count")
    until(lambda: race.spec, "there is a lease", PATIENCE)
    assert race.spec["holderIdentity"] == "first"
    time.sleep(TERMS.lease)
    race.counts_on("first")
    assert (race.count("second"), leader.alive) == (0, True)


def test_events_are_accepted_and_counted_up(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    space = namespace(plane.admin, "told")
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig()))
    ahead = 0.0
    about = [
        Regarding(api_version="streams.ibm.com/v1", kind="HostPool", namespace=space, name="ib-blue"),
        Regarding(api_version="v1", kind="Node", name="node-1"),
    ]

    async def tell() -> tuple[int, int]:
        nonlocal ahead
        async with Connection(find_configuration()) as connection:
            events = Events(
                ObjectClient(connection),
                controller="streams.ibm.com/hostpools",
                instance="me",
                clock=lambda: time.monotonic() + ahead,
            )
            writing = asyncio.create_task(events.run())
            for round_ in (1, 2):
                for regarding in about:
                    events.warning(regarding, "NoRoom", "ö" * 1000)
                await until_so(lambda round_=round_: events.written + events.failed == 2 * round_, PATIENCE)
                ahead += QUIET
            writing.cancel()
            await asyncio.wait({writing})
            return events.written, events.failed

    assert asyncio.run(tell()) == (4, 0)
    [seen] = plane.admin.get(f"/apis/events.k8s.io/v1/namespaces/{space}/events")["items"]
    assert (seen["series"]["count"], len(seen["note"].encode()), seen["type"]) == (2, 1023, "Warning")
    assert "NoRoom" in plane.kubectl("get", "events", "-n", space).stdout
