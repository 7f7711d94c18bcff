"""Runs another program that is killed with its parent: ``python guard.py PARENT PROGRAM ARGUMENT ...``.

It is a program of its own, because a process with threads may not run Python code between fork and exec. It imports
almost nothing, so that it costs about 10 ms.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""From ``linux/prctl.h``. The setting survives exec."""


def main(parent: int, command: list[str]) -> None:
    """Arrange for SIGKILL when the thread that started this process ends, then exec."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was gone before the arrangement
        sys.exit(1)
    os.execvp(command[0], command)  # noqa: S606 -- to become that program, without a shell, is all this is for


main(int(sys.argv[1]), sys.argv[2:])
