"""A shell on a pseudo-terminal: keys go in, and the line that is being edited can be read."""

import os
import pty
import select
import shutil
import signal
import time
from pathlib import Path
from typing import Final, Self

SECONDS: Final = 20.0
"""Time-out for a shell to do anything."""

_SHOW: Final = "\x0f"
"""Control-O, which writes the line into a file; bound by the start-up scripts below."""

_STARTS: Final = {
    "bash": (
        ("bash", "--norc", "--noprofile", "-i"),
        (
            "show() { printf %s \"$READLINE_LINE\" > $LINE.new; mv $LINE.new $LINE; }; bind 'set bell-style none'; "
            "bind -x '\"\\C-o\": show'"
        ),
    ),
    "zsh": (
        ("zsh", "-f", "-i"),
        (
            "autoload -Uz compinit && compinit -u -D; unsetopt list_beep prompt_cr; "
            'show() { print -rn -- "$BUFFER" > $LINE.new; mv $LINE.new $LINE }; zle -N show; bindkey "^O" show'
        ),
    ),
}
"""How each shell is started, and what makes it ready for these tests."""


class InteractiveShell:
    """A shell that a test types into; its process ends with the ``with`` block."""

    def __init__(self, shell: str, folder: Path, environment: dict[str, str]) -> None:
        words, prepare = _STARTS[shell]
        self._line = Path(environment["HOME"]) / f"line-{shell}"
        program = shutil.which(shell) or shell
        self._child, self._terminal = pty.fork()
        if self._child == 0:  # pragma: no cover -- becomes the shell
            os.execve(program, words, environment | {"LINE": str(self._line), "PS1": "", "TERM": "dumb"})  # noqa: S606 -- a shell, on purpose
        self._send(f"cd {folder}; {prepare}\n{shell_source(shell)}\n")
        self._wait_for_prompt()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._terminal)

    def completed(self, typed: str) -> str:
        """The line after the text and a tab."""
        self._send(f"\x15{typed}\t")
        return self._edited()

    def _edited(self) -> str:
        """The line that is being edited."""
        self._line.unlink(missing_ok=True)
        self._send(_SHOW)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self._drain(0.05)
            if self._line.exists():
                return self._line.read_text()
        raise TimeoutError("the shell does not answer")

    def _wait_for_prompt(self) -> None:
        """Until everything that was typed has been done: the next line can be edited, and is empty."""
        end = time.monotonic() + SECONDS
        ready = self._line.with_suffix(".ready")
        self._send(f"touch {ready}\n")
        while not ready.exists():
            self._drain(0.05)
            if time.monotonic() > end:
                raise TimeoutError("the shell does not start")

    def _send(self, text: str) -> None:
        os.write(self._terminal, text.encode())
        self._drain(0.05)

    def _drain(self, seconds: float) -> None:
        """Take away what the shell has written, so that it never waits for a reader."""
        while select.select([self._terminal], [], [], seconds)[0]:
            try:
                if not os.read(self._terminal, 65536):
                    return
            except OSError:
                return


def shell_source(shell: str) -> str:
    """What a user of the shell types for completion; it stands in the help, too."""
    return f"source <(streams-placement completion {shell})"
