"""``hpa-api`` as a process over a SQLite file, for tests that know its URL and nothing else of it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def rest_process(
    folder: Path, *flags: str, before: Sequence[str] = ()
) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The URL and the process, which is ended afterwards; its log is ``hpa-api.log`` in the folder.

    ``before`` is a command that becomes the process.
    """
    command = [*before, sys.executable, "-m", "webhook", "hpa-api", "--port", "0", "--drain", "0", *flags]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "hpa-api.log").open("a") as log:
        process = subprocess.Popen(  # noqa: S603 -- our own program, no shell
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, cwd=folder
        )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("ready http"), (folder / "hpa-api.log").read_text()
            yield line.split()[1], process
        finally:
            process.terminate()
            process.wait(20)
