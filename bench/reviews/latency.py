"""The 99th percentile of the response time at a fixed rate (open loop), as a ratio to that of the echo server."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from bench.reviews.throughput import BUSY, CONNECTIONS, Spread, spread
from bench.servers import client
from bench.servers.processes import Server, cores, pinned
from bench.trouble import Trouble

RATE = 500
"""Reviews a second: a fifth of what one core answers, so that nothing queues for long."""

WARM_UP = 1
"""Seconds before the first round, for both."""

LAG = 0.0005
"""Seconds that a client with a core of its own is late at most, but for one in a hundred requests."""


class _Response(Struct, frozen=True):
    allowed: bool
    patch: str = ""


class _Reviewed(Struct, frozen=True):
    response: _Response


class Latency(Struct, frozen=True):
    """The ratios by round; ``sound`` tells whether there were rounds in which the client kept its pace."""

    ratio: Spread
    sound: bool


class _Tail(Struct, frozen=True):
    """The 99th percentile in seconds, and whether the client kept its pace."""

    p99: float
    sound: bool


def check(product: Server, bodies: Sequence[bytes]) -> None:
    """Make sure that the product does all of its work: every review is admitted and patched."""
    for answer in client.answers(product.url, bodies):
        try:
            response = msgspec.json.decode(answer, type=_Reviewed).response
        except msgspec.MsgspecError:
            raise Trouble(f"the product did not answer a review: {answer[:500]!r}") from None
        if not response.allowed or not response.patch:
            raise Trouble(f"a review was not admitted with a patch: {answer[:500]!r}")


def measure(
    echo: Server, product: Server, bodies: Sequence[bytes], *, rounds: int, seconds: int, tell: Callable[[str], None]
) -> Latency:
    """Rounds of echo and product in turn; ratio of their 99th percentiles by round."""
    pairs = []
    with pinned(cores()[1]):
        for server in (echo, product):
            _tail(server, bodies, WARM_UP)
        for number in range(1, rounds + 1):
            bare, ours = _tail(echo, bodies, seconds), _tail(product, bodies, seconds)
            pairs.append((bare, ours))
            remark = "" if bare.sound and ours.sound else BUSY
            times = f"p99 echo {bare.p99 * 1e6:,.0f} µs, product {ours.p99 * 1e6:,.0f} µs"
            tell(f"round {number}: {times}, {ours.p99 / bare.p99:.2f} x{remark}")
    sound = [pair for pair in pairs if all(tail.sound for tail in pair)]
    return Latency(spread([ours.p99 / bare.p99 for bare, ours in sound or pairs]), bool(sound))


def _tail(server: Server, bodies: Sequence[bytes], seconds: int) -> _Tail:
    run = client.steady(server.url, bodies, rate=RATE, seconds=seconds, connections=CONNECTIONS)
    return _Tail(_p99(run.durations), _p99(run.lags) < LAG)


def _p99(seconds: Sequence[float]) -> float:
    ordered = sorted(seconds)
    return ordered[len(ordered) * 99 // 100]
