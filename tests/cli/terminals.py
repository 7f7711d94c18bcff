"""A terminal for tests: a pseudo-terminal whose other side collects what a program writes."""

import io
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO

import pytest

from webhook.cli import main

SECONDS = 60


class Terminal:
    """A pseudo-terminal; ``stream`` is the side that a program writes to, :meth:`shown` what has come out of it.

    :meth:`until` waits for a text.
    """

    def __init__(self) -> None:
        self._reading, writing = pty.openpty()
        self.stream: TextIO = os.fdopen(writing, "w")
        self._parts: list[bytes] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def shown(self) -> str:
        """Everything that was written; closes the terminal."""
        self.stream.close()
        self._reader.join(SECONDS)
        os.close(self._reading)
        return b"".join(self._parts).decode().replace("\r\n", "\n")

    def until(self, text: str) -> None:
        """Return once the text has come out; raises AssertionError if it does not in a minute."""
        with self._more:
            assert self._more.wait_for(lambda: text.encode() in b"".join(self._parts), SECONDS), self._parts

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._reading, 65536)
            except OSError:  # Linux, when the other side is closed
                return
            if not part:
                return
            with self._more:
                self._parts.append(part)
                self._more.notify_all()


def on_terminal(*words: str, **environment: str) -> str:
    """What the command writes on a terminal, in this process; ``environment`` is added to a bare one."""
    terminal = Terminal()
    _run_here(terminal.stream, words, environment)
    return terminal.shown()


def into_file(*words: str, **environment: str) -> str:
    """What the command writes into a file that is no terminal, in this process."""
    file = io.StringIO()
    _run_here(file, words, environment)
    return file.getvalue()


def _run_here(stream: TextIO, words: Sequence[str], environment: Mapping[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(stream), redirect_stderr(stream):
        for name in os.environ.keys() - bare({}).keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        main(words)


def process_on_terminal(*words: str, **environment: str) -> str:
    """What ``streams-placement`` itself writes on a terminal."""
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
