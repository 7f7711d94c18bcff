"""Several processes, one lease and a network, all in one simulated time.

Each process has an event loop of its own, with a clock that starts anywhere and runs a little fast or slow. A process
that is paused does nothing, as after SIGSTOP: what was due meanwhile comes all at once when it goes on. A request takes
its time on the way there and on the way back, and may get lost on either.
"""

import asyncio
import heapq
import itertools
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from kubeapi.client.errors import ApiError
from kubeapi.leaderelection.election import Election
from kubeapi.leaderelection.lease_hold import LostError
from kubeapi.leaderelection.lease_timing import LeaseTiming
from tests.kubeapi.leaderelection.leases import Leases

TICK = 1e-6
"""Seconds: more than the error of a float."""

TERMS = LeaseTiming(retry=2.4, jitter=0.0)
"""The usual ones at their slowest; without dice, so that what was found once is found again."""

Answer = bytes | ApiError


class MessageDelays(NamedTuple):
    """What becomes of requests from some moment on: seconds on the way there and back; ``None`` never arrives."""

    since: float = 0.0
    there: float | None = 0.01
    back: float | None = 0.01


class Outage(NamedTuple):
    """What happens to a process; a pause lasts, a stop is an orderly one, after which it starts anew."""

    at: float
    pause: float | None = None


class Simulation:
    """What happens, in order; ``watch`` is called after everything that does."""

    def __init__(self, watch: Callable[[], None] = lambda: None) -> None:
        self.now = 0.0
        self.leases = Leases()
        self.watch = watch
        self._next: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()

    def at(self, when: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._next, (when, next(self._number), what))

    def run(self, until: float) -> None:
        while self._next and self._next[0][0] <= until:
            when, _, what = heapq.heappop(self._next)
            self.now = max(self.now, when)
            what()
            self.watch()
        self.now = until
        self.watch()


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Runs when its process is told to, and tells when it wants to."""

    def __init__(self, process: "SimulatedProcess") -> None:
        self._process = process
        self.busy = False
        super().__init__()

    def time(self) -> float:
        return self._process.clock()

    def call_at(self, when: float, *arguments: Any, **more: Any) -> asyncio.TimerHandle:
        self._process.wake_at(when)
        return super().call_at(when, *arguments, **more)

    def call_soon(self, *arguments: Any, **more: Any) -> asyncio.Handle:
        self.busy = True
        return super().call_soon(*arguments, **more)

    def turn(self) -> None:
        """Do all that can be done now."""
        self.busy = True
        while self.busy:
            self.busy = False
            self.stop()
            self.run_forever()


class SimulatedProcess:
    """Takes part in the election as long as it lives, under a new name after every start."""

    def __init__(
        self,
        world: Simulation,
        name: str,
        *,
        rate: float = 1.0,
        offset: float = 0.0,
        fates: Iterable[MessageDelays] = (),
        cleaning: float = 0.0,
        renewing: float = 0.0,
    ) -> None:
        self.name = name
        self.working = False
        self.paused = False
        self._goes_on = 0.0
        self.starts = 0
        self._world = world
        self._rate, self._offset = rate, offset
        self._fates = sorted((MessageDelays(), *fates), key=lambda fate: fate.since)
        self._cleaning = cleaning
        self._renewing = renewing
        self._loop = SimulatedLoop(self)
        self._ended = False
        self._main: asyncio.Task[None] | None = None
        self._start()

    # Time

    def clock(self) -> float:
        return self._offset + self._world.now * self._rate

    def wake_at(self, when: float) -> None:
        self._world.at((when - self._offset) / self._rate + TICK, self.turn)

    def turn(self) -> None:
        if not self.paused:
            self._loop.turn()

    # What happens to it

    def suffer(self, ill: Outage) -> None:
        self._world.at(ill.at, lambda: self.stop() if ill.pause is None else self.pause(ill.pause))

    def pause(self, seconds: float) -> None:
        self.paused = True
        self._goes_on = max(self._goes_on, self._world.now + seconds)
        self._world.at(self._goes_on, self._go_on)

    def _go_on(self) -> None:
        self.paused = self._world.now < self._goes_on
        self.turn()

    def stop(self) -> None:
        if self._main is not None:
            self._main.cancel()
            self.turn()

    def close(self) -> None:
        """End it, however often it has to be told."""
        self._ended = True
        while tasks := asyncio.all_tasks(self._loop):
            for task in tasks:
                task.cancel()
            self._loop.turn()
        self._loop.close()

    # What it does

    @property
    def leading(self) -> bool:
        return self.election.leading

    @property
    def fate(self) -> MessageDelays:
        return [fate for fate in self._fates if fate.since <= self._world.now][-1]

    def _start(self) -> None:
        self.starts += 1
        self.election = Election(
            SimulatedApi(self._world, self),
            namespace="streams",
            name="controller",
            identity=f"{self.name}-{self.starts}",
            timing=TERMS,
            clock=self.clock,
        )
        self._main = self._loop.create_task(self._live())
        self._main.add_done_callback(lambda _: self._ended or self._start())
        self._world.at(self._world.now, self.turn)

    async def _live(self) -> None:
        try:
            await self.election.run(self._work)
        except LostError:
            await asyncio.sleep(1)  # until it is started again

    async def _work(self) -> None:
        self.working = True
        try:
            while self._renewing:
                await asyncio.sleep(self._renewing)
                await self.election.renew()
            await asyncio.Event().wait()
        finally:
            self.working = False
            await asyncio.sleep(self._cleaning)

    def deliver(self, answer: "asyncio.Future[bytes]", said: Answer) -> None:
        """An answer has come; whoever is paused finds it later."""

        def take() -> None:
            if answer.done():
                return
            if isinstance(said, ApiError):
                answer.set_exception(said)
            else:
                answer.set_result(said)

        self._loop.call_soon(take)
        self.turn()


class SimulatedApi:
    """What a process knows of the API server."""

    def __init__(self, world: Simulation, process: SimulatedProcess) -> None:
        self._world = world
        self._process = process

    def read(self, path: str) -> Awaitable[bytes]:
        return self._ask("GET", path)

    def create(self, path: str, body: object) -> Awaitable[bytes]:
        return self._ask("POST", path, body)

    def replace(self, path: str, body: object) -> Awaitable[bytes]:
        return self._ask("PUT", path, body)

    async def _ask(self, method: str, path: str, body: object = None) -> bytes:
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        text, fate = json.dumps(body), self._process.fate

        def arrive() -> None:
            try:
                said: Answer = self._world.leases.obey(method, path, json.loads(text))
            except ApiError as failure:
                said = failure
            if fate.back is not None:
                self._world.at(self._world.now + fate.back, lambda: self._process.deliver(answer, said))

        if fate.there is not None:
            self._world.at(self._world.now + fate.there, arrive)
        return await answer
