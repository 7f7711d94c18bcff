"""The clients, in a process of their own, so that no other Python code takes time from them.

``python -m bench.e2e.clients.client KUBECONFIG`` reads orders from standard input until it ends, and answers each
with an outcome on standard output. Connections are kept from one order to the next.
"""

import asyncio
import gc
import json
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

import aiohttp
import msgspec
import uvloop
from msgspec import Struct

from bench.e2e.clients import pods
from bench.e2e.clients.orders import Order, Outcome
from bench.e2e.clients.variants import VARIANTS
from bench.generated import bodies

_MOST: Final = 1000
"""Clients at a time, as ``options`` allows."""

_SECONDS: Final = 40
"""For one request: longer than the longest time-out of a webhook."""

_IDLE: Final = 80
"""Seconds to keep a connection: the API server hangs up after 90 (``secure_serving.go`` of k8s.io/apiserver)."""

_SHOWN: Final = 200
"""Characters of an error that are shown."""


class _Request(Struct, frozen=True):
    method: str
    url: str
    body: bytes | None = None
    checked: bool = True
    """Whether the server's certificate is."""


class _Status(Struct, frozen=True):
    """A refusal: ``metav1.Status`` of Kubernetes."""

    reason: str = ""
    message: str = ""


class _Clients:
    """All of them, with the connections that they share."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self._server: str = cluster["server"]
        self._token: str = config["users"][0]["user"]["token"]
        self._trust = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._session: aiohttp.ClientSession | None = None

    async def carry_out(self, order: Order) -> Outcome:
        """Do what the order says."""
        requests = iter(list(self._requests(order)))  # made before the clock starts
        outcome = Outcome()
        gc.collect()
        gc.disable()  # the clients' own collections shall not be taken for the server's
        try:
            began, cpu = perf_counter(), process_time()
            await asyncio.gather(*(self._work(requests, outcome) for _ in range(order.clients)))
            outcome.seconds, outcome.cpu = perf_counter() - began, process_time() - cpu
        finally:
            gc.enable()
        return outcome

    async def close(self) -> None:
        """Hang up."""
        if self._session is not None:
            await self._session.close()

    def _requests(self, order: Order) -> Iterator[_Request]:
        if order.what == "cheap":
            yield from [_Request("GET", f"{self._server}/version")] * order.count
        elif order.what == "review":
            reviews = list(bodies.mixed().values())
            for number in range(order.count):
                yield _Request("POST", order.url, reviews[number % len(reviews)], checked=False)
        else:
            variant = VARIANTS[order.variant]
            query = "?dryRun=All" if order.what == "try" else ""
            url = f"{self._server}/api/v1/namespaces/{variant.namespace}/pods{query}"
            for number in range(order.first, order.first + order.count):
                yield _Request("POST", url, pods.body(variant, number))

    async def _work(self, requests: Iterator[_Request], outcome: Outcome) -> None:
        """One client: the next request as soon as the last is answered."""
        session = self._connected()
        for request in requests:
            outcome.sent += 1
            before = perf_counter()
            try:
                trust = self._trust if request.checked else False
                async with session.request(request.method, request.url, data=request.body, ssl=trust) as reply:
                    text = await reply.read()
            except (OSError, TimeoutError, aiohttp.ClientError) as error:
                _failed(outcome, type(error).__name__, str(error))
                continue
            if reply.ok:
                outcome.durations.append(perf_counter() - before)
                outcome.ok += 1
                outcome.patched += pods.INJECTED in text
            else:
                status = _status(text)
                _failed(outcome, f"{reply.status} {status.reason}".strip(), status.message)

    def _connected(self) -> aiohttp.ClientSession:
        """The session; made when a loop runs."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_MOST, keepalive_timeout=_IDLE),
                timeout=aiohttp.ClientTimeout(total=_SECONDS),
                headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            )
        return self._session


def _failed(outcome: Outcome, kind: str, text: str) -> None:
    outcome.errors[kind] = outcome.errors.get(kind, 0) + 1
    outcome.examples.setdefault(kind, text[:_SHOWN])


def _status(text: bytes) -> _Status:
    try:
        return msgspec.json.decode(text, type=_Status)
    except msgspec.MsgspecError:
        return _Status(message=text.decode(errors="replace"))


def main(kubeconfig: Path) -> None:
    """Carry out orders until there are no more."""
    clients = _Clients(kubeconfig)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin.buffer:
            outcome = runner.run(clients.carry_out(msgspec.json.decode(line, type=Order)))
            sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
            sys.stdout.buffer.flush()
        runner.run(clients.close())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
