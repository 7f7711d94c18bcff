"""When the heap is given back to the system: after a flood, and nowhere that has no glibc."""

import asyncio
import ctypes
from types import SimpleNamespace

import pytest

from webhook.server import memory
from webhook.server.health import Health
from webhook.server.http.budget import Budget
from webhook.server.http.connection import ClientConnection, Connections
from webhook.server.http.limits import HEALTH, MIB
from webhook.server.memory import HeapTrimmer
from webhook.server.metrics import Metrics


async def _trimmer() -> tuple[HeapTrimmer, Connections, Budget]:
    connections = Connections(Health(lambda: None, Metrics()), HEALTH, Metrics())
    budget = Budget(32 * MIB, 16 * MIB)
    return HeapTrimmer(connections, budget), connections, budget


def _open(connections: Connections, count: int) -> list[ClientConnection]:
    return [connections.accept("a") for _ in range(count)]


async def test_in_quiet_times_nothing_is_done() -> None:
    trimmer, connections, _ = await _trimmer()
    _open(connections, 19)
    assert not trimmer.flood_is_over()
    connections.open.clear()
    assert not trimmer.flood_is_over()


async def test_many_connections_that_are_gone_are_a_flood_that_is_over_once() -> None:
    trimmer, connections, _ = await _trimmer()
    _open(connections, 20)
    full = trimmer.flood_is_over()
    connections.open.clear()
    assert (full, trimmer.flood_is_over(), trimmer.flood_is_over()) == (False, True, False)


async def test_many_bytes_that_passed_are_a_flood_that_is_over_when_none_is_left() -> None:
    trimmer, _, budget = await _trimmer()
    for _ in range(2):
        await budget.reserve(4 * MIB, "a", 0)
    budget.release(4 * MIB, "a")
    under_way = trimmer.flood_is_over()
    budget.release(4 * MIB, "a")
    assert (under_way, trimmer.flood_is_over(), trimmer.flood_is_over()) == (False, True, False)


async def test_the_heap_is_trimmed_when_a_flood_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmer, connections, _ = await _trimmer()
    _open(connections, 20)
    trimmed = asyncio.Event()
    monkeypatch.setattr(memory, "trim", trimmed.set)
    watching = asyncio.create_task(trimmer.watch(0.01))
    await asyncio.sleep(0.05)
    early = trimmed.is_set()
    connections.open.clear()
    await asyncio.wait_for(trimmed.wait(), 5)
    watching.cancel()
    assert not early


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    memory.bound_heap()
    memory.trim()


def test_with_glibc_the_heap_can_be_trimmed() -> None:
    memory.bound_heap()
    memory.trim()
