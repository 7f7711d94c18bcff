"""Requests per second over TLS with keep-alive (closed loop, by wrk), as a ratio to those of the echo server."""

import shutil
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench import memory
from bench.servers.processes import Server, cores, pinned
from bench.trouble import Trouble

CONNECTIONS = 16
"""About as many as an API server opens for this many reviews at a time."""

WARM_UP = 1
"""Seconds before the first round, for both."""

SATURATED = 0.9
"""Share of its core that a server uses when it is what limits the rate; below, something else runs on the machine."""

BUSY = "; the machine was busy with something else, so this round does not count"

HINT = "wrk is missing: apt-get install wrk, or brew install wrk"

_SCRIPT = Path(__file__).with_name("post.lua")


class Spread(Struct, frozen=True):
    """Smallest, median and largest of the ratios of a few rounds."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} x ({self.low:.2f} to {self.high:.2f})"


class Throughput(Struct, frozen=True):
    """The ratio of rates by round, and the CPU time of one review in microseconds, the median of all rounds.

    ``rates`` is ``None`` where in no round both servers were saturated; CPU times say the same, a little less directly.
    """

    rates: Spread | None
    echo_cpu: float
    product_cpu: float

    @property
    def ratio(self) -> float:
        """How many times the bare peer's throughput the product's is."""
        return self.rates.median if self.rates else self.echo_cpu / self.product_cpu

    def __str__(self) -> str:
        return str(self.rates) if self.rates else f"{self.ratio:.2f} x by CPU time, the machine was too busy for rates"


class _Load(Struct):
    """What wrk counted; ``refused`` are HTTP statuses over 399, ``broken`` connections, ``cpu`` seconds."""

    requests: int
    seconds: float
    refused: int
    broken: int
    late: int
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """CPU time of one review in microseconds."""
        return self.cpu / self.requests * 1e6

    @property
    def saturated(self) -> bool:
        """Whether the server was what limited the rate, as far as the system says."""
        return not self.cpu or self.cpu / self.seconds > SATURATED


def spread(ratios: Sequence[float]) -> Spread:
    """The spread of some ratios."""
    return Spread(min(ratios), statistics.median(ratios), max(ratios))


def installed() -> bool:
    """Whether wrk is there."""
    return shutil.which("wrk") is not None


def measure(
    echo: Server, product: Server, files: Sequence[Path], *, rounds: int, seconds: int, tell: Callable[[str], None]
) -> Throughput:
    """Rounds of echo and product in turn, so that whatever else the machine does hits both; ratio by round."""
    for server in (echo, product):
        _load(server, files, WARM_UP)
    pairs = []
    for number in range(1, rounds + 1):
        bare, ours = _load(echo, files, seconds), _load(product, files, seconds)
        pairs.append((bare, ours))
        remark = "" if bare.saturated and ours.saturated else BUSY
        rates = f"echo {bare.rate:,.0f}/s, product {ours.rate:,.0f}/s, {ours.rate / bare.rate:.2f} x"
        tell(f"round {number}: {rates}{remark}")
    return _result(pairs)


def _result(pairs: Sequence[tuple[_Load, _Load]]) -> Throughput:
    ratios = [ours.rate / bare.rate for bare, ours in pairs if bare.saturated and ours.saturated]
    return Throughput(
        spread(ratios) if ratios else None,
        statistics.median(bare.cost for bare, _ in pairs),
        statistics.median(ours.cost for _, ours in pairs),
    )


def _load(server: Server, files: Sequence[Path], seconds: int) -> _Load:
    wrk = shutil.which("wrk")
    if wrk is None:
        raise Trouble(HINT)
    shape = ("-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "5s")
    command = (wrk, *shape, "-s", str(_SCRIPT), server.url, "--", *map(str, files))
    before = memory.measure(server.pid)
    with pinned(cores()[1]):
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=seconds + 60)  # noqa: S603 - no shell, nothing from outside
    if done.returncode:
        raise Trouble(f"wrk failed: {done.stderr.strip() or done.stdout.strip()}")
    load = msgspec.json.decode(done.stdout.rsplit("\n", 2)[-2], type=_Load)
    if load.refused or load.broken or load.late or not load.requests:
        raise Trouble(f"not every request was answered: {load}")
    after = memory.measure(server.pid)
    if before and after:
        load.cpu = after.cpu_seconds - before.cpu_seconds
    return load
