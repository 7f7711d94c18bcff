"""When the heap is given back to the system: after a flood, and nowhere that has no glibc."""

import asyncio
import ctypes
from types import SimpleNamespace

import pytest

from webhook.server import memory
from webhook.server.budget import Budget
from webhook.server.connection import Connections, HttpConnection
from webhook.server.health import Health
from webhook.server.limits import HEALTH, MIB
from webhook.server.memory import Tide
from webhook.server.metrics import Metrics


async def _tide() -> tuple[Tide, Connections, Budget]:
    connections = Connections(Health(lambda: None, Metrics()), HEALTH, Metrics())
    budget = Budget(32 * MIB, 16 * MIB)
    return Tide(connections, budget), connections, budget


def _open(connections: Connections, count: int) -> list[HttpConnection]:
    return [connections.welcome("a") for _ in range(count)]


async def test_in_quiet_times_nothing_is_done() -> None:
    tide, connections, _ = await _tide()
    _open(connections, 19)
    assert not tide.ebbed()
    connections.open.clear()
    assert not tide.ebbed()


async def test_many_connections_that_are_gone_are_a_flood_that_is_over_once() -> None:
    tide, connections, _ = await _tide()
    _open(connections, 20)
    full = tide.ebbed()
    connections.open.clear()
    assert (full, tide.ebbed(), tide.ebbed()) == (False, True, False)


async def test_many_bytes_that_passed_are_a_flood_that_is_over_when_none_is_left() -> None:
    tide, _, budget = await _tide()
    for _ in range(2):
        await budget.reserve(4 * MIB, "a", 0)
    budget.release(4 * MIB, "a")
    under_way = tide.ebbed()
    budget.release(4 * MIB, "a")
    assert (under_way, tide.ebbed(), tide.ebbed()) == (False, True, False)


async def test_the_heap_is_trimmed_when_a_flood_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    tide, connections, _ = await _tide()
    _open(connections, 20)
    trimmed = asyncio.Event()
    monkeypatch.setattr(memory, "trim", trimmed.set)
    watching = asyncio.create_task(tide.watch(0.01))
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
