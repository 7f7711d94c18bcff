"""CPU time as the kernel counts it, of the product's processes by purpose and of the whole machine; Linux only."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from msgspec import Struct

from bench import memory

_BUSY: Final = (1, 2, 3, 8)
"""Fields of the first line of /proc/stat (proc_stat(5)): user, nice, system, steal.

Interrupts are left out: the kernel counts what it does for loopback as such, and for no process.
"""


class Usage(Struct, frozen=True):
    """CPU seconds by role, those of the whole machine, and a clock's; of a moment, or between two."""

    roles: Mapping[str, float]
    machine: float
    clock: float

    @property
    def others(self) -> float:
        """Share of the machine that went to processes that are not ours."""
        capacity = self.clock * (os.cpu_count() or 1)
        return max(0.0, self.machine - sum(self.roles.values())) / capacity if capacity else 0.0


def now(pids: Mapping[str, Sequence[int]]) -> Usage:
    """So far. A process that has ended counts nothing."""
    roles = {role: sum(_seconds(pid) for pid in group) for role, group in pids.items()}
    fields = Path("/proc/stat").read_text().partition("\n")[0].split()
    return Usage(roles, sum(int(fields[at]) for at in _BUSY) / os.sysconf("SC_CLK_TCK"), monotonic())


def between(before: Usage, after: Usage) -> Usage:
    """Since then."""
    roles = {role: seconds - before.roles[role] for role, seconds in after.roles.items()}
    return Usage(roles, after.machine - before.machine, after.clock - before.clock)


def _seconds(pid: int) -> float:
    usage = memory.measure(pid)
    return usage.cpu_seconds if usage else 0.0
