"""Requests to two control planes by turns, and what was measured."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Final, Self

import aiohttp
import uvloop

from bench.e2e.bystanders.pairs import Pairs
from bench.e2e.bystanders.planes import Plane
from bench.e2e.bystanders.requests import PlainRequests, Request

CLIENTS: Final = 20
BLOCK: Final = 60
"""Requests that all clients make in one plane before the other has its turn: a tenth of a second."""

Figure = Callable[[Sequence[Request]], Awaitable[float]]
"""Makes requests in one plane, and returns what they took."""


def costs(with_chart: Plane, kinds: Iterable[PlainRequests], count: int) -> dict[str, dict[str, float]]:
    """Microseconds that conditions of each entry and policy take for a request, by kind of request and by entry."""
    by_kind = dict[str, dict[str, float]]()
    for kind in kinds:
        requests = kind.of(count, 0)
        kind.before(with_chart.control.admin, len(requests))
        before = with_chart.evaluations()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_by_one_client(with_chart, requests))
        grown = {name: seconds - before.get(name, 0.0) for name, seconds in with_chart.evaluations().items()}
        by_kind[kind.name] = {name: 1e6 * seconds / len(requests) for name, seconds in grown.items() if seconds}
        kind.empty(with_chart.control.admin)
    return by_kind


def measured(own: Plane, without: Plane, kind: PlainRequests, blocks: int, singles: int) -> Pairs:
    """Make requests of one kind in both planes by turns, from an empty namespace to an empty namespace.

    Args:
        own: the plane whose share is measured.
        without: the plane without the chart.
        kind: what requests are made.
        blocks: pairs of blocks that many clients make.
        singles: pairs of requests that one client makes.
    """
    requests = kind.of(singles, blocks * BLOCK)
    for each in (own, without):
        kind.before(each.control.admin, len(requests))
    began = own.cpu_seconds(), without.cpu_seconds()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rates, durations = runner.run(_by_turns((own, without), requests, blocks, singles))
    cpu = own.cpu_seconds() - began[0], without.cpu_seconds() - began[1]
    for each in (own, without):
        kind.empty(each.control.admin)
    return Pairs(rates, durations, (1000 * cpu[0] / len(requests), 1000 * cpu[1] / len(requests)))


async def _by_turns(
    planes: tuple[Plane, Plane], requests: Sequence[Request], blocks: int, singles: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Requests a second of each pair of blocks, then milliseconds of each pair of the first ``singles`` requests."""
    async with _Session(planes[0]) as own, _Session(planes[1]) as without:
        durations = [
            await _pair(own.milliseconds, without.milliseconds, [request], number)
            for number, request in enumerate(requests[:singles])
        ]
        many = requests[singles:]
        size = len(many) // blocks
        rates = [
            await _pair(own.rate, without.rate, many[number * size : (number + 1) * size], number)
            for number in range(blocks)
        ]
    return rates, durations


async def _pair(own: Figure, without: Figure, requests: Sequence[Request], number: int) -> tuple[float, float]:
    """The figures of both, the plane without the chart first in every second pair."""
    if number % 2:
        base = await without(requests)
        return await own(requests), base
    return await own(requests), await without(requests)


async def _by_one_client(there: Plane, requests: Sequence[Request]) -> None:
    async with _Session(there) as session:
        await session.milliseconds(requests)


class _Session:
    """``async with`` connections to one plane."""

    def __init__(self, there: Plane) -> None:
        config = json.loads(there.control.kubeconfig().read_text())
        cluster = config["clusters"][0]["cluster"]
        self._trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
        headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
        self._http = aiohttp.ClientSession(cluster["server"], headers=headers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def milliseconds(self, requests: Sequence[Request]) -> float:
        """How long one client takes for all of them."""
        began = perf_counter()
        await self._client(iter(requests))
        return 1000 * (perf_counter() - began)

    async def rate(self, requests: Sequence[Request]) -> float:
        """Requests a second that all clients make."""
        shared = iter(requests)
        began = perf_counter()
        await asyncio.gather(*(self._client(shared) for _ in range(CLIENTS)))
        return len(requests) / (perf_counter() - began)

    async def _client(self, mine: Iterator[Request]) -> None:
        for each in mine:
            for step in (each, *each.following):
                async with self._http.request(
                    step.method, step.path, data=step.body, ssl=self._trust, headers={"Content-Type": step.content}
                ) as reply:
                    await reply.read()
                    reply.raise_for_status()
