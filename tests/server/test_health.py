"""The port for health: what probes and scrapers get."""

import aiohttp
import pytest

from tests.server.pki import Authority
from tests.server.running_server import Running, allow, post, running
from webhook.server.lifecycle import Service
from webhook.settings import Settings

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        ("/healthz", 200, "ok\n"),
        ("/readyz", 200, "ok\n"),
        ("/readyz?verbose", 200, "ok\n"),
        ("/", 404, 'no such path: "/"; there are /healthz, /metrics, /readyz\n'),
        ("/mutate", 404, 'no such path: "/mutate"; there are /healthz, /metrics, /readyz\n'),
    ],
)
async def test_a_page_is_a_line_of_text(server: Running, path: str, status: int, text: str) -> None:
    assert await server.get(path) == (status, text)


async def test_only_reading_is_allowed(server: Running) -> None:
    async with aiohttp.ClientSession() as session, session.post(server.health + "/healthz", data=b"x") as reply:
        found = (reply.status, reply.headers["allow"], await reply.text())
    assert found == (405, "GET, HEAD", '"POST" is not allowed here; send a GET\n')


async def test_asking_for_the_head_only_gets_it(server: Running) -> None:
    async with aiohttp.ClientSession() as session, session.head(server.health + "/readyz") as reply:
        assert (reply.status, reply.headers["content-length"]) == (200, "3")


async def test_unready_is_a_503_with_the_reason(settings: Settings, authority: Authority) -> None:
    reasons: list[str | None] = [None]
    async with running(settings, authority, Service({"/mutate": allow}, lambda: reasons[0])) as server:
        reasons[0] = "the Nodes cache is not synced yet"
        found = (await server.get("/readyz"), await server.get("/healthz"), server.figure("ready"))
    assert found == ((503, "the Nodes cache is not synced yet\n"), (200, "ok\n"), 0)


async def test_metrics_tell_of_reviews_and_of_the_process(server: Running) -> None:
    await server.ask(post())
    status, text = await server.get("/metrics")
    wanted = (
        'streams_placement_reviews_total{kind="Pod",outcome="allowed",path="/mutate",reason=""} 1.0',
        "streams_placement_ready 1.0",
        "streams_placement_connections 0.0",
        "streams_placement_certificate_reload_failures_total 0.0",
        "process_resident_memory_bytes",
    )
    assert (status, [each for each in wanted if each not in text]) == (200, [])
