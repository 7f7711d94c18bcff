"""The memory of the running webhook and the cost of its start, as the kernel counts them; Linux only."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from bench.servers.processes import ROOT

_PROGRAM = """
import time
before = time.perf_counter()
from webhook import cli
cli.load("serve")
import webhook.app.serve
print(time.perf_counter() - before)
"""
"""What ``serve`` imports before it does anything, as its command imports it."""


class Memory(Struct, frozen=True):
    """Resident memory in MB of a million bytes, now and at its highest, and CPU seconds so far."""

    resident: float
    peak: float
    cpu_seconds: float


def measure(pid: int) -> Memory | None:
    """What a process holds; ``None`` where the kernel does not say."""
    process = Path("/proc", str(pid))
    if not process.is_dir():
        return None
    fields = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    # Fields 14 and 15 of proc_pid_stat(5), counted from behind the program's name, which may hold blanks.
    user, system = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
    ticks = os.sysconf("SC_CLK_TCK")
    return Memory(_megabytes(fields["VmRSS"]), _megabytes(fields["VmHWM"]), (int(user) + int(system)) / ticks)


def shared(pid: int) -> list[float] | None:
    """MB of a process and of each of its children, where what they share counts in parts; ``None`` as above."""
    process = Path("/proc", str(pid))
    if not process.is_dir():
        return None
    children = (process / "task" / str(pid) / "children").read_text().split()
    found = []
    for one in (str(pid), *children):
        lines = Path("/proc", one, "smaps_rollup").read_text().splitlines()
        found.append(next(_megabytes(line.partition(":")[2]) for line in lines if line.startswith("Pss:")))
    return found


def import_seconds(rounds: int) -> float:
    """Time to import what ``serve`` needs, in a fresh process; the median of some."""
    found = [_seconds(_PROGRAM) for _ in range(rounds + 1)]
    return statistics.median(found[1:])  # the first may have read the files from the disk


def _seconds(program: str) -> float:
    command = (sys.executable, "-c", program)
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60)  # noqa: S603 - our own program, no shell
    return float(done.stdout)


def _megabytes(field: str) -> float:
    """``123 kB`` of /proc, which means KiB."""
    return int(field.split(maxsplit=1)[0]) * 1024 / 1e6
