"""Laws of the queue, whatever is added, taken, finished, failed and waited for, in whatever order."""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.controller.virtual_time import VirtualTimeLoop
from tests.suite.example_count import examples
from webhook.controller.workqueue.queue import Queue

KEYS = st.sampled_from(["a1", "a2", "a3", "b1", "b2", "c1"])
SEATS = 2
TICK = 1e-6
"""Seconds: more than the error of a float, less than any pause."""


class QueueMachine(RuleBasedStateMachine):
    """The queue beside a simple account of what is owed: who was added since work on it last began.

    A key's first letter is its flow. ``passed`` counts, for each key that could be taken, how often others were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.queue: Queue[str] = Queue(flow=lambda key: key[0], seats=SEATS, clock=self.loop.time)
        self.passed: dict[str, dict[str, int]] = {}
        self.owed: dict[str, float] = {}
        self.working: set[str] = set()
        self.due: dict[str, float] = {}

    def do(self, what: Any) -> Any:
        return self.loop.run_until_complete(what)

    def teardown(self) -> None:
        self.loop.close()

    def catch_up(self) -> None:
        """What was to be added later is owed when its time has come."""
        for key in [key for key, when in self.due.items() if when <= self.loop.time() + TICK]:
            self.owed.setdefault(key, self.due.pop(key))

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.owed.setdefault(key, self.loop.time())

    @rule(key=KEYS, seconds=st.integers(1, 20))
    def add_after(self, key: str, seconds: int) -> None:
        async def later() -> None:
            self.queue.add_after(key, seconds)

        self.do(later())
        self.due[key] = min(self.due.get(key, float("inf")), self.loop.time() + seconds)

    @rule(key=KEYS)
    def retry(self, key: str) -> None:
        async def again() -> float:
            return self.queue.retry(key)

        seconds = self.do(again())
        self.due[key] = min(self.due.get(key, float("inf")), self.loop.time() + seconds)

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.queue.forget(key)

    @rule()
    def take(self) -> None:
        async def taken() -> str | None:
            taking = asyncio.create_task(self.queue.take())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            taking.cancel()
            return None if not taking.done() or taking.cancelled() else taking.result()

        self.catch_up()
        key = self.do(taken())
        free = {key for key in self.owed.keys() - self.working if self.seated(key[0]) < SEATS}
        assert (key in free) if free else key is None
        if key is not None:
            del self.owed[key]
            self.working.add(key)
            self.turn(key[0], {other[0] for other in free} - {key[0]})

    def seated(self, flow: str) -> int:
        """Keys of the flow that are being worked on."""
        return sum(key[0] == flow for key in self.working)

    def turn(self, flow: str, others: set[str]) -> None:
        """It was one flow's turn, and others could have had it: none of them is passed by the same flow again."""
        self.passed.pop(flow, None)
        for other in list(self.passed):
            if other not in others:
                del self.passed[other]
        for other in others:
            counts = self.passed.setdefault(other, {})
            counts[flow] = counts.get(flow, 0) + 1
            assert counts[flow] <= 1, f"{flow} had two turns while {other} waited"

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.working)))
        self.queue.done(key)
        self.working.remove(key)

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds: int) -> None:
        self.do(asyncio.sleep(seconds))

    @invariant()
    def the_figures_are_right(self) -> None:
        self.do(asyncio.sleep(TICK))
        self.catch_up()
        assert (self.queue.depth, self.queue.working) == (len(self.owed), len(self.working))
        assert self.queue.scheduled == len(self.due)
        longest = self.loop.time() - min(self.owed.values()) if self.owed else 0
        assert abs(self.queue.oldest - longest) < TICK


QueueMachine.TestCase.settings = settings(examples(60), stateful_step_count=30)
TestLaws = QueueMachine.TestCase
