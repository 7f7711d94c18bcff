"""Fair queue of the reviews that wait to be decided (fair queuing, as in the API server's Priority and Fairness).

A decision runs on the event loop and cannot be interrupted. While reviews wait, one decision is made in each iteration
of the loop, and requests are read in between. The next review is the one whose flows used the least decision time
lately. The time of a decision is charged to three flows: the client's address, its connection, and the namespace that
the review names. The last one tells reviews apart that come through the API server: a flood shares the API server's
connections with all other reviews, and differs only in the namespace. A client can name any namespace, so a namespace
is a flow of its own within each address.
"""

import asyncio
import math
from collections.abc import Hashable
from time import perf_counter
from typing import Final

from msgspec import Struct

SLICE: Final = 0.010
"""Seconds of decisions in one iteration of the loop, after which further reviews wait: some fifty usual decisions."""

HALF_LIFE: Final = 2.0
"""Seconds after which half of the decision time that a flow used is forgotten."""

_FLOW_LIMIT: Final = 4096
"""Addresses and namespaces that are distinguished; above that, flows of negligible usage are forgotten."""

_NEGLIGIBLE: Final = 0.001
"""Seconds of decision time below which a flow may be forgotten."""

_NAMESPACE: Final = b'"namespace":"'
_NAMESPACE_WITHIN: Final = 4096
"""Bytes at the beginning of a review in which its namespace is looked for: the API server writes the namespace before
the object."""

_NAMESPACE_LIMIT: Final = 63
"""Characters of a namespace (DNS label)."""


class FlowUsage:
    """Seconds of decision time that one flow used lately; halved every :data:`HALF_LIFE` seconds."""

    __slots__ = ("_at", "_seconds")

    def __init__(self) -> None:
        self._seconds = self._at = 0.0

    def charge(self, seconds: float, now: float) -> None:
        """Add decision time; ``now`` is a ``perf_counter`` time."""
        self._seconds = seconds + self._seconds * math.exp2((self._at - now) / HALF_LIFE)
        self._at = now

    def at(self, now: float) -> float:
        """Seconds of the usage that are not forgotten at the ``perf_counter`` time ``now``."""
        return self._seconds * math.exp2((self._at - now) / HALF_LIFE)


class ClientFlows(Struct, frozen=True, eq=False):
    """Usage of one connection, and of its client's address, which all connections of the address share."""

    address: str
    of_address: FlowUsage
    of_connection: FlowUsage


class _QueuedReview(Struct, eq=False):
    """A review that waits to be decided; ``dispatched`` is done when its turn has come."""

    client: ClientFlows
    of_namespace: FlowUsage
    dispatched: asyncio.Future[None]


class FairQueue:
    """Reviews that wait to be decided on one event loop, and the usage of their flows. Its length is how many wait."""

    def __init__(self) -> None:
        self._flows: dict[Hashable, FlowUsage] = {}
        self._waiting: list[_QueuedReview] = []
        self._spent = 0.0
        self._scheduled = False

    def __len__(self) -> int:
        """How many reviews wait."""
        return len(self._waiting)

    @property
    def free(self) -> bool:
        """Whether a review can be decided at once: none waits, and this iteration of the loop has time left."""
        return not self._waiting and self._spent < SLICE

    def client(self, address: str) -> ClientFlows:
        """The flows of a new connection from that address."""
        return ClientFlows(address, self._usage(address), FlowUsage())

    async def wait(self, client: ClientFlows, body: bytes | bytearray, seconds: float) -> FlowUsage | None:
        """Wait until the review in ``body`` is to be decided, at most so many seconds.

        Returns the usage of the review's namespace, to be charged with the decision; ``None`` when the time is over.
        """
        review = _QueuedReview(
            client, self._usage((client.address, namespace_of(body))), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(review)
        self._schedule()
        try:
            await asyncio.wait((review.dispatched,), timeout=seconds)
        finally:
            if not review.dispatched.done():
                self._waiting.remove(review)
        return review.of_namespace if review.dispatched.done() else None

    def charge(self, seconds: float, client: ClientFlows, of_namespace: FlowUsage | None = None) -> None:
        """Charge a decision that took so many seconds to the flows of its review."""
        self._spent += seconds
        now = perf_counter()
        client.of_address.charge(seconds, now)
        client.of_connection.charge(seconds, now)
        if of_namespace is not None:
            of_namespace.charge(seconds, now)
        self._schedule()

    def _schedule(self) -> None:
        """Have :meth:`_dispatch` called in the next iteration of the loop."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def _dispatch(self) -> None:
        """A new iteration of the loop has begun: dispatch the waiting review whose flows used least."""
        self._scheduled = False
        self._spent = 0.0
        if self._waiting:
            now = perf_counter()
            first = min(
                self._waiting,
                key=lambda review: (
                    review.client.of_address.at(now),
                    review.client.of_connection.at(now) + review.of_namespace.at(now),
                ),
            )
            self._waiting.remove(first)
            first.dispatched.set_result(None)
            self._schedule()

    def _usage(self, flow: Hashable) -> FlowUsage:
        usage = self._flows.get(flow)
        if usage is None:
            if len(self._flows) >= _FLOW_LIMIT:
                self._forget()
            usage = self._flows[flow] = FlowUsage()
        return usage

    def _forget(self) -> None:
        """Forget flows of negligible usage; all flows, if a client makes up more names than are distinguished."""
        now = perf_counter()
        in_use = {flow: usage for flow, usage in self._flows.items() if usage.at(now) > _NEGLIGIBLE}
        self._flows = in_use if len(in_use) < _FLOW_LIMIT // 2 else {}


def namespace_of(body: bytes | bytearray) -> bytes:
    """The namespace that the review names, found without decoding the review; empty if it names none."""
    at = body.find(_NAMESPACE, 0, _NAMESPACE_WITHIN)
    if at < 0:
        return b""
    start = at + len(_NAMESPACE)
    end = body.find(b'"', start, start + _NAMESPACE_LIMIT + 1)
    return bytes(body[start:end]) if end >= 0 else b""
