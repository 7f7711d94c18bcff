"""Who is decided about next: at once where there is time, else whoever used least."""

import asyncio

import pytest

from webhook.server import turns
from webhook.server.turns import SLICE, Account, Turns, namespace_of


def review(namespace: str) -> bytes:
    return b'{"kind":"AdmissionReview","request":{"uid":"1","namespace":"%s","object":{}}}' % namespace.encode()


class TestAnAccount:
    """Seconds that are forgotten by halves."""

    def test_owes_nothing_at_first(self) -> None:
        assert Account().owed(1000.0) == 0

    def test_forgets_half_in_a_half_life(self) -> None:
        account = Account()
        account.charge(1.0, 10.0)
        assert account.owed(12.0) == pytest.approx(0.5)

    def test_adds_to_what_is_left(self) -> None:
        account = Account()
        account.charge(1.0, 10.0)
        account.charge(1.0, 12.0)
        assert account.owed(12.0) == pytest.approx(1.5)


async def test_there_is_time_until_a_slice_is_used_up_and_again_in_the_next_turn_of_the_loop() -> None:
    order = Turns()
    asker = order.asker("a")
    order.charge(SLICE / 2, asker)
    free = order.free
    order.charge(SLICE / 2, asker)
    full = order.free
    await asyncio.sleep(0.01)
    assert (free, full, order.free) == (True, False, True)


async def _decided(order: Turns, askers: list[tuple[str, turns.Asker, str]], seconds: float = 0.02) -> list[str]:
    """The order in which reviews that wait at the same time are decided, each within so many seconds of CPU."""
    done: list[str] = []

    async def decide(name: str, asker: turns.Asker, namespace: str) -> None:
        kin = await order.wait(asker, review(namespace), 5)
        done.append(name)
        order.charge(seconds, asker, kin)

    await asyncio.gather(*(decide(*one) for one in askers))
    return done


async def test_the_address_that_used_least_goes_first() -> None:
    order = Turns()
    busy, idle = order.asker("busy"), order.asker("idle")
    order.charge(1.0, busy)
    assert await _decided(order, [("first", busy, "n"), ("second", busy, "n"), ("late", idle, "n")]) == [
        "late",
        "first",
        "second",
    ]


async def test_within_an_address_the_connection_that_used_least_goes_first() -> None:
    order = Turns()
    busy, idle = order.asker("a"), order.asker("a")
    order.charge(1.0, busy)
    assert await _decided(order, [("busy", busy, "n"), ("idle", idle, "n")]) == ["idle", "busy"]


async def test_on_connections_that_are_alike_the_namespace_that_used_least_goes_first() -> None:
    """So it is with reviews that come through the API server."""
    order = Turns()
    askers = [order.asker("api-server") for _ in range(4)]
    await _decided(order, [("flood", asker, "flooded") for asker in askers])
    assert await _decided(
        order, [*(("flood", asker, "flooded") for asker in askers[:3]), ("other", askers[3], "n")]
    ) == [
        "other",
        "flood",
        "flood",
        "flood",
    ]


async def test_who_waits_too_long_is_told_so_and_forgotten() -> None:
    order = Turns()
    busy, idle = order.asker("busy"), order.asker("idle")
    order.charge(1.0, busy)
    late = asyncio.create_task(order.wait(busy, b"", 0.001))
    first = [asyncio.create_task(order.wait(idle, b"", 5)) for _ in range(1000)]
    assert await late is None
    assert None not in await asyncio.gather(*first)
    assert len(order) == 0


async def test_accounts_are_bounded_and_those_of_nothing_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_ACCOUNTS", 8)
    order = Turns()
    known = order.asker("known")
    order.charge(1.0, known)
    for number in range(20):
        order.asker(str(number))
    assert order.asker("known").everyone is known.everyone


async def test_where_too_many_names_used_something_all_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_ACCOUNTS", 4)
    order = Turns()
    for number in range(4):
        order.charge(1.0, order.asker(str(number)))
    known = order.asker("new")
    assert order.asker("0").everyone is not known.everyone
    assert order.asker("new").everyone is known.everyone


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
