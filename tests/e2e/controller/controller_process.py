"""A controller as a process of the test, which can be started, killed, paused and continued."""

import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.e2e.polling import until
from tests.e2e.programs.process import Process

_CLONE: Final = Path(__file__).resolve().parents[3]

_LEADING: Final = re.compile(r'"message":"leading as ([^"]+)"')

SHORT_LEASE: Final = ("tests.e2e.controller.short_lease_controller",)
"""What ``python -m`` runs."""


class ControllerProcess:
    """``with Candidate(folder, name, kubeconfig)``: it stands for election, and leads sooner or later.

    ``program`` is a module with its arguments, by default the one with short leads.
    """

    def __init__(
        self, folder: Path, name: str, kubeconfig: Path, *, program: Sequence[str] = SHORT_LEASE, **environment: str
    ) -> None:
        self.name = name
        variables = {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(_CLONE), **environment}
        self.process = Process(name, (sys.executable, "-m", *program), folder / f"{name}.log", variables)

    def __enter__(self) -> Self:
        self.process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()

    @property
    def log(self) -> str:
        """Everything that it has said."""
        return self.process.log.read_text() if self.process.log.exists() else ""

    @property
    def identity(self) -> str:
        """What the Lease calls it, once it was elected; empty before."""
        found = _LEADING.search(self.log)
        return found[1] if found else ""

    def wait_until_leading(self, seconds: float = 30.0) -> None:
        """Until it was elected."""
        until(lambda: self.identity, f"{self.name} leads\n{self.process.tail()}", seconds)

    def kill(self) -> None:
        """No more of it, at once."""
        self.process.signal(signal.SIGKILL)

    def pause(self) -> None:
        """It stands still."""
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """It goes on, and does not know that any time has passed."""
        self.process.signal(signal.SIGCONT)

    def exit_code(self, seconds: float = 15.0) -> int:
        """How it ended by itself, once it has."""
        until(lambda: not self.process.alive, f"{self.name} ends\n{self.process.tail()}", seconds)
        code = self.process.exit_code
        assert code is not None
        return code
