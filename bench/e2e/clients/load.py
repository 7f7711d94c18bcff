"""Controls the process of the clients: sends orders to it, and reads the outcomes."""

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from bench.e2e.clients.orders import Order, Outcome
from bench.servers.processes import ROOT
from bench.trouble import Trouble

_SECONDS: Final = 60
"""For an order of few requests, a slow start of the process included."""

_SECONDS_EACH: Final = 0.2
"""For each request besides: a hundred times what one takes."""

_STOP_SECONDS: Final = 10

_CHUNK: Final = 1 << 16

_TAIL: Final = 2000
"""Characters of the log that are shown when the process fails."""


class Load:
    """Clients that wait for orders."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.pid = process.pid
        self._process = process
        self._log = log

    def carry_out(self, order: Order) -> Outcome:
        """Have it done."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._trouble(order) from None
        line = self._line(monotonic() + _SECONDS + order.count * _SECONDS_EACH)
        if line is None:
            raise self._trouble(order)
        return msgspec.json.decode(line, type=Outcome)

    def _line(self, until: float) -> bytes | None:
        """The next line; ``None`` if it does not come in time, or the process has ended."""
        assert self._process.stdout is not None
        line = bytearray()
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - monotonic()))
            piece = os.read(self._process.stdout.fileno(), _CHUNK) if readable else b""
            if not piece:
                return None
            line += piece
        return bytes(line)

    def _trouble(self, order: Order) -> Trouble:
        words = self._log.read_text(errors="replace")[-_TAIL:].strip()
        return Trouble(f"the clients did not carry out {order}: {words or 'they say nothing'}")


@contextlib.contextmanager
def clients(kubeconfig: Path, folder: Path) -> Iterator[Load]:
    """Clients of an API server; they end with their standard input, whatever happens to this process."""
    log = folder / "clients.log"
    with log.open("wb") as words:
        process = subprocess.Popen(  # noqa: S603 -- our own program, no shell
            (sys.executable, "-m", "bench.e2e.clients.client", str(kubeconfig)),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            start_new_session=True,  # Control-C is for this process, which then ends them
        )
    with process:
        try:
            yield Load(process, log)
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close() if process.stdin else None
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
