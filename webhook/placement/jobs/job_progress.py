"""The phase of a Job, from what its processing elements and HostPools do."""

import enum
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from webhook.placement.elements.element_status import ElementPhase
from webhook.placement.text.problem import counted


class JobPhase(enum.StrEnum):
    """The phase of a Job (``status.phase``)."""

    SUBMITTING = "Submitting"
    """Pools or pods of its submission are not there yet."""
    RUNNING = "Running"
    DEGRADED = "Degraded"
    """Some processing element does not run, after all had been started."""
    FAILED = "Failed"
    COMPLETED = "Completed"
    DELETING = "Deleting"


NAME_TAKEN: Final = "NameTaken"
POOL_FAILED: Final = "PoolFailed"
TIMED_OUT: Final = "TimedOut"
UNSATISFIABLE: Final = "Unsatisfiable"
STRANDED: Final = "Stranded"
"""Reason, of the condition Satisfiable, of a Job that could be restarted as a whole but not beside its own elements."""

UNDONE: Final = frozenset({NAME_TAKEN, POOL_FAILED, TIMED_OUT, UNSATISFIABLE})
"""Reasons, of the condition Submitted, of a submission that has failed and whose objects are deleted."""


class Tallied(Struct, frozen=True, gc=False):
    """How many processing elements of a Job there are, by phase; one that does not exist is ``missing``."""

    total: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    completed: int = 0
    stopped: int = 0
    missing: int = 0

    @property
    def phase(self) -> JobPhase:
        """The phase of a Job that was submitted."""
        if self.total and self.completed == self.total:
            return JobPhase.COMPLETED
        if self.running + self.completed == self.total:
            return JobPhase.RUNNING
        return JobPhase.FAILED if self.failed and not self.running + self.waiting else JobPhase.DEGRADED

    def __str__(self) -> str:
        """What does not run, in words: ``2 of 200 processing elements do not run``; else what does."""
        out = self.total - self.running - self.completed
        if out:
            return f"{out} of {counted(self.total, 'processing element')} {'does' if out == 1 else 'do'} not run"
        if self.total and self.completed == self.total:
            return f"{counted(self.total, 'processing element')} {'has' if self.total == 1 else 'have'} completed"
        if self.completed:
            return f"{self.running} of {counted(self.total, 'processing element')} run, the others have completed"
        return f"{counted(self.total, 'processing element')} {'runs' if self.total == 1 else 'run'}"


_COUNTED: Final = {
    ElementPhase.RUNNING: "running",
    ElementPhase.PENDING: "waiting",
    ElementPhase.FAILED: "failed",
    ElementPhase.COMPLETED: "completed",
    ElementPhase.STOPPED: "stopped",
}


def tallied(total: int, phases: Mapping[ElementPhase, int]) -> Tallied:
    """The counts of a Job with so many elements in its spec."""
    counts = {name: phases.get(phase, 0) for phase, name in _COUNTED.items()}
    return Tallied(total=total, missing=max(0, total - sum(counts.values())), **counts)
