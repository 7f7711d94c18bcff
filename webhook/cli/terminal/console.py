"""The console through which commands write to a person: what it may do to a terminal, and to a file."""

import os
from typing import IO

from rich.console import Console


class PlainConsole(Console):
    """Rich's console without its exit code for a reader that has gone: ``main`` handles that."""

    def on_broken_pipe(self) -> None:
        """Raise the error again that was caught."""
        raise BrokenPipeError


def console(stream: IO[str]) -> Console:
    """A console that writes to the stream: in colour on a terminal, and anywhere with ``FORCE_COLOR``.

    ``NO_COLOR`` (https://no-color.org) and ``TERM=dumb`` forbid every escape sequence, those for bold text as well.
    """
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return PlainConsole(file=stream, highlight=False, soft_wrap=True, color_system=None if plain else "auto")
