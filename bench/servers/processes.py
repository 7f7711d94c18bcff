"""Servers under test: each is a process of its own on one core, and is always stopped at the end."""

import compileall
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from msgspec import Struct

from bench.trouble import Trouble

ROOT = Path(__file__).parents[2]

READY_SECONDS = 120
"""For a server to read 150,000 pods from a cold disk on a slow machine; the goal is ten."""

STOP_SECONDS = 10
"""From the request to stop until a process is killed."""

_PORTS = ("--port", "0", "--health-port", "0", "--drain", "0")

_IN_POD = ROOT / "tests" / "e2e" / "chart" / "in_pod.py"
"""Makes our program believe that it is in a pod."""

_TAIL = 2000
"""Characters of a server's log that are shown when it fails."""


class Server(Struct, frozen=True):
    """A server that answers: where, and what it took to get there, in seconds."""

    pid: int
    url: str
    ready_seconds: float


def cores() -> tuple[int, int]:
    """A core for the server under test, and another for the load, if there are two."""
    # Only Linux can say; elsewhere the system places processes as it likes.
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return usable[0], usable[-1]


@contextlib.contextmanager
def pinned(core: int) -> Iterator[None]:
    """This process, and those it starts meanwhile, on one core."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def compile_product() -> None:
    """Compile the modules of the product, as in its image, also where the environment forbids Python to write them."""
    for package in ("webhook", "kubeapi", "certs"):
        compileall.compile_dir(ROOT / package, quiet=1)


def certificate(cache: Path) -> tuple[Path, Path]:
    """A pair for loopback, made by the certificate program; kept while it is good."""
    folder = cache / "certs"
    command = (sys.executable, "-m", "certs", "create", "--loopback", "--dir", str(folder))
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=60)  # noqa: S603 - our own program, no shell
    if done.returncode:
        raise Trouble(f"cannot make a certificate: {done.stderr.strip()}")
    return folder / "tls.crt", folder / "tls.key"


def echo(cache: Path) -> contextlib.AbstractContextManager[Server]:
    """The bare peer."""
    pair = map(str, certificate(cache))
    return _running("echo", (sys.executable, "-m", "bench.servers.echo", *pair), cache)


def product(cache: Path, snapshot: Path) -> contextlib.AbstractContextManager[Server]:
    """The webhook, over a snapshot."""
    cert, key = map(str, certificate(cache))
    flags = ("--snapshot", str(snapshot), "--tls-cert", cert, "--tls-key", key)
    return _running("product", (sys.executable, "-m", "webhook", "serve", *flags, *_PORTS), cache)


def rest(folder: Path) -> contextlib.AbstractContextManager[Server]:
    """The REST interface, over a file in the folder."""
    flags = ("--store", str(folder / "intents.sqlite"), "--port", "0", "--drain", "0", "--max-rate", "0")
    command = (sys.executable, "-m", "webhook", "hpa-api", *flags, "--log-level", "warning")
    return _running("rest", command, folder)


def listing(cache: Path, snapshot: Path, front_proxy: Path | None = None) -> contextlib.AbstractContextManager[Server]:
    """A snapshot as an API server shows it, with that authority of its front proxy."""
    words = (str(snapshot), *map(str, certificate(cache)), *([str(front_proxy)] if front_proxy else []))
    return _running("listing", (sys.executable, "-m", "bench.servers.listing", *words), cache)


def pod_lives(cache: Path, count: int, rate: float) -> contextlib.AbstractContextManager[Server]:
    """An API server that tells of so many whole lives of pods, at that rate a second."""
    pair = map(str, certificate(cache))
    return _running("lives", (sys.executable, "-m", "bench.servers.lives", *pair, str(count), str(rate)), cache)


def watching(cache: Path, api: Server, more: Sequence[str] = ()) -> contextlib.AbstractContextManager[Server]:
    """The webhook as it is in a pod, with the account of one and ``more`` flags, over what that server lists."""
    cert, key = certificate(cache)
    account = cache / "account"
    account.mkdir(exist_ok=True)
    (account / "token").write_text("anybody")
    (account / "ca.crt").write_bytes(cert.with_name("ca.crt").read_bytes())
    where = urlsplit(api.url)
    environment = {
        "SERVICE_ACCOUNT": str(account),
        "KUBERNETES_SERVICE_HOST": str(where.hostname),
        "KUBERNETES_SERVICE_PORT": str(where.port),
    }
    flags = ("--tls-cert", str(cert), "--tls-key", str(key), *more)
    return _running("watching", (sys.executable, str(_IN_POD), "webhook", "serve", *flags, *_PORTS), cache, environment)


@contextlib.contextmanager
def _running(
    name: str, command: Sequence[str], cache: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    log = cache / f"{name}.log"
    before = monotonic()
    with log.open("w") as errors, pinned(cores()[0]):
        process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            # Control-C is for this program, which then stops its servers itself.
            start_new_session=True,
        )
    try:
        url = _ready(process, before + READY_SECONDS)
        if url is None:
            raise Trouble(f"{name} did not get ready: {log.read_text()[-_TAIL:].strip() or 'it says nothing'}")
        yield Server(process.pid, url, monotonic() - before)
    finally:
        _stop(process)


def _ready(process: "subprocess.Popen[bytes]", until: float) -> str | None:
    """The URL in the line ``ready URL ...``; ``None`` if it does not come in time."""
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        readable, _, _ = select.select([process.stdout], [], [], max(0.0, until - monotonic()))
        piece = os.read(process.stdout.fileno(), 4096) if readable else b""
        if not piece:
            return None
        line += piece
    words = line.decode().split()
    return words[1] if words[:1] == ["ready"] else None


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to stop, then make it."""
    with process:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
