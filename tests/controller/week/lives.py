"""Histories of pools and of Jobs that do not end, under a wall clock that jumps."""

from typing import Final

from tests.controller.histories.random_history import History
from tests.controller.jobs.histories.job_safety import JobSafetyMonitor
from tests.controller.jobs.histories.random_job_history import JobHistory
from tests.controller.week.wall_clock import WallClock

_JUMPS: Final = 2
"""Jumps of the clock among some thirty other things that may happen."""


class PoolLife(History):
    """Nodes, pools and pods."""

    def __init__(self, seed: int, clock: WallClock) -> None:
        super().__init__(seed)
        self.now = self._clock = clock
        self._restless = self._interference
        self._happenings += [self.clock_jumps] * _JUMPS
        for _ in range(4):
            self._nodes.node_comes()
        self.new_leader()

    def event(self) -> None:
        self.look_after_candidates()
        self._dice.choice(self._happenings)()

    def clock_jumps(self) -> None:
        self._clock.jump(self._dice)
        self.random_cluster.tell(f"the clock is fast by {self._clock.offset} seconds")

    def resume(self) -> None:
        """All marks are right again, so from now on they count, whoever changed them before."""
        self._interference = self._restless
        self.random_cluster.disturbed.clear()
        self.random_cluster.meddled.clear()
        self.kube.compact()


class JobLife(JobHistory):
    """Jobs, their elements, pods and pools; ``monitor`` sees what is written."""

    def __init__(self, seed: int, clock: WallClock) -> None:
        super().__init__(seed)
        self.monitor = JobSafetyMonitor(self)
        self.now = self._clock = clock
        self._happenings += [self.clock_jumps] * _JUMPS
        for number in range(3):
            self.node_comes(number)
        self.begin()
        self._lead()

    def event(self) -> None:
        if self.leader is None:
            self._lead()
        self.dice.choice(self._happenings)()

    def clock_jumps(self) -> None:
        self._clock.jump(self.dice)
        self.tell(f"the clock is fast by {self._clock.offset} seconds")

    def resume(self) -> None:
        self._busy = True
        self.kube.compact()
        self.monitor.forget_the_gone()
