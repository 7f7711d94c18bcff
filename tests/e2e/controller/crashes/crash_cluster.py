"""A small cluster in which controllers are killed or paused again and again, each time at a named request."""

import contextlib
import dataclasses
import enum
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from tests.e2e.client.api import Object
from tests.e2e.controller.controller_process import ControllerProcess
from tests.e2e.controller.crashes.invariants import unfinished
from tests.e2e.controller.crashes.object_watcher import PoolWatcher
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hostpool, marked, marks, phase
from tests.e2e.controller.request_points import RequestPoint
from tests.e2e.controller.rights import ACCOUNT, grant, holder
from tests.e2e.controller.short_lease_controller import LEASE, LOST
from tests.e2e.controller.stopping_proxy import StoppingProxy, StopPoint
from tests.e2e.live.bare_plane import BarePlane
from tests.e2e.nodes import node
from tests.e2e.polling import until
from webhook.placement.text.keys import EXCLUSIVE

NODES: Final = 9
"""Enough for two of the three exclusive pools, in whatever order they are served."""

SPACE: Final = "default"

LEASE_SECONDS: Final = 2
"""Every end costs that long, and there are dozens of them."""


class Fault(enum.Enum):
    """What happens to the controller at the moment, and to the request that it was about to make."""

    KILLED = "killed"
    """SIGKILL; the request is never made."""
    LATE = "killed, its request arrives late"
    """SIGKILL; the request arrives when another controller has done all there was to do."""
    PAUSED = "stopped past its lease"
    """SIGSTOP; the same, and then it goes on."""
    ORPHANED = "killed, its request arrives when the pools are gone"


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One end: while pools take their hosts, or while they give them back."""

    moment: RequestPoint
    fault: Fault
    giving: bool = False

    def __str__(self) -> str:
        return f"{self.fault.value} {self.moment}{' while giving back' * self.giving}"


@dataclasses.dataclass(slots=True)
class Outcome:
    """What came of it."""

    run: Run
    seconds: float = 0.0
    late: int = 0
    """The answer to the request that came late; 0 if none did."""
    exit_code: int | None = None
    """How the controller ended that was stopped, when it went on."""
    ready: int = 0
    """Pools that got their hosts."""


class CrashCluster:
    """``with Arena(folder) as crash_cluster``: two controllers, one of them leading. For one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._core = BarePlane(folder, service_accounts=(ACCOUNT,))
        self._exit = contextlib.ExitStack()
        self._candidates: dict[str, ControllerProcess] = {}
        self._made = 0

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ending:
            ending.enter_context(self._core)
            self._api = self._core.admin
            grant(self._core)
            for number in range(NODES):
                self._api.create(node(f"node-{number}"))
            self.stopping_proxy = ending.enter_context(StoppingProxy(self._core))
            self.object_watcher = ending.enter_context(PoolWatcher(self._api))
            ending.callback(self._end)
            self._start()
            self._start()
            self._exit = ending.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def run(self, run: Run) -> Outcome:
        """Let it happen; everything is given back afterwards."""
        try:
            return self._run(run)
        except AssertionError as error:
            logs = "\n".join(f"==> {name} <==\n{one.process.tail()}" for name, one in self._candidates.items())
            raise AssertionError(f"{run}: {error}\n{self.trouble()}\n{logs}") from error

    def _run(self, run: Run) -> Outcome:
        began, outcome = time.monotonic(), Outcome(run)
        if run.giving:
            self._create()
            self._rest()
        stop_point = self.stopping_proxy.spring(run.moment, self._struck(run))
        (self._delete if run.giving else self._create)()
        until(stop_point.sprung.is_set, f"{run}: the moment comes", 60)
        self._start()
        if run.fault is Fault.KILLED:
            stop_point.let_go(dropped=True)
        if run.fault is Fault.ORPHANED:
            self._delete()
        until(lambda: holder(self._core) not in {"", self._candidates[stop_point.who].identity}, "another one leads")
        self._rest()
        if run.fault is not Fault.KILLED:
            outcome.late = self._late(stop_point)
        if run.fault is Fault.PAUSED:
            old = self._candidates[stop_point.who]
            old.resume()
            outcome.exit_code = old.exit_code()
        self._candidates.pop(stop_point.who).process.kill()
        self._rest()
        outcome.ready = sum(phase(pool) == "Ready" for pool in self._pools())
        self._delete()
        until(lambda: not self._pools() and not marked(self._api), f"{run}: everything is given back")
        outcome.seconds = time.monotonic() - began
        return outcome

    def _struck(self, run: Run) -> Callable[[str], None]:
        def strike(who: str) -> None:
            victim = self._candidates[who]
            (victim.pause if run.fault is Fault.PAUSED else victim.kill)()

        return strike

    def _late(self, stop_point: StopPoint) -> int:
        stop_point.let_go()
        until(stop_point.answered.is_set, "the request that was held is answered")
        return stop_point.code if stop_point.moment.side == "before" else 0

    def _start(self) -> None:
        name = f"c{self._made}"
        self._made += 1
        kubeconfig = self.stopping_proxy.kubeconfig(self._folder / name, name, ACCOUNT)
        candidate = ControllerProcess(self._folder, name, kubeconfig, **{LEASE: str(LEASE_SECONDS)})
        self._candidates[name] = candidate
        candidate.process.start()

    def _end(self) -> None:
        for candidate in self._candidates.values():
            candidate.process.kill()

    def _create(self) -> None:
        number = len(self.object_watcher.history)  # names that were never used before
        for pool in (
            exclusive(f"a-{number}", SPACE, 3),
            exclusive(f"b-{number}", SPACE, 3),
            hostpool(f"c-{number}", SPACE, size=2),
            exclusive(f"x-{number}", SPACE, 4),
        ):
            create_pool(self._api, pool)

    def _delete(self) -> None:
        self._api.delete(f"/apis/streams.ibm.com/v1/namespaces/{SPACE}/streamshostpools")

    def _pools(self) -> list[Object]:
        listed: list[Object] = self._api.get(ALL)["items"]
        return listed

    def _rest(self) -> None:
        until(lambda: not self._restarted() and not self.trouble(), "all is as it should be", 40)

    def _restarted(self) -> bool:
        """Start a controller for each that ended because a busy machine let its Lease run out, as a kubelet would."""
        ended = [name for name, one in self._candidates.items() if one.process.exit_code == LOST]
        for name in ended:
            self._candidates.pop(name).process.kill()
            self._start()
        return bool(ended)

    def trouble(self) -> list[str]:
        """What is still to be done."""
        pools, nodes = self._pools(), self._api.get("/api/v1/nodes")["items"]
        free = sum(EXCLUSIVE not in marks(node) for node in nodes)
        waiting = [pool for pool in pools if phase(pool) == "Failed" and pool["spec"]["size"] <= free]
        carried = {node["metadata"]["name"]: marks(node) for node in nodes}
        return [
            *unfinished(pools, nodes),
            *(f"{pool['metadata']['name']} can be had, going by the marks {carried}" for pool in waiting),
        ]
