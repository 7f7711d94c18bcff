"""The commands that pages show, and what comes of them.

A block marked ``sh`` is run if it has lines that start with ``$ ``: each is a command, ``> `` goes on with it, and what
follows is its output, errors included. A line of three dots stands for any lines. ``sh no-run`` blocks are only read.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.docs.pages import PAGES, ROOT, Block, blocks

SECONDS = 60
"""For one command; the slowest, the tour, takes three."""


class Command(NamedTuple):
    """What is typed, and the lines that should come of it."""

    text: str
    shown: list[str]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block, each with the lines up to the next one."""
    typed: list[str] = []
    shown: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if typed:
                yield Command("\n".join(typed), shown)
            typed, shown = [line[2:]], []
        elif line.startswith("> ") and typed and not shown:
            typed.append(line[2:])
        else:
            shown.append(line)
    if typed:
        yield Command("\n".join(typed), shown)


def run(text: str, programs: Path | None = None) -> list[str]:
    """The lines that a command writes, run as on the page: from the repository's root, in no terminal.

    Programs are those of that folder, if it has them, and else those beside Python.

    What it runs there is no coverage: measuring would cost every command a third of its time.
    """
    ours = ("STREAMS_PLACEMENT_", "FORCE", "COVERAGE_")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    path = os.pathsep.join([*map(str, filter(None, [programs])), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = inherited | {"PATH": path, "COLUMNS": "80", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(  # noqa: S603 - what the repository's own pages tell people to type
        ("/bin/bash", "-c", text),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return [line.rstrip() for line in output.splitlines()]


def pattern(shown: list[str]) -> re.Pattern[str]:
    """The shown lines as an expression over output; three dots stand for any lines, or none."""
    return re.compile("".join("(?:.*\n)*?" if line == "..." else re.escape(f"{line}\n") for line in shown))


def runnable(pages: tuple[Path, ...] = PAGES) -> list[Block]:
    """The blocks that have commands to run."""
    return [block for block in blocks("sh", pages) if any(line.startswith("$ ") for line in block.text.splitlines())]
