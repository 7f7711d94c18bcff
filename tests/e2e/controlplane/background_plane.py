"""A control plane that stays up in the background, for a person with kubectl.

It belongs to a process of its own (``python -m tests.e2e.controlplane.background_plane``): the one that holds the lock
on the pid file.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from tests.e2e.chart.installation import installed
from tests.e2e.controlplane.plane import ControlPlane
from tests.e2e.nodes import create_nodes, node
from tests.e2e.polling import until
from tests.e2e.programs import binaries
from tests.e2e.progress import say

INSTALLERS: Final[list[Callable[[ControlPlane], AbstractContextManager[object]]]] = [installed]
"""What is put into a new plane, in this order, and taken out when it ends."""

NODES: Final = 5

_UP_SECONDS: Final = 3600
"""The first time the programs have to be built."""

_DOWN_SECONDS: Final = 60


def pid_file() -> Path:
    """Holds the process id while a plane is up."""
    return binaries.cache() / "cluster.pid"


def kubeconfig_file() -> Path:
    """Always at the same place, so that a shell can keep it in ``KUBECONFIG``."""
    return binaries.cache() / "cluster.kubeconfig"


def up() -> int:
    """Start a plane in the background and wait until it is ready; one that is up is left alone."""
    if _holder() is None:
        binaries.programs()  # here, where its progress is seen
        kubeconfig_file().unlink(missing_ok=True)
        log = binaries.cache() / "cluster.log"
        command = (sys.executable, "-m", "tests.e2e.controlplane.background_plane")
        with log.open("wb") as words:
            keeper = subprocess.Popen(  # noqa: S603 -- this very module
                command, stdin=subprocess.DEVNULL, stdout=words, stderr=words, start_new_session=True
            )
        until(lambda: kubeconfig_file().exists() or keeper.poll() is not None, "the cluster is up", _UP_SECONDS)
        if not kubeconfig_file().exists():
            say(f"the cluster did not come up:\n{log.read_text()}")
            return 1
        keeper.returncode = 0  # it lives on; nobody has to wait for it
    say(f"the cluster is up; its last words will be in {binaries.cache() / 'cluster.log'}")
    say(f"its helm is {binaries.programs()['helm']}")
    say(f"export KUBECONFIG={kubeconfig_file()}")
    return 0


def down() -> int:
    """End the plane that is up; none is fine."""
    holder = _holder()
    if holder is None:
        say("no cluster is up")
        return 0
    os.kill(holder, signal.SIGTERM)
    until(lambda: _holder() is None, f"process {holder} has ended", _DOWN_SECONDS)
    say("the cluster is down")
    return 0


def keep() -> None:
    """Be the process that holds the plane, until SIGTERM."""
    binaries.cache().mkdir(parents=True, exist_ok=True)
    with pid_file().open("a+") as mine, contextlib.ExitStack() as ending:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        mine.truncate(0)
        mine.write(str(os.getpid()))
        mine.flush()
        folder = binaries.cache() / "cluster"
        shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        plane = ending.enter_context(ControlPlane(folder))
        create_nodes(plane.admin, [node(f"node-{number}") for number in range(1, NODES + 1)])
        for install in INSTALLERS:
            ending.enter_context(install(plane))
        ending.callback(kubeconfig_file().unlink, missing_ok=True)
        beside = kubeconfig_file().with_suffix(".new")
        beside.write_bytes(plane.kubeconfig().read_bytes())
        beside.chmod(0o600)
        beside.rename(kubeconfig_file())
        with contextlib.suppress(KeyboardInterrupt):  # what ControlPlane makes of SIGTERM
            signal.pause()


def _holder() -> int | None:
    """The process id of the plane that is up."""
    if not pid_file().exists():
        return None
    with pid_file().open("r+") as theirs:
        try:
            fcntl.flock(theirs, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(theirs.read() or 0) or None
    return None


if __name__ == "__main__":
    keep()
