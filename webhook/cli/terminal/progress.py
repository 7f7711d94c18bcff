"""Progress of a command on standard error, shown if it takes more than a second, and only on a terminal.

A command opens :func:`progress` around its work and hands the function that it gets to the work, which calls it with
what is being done, how much of it, and of how much. A file or a pipe gets nothing, nor does a terminal without cursor
movements (``TERM=dumb``).
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Final

from webhook.placementreview.submission import Step, silent

DELAY: Final = 1.0
"""Seconds of work before anything is shown: who waits for less needs no company."""

_EVERY: Final = 0.05
"""Seconds between two changes of what is shown; work may report each of 150,000 objects."""


@contextlib.contextmanager
def progress(delay: float = DELAY) -> Iterator[Step]:
    """Show what the work inside the context reports, from ``delay`` seconds on; nothing of it stays on the screen."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield silent
        return
    shown = ProgressLine(delay)
    try:
        yield shown.step
    finally:
        shown.end()


class ProgressLine:
    """One line with a bar on the terminal of standard error; it appears after ``delay`` seconds."""

    def __init__(self, delay: float) -> None:
        # Rich takes long to import, and most commands end before a line would appear, or have no terminal.
        from rich import progress as bars  # noqa: PLC0415

        from webhook.cli.terminal.console import console  # noqa: PLC0415

        self._bar = bars.Progress(
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=24),
            bars.TextColumn("{task.fields[count]}", markup=False),
            bars.TimeElapsedColumn(),
            console=console(sys.stderr),
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # a file must get what is printed into it, and not this terminal
        )
        self._task = self._bar.add_task("", total=None, count="")
        self._changed = 0.0
        self._what = ""
        self._timer = threading.Timer(delay, self._bar.start)
        self._timer.daemon = True
        self._timer.start()

    def step(self, what: str, done: int, total: int) -> None:
        """Show this from now on; of many calls in a short time the first of each ``what`` counts."""
        now = time.monotonic()
        if what == self._what and now < self._changed + _EVERY:
            return
        self._changed, self._what = now, what
        count = f"{done:,} of {total:,}" if total else f"{done:,}" if done else ""
        self._bar.update(self._task, description=what, completed=done, total=total or None, count=count)

    def end(self) -> None:
        """Take the line off the screen; it does not appear any more."""
        self._timer.cancel()
        self._timer.join()
        if self._bar.live.is_started:
            self._bar.stop()
