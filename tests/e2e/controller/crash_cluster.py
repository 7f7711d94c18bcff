"""A small cluster in which controllers come to their ends again and again, each time at a moment that has a name."""

import contextlib
import dataclasses
import enum
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from tests.e2e.api import Object
from tests.e2e.controller.controller_process import Candidate
from tests.e2e.controller.invariants import unfinished
from tests.e2e.controller.object_watcher import PoolWitness
from tests.e2e.controller.pools import ALL, create_pool, exclusive, hostpool, marked, marks, phase
from tests.e2e.controller.request_points import Moment
from tests.e2e.controller.rights import ACCOUNT, grant, holder
from tests.e2e.controller.stopping_proxy import Relay, Trap
from tests.e2e.live.bare_plane import Core
from tests.e2e.nodes import node
from tests.e2e.polling import until
from webhook.placement.text.keys import EXCLUSIVE

NODES: Final = 9
"""Enough for two of the three exclusive pools, in whatever order they are served."""

SPACE: Final = "default"


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

    moment: Moment
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


class Arena:
    """``with Arena(folder) as arena``: two controllers, one of them leading. For one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._core = Core(folder, service_accounts=(ACCOUNT,))
        self._exit = contextlib.ExitStack()
        self._candidates: dict[str, Candidate] = {}
        self._made = 0

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as ending:
            ending.enter_context(self._core)
            self._api = self._core.admin
            grant(self._core)
            for number in range(NODES):
                self._api.create(node(f"node-{number}"))
            self.relay = ending.enter_context(Relay(self._core))
            self.witness = ending.enter_context(PoolWitness(self._api))
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
        trap = self.relay.spring(run.moment, self._struck(run))
        (self._delete if run.giving else self._create)()
        until(trap.sprung.is_set, f"{run}: the moment comes")
        self._start()
        if run.fault is Fault.KILLED:
            trap.let_go(dropped=True)
        if run.fault is Fault.ORPHANED:
            self._delete()
        until(lambda: holder(self._core) not in {"", self._candidates[trap.who].identity}, "another one leads")
        self._rest()
        if run.fault is not Fault.KILLED:
            outcome.late = self._late(trap)
        if run.fault is Fault.PAUSED:
            old = self._candidates[trap.who]
            old.resume()
            outcome.exit_code = old.exit_code()
        self._candidates.pop(trap.who).process.kill()
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

    def _late(self, trap: Trap) -> int:
        trap.let_go()
        until(trap.answered.is_set, "the request that was held is answered")
        return trap.code if trap.moment.side == "before" else 0

    def _start(self) -> None:
        name = f"c{self._made}"
        self._made += 1
        kubeconfig = self.relay.kubeconfig(self._folder / name, name, ACCOUNT)
        candidate = Candidate(self._folder, name, kubeconfig)
        self._candidates[name] = candidate
        candidate.process.start()

    def _end(self) -> None:
        for candidate in self._candidates.values():
            candidate.process.kill()

    def _create(self) -> None:
        number = len(self.witness.history)  # names that were never used before
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
        until(lambda: not self.trouble(), "all is as it should be", 40)

    def trouble(self) -> list[str]:
        """What is still to be done."""
        pools, nodes = self._pools(), self._api.get("/api/v1/nodes")["items"]
        free = sum(EXCLUSIVE not in marks(node) for node in nodes)
        waiting = [pool for pool in pools if phase(pool) == "Failed" and pool["spec"]["size"] <= free]
        return [*unfinished(pools, nodes), *(f"{pool['metadata']['name']} can be had" for pool in waiting)]
