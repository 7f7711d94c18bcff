"""A terminal for tests: a pseudo-terminal whose other side collects what a program writes."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import TextIO

SECONDS = 60


class Terminal:
    """A pseudo-terminal; ``stream`` is the side that a program writes to, :meth:`shown` what has come out of it."""

    def __init__(self) -> None:
        self._reading, writing = pty.openpty()
        self.stream: TextIO = os.fdopen(writing, "w")
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def shown(self) -> str:
        """Everything that was written; closes the terminal."""
        self.stream.close()
        self._reader.join(SECONDS)
        os.close(self._reading)
        return b"".join(self._parts).decode().replace("\r\n", "\n")

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._reading, 65536)
            except OSError:  # Linux, when the other side is closed
                return
            if not part:
                return
            self._parts.append(part)


def on_terminal(*words: str, **environment: str) -> str:
    """What ``streams-placement`` with these words writes on a terminal; ``environment`` is added to a bare one."""
    terminal = Terminal()
    command = (sys.executable, "-m", "webhook", *words)
    subprocess.run(  # noqa: S603 -- ourselves
        command,
        stdin=subprocess.DEVNULL,
        stdout=terminal.stream,
        stderr=terminal.stream,
        env=bare(environment),
        timeout=SECONDS,
        check=False,
    )
    return terminal.shown()


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process without what says how to write, and with these variables."""
    said = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS", "PYTHONUNBUFFERED")
    return {**{key: value for key, value in os.environ.items() if key not in said}, **environment}
