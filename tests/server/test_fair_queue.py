"""The fair queue: reviews are decided at once while there is time, else the flow that used least goes first."""

import asyncio

import pytest

from webhook.server import fair_queue
from webhook.server.fair_queue import SLICE, FairQueue, FlowUsage, namespace_of


def review(namespace: str) -> bytes:
    return b'{"kind":"AdmissionReview","request":{"uid":"1","namespace":"%s","object":{}}}' % namespace.encode()


class TestFlowUsage:
    """Seconds that are forgotten by halves."""

    def test_owes_nothing_at_first(self) -> None:
        assert FlowUsage().at(1000.0) == 0

    def test_forgets_half_in_a_half_life(self) -> None:
        usage = FlowUsage()
        usage.charge(1.0, 10.0)
        assert usage.at(12.0) == pytest.approx(0.5)

    def test_adds_to_what_is_left(self) -> None:
        usage = FlowUsage()
        usage.charge(1.0, 10.0)
        usage.charge(1.0, 12.0)
        assert usage.at(12.0) == pytest.approx(1.5)


async def test_there_is_time_until_a_slice_is_used_up_and_again_in_the_next_turn_of_the_loop() -> None:
    queue = FairQueue()
    client = queue.client("a")
    queue.charge(SLICE / 2, client)
    free = queue.free
    queue.charge(SLICE / 2, client)
    full = queue.free
    await asyncio.sleep(0.01)
    assert (free, full, queue.free) == (True, False, True)


async def _decided(
    queue: FairQueue, clients: list[tuple[str, fair_queue.ClientFlows, str]], seconds: float = 0.02
) -> list[str]:
    """The order in which reviews that wait at the same time are decided, each within so many seconds of CPU."""
    done: list[str] = []

    async def decide(name: str, client: fair_queue.ClientFlows, namespace: str) -> None:
        of_namespace = await queue.wait(client, review(namespace), 5)
        done.append(name)
        queue.charge(seconds, client, of_namespace)

    await asyncio.gather(*(decide(*one) for one in clients))
    return done


async def test_the_address_that_used_least_goes_first() -> None:
    queue = FairQueue()
    busy, idle = queue.client("busy"), queue.client("idle")
    queue.charge(1.0, busy)
    assert await _decided(queue, [("first", busy, "n"), ("second", busy, "n"), ("late", idle, "n")]) == [
        "late",
        "first",
        "second",
    ]


async def test_within_an_address_the_connection_that_used_least_goes_first() -> None:
    queue = FairQueue()
    busy, idle = queue.client("a"), queue.client("a")
    queue.charge(1.0, busy)
    assert await _decided(queue, [("busy", busy, "n"), ("idle", idle, "n")]) == ["idle", "busy"]


async def test_on_connections_that_are_alike_the_namespace_that_used_least_goes_first() -> None:
    """So it is with reviews that come through the API server."""
    queue = FairQueue()
    clients = [queue.client("api-server") for _ in range(4)]
    await _decided(queue, [("flood", client, "flooded") for client in clients])
    assert await _decided(
        queue, [*(("flood", client, "flooded") for client in clients[:3]), ("other", clients[3], "n")]
    ) == [
        "other",
        "flood",
        "flood",
        "flood",
    ]


async def test_who_waits_too_long_is_told_so_and_forgotten() -> None:
    queue = FairQueue()
    busy, idle = queue.client("busy"), queue.client("idle")
    queue.charge(1.0, busy)
    late = asyncio.create_task(queue.wait(busy, b"", 0.001))
    first = [asyncio.create_task(queue.wait(idle, b"", 600)) for _ in range(1000)]
    assert await late is None
    assert None not in await asyncio.gather(*first)
    assert len(queue) == 0


async def test_accounts_are_bounded_and_those_of_nothing_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "_FLOW_LIMIT", 8)
    queue = FairQueue()
    known = queue.client("known")
    queue.charge(1.0, known)
    for number in range(20):
        queue.client(str(number))
    assert queue.client("known").of_address is known.of_address


async def test_where_too_many_names_used_something_all_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "_FLOW_LIMIT", 4)
    queue = FairQueue()
    for number in range(4):
        queue.charge(1.0, queue.client(str(number)))
    known = queue.client("new")
    assert queue.client("0").of_address is not known.of_address
    assert queue.client("new").of_address is known.of_address


@pytest.mark.parametrize(
    ("body", "namespace"),
    [
        (review("team-a"), b"team-a"),
        (b"{}", b""),
        (b'{"namespace":"' + b"x" * 64 + b'"', b""),
        (b'{"namespace":"cut', b""),
        (b" " * 4096 + review("late"), b""),
    ],
    ids=["as the API server writes it", "none", "too long", "cut off", "far behind"],
)
def test_the_namespace_of_a_review_is_found_without_decoding(body: bytes, namespace: bytes) -> None:
    assert namespace_of(body) == namespace
