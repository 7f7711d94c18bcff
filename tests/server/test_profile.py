"""The page of the health port that shows what the process spends its time on."""

import asyncio
import sys
import time

import pytest

from tests.server.pki import Authority
from tests.server.running_server import Running, running
from webhook.server import profile
from webhook.server.profile import ProfileError, Profiler
from webhook.settings import Settings

pytestmark = pytest.mark.integration

PATHS = "/debug/profile, /healthz, /metrics, /readyz"


async def busily() -> None:
    """Work that a profile shows, until it is cancelled."""
    while True:
        sorted(range(1000))
        await asyncio.sleep(0)


async def test_there_is_no_profile_by_default(server: Running) -> None:
    status, text = await server.get(profile.PAGE)
    assert (status, text) == (404, 'no such path: "/debug/profile"; there are /healthz, /metrics, /readyz\n')


async def test_a_profile_names_the_functions_that_took_the_time(settings: Settings, authority: Authority) -> None:
    settings = settings.model_copy(update={"debug_profile": True})
    async with running(settings, authority) as server:
        work = asyncio.create_task(busily())
        began = time.monotonic()
        status, text = await server.get(f"{profile.PAGE}?seconds=1")
        took = time.monotonic() - began
        again = await server.get(f"{profile.PAGE}?seconds=31")
        other = await server.get("/other")
        work.cancel()
    assert status == 200
    assert "built-in method builtins.sorted" in text
    assert "tottime" in text
    assert took >= 1
    assert again == (400, "ask for seconds=1 to seconds=30\n")
    assert other == (404, f'no such path: "/other"; there are {PATHS}\n')


@pytest.mark.parametrize(
    "query", ["seconds=0", "seconds=31", "seconds=003099999", "seconds=-1", "seconds=1e1", "seconds=", "minutes=1", "x"]
)
async def test_a_query_that_asks_for_anything_else_is_wrong(query: str) -> None:
    with pytest.raises(ProfileError, match="^ask for seconds=1 to seconds=30$") as wrong:
        await Profiler().take(query)
    assert wrong.value.code == 400


async def test_one_profile_is_taken_at_a_time_and_an_end_frees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "_DEFAULT", 20)
    profiler = Profiler()
    first = asyncio.create_task(profiler.take(""))
    await asyncio.sleep(0)
    with pytest.raises(ProfileError, match="^another profile is being taken; try again$"):
        await profiler.take("")
    first.cancel()
    await asyncio.wait({first})
    assert "function calls" in await profiler.take("seconds=1")


async def test_beside_another_tool_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        def enable(self) -> None:
            raise ValueError("Another profiling tool is already active")

    monkeypatch.setattr(profile.cProfile, "Profile", Taken)
    profiler = Profiler()
    for _ in range(2):
        with pytest.raises(ProfileError, match="^another tool watches the calls of this process$"):
            await profiler.take("")
    assert sys.getprofile() is None
