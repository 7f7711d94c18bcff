"""Commands that pages show, without the start of Python for each of them: four of five do nothing but decide.

A folder for ``PATH`` has a ``streams-placement`` that hands its words, its environment and its open files to a process
which has imported the program already, and forks for each command. Servers, commands that read what another one writes
into a file that only they have (``<(...)``), and all else are the program itself.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT

FORKED: Final = ("clusters", "convert", "explain", "plan")
"""Commands that read files, write an answer and end."""

_LENGTH: Final = 4
"""Bytes of the length of a message."""

_CLIENT: Final = """\
#!{python} -IS
import json, os, socket, sys
if sys.argv[1:2] and sys.argv[1] in {forked} and not any(word.startswith("/dev/fd/") for word in sys.argv):
    line = socket.socket(socket.AF_UNIX)
    line.connect({address!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(line, [len(told).to_bytes({length}, "big")], [0, 1, 2])
    line.sendall(told)
    code = line.recv(1)
    if not code:
        print("the process of this command was killed")  # where a page shows it, even if errors go elsewhere
    sys.exit(code[0] if code else 70)
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


@contextlib.contextmanager
def forked_commands(folder: Path) -> Iterator[Path]:
    """The folder for ``PATH``, made below that one."""
    programs, address = folder / "programs", str(folder / "socket")
    programs.mkdir()
    program = str(Path(sys.executable).with_name("streams-placement"))
    client = programs / "streams-placement"
    client.write_text(
        _CLIENT.format(python=sys.executable, forked=FORKED, address=address, program=program, length=_LENGTH)
    )
    client.chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("STREAMS_", "COVERAGE_"))}
    command = (sys.executable, "-m", "tests.docs.forked_commands", address)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ourselves
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield programs
        finally:
            process.kill()


def _serve(address: str) -> None:
    """Fork for each command, until killed."""
    from webhook.cli import load  # noqa: PLC0415 -- by the process that forks only

    for name in FORKED:
        load(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing is left of a child that has ended
    print("ready", flush=True)  # noqa: T201 -- read by the one that has started this process
    while True:
        line, _ = listener.accept()
        length, files, _, _ = socket.recv_fds(line, _LENGTH, 3)
        if not os.fork():
            listener.close()
            _run(line, int.from_bytes(length, "big"), files)
        line.close()
        for file in files:
            os.close(file)


def _run(line: socket.socket, length: int, files: list[int]) -> None:
    """Run the command as a process of its own would, and say its exit code."""
    from webhook.cli import main  # noqa: PLC0415 -- the same

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with line.makefile("rb") as told:
        words, folder, environment = json.loads(told.read(length))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["streams-placement", *words]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 -- open files
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 -- the same
    code = main(words)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    line.sendall(bytes([code]))
    os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
