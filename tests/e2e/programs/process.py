"""One program that runs: a process group of its own, with output in a file, which is killed when the tests end."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_GUARD: Final = str(Path(__file__).with_name("guard.py"))

_TAIL_BYTES: Final = 6_000
"""Enough for the last words of a Go program, a panic with its first goroutine included."""


class Process:
    """A program that is started and ended any number of times. Start it from a thread that lives as long as it should.

    The kernel kills it when that thread ends (``guard.py``), be it by SIGKILL of the whole test run.
    """

    def __init__(
        self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.command = list(command)
        self.log = log
        self._environment = dict(os.environ if environment is None else environment)
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id, while it is started."""
        return self._running.pid if self._running else None

    @property
    def alive(self) -> bool:
        """Whether it is started and has not ended by itself."""
        return self._running is not None and not _ended(self._running.pid, 0)

    @property
    def exit_code(self) -> int | None:
        """How it ended by itself, negative for a signal; None if it was not started or runs."""
        if self._running is None or not _ended(self._running.pid, 0):
            return None
        seen = os.waitid(os.P_PID, self._running.pid, os.WEXITED | os.WNOWAIT)
        assert seen is not None  # without WNOHANG there always is one
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def start(self) -> None:
        """Start it; the log goes on where it was."""
        assert self._running is None, f"{self.name} is started already"
        guarded = (sys.executable, "-I", "-S", _GUARD, str(os.getpid()), *self.command)
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(  # noqa: S603 -- programs that we built ourselves, no shell
                guarded,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                process_group=0,
            )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process alone."""
        if self._running:
            os.kill(self._running.pid, number)

    def stop(self, seconds: float = 10.0) -> None:
        """Ask it to end, and make it end when the time is up; its whole group is gone afterwards."""
        if self._running is None:
            return
        try:
            os.kill(self._running.pid, signal.SIGTERM)
            _ended(self._running.pid, seconds)
        finally:
            self.kill()

    def kill(self) -> None:
        """End it and its group at once (SIGKILL)."""
        if self._running is None:
            return
        os.killpg(self._running.pid, signal.SIGKILL)  # not reaped yet, so the number still is its
        self._running.wait()
        self._running = None

    def tail(self) -> str:
        """The end of its log."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            return log.read().decode(errors="replace")


def _ended(pid: int, seconds: float) -> bool:
    """Whether a child has ended, or does within so many seconds; does not reap it."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(handle)
